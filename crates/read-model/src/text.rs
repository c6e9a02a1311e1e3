//! Owns a text that grows and stays bounded: all of it while it is short, head and tail with a count once it is not.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text of a view. In JSON a string while it is whole, and `{"head", "omittedBytes", "tail", "digest"}` once the
/// middle had to go; the whole of it is in the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    head: String,
    cut: Option<Box<Cut>>,
}

/// What is kept of the bytes after the head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cut {
    omitted: u64,
    tail: String,
    /// Over every byte after the head, so that a final text can be compared with one that was not kept.
    digest: u64,
}

impl Text {
    /// A text, cut to `limit` bytes.
    #[must_use]
    pub fn new(text: &str, limit: usize) -> Self {
        let mut new = Self::default();
        new.push(text, limit);
        new
    }

    /// Appends a piece. Beyond `limit` bytes the first and the last half of it are kept.
    pub fn push(&mut self, piece: &str, limit: usize) {
        let Some(cut) = &mut self.cut else {
            if self.head.len() + piece.len() <= limit {
                self.head.push_str(piece);
                return;
            }
            let keep = floor(&self.head, limit / 2);
            let mut rest = self.head.split_off(keep);
            if rest.is_empty() {
                let more = floor(piece, (limit / 2).saturating_sub(self.head.len()));
                let (fits, beyond) = piece.split_at_checked(more).unwrap_or(("", piece));
                self.head.push_str(fits);
                rest.push_str(beyond);
            } else {
                rest.push_str(piece);
            }
            self.head.shrink_to_fit();
            let mut cut = Cut { omitted: 0, tail: String::new(), digest: DIGEST_START };
            cut.push(&rest, limit);
            self.cut = Some(Box::new(cut));
            return;
        };
        cut.push(piece, limit);
    }

    /// Puts another text in its place.
    pub fn set(&mut self, text: &str, limit: usize) {
        *self = Self::new(text, limit);
    }

    /// True when this is what `text` would be kept as.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        let Some(cut) = &self.cut else {
            return self.head == text;
        };
        let Some(rest) = text.strip_prefix(self.head.as_str()) else {
            return false;
        };
        rest.len() as u64 == cut.omitted + cut.tail.len() as u64
            && digest(DIGEST_START, rest) == cut.digest
    }

    /// True when there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.cut.is_none()
    }

    /// Length of the whole text in bytes, with what is not kept.
    #[must_use]
    pub fn len(&self) -> u64 {
        let rest = self.cut.as_ref().map_or(0, |cut| cut.omitted + cut.tail.len() as u64);
        self.head.len() as u64 + rest
    }

    /// The text, if all of it is here.
    #[must_use]
    pub fn whole(&self) -> Option<&str> {
        self.cut.is_none().then_some(self.head.as_str())
    }

    /// The beginning, which is all of it for a short text.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Bytes between head and tail that are not kept here.
    #[must_use]
    pub fn omitted_bytes(&self) -> u64 {
        self.cut.as_ref().map_or(0, |cut| cut.omitted)
    }

    /// The end, when it is not part of the head.
    #[must_use]
    pub fn tail(&self) -> &str {
        self.cut.as_ref().map_or("", |cut| &cut.tail)
    }

    /// Bytes that are kept.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.head.len() + self.tail().len()
    }
}

