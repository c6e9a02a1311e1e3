//! Owns walking and editing JSON text without parsing it into values: what is not edited stays byte for byte.
//!
//! The text is taken as valid (a [`JsonText`](super::JsonText) is). On other text nothing panics and the tokens mean
//! little.

use std::borrow::Cow;
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// Name of a member, quotes included.
    Name,
    /// A string value, quotes included.
    Text,
    /// A number, `true`, `false` or `null`.
    Bare,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The tokens of a JSON text, in order. Commas and colons are passed over.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// One bit a level, lowest the innermost: 1 inside an object. Levels beyond 128 do not occur (`MAX_DEPTH`).
    objects: u128,
    /// True where the next string would be the name of a member.
    name_next: bool,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, objects: 0, name_next: false }
    }

    fn open(&mut self, object: bool) {
        self.objects = (self.objects << 1) | u128::from(object);
        self.name_next = object;
    }

    fn close(&mut self) {
        self.objects >>= 1;
        self.name_next = false;
    }

    /// Where the string that starts at `start` ends, behind its closing quote.
    fn string_end(&self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                None => return bytes.len(),
                Some(step) if rest.get(step) == Some(&b'"') => return at + step + 1,
                Some(step) => at += step + 2,
            }
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let byte = *bytes.get(start)?;
            self.at += 1;
            let kind = match byte {
                b'{' => {
                    self.open(true);
                    Kind::ObjectStart
                }
                b'[' => {
                    self.open(false);
                    Kind::ArrayStart
                }
                b'}' => {
                    self.close();
                    Kind::ObjectEnd
                }
                b']' => {
                    self.close();
                    Kind::ArrayEnd
                }
                b',' => {
                    self.name_next = self.objects & 1 == 1;
                    continue;
                }
                b':' | b' ' | b'\n' | b'\r' | b'\t' => continue,
                b'"' => {
                    self.at = self.string_end(start);
                    if std::mem::take(&mut self.name_next) { Kind::Name } else { Kind::Text }
                }
                _ => {
                    let rest = bytes.get(start..).unwrap_or_default();
                    let len = rest.iter().position(|b| {
                        matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
                    });
                    self.at = start + len.unwrap_or(rest.len()).max(1);
                    Kind::Bare
                }
            };
            return Some(Token { kind, start, end: self.at });
        }
    }
}

/// The text between the quotes of a string token, escapes as they are.
pub(crate) fn raw<'a>(json: &'a str, token: &Token) -> &'a str {
    json.get(token.start + 1..token.end.saturating_sub(1)).unwrap_or_default()
}

/// What a string token says; nothing when an escape in it is broken.
pub(crate) fn decode<'a>(json: &'a str, token: &Token) -> Option<Cow<'a, str>> {
    let inner = raw(json, token);
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(json.get(token.range())?).ok().map(Cow::Owned)
}

/// `text` as a JSON string, quotes included.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    crate::canonical::write_string(text, &mut out);
    out
}

/// Replacements of parts of a JSON text, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, with: String) {
        self.0.push((range, with));
    }

    /// Takes a member out, from its name to the end of its value, with the comma that it no longer needs.
    pub(crate) fn remove_member(&mut self, json: &str, name: &Token, value_end: usize) {
        let bytes = json.as_bytes();
        let taken = self.0.last().map_or(0, |(range, _)| range.end);
        let comma_before = name.start > taken
            && name.start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|b| *b == b',');
        let range = if comma_before {
            name.start - 1..value_end
        } else if bytes.get(value_end) == Some(&b',') {
            name.start..value_end + 1
        } else {
            name.start..value_end
        };
        self.replace(range, String::new());
    }

    /// The text with the replacements in place.
    pub(crate) fn apply(&self, json: &str) -> String {
        let grown: usize = self.0.iter().map(|(_, with)| with.len()).sum();
        let mut out = String::with_capacity(json.len() + grown);
        let mut from = 0;
        for (range, with) in &self.0 {
            out.push_str(json.get(from..range.start).unwrap_or_default());
            out.push_str(with);
            from = range.end;
        }
        out.push_str(json.get(from..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(json: &str) -> Vec<(Kind, &str)> {
        Tokens::new(json).map(|t| (t.kind, &json[t.range()])).collect()
    }

    #[test]
    fn tokens_tell_names_from_values() {
        assert_eq!(
            kinds(r#"{"a":["b",{"c":-1.50}],"d":"e\"f","g":null}"#),
            [
                (Kind::ObjectStart, "{"),
                (Kind::Name, "\"a\""),
                (Kind::ArrayStart, "["),
                (Kind::Text, "\"b\""),
                (Kind::ObjectStart, "{"),
                (Kind::Name, "\"c\""),
                (Kind::Bare, "-1.50"),
                (Kind::ObjectEnd, "}"),
                (Kind::ArrayEnd, "]"),
                (Kind::Name, "\"d\""),
                (Kind::Text, r#""e\"f""#),
                (Kind::Name, "\"g\""),
                (Kind::Bare, "null"),
                (Kind::ObjectEnd, "}"),
            ]
        );
        assert_eq!(kinds(r#""only""#), [(Kind::Text, "\"only\"")]);
    }

    #[test]
    fn members_go_with_their_comma() {
        let check = |json: &str, expected: &str| {
            let mut edits = Edits::default();
            let tokens: Vec<_> = Tokens::new(json).collect();
            for pair in tokens.windows(2) {
                if pair[0].kind == Kind::Name && raw(json, &pair[0]).starts_with('x') {
                    edits.remove_member(json, &pair[0], pair[1].end);
                }
            }
            assert_eq!(edits.apply(json), expected, "{json}");
        };
        check(r#"{"x":1}"#, "{}");
        check(r#"{"x":1,"a":2}"#, r#"{"a":2}"#);
        check(r#"{"a":2,"x":1}"#, r#"{"a":2}"#);
        check(r#"{"a":2,"x":1,"b":3}"#, r#"{"a":2,"b":3}"#);
        check(r#"{"x":1,"x2":2,"a":2}"#, r#"{"a":2}"#);
        check(r#"{"a":2,"x":1,"x2":2}"#, r#"{"a":2}"#);
        check(r#"{"x":1,"x2":2}"#, "{}");
        check(r#"{"x":1,"a":0,"x2":2}"#, r#"{"a":0}"#);
    }

    #[test]
    fn broken_text_ends_without_a_panic() {
        for text in ["\"abc", "\"a\\", "{\"a", "}}}}", "]", "{,,:::", "\u{e9}\"\u{e9}"] {
            assert!(Tokens::new(text).count() < 10, "{text}");
        }
    }
}
