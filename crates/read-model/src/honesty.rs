//! Owns the words for what is not known, as types: a view never says 0 or "" where it means "nobody told us".
//!
//! In JSON a known value stands as itself and a missing one as its word, so `"input": 1200` and `"input": "unknown"`
//! read as what they mean.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Why a value is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// The facts do not say.
    Unknown,
    /// This source or this build does not provide it.
    Unavailable,
    /// The question has no meaning here.
    NotApplicable,
    /// It needs a permission, a credential, a quota, a network, a context or a person first.
    Blocked,
}

impl Absence {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unavailable => "unavailable",
            Self::NotApplicable => "not_applicable",
            Self::Blocked => "blocked",
        }
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A value, or the reason why there is none.
///
/// ```
/// use read_model::{Absence, Known};
///
/// let input = Known::Is(1200_u64);
/// let output: Known<u64> = Known::Not(Absence::Unknown);
/// assert_eq!(serde_json::to_string(&(input, output)).unwrap(), r#"[1200,"unknown"]"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Known<T> {
    /// The value.
    Is(T),
    /// The value as it was; it may be out of date. `{"stale": value}` in JSON.
    Stale(T),
    /// No value.
    Not(Absence),
}

/// Values whose JSON form is no string, so that the word for a missing one cannot be mistaken for a value.
pub trait NotText {}

macro_rules! not_text {
    ($($ty:ty),*) => { $( impl NotText for $ty {} )* };
}
not_text!(u8, u16, u32, u64, usize, i8, i16, i32, i64, f64, bool);
impl<T> NotText for Vec<T> {}

impl<T> Known<T> {
    /// Nobody said.
    pub const UNKNOWN: Self = Self::Not(Absence::Unknown);

    /// The value, if it is known and current.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Stale(_) | Self::Not(_) => None,
        }
    }

    /// True when there is a current value.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Is(_))
    }
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl<T> From<Option<T>> for Known<T> {
    /// What the source left out is unknown.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::UNKNOWN, Self::Is)
    }
}

impl<T: fmt::Display> fmt::Display for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => value.fmt(f),
            Self::Stale(value) => write!(f, "{value} (stale)"),
            Self::Not(absence) => absence.fmt(f),
        }
    }
}

/// The binary form: a variant and its value, since such forms do not say what they hold.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Known")]
enum Tagged<T> {
    Is(T),
    Stale(T),
    Not(Absence),
}

impl<T: Serialize + NotText> Serialize for Known<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let tagged = match self {
                Self::Is(value) => Tagged::Is(value),
                Self::Stale(value) => Tagged::Stale(value),
                Self::Not(absence) => Tagged::Not(*absence),
            };
            return tagged.serialize(serializer);
        }
        match self {
            Self::Is(value) => value.serialize(serializer),
            Self::Stale(value) => serializer.collect_map([("stale", value)]),
            Self::Not(absence) => absence.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned + NotText> Deserialize<'de> for Known<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(match Tagged::<T>::deserialize(deserializer)? {
                Tagged::Is(value) => Self::Is(value),
                Tagged::Stale(value) => Self::Stale(value),
                Tagged::Not(absence) => Self::Not(absence),
            });
        }
        // By way of a JSON value: numbers are kept as written here, which serde's own "any" does not carry.
        let value = |v: Value| serde_json::from_value(v).map_err(serde::de::Error::custom);
        Ok(match Value::deserialize(deserializer)? {
            word @ Value::String(_) => {
                Self::Not(serde_json::from_value(word).map_err(serde::de::Error::custom)?)
            }
            Value::Object(mut members) => match members.remove("stale") {
                Some(stale) => Self::Stale(value(stale)?),
                None => Self::Is(value(Value::Object(members))?),
            },
            other => Self::Is(value(other)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_forms_round_trip() {
        let check = |value: Known<u64>, json: &str| {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<Known<u64>>(json).unwrap(), value);
            let binary = postcard::to_stdvec(&value).unwrap();
            assert_eq!(postcard::from_bytes::<Known<u64>>(&binary).unwrap(), value);
        };
        check(Known::Is(0), "0");
        check(Known::Is(u64::MAX), "18446744073709551615");
        check(Known::Stale(7), r#"{"stale":7}"#);
        check(Known::UNKNOWN, "\"unknown\"");
        check(Known::Not(Absence::NotApplicable), "\"not_applicable\"");
        check(Known::Not(Absence::Unavailable), "\"unavailable\"");
        check(Known::Not(Absence::Blocked), "\"blocked\"");
        assert!(serde_json::from_str::<Known<u64>>("\"zero\"").is_err());
        let list: Known<Vec<u8>> = serde_json::from_str("[1,2]").unwrap();
        assert_eq!(list, Known::Is(vec![1, 2]));
    }
}
