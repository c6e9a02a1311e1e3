//! Owns how texts become previews: one line, bounded, cut between characters.

use std::borrow::Cow;

use event_spine::JsonText;

use event_spine::Members;

/// The most characters a preview has.
pub(super) const PREVIEW: usize = 160;

/// The most characters a title has.
pub(super) const TITLE: usize = 80;

/// Longest JSON text that is read for a preview; the head of a longer one is shown as it is.
const READABLE: usize = 4096;

/// The head of a text on one line.
pub(super) fn line(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most + 3));
    extend(&mut out, text, most);
    out
}

/// Appends a text to a preview, up to `most` characters; runs of white space and control characters become one
/// space. Returns true once the preview is full.
pub(super) fn extend(out: &mut String, text: &str, most: usize) -> bool {
    if out.ends_with('…') {
        return true;
    }
    let mut length = if out.is_ascii() { out.len() } else { out.chars().count() };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // Words of plain characters, which most texts are made of, go over as they are.
        let bytes = rest.bytes().take(most.saturating_sub(length));
        let word = bytes.take_while(u8::is_ascii_graphic).count();
        if let Some((word, beyond)) =
            rest.split_at_checked(word).filter(|(word, _)| !word.is_empty())
        {
            out.push_str(word);
            length += word.len();
            rest = beyond;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let blank = c.is_whitespace() || c.is_control();
        if blank && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if length >= most {
            out.push('…');
            return true;
        }
        out.push(if blank { ' ' } else { c });
        length += 1;
    }
    false
}

/// The head of a text that is not empty.
pub(super) fn some_line(text: Option<&str>, most: usize) -> Option<String> {
    text.map(|text| line(text, most)).filter(|text| !text.trim().is_empty())
}

/// A JSON value in words: a string as it is, an object as `name: value, name: value`.
pub(super) fn json(text: &JsonText) -> Option<String> {
    let raw = text.as_str();
    if raw.len() > READABLE {
        return some_line(
            Some(raw.get(..raw.floor_char_boundary(READABLE)).unwrap_or(raw)),
            PREVIEW,
        );
    }
    let said = match raw.as_bytes().first() {
        _ if raw == "null" || raw == "{}" => return None,
        Some(b'"') => Some(string(raw)),
        Some(b'{') => serde_json::from_str::<Members<'_>>(raw).ok().map(|m| words(&m).into()),
        _ => Some(scalar(raw)),
    };
    some_line(Some(said.as_deref().unwrap_or(raw)), PREVIEW)
}

/// An object in words.
fn words(Members(members): &Members<'_>) -> String {
    if let [(_, value)] = members.as_slice() {
        return scalar(value.get()).into_owned();
    }
    let mut out = String::new();
    for (name, value) in members {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(name);
        out.push_str(": ");
        out.push_str(&scalar(value.get()));
    }
    out
}

/// A value inside an object: a string as what it says, anything else as JSON.
fn scalar(raw: &str) -> Cow<'_, str> {
    match raw.as_bytes().first() {
        Some(b'"') => string(raw),
        // Escapes in it are read, so that it can be read.
        Some(b'{' | b'[') if raw.contains('\\') => {
            let value = serde_json::from_str::<serde_json::Value>(raw);
            value.map_or(raw.into(), |value| value.to_string().into())
        }
        _ => raw.into(),
    }
}

/// What a JSON string says.
fn string(raw: &str) -> Cow<'_, str> {
    match raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => plain.into(),
        _ => serde_json::from_str::<String>(raw).map_or(raw.into(), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn json_in_words() {
        let check = |text: &str, expected: Option<&str>| {
            let (text, _) = JsonText::parse(text).unwrap();
            assert_eq!(json(&text).as_deref(), expected, "{text}");
        };
        check("null", None);
        check("{}", None);
        check("\"\"", None);
        check("\" \\n \"", None);
        check("\"plain\"", Some("plain"));
        check(r#""a\u00e9\n\tb""#, Some("aé b"));
        check("[1.10,true]", Some("[1.10,true]"));
        check(r#"{"path":"src/lib.rs"}"#, Some("src/lib.rs"));
        check(r#"{"only":{"a":"\u4f60"}}"#, Some(r#"{"a":"你"}"#));
        check(
            r#"{"a":"x\"y","b":1.50,"c":null,"d":[1]}"#,
            Some(r#"a: x"y, b: 1.50, c: null, d: [1]"#),
        );
        let long = format!("\"{}\"", "é".repeat(READABLE));
        let shown = json(&JsonText::parse(&long).unwrap().0).unwrap();
        assert_eq!(shown.chars().count(), PREVIEW + 1);
        assert!(shown.ends_with('…'));
    }

    proptest! {
        #[test]
        fn growing_by_pieces_shows_what_the_whole_shows(
            pieces in prop::collection::vec("[a-c \n\tä🌍]{0,7}", 0..12), most in 0_usize..20,
        ) {
            let mut grown = String::new();
            for piece in &pieces {
                extend(&mut grown, piece, most);
            }
            let all = pieces.concat();
            prop_assert_eq!(&grown, &line(&all, most));
            // Said the long way.
            let mut words = String::new();
            for c in all.chars() {
                let blank = c.is_whitespace();
                if !(blank && (words.is_empty() || words.ends_with(' '))) {
                    words.push(if blank { ' ' } else { c });
                }
            }
            let shown: String = words.chars().take(most).collect();
            let end = if words.chars().count() > most { "…" } else { "" };
            prop_assert_eq!(grown, format!("{shown}{end}"));
        }
    }
}
