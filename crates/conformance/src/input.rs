//! Owns reading a file of events within bounded memory: JSON lines, or one JSON document that holds events.
//!
//! A document is a single event, an array of events, several of these one after the other, or an object with a
//! member `events`. It is read whole; lines are not.

use std::io::{self, BufRead, Cursor, Read};

use serde_json::value::RawValue;

/// The longest line, and the largest document, that is read. A longer line costs only itself.
pub const MAX_LINE_BYTES: usize = 64 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event text, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Text(&'a str),
    Unreadable(String),
}

/// Calls `each` with every event text and the number of its line.
///
/// # Errors
/// The input cannot be read.
pub(crate) fn for_each(
    mut input: impl BufRead,
    mut each: impl FnMut(u64, Item<'_>),
) -> io::Result<()> {
    let mut head = Vec::new();
    while head.trim_ascii().is_empty() {
        let room = (MAX_LINE_BYTES - head.len()) as u64;
        if room == 0 || input.by_ref().take(room).read_until(b'\n', &mut head)? == 0 {
            break;
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
    }
    if !is_object(&head) {
        let room = MAX_LINE_BYTES.saturating_sub(head.len()) as u64;
        input.by_ref().take(room).read_to_end(&mut head)?;
        if document(&head, &mut each) {
            return Ok(());
        }
    }
    lines(Cursor::new(head).chain(input), each)
}

fn is_object(text: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(text).is_ok_and(|value| value.get().starts_with('{'))
        && !text_of_events(text)
}

/// True for a one-line object that is no event but holds events.
fn text_of_events(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| events_of(text).is_some())
}

fn events_of(text: &str) -> Option<Vec<&RawValue>> {
    #[derive(serde::Deserialize)]
    struct Holder<'a> {
        #[serde(borrow)]
        events: Vec<&'a RawValue>,
    }
    serde_json::from_str::<Holder<'_>>(text).ok().map(|holder| holder.events)
}

/// Reads a whole document; false when it is none, and then `each` has not been called.
fn document(text: &[u8], each: &mut impl FnMut(u64, Item<'_>)) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let values: Result<Vec<&RawValue>, _> =
        serde_json::Deserializer::from_str(text).into_iter().collect();
    let Ok(values) = values else { return false };
    let mut events = Vec::new();
    for value in values {
        match value.get().as_bytes().first() {
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
                Ok(items) => events.extend(items),
                Err(_) => return false,
            },
            Some(b'{') => match events_of(value.get()) {
                Some(items) => events.extend(items),
                None => events.push(value),
            },
            _ => return false,
        }
    }
    let (mut line, mut counted) = (1, 0);
    for event in events {
        let at = (event.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let passed = text.as_bytes().get(counted..at).unwrap_or_default();
        line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = at;
        each(line, Item::Text(event.get()));
    }
    true
}

fn lines(mut input: impl BufRead, mut each: impl FnMut(u64, Item<'_>)) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 == limit && !line.ends_with(b"\n") {
            skip_line(&mut input)?;
            let limit = MAX_LINE_BYTES >> 20;
            each(number, Item::Unreadable(format!("the line is longer than {limit} MiB")));
            continue;
        }
        match std::str::from_utf8(line.trim_ascii()) {
            Ok("") => {}
            Ok(text) => each(number, Item::Text(text)),
            Err(e) => each(number, Item::Unreadable(format!("the line is not UTF-8: {e}"))),
        }
    }
    Ok(())
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |at| at + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], expected: &[(u64, &str)]) {
        let mut found = Vec::new();
        for_each(input, |line, item| {
            let text = match item {
                Item::Text(text) => text.split_whitespace().collect(),
                Item::Unreadable(_) => "unreadable".to_owned(),
            };
            found.push((line, text));
        })
        .unwrap();
        let found: Vec<_> = found.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(input));
    }

    #[test]
    fn reads_lines_and_documents() {
        check(b"", &[]);
        check(b"\n \n", &[]);
        check(b"{\"a\":1}\n\n{\"a\":2}", &[(1, "{\"a\":1}"), (3, "{\"a\":2}")]);
        check(b"\xEF\xBB\xBF{\"a\":1}\r\nx\n", &[(1, "{\"a\":1}"), (2, "x")]);
        check(b"\n{\n \"a\": 1\n}\n{\"a\":2}\n", &[(2, "{\"a\":1}"), (5, "{\"a\":2}")]);
        check(b"[{\"a\":1},\n{\"a\":2}]", &[(1, "{\"a\":1}"), (2, "{\"a\":2}")]);
        check(b"{\"id\":\"f\",\"events\":[\n{\"a\":1}]}", &[(2, "{\"a\":1}")]);
        check(b"{\"id\":\"f\",\"events\":[{\"a\":1}]}", &[(1, "{\"a\":1}")]);
        check(b"{\"a\":\n{\"a\":2}\nx", &[(1, "{\"a\":"), (2, "{\"a\":2}"), (3, "x")]);
        check(
            b"{\"a\":1}\n\xFF\n{\"a\":2}",
            &[(1, "{\"a\":1}"), (2, "unreadable"), (3, "{\"a\":2}")],
        );
    }
}
