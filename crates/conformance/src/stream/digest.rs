//! Owns the short digests by which a stream recognises what it has had.
//!
//! They are for recognising, not for proving: 64 bits, or 32 where only a repeat has to be told from its opposite.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use event_spine::{EventDraft, JsonText};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Digest of a value.
pub(crate) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Digest of what an event states, the same for payloads that are equal as JSON values.
pub(crate) fn fact(draft: &EventDraft) -> u64 {
    let json = |text: Option<&JsonText>| text.map(|text| content(text.as_str()));
    hash(&(
        (draft.event_type.name(), &draft.scope, draft.timestamp.as_str()),
        (&*draft.schema_version, draft.runtime_id.as_str()),
        (content(draft.payload.as_str()), json(draft.refs.as_json()), json(draft.extra.as_ref())),
    ))
}

fn content(json: &str) -> u64 {
    serde_json::from_str::<Digest>(json).map_or_else(|_| hash(json), |digest| digest.0)
}

/// Digest of a JSON value that does not depend on the order of members, made while reading, without a tree.
struct Digest(u64);

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DigestVisitor)
    }
}

struct DigestVisitor;

impl<'de> Visitor<'de> for DigestVisitor {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Digest, E> {
        Ok(Digest(hash(&value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Digest, E> {
        Ok(Digest(hash(&value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Digest, E> {
        Ok(Digest(hash(&value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Digest, E> {
        Ok(Digest(hash(&value.to_bits())))
    }

    fn visit_str<E>(self, value: &str) -> Result<Digest, E> {
        Ok(Digest(hash(value)))
    }

    fn visit_unit<E>(self) -> Result<Digest, E> {
        Ok(Digest(hash("null")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Digest, A::Error> {
        let mut hasher = DefaultHasher::new();
        while let Some(Digest(item)) = seq.next_element()? {
            hasher.write_u64(item);
        }
        Ok(Digest(hasher.finish()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digest, A::Error> {
        let mut sum = hash("{}");
        while let Some((key, Digest(value))) = map.next_entry::<String, Digest>()? {
            sum = sum.wrapping_add(hash(&(key, value)));
        }
        Ok(Digest(sum))
    }
}

/// Strings of a payload that have at least `bytes` bytes, with the path of each.
pub(crate) fn large_strings(payload: &JsonText, bytes: usize) -> Vec<(String, String)> {
    // Escapes only lengthen, so a text that short holds no such string.
    if payload.as_str().len() < bytes {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Ok(value) = payload.read::<Value>() {
        collect(&value, "payload".to_owned(), bytes, &mut found);
    }
    found
}

fn collect(value: &Value, path: String, bytes: usize, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if text.len() >= bytes => found.push((path, text.clone())),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, format!("{path}.{at}"), bytes, found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect(member, format!("{path}.{name}"), bytes, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_members_does_not_matter_and_all_else_does() {
        let same = |a: &str, b: &str| content(a) == content(b);
        assert!(same(
            r#"{"a":[1,{"x":"y","z":null}],"b":true}"#,
            r#"{"b":true,"a":[1,{"z":null,"x":"y"}]}"#
        ));
        for (a, b) in [
            ("[1,2]", "[2,1]"),
            ("1", "1.0"),
            (r#""1""#, "1"),
            (r#"{"a":1}"#, r#"{"a":2}"#),
            ("{}", "[]"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert!(same("9007199254740993", "9007199254740993"));
        assert!(!same("9007199254740993", "9007199254740992"));
    }

    #[test]
    fn large_strings_are_found_wherever_they_stand() {
        let (payload, _) = JsonText::parse(r#"{"a":["xxxx",{"b":"yyyyy"}],"c":"z"}"#).unwrap();
        let found = large_strings(&payload, 4);
        assert_eq!(
            found,
            [
                ("payload.a.0".to_owned(), "xxxx".to_owned()),
                ("payload.a.1.b".to_owned(), "yyyyy".to_owned())
            ]
        );
    }
}