impl Cut {
    fn push(&mut self, piece: &str, limit: usize) {
        self.digest = digest(self.digest, piece);
        // The tail may grow to a quarter more than its half before it is cut, so that cutting costs little per byte.
        let (keep, slack) = (limit / 2, limit / 8);
        let last = piece.get(ceil(piece, piece.len().saturating_sub(keep))..).unwrap_or_default();
        self.omitted += (piece.len() - last.len()) as u64;
        if last.len() < piece.len() {
            self.omitted += self.tail.len() as u64;
            self.tail.clear();
        }
        self.tail.push_str(last);
        if self.tail.len() > keep + slack {
            let from = ceil(&self.tail, self.tail.len() - keep);
            self.omitted += from as u64;
            self.tail.drain(..from);
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text, usize::MAX)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cut {
            None => f.pad(&self.head),
            Some(cut) => {
                write!(f, "{}\n[… {} bytes left out …]\n{}", self.head, cut.omitted, cut.tail)
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CutJson<'a> {
    head: std::borrow::Cow<'a, str>,
    omitted_bytes: u64,
    tail: std::borrow::Cow<'a, str>,
    digest: String,
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let cut = self.cut.as_ref().map(|cut| (cut.omitted, cut.tail.as_str(), cut.digest));
            return (self.head.as_str(), cut).serialize(serializer);
        }
        match &self.cut {
            None => serializer.serialize_str(&self.head),
            Some(cut) => CutJson {
                head: self.head.as_str().into(),
                omitted_bytes: cut.omitted,
                tail: cut.tail.as_str().into(),
                digest: format!("{:016x}", cut.digest),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> serde::de::Visitor<'de> for TextVisitor {
            type Value = Text;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a text with its middle left out")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text { head: text.to_owned(), cut: None })
            }
            fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Text, E> {
                Ok(Text { head: text, cut: None })
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
                let json = CutJson::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let digest =
                    u64::from_str_radix(&json.digest, 16).map_err(serde::de::Error::custom)?;
                Ok(Text {
                    head: json.head.into_owned(),
                    cut: Some(Box::new(Cut {
                        omitted: json.omitted_bytes,
                        tail: json.tail.into_owned(),
                        digest,
                    })),
                })
            }
        }
        if !deserializer.is_human_readable() {
            let (head, cut) = <(String, Option<(u64, String, u64)>)>::deserialize(deserializer)?;
            let cut = cut.map(|(omitted, tail, digest)| Box::new(Cut { omitted, tail, digest }));
            return Ok(Self { head, cut });
        }
        deserializer.deserialize_any(TextVisitor)
    }
}

/// FNV-1a. It only has to tell texts apart that claim to be the same one; it grows by pieces and fits in a checkpoint.
const DIGEST_START: u64 = 0xcbf2_9ce4_8422_2325;

fn digest(start: u64, text: &str) -> u64 {
    text.bytes()
        .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The last character border at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The first character border at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn growing_by_pieces_keeps_the_ends_and_the_count(
            pieces in prop::collection::vec("[a-zäß你🌍]{0,9}", 0..40), limit in 16_usize..64,
        ) {
            let all = pieces.concat();
            let mut text = Text::default();
            for piece in &pieces {
                text.push(piece, limit);
                prop_assert!(text.kept_bytes() <= limit + limit / 4);
            }
            prop_assert_eq!(text.len(), all.len() as u64);
            prop_assert!(all.starts_with(text.head()));
            prop_assert!(all.ends_with(text.tail()));
            prop_assert!(text.is(&all));
            let longer = format!("{all}x");
            prop_assert!(!text.is(&longer));
            prop_assert_eq!(text.omitted_bytes() == 0, text.whole().is_some());
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Text>(&json).unwrap(), &text);
            let binary = postcard::to_stdvec(&text).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Text>(&binary).unwrap(), text);
        }

        #[test]
        fn a_change_in_the_part_that_is_gone_is_seen(at in 20_usize..180) {
            let all = "x".repeat(200);
            let text = Text::new(&all, 32);
            let mut other = all.clone();
            other.replace_range(at..=at, "y");
            prop_assert!(!text.is(&other));
        }
    }

    #[test]
    fn a_short_text_is_a_string_in_json() {
        assert_eq!(serde_json::to_string(&Text::from("hello")).unwrap(), "\"hello\"");
        let long = Text::new(&"ab".repeat(20), 8);
        assert_eq!(
            serde_json::to_string(&long).unwrap(),
            r#"{"head":"abab","omittedBytes":32,"tail":"abab","digest":"8345e8eb3545f3a9"}"#
        );
    }
}
