//! Owns JSON as text: bounded, minified, otherwise as given.
//!
//! A payload stays the text it came as. Member order, number spelling (`1.10`, `9007199254740993`) and unknown
//! members survive; only white space between tokens goes, and a lone surrogate escape, which no strict parser
//! accepts, becomes U+FFFD.
//!
//! Next: [`record`](crate::EventDraft), which carries such texts.

mod members;
pub(crate) mod strings;

pub use members::Members;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 100;

/// Why a text is refused as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is not JSON.
    #[error("not valid JSON: {detail}")]
    Syntax {
        /// What is wrong and where.
        detail: String,
    },
    /// Arrays and objects nest deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// A valid, minified JSON text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonText(Arc<str>);

/// What [`JsonText::parse`] had to change beyond white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repairs {
    /// Lone surrogate escapes that became U+FFFD.
    pub lone_surrogates: usize,
}

impl JsonText {
    /// Checks and minifies a JSON text.
    ///
    /// # Errors
    /// The text is not JSON or nests too deep.
    pub fn parse(text: &str) -> Result<(Self, Repairs), JsonError> {
        let (minified, repairs) = minify(text)?;
        // The scan above bounds the depth; this checks the grammar.
        serde_json::from_str::<&RawValue>(&minified)
            .map_err(|e| JsonError::Syntax { detail: e.to_string() })?;
        Ok((Self(minified.into()), repairs))
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// The value cannot be written as JSON (a map with keys that are no strings).
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        let text = serde_json::to_string(value)
            .map_err(|e| JsonError::Syntax { detail: e.to_string() })?;
        Ok(Self(text.into()))
    }

    /// `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// Takes text that has been checked before, such as text from a frame whose CRC held.
    pub(crate) fn trusted(text: Arc<str>) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the text into a type.
    ///
    /// # Errors
    /// The text has another shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// True when both are equal as JSON values, with numbers compared as written and members in any order.
    #[must_use]
    pub fn same_value(&self, other: &Self) -> bool {
        self.0 == other.0 || matches!((self.value(), other.value()), (Some(a), Some(b)) if a == b)
    }

    fn value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.0).ok()
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for JsonText {
    /// Writes the text itself into JSON, not a string that contains it; into a binary form the text as a string.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_str(&self.0);
        }
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            return Self::parse(&text).map(|(text, _)| text).map_err(serde::de::Error::custom);
        }
        // The grammar has been checked by whoever found where the value ends.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let (minified, _) = minify(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self(minified.into()))
    }
}

impl JsonSchema for JsonText {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Removes white space between tokens, replaces lone surrogate escapes, bounds the depth. Does not check the grammar.
fn minify(text: &str) -> Result<(Cow<'_, str>, Repairs), JsonError> {
    let bytes = text.as_bytes();
    let mut out: Option<String> = None; // starts to exist at the first change
    let mut repairs = Repairs::default();
    let mut copied = 0; // everything before this is in `out`, or unchanged
    let mut depth = 0_usize;
    let mut at = 0;
    let change =
        |out: &mut Option<String>, copied: &mut usize, from: usize, to: usize, with: &str| {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(text.get(*copied..from).unwrap_or_default());
            out.push_str(with);
            *copied = to;
        };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at, |lone| {
                    change(&mut out, &mut copied, lone, lone + 6, "\\ufffd");
                    repairs.lone_surrogates += 1;
                })?;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                let run = bytes.get(at..).unwrap_or_default();
                let len =
                    run.iter().take_while(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t')).count();
                change(&mut out, &mut copied, at, at + len, "");
                at += len;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(JsonError::TooDeep);
                }
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            _ => at += 1,
        }
    }
    match out {
        None => Ok((Cow::Borrowed(text), repairs)),
        Some(mut out) => {
            out.push_str(text.get(copied..).unwrap_or_default());
            // White space between two bare tokens is the one place where removing it would join them (`1 2`).
            // The grammar check then sees `12`, so it has to be refused here.
            if joins_bare_tokens(text) {
                return Err(JsonError::Syntax {
                    detail: "two values without a comma between them".into(),
                });
            }
            Ok((Cow::Owned(out), repairs))
        }
    }
}

