//! Owns time and randomness as values that are passed in: nothing in the libraries reads a clock or an entropy source.
//!
//! Two times are kept apart: the producer's [`Timestamp`], kept as the text it was given, and the log's own
//! [`RecordedAt`]. Neither decides order; the sequence does.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The producer's time, verbatim. RFC 3339 by contract, but a bad time never costs the event: it is kept as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Timestamp(Arc<str>);

impl Timestamp {
    /// Keeps a text as a timestamp, whatever it says.
    #[must_use]
    pub fn verbatim(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Microseconds since 1970 UTC, or `None` when the text is not an RFC 3339 time.
    #[must_use]
    pub fn micros(&self) -> Option<i64> {
        self.0.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.into()))
    }
}

impl From<RecordedAt> for Timestamp {
    fn from(at: RecordedAt) -> Self {
        Self(at.to_string().into())
    }
}

/// When the log took an event, in microseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RecordedAt(pub i64);

impl fmt::Display for RecordedAt {
    /// RFC 3339 in UTC with exactly six fraction digits: one spelling for one instant, since it is hashed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        write!(f, "{at:.6}")
    }
}

impl std::str::FromStr for RecordedAt {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<jiff::Timestamp>()?.as_microsecond()))
    }
}

impl Serialize for RecordedAt {
    /// Writes the text for people; into a binary form the microseconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_i64(self.0);
        }
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordedAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return i64::deserialize(deserializer).map(Self);
        }
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Tells the log's time.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> RecordedAt;
}

/// Gives random bytes: salts and minted ids.
pub trait Entropy: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// A clock that starts at a given time and moves a fixed step at every reading; for tests and replays.
#[derive(Debug)]
pub struct SteppingClock {
    next: AtomicI64,
    step: i64,
}

impl SteppingClock {
    /// Starts at `start` and adds `step_micros` after each reading.
    #[must_use]
    pub fn new(start: RecordedAt, step_micros: i64) -> Self {
        Self { next: AtomicI64::new(start.0), step: step_micros }
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> RecordedAt {
        RecordedAt(self.next.fetch_add(self.step, Ordering::Relaxed))
    }
}

/// Bytes from a seed: the same seed gives the same bytes in the same order; for tests and replays.
#[derive(Debug)]
pub struct SeededEntropy {
    seed: [u8; 32],
    drawn: AtomicU64,
}

impl SeededEntropy {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed: *blake3::hash(&seed.to_le_bytes()).as_bytes(), drawn: AtomicU64::new(0) }
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        blake3::Hasher::new_keyed(&self.seed)
            .update(&draw.to_le_bytes())
            .finalize_xof()
            .fill(bytes);
    }
}

/// A ULID of this moment.
pub fn ulid(clock: &dyn Clock, entropy: &dyn Entropy) -> ulid::Ulid {
    let mut random = [0_u8; 16];
    entropy.fill(&mut random);
    let millis = u64::try_from(clock.now().0 / 1000).unwrap_or(0);
    ulid::Ulid::from_parts(millis, u128::from_be_bytes(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_times_have_one_spelling_and_round_trip() {
        for micros in [0, 1, 1_749_463_200_000_000, 1_749_463_200_120_000] {
            let text = RecordedAt(micros).to_string();
            assert_eq!(text.parse::<RecordedAt>().unwrap(), RecordedAt(micros));
            assert_eq!(text.len(), "2025-06-09T10:00:00.000000Z".len(), "{text}");
        }
    }

    #[test]
    fn bad_timestamps_are_kept_and_have_no_micros() {
        assert_eq!(Timestamp::verbatim("yesterday").micros(), None);
        assert_eq!(Timestamp::verbatim("1970-01-01T00:00:01+00:00").micros(), Some(1_000_000));
    }
}
