//! Owns secrets in a text that are known by the name before them: `name=value`, `"name": "value"`, `--name value`,
//! `<name>value</name>`, in code, logs, headers, query strings and JSON inside of text.

use super::encoded::alnum;
use super::names::promise;
use super::shapes::is_authorization;
use super::values::{Stand, is_open_secret, is_secret};
use super::{Edge, Found};

/// Longest name that is looked at.
const NAME: usize = 64;

/// A longer value is judged by so much of its beginning.
const HEAD: usize = 256;

/// Longest value that is masked as one.
const VALUE: usize = 64 * 1024;

fn in_name(byte: u8) -> bool {
    alnum(byte) || matches!(byte, b'_' | b'-' | b'.')
}

/// The name around `inside`, which lies behind an anchor.
fn name_around(text: &str, inside: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let before = bytes.get(..inside)?.iter().rev().take(NAME);
    let start = inside - before.take_while(|b| in_name(**b)).count();
    let after = bytes.get(inside..)?.iter().take(NAME);
    let end = inside + after.take_while(|b| alnum(**b) || matches!(b, b'_' | b'-')).count();
    Some((start, end))
}

/// A first look at raw JSON: a name that promises a secret, and something behind it that can be a value.
pub(super) fn suspicious(json: &str, inside: usize) -> bool {
    let bytes = json.as_bytes();
    let Some((start, end)) = name_around(json, inside) else {
        return false;
    };
    let value_follows = match bytes.get(end..).unwrap_or_default() {
        // A member: its value is a string or nothing that is masked.
        [b'"', b':', value, ..] => *value == b'"',
        // The text ends with the name; a pair `{"name":…,"value":…}` may follow.
        [b'"', b',', b'"', ..] => true,
        [b'=' | b':' | b'>' | b'\\' | b'\'' | b' ' | b']', ..] => true,
        _ => false,
    };
    value_follows && json.get(start..end).and_then(promise).is_some()
}

/// The secret behind the name around `inside`.
pub(super) fn value(text: &str, edge: Edge, inside: usize) -> Option<Found> {
    let (start, end) = name_around(text, inside)?;
    let name = text.get(start..end)?;
    let promise = promise(name)?;
    if text.get(..start)?.ends_with("[masked:") {
        return None; // the name of a rule in a placeholder
    }
    let place = place(text, start, end, name)?;
    let rest = text.get(place.start..)?;
    let head = rest.get(..rest.floor_char_boundary(HEAD))?;
    let goes_on = head.len() < rest.len();
    let (mut len, mut closed) = place.measure(head, goes_on || edge == Edge::Cut);
    let secret = head.get(..len)?;
    let cut = edge == Edge::Cut && !closed && !goes_on;
    let whole = is_secret(promise, secret, place.stand) && (closed || !place.must_close);
    let begun = cut && is_open_secret(promise, secret, place.stand);
    if !(whole || begun) {
        return None;
    }
    if !closed && goes_on {
        let long = rest.get(..rest.floor_char_boundary(VALUE))?;
        (len, closed) = place.measure(long, edge == Edge::Cut);
    }
    let end = place.start + len;
    Some(Found {
        start: place.start,
        end,
        rule: promise.rule(),
        open: edge == Edge::Cut && !closed && end == text.len(),
    })
}

/// Where a value stands.
struct Place {
    start: usize,
    stand: Stand,
    quote: Option<u8>,
    /// True when the quotes are escaped, as in JSON inside of a text.
    escaped: bool,
    /// True when only a closing quote shows that it is a value and no apostrophe.
    must_close: bool,
}

impl Place {
    /// Length of the value in `value`, and whether it ends there.
    fn measure(&self, value: &str, goes_on: bool) -> (usize, bool) {
        match self.quote {
            Some(quote) => quoted_len(value, quote, self.escaped),
            None => plain_len(value, goes_on),
        }
    }
}