/// The place behind the string that begins at `from`; tells where escapes of lone surrogates are.
fn string_end(
    bytes: &[u8],
    from: usize,
    mut lone_surrogate: impl FnMut(usize),
) -> Result<usize, JsonError> {
    let mut end = from + 1;
    loop {
        let rest = bytes.get(end..).unwrap_or_default();
        let Some(step) = memchr::memchr2(b'"', b'\\', rest) else {
            return Err(JsonError::Syntax {
                detail: format!("string at byte {from} does not end"),
            });
        };
        end += step;
        if bytes.get(end) == Some(&b'"') {
            return Ok(end + 1);
        }
        match escape_at(bytes, end) {
            Escape::Plain(len) => end += len,
            Escape::LoneSurrogate => {
                lone_surrogate(end);
                end += 6;
            }
        }
    }
}

/// True when white space outside strings stands between two characters that would merge into one token.
fn joins_bare_tokens(text: &str) -> bool {
    let bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
    let (mut in_string, mut escaped) = (false, false);
    let (mut last, mut gap) = (b'\0', false);
    for &byte in text.as_bytes() {
        if in_string {
            match (escaped, byte) {
                (true, _) => escaped = false,
                (false, b'\\') => escaped = true,
                (false, b'"') => in_string = false,
                (false, _) => {}
            }
            continue;
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => gap = true,
            _ => {
                if gap && bare(last) && bare(byte) {
                    return true;
                }
                in_string = byte == b'"';
                (last, gap) = (byte, false);
            }
        }
    }
    false
}

enum Escape {
    /// An escape that may stay, this many bytes long (a surrogate pair counts as one).
    Plain(usize),
    /// Six bytes `\uXXXX` that are half of a pair without the other half.
    LoneSurrogate,
}

fn escape_at(bytes: &[u8], at: usize) -> Escape {
    match unit_at(bytes, at) {
        None => Escape::Plain(2), // `\n`, or a broken one, which the grammar check names
        Some(unit) if (0xD800..0xDC00).contains(&unit) => match unit_at(bytes, at + 6) {
            Some(low) if (0xDC00..0xE000).contains(&low) => Escape::Plain(12),
            _ => Escape::LoneSurrogate,
        },
        Some(unit) if (0xDC00..0xE000).contains(&unit) => Escape::LoneSurrogate,
        Some(_) => Escape::Plain(6),
    }
}

/// The UTF-16 unit of a `\uXXXX` escape at `at`.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (JsonText::parse(text), expected) {
            (Ok((json, _)), Ok(want)) => assert_eq!(json.as_str(), want, "{text:?}"),
            (Err(e), Err(want)) => assert!(e.to_string().contains(want), "{text:?}: {e}"),
            (got, want) => panic!("{text:?}: {got:?}, expected {want:?}"),
        }
    }

    #[test]
    fn minifies_and_keeps_everything_else() {
        check(
            r#" { "b" : 1.10 , "a": [ 9007199254740993, 1e400 ] } "#,
            Ok(r#"{"b":1.10,"a":[9007199254740993,1e400]}"#),
        );
        check(r#"{"a":1,"a":2}"#, Ok(r#"{"a":1,"a":2}"#));
        check(r#""  \" two  ""#, Ok(r#""  \" two  ""#));
        check("\"\\ud83d\\ude00 \\ud83d x \\ude00\"", Ok("\"\\ud83d\\ude00 \\ufffd x \\ufffd\""));
    }

    #[test]
    fn refuses_what_is_not_json_or_too_deep() {
        check("", Err("not valid JSON"));
        check("1 2", Err("not valid JSON"));
        check("[1 2]", Err("not valid JSON"));
        check("\"abc", Err("does not end"));
        check("{\"a\":\"\\x\"}", Err("not valid JSON"));
        check(&"[".repeat(100_000), Err("nested deeper"));
        check(
            &format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH)),
            Ok(&format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))),
        );
    }

    #[test]
    fn equality_is_by_value_with_numbers_as_written() {
        let same = |a: &str, b: &str| {
            JsonText::parse(a).unwrap().0.same_value(&JsonText::parse(b).unwrap().0)
        };
        assert!(same(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#));
        assert!(!same("1.0", "1"));
        assert!(!same("[1,2]", "[2,1]"));
    }

    proptest! {
        #[test]
        fn minifying_never_changes_the_value(value in any_json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let (json, repairs) = JsonText::parse(&pretty).unwrap();
            prop_assert_eq!(repairs, Repairs::default());
            prop_assert_eq!(json.as_str(), serde_json::to_string(&value).unwrap());
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            let _ = JsonText::parse(&text);
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::hash_map(".{0,6}", inner, 0..4)
                    .prop_map(|m| serde_json::Value::Object(m.into_iter().collect())),
            ]
        })
    }
}