/// Finds the value behind a name; nothing when what follows is no value.
fn place(text: &str, start: usize, end: usize, name: &str) -> Option<Place> {
    let bytes = text.as_bytes();
    let count = |from: usize, most: usize, set: &[u8]| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take(most).take_while(|b| set.contains(b)).count()
    };
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let name_closed = count(end, 20, b"\\\"']");
    let mut at = end + name_closed;
    let spaces = count(at, 8, b" \t");
    let separator = bytes.get(at + spaces).copied();
    let mut stand = Stand::Assigned;
    match separator {
        Some(b'=') => at += spaces + count(at + spaces, 3, b"=>"),
        Some(b':') => {
            at += spaces + count(at + spaces, 2, b":=");
            if name_closed == 0 && !name.contains(['_', '-', '.']) {
                stand = Stand::Said;
            }
        }
        Some(b',') if name_closed > 0 => at += spaces + 1,
        Some(b'>') if before == Some(&b'<') => at += 1,
        _ if spaces > 0 && (name.starts_with("--") || quote_at(bytes, at + spaces)) => {}
        _ => return None,
    }
    at += count(at, 8, b" \t");
    let authorization = is_authorization(name);
    if authorization {
        at = behind_scheme(text, at)?;
    }
    let escapes = count(at, 16, b"\\");
    let quote = bytes.get(at + escapes).copied().filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    match quote {
        Some(quote) => {
            let mut start = at + escapes + 1;
            if authorization {
                start = behind_scheme(text, start)?;
            }
            Some(Place {
                start,
                stand: Stand::Quoted,
                quote: Some(quote),
                escaped: escapes > 0,
                must_close: !matches!(separator, Some(b'=' | b':')),
            })
        }
        // Without quotes a pair separated by a comma is a list of words.
        None if separator == Some(b',') => None,
        None => Some(Place { start: at, stand, quote: None, escaped: false, must_close: false }),
    }
}

fn quote_at(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(b'"' | b'\''))
}

/// Behind `Token ` and the like; nothing for the schemes that have anchors of their own.
fn behind_scheme(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let scheme = rest.bytes().take(20).take_while(|b| alnum(*b) || *b == b'-').count();
    match rest.as_bytes().get(scheme) {
        Some(b' ') if scheme > 0 => {
            let own = rest.get(..scheme)?.to_ascii_lowercase();
            (own != "bearer" && own != "basic").then_some(at + scheme + 1)
        }
        // The scheme itself may be cut off here.
        None if rest.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') => None,
        _ => Some(at),
    }
}

/// Length of a value in quotes, and whether its closing quote is there.
fn quoted_len(value: &str, quote: u8, escaped: bool) -> (usize, bool) {
    let bytes = value.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return (at, true),
            b'\\' if escaped && bytes.get(at + 1) == Some(&quote) => return (at, true),
            b'\\' if !escaped => at += 2,
            b if *b == quote => return (at, true),
            _ => at += 1,
        }
    }
    (value.len(), false)
}

/// Length of a value without quotes, and whether it ends before the text does. Punctuation at its end is the sentence's,
/// unless the text goes on.
fn plain_len(value: &str, goes_on: bool) -> (usize, bool) {
    let ends = |b: u8| b <= b' ' || b"\"'`,;&|<>)]}\\".contains(&b);
    let end = value.bytes().position(ends);
    let len = end.unwrap_or(value.len());
    if end.is_none() && goes_on {
        return (len, false);
    }
    let value = value.get(..len).unwrap_or_default();
    (value.trim_end_matches(['.', '!', '?', ':']).len(), end.is_some())
}

/// How much of `piece` still belongs to a value whose beginning stood behind `lead`.
pub(super) fn rest_len(lead: &str, piece: &str) -> usize {
    let bytes = lead.as_bytes();
    match bytes {
        [.., b'\\', quote @ (b'"' | b'\'')] => quoted_len(piece, *quote, true).0,
        [.., quote @ (b'"' | b'\'' | b'`')] => quoted_len(piece, *quote, false).0,
        _ => {
            let word = lead.rsplit(char::is_whitespace).next().unwrap_or_default();
            let (len, _) = plain_len(piece, true);
            match word.contains("://") {
                true => piece.bytes().take(len).position(|b| b == b'@' || b == b'/').unwrap_or(len),
                false => len,
            }
        }
    }
}

/// True when `piece` begins with the closing quote of a value in escaped quotes: its backslash ended the piece before
/// and went with the value.
pub(super) fn lost_escape(lead: &str, piece: &str) -> bool {
    let quote = piece.bytes().next();
    match lead.as_bytes() {
        [.., b'\\', open @ (b'"' | b'\'')] => quote == Some(*open),
        _ => false,
    }
}
