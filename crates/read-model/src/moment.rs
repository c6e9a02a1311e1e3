//! Owns when something happened: the place in the log, the event, and both times; and how long something took.
//!
//! Order is the sequence's alone. Times are for people; a clock that steps back makes a duration unknown, never
//! negative.

use event_spine::{EventId, RecordedAt, RecordedEvent, Timestamp};
use serde::{Deserialize, Serialize};

use crate::honesty::{Absence, Known};

/// When something happened, and by which event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Place in the session.
    pub sequence: u64,
    /// The event.
    pub event_id: EventId,
    /// The producer's time, as given.
    pub timestamp: Timestamp,
    /// When the log took it.
    pub recorded_at: RecordedAt,
}

impl Moment {
    /// The moment of an event.
    #[must_use]
    pub fn of(event: &RecordedEvent) -> Self {
        Self {
            sequence: event.sequence,
            event_id: event.draft.event_id.clone(),
            timestamp: event.draft.timestamp.clone(),
            recorded_at: event.recorded_at,
        }
    }
}

/// How long something took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elapsed {
    /// Milliseconds; `not_applicable` while it lasts, `unknown` when the times do not say.
    pub ms: Known<u64>,
    /// True when the producer's clock stepped back in between, so that its times say nothing about the duration.
    pub clock_stepped_back: bool,
}

impl Elapsed {
    /// Of something that still lasts.
    pub const OPEN: Self =
        Self { ms: Known::Not(Absence::NotApplicable), clock_stepped_back: false };

    /// By the producer's times.
    #[must_use]
    pub fn between(start: &Timestamp, end: &Timestamp) -> Self {
        let (ms, clock_stepped_back) = match (micros(start), micros(end)) {
            (Some(start), Some(end)) => {
                (lasted_ms(start, end).map_or(Known::UNKNOWN, Known::Is), end < start)
            }
            _ => (Known::UNKNOWN, false),
        };
        Self { ms, clock_stepped_back }
    }

    /// By the producer's times, unless the producer states the duration itself.
    #[must_use]
    pub fn stated_or_between(stated: Option<u64>, start: &Timestamp, end: &Timestamp) -> Self {
        let measured = Self::between(start, end);
        Self { ms: stated.map_or(measured.ms, Known::Is), ..measured }
    }
}

impl Default for Elapsed {
    fn default() -> Self {
        Self::OPEN
    }
}

/// Milliseconds from one time to another, in microseconds; nothing when the clock stepped back. Nothing either for two
/// equal times: sources without times of their own have one for everything, and that is no measurement.
pub(crate) fn lasted_ms(start: i64, end: i64) -> Option<u64> {
    u64::try_from(end.checked_sub(start)?)
        .ok()
        .filter(|micros| *micros > 0)
        .map(|micros| micros / 1000)
}

/// Microseconds since 1970 UTC, or nothing for what is no RFC 3339 time.
///
/// The spelling that nearly every producer writes is read here; every fold reads times, and a full parser takes ten
/// times as long. Everything else goes to the full parser.
pub(crate) fn micros(timestamp: &Timestamp) -> Option<i64> {
    utc_micros(timestamp.as_str().as_bytes()).or_else(|| timestamp.micros())
}

/// Reads `YYYY-MM-DDTHH:MM:SS[.f]Z` with plain values; nothing for anything that needs more thought.
fn utc_micros(text: &[u8]) -> Option<i64> {
    let (date_time, rest) = text.split_first_chunk::<19>()?;
    #[rustfmt::skip]
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2] = *date_time
    else {
        return None;
    };
    let digits = [y1, y2, y3, y4, m1, m2, d1, d2, h1, h2, n1, n2, s1, s2];
    let pair = |tens: u8, ones: u8| i64::from(tens & 15) * 10 + i64::from(ones & 15);
    let (year, month, day) = (pair(y1, y2) * 100 + pair(y3, y4), pair(m1, m2), pair(d1, d2));
    let (hour, minute, second) = (pair(h1, h2), pair(n1, n2), pair(s1, s2));
    let plain = digits.iter().fold(true, |all, digit| all & digit.is_ascii_digit())
        && (1..=12).contains(&month)
        && (1..=28).contains(&day) // the last days of a month go to the full parser
        && hour < 24
        && minute < 60
        && second < 60
        && year >= 1970;
    let fraction = match rest {
        _ if !plain => return None,
        b"Z" => 0,
        [b'.', digits @ .., b'Z'] if (1..=6).contains(&digits.len()) => {
            let mut read = 0;
            for digit in digits {
                read = read * 10 + i64::from(digit.is_ascii_digit().then(|| digit & 15)?);
            }
            let missing = u32::try_from(6 - digits.len()).ok()?;
            read * 10_i64.pow(missing)
        }
        _ => return None,
    };
    // Days since 1970 with the year beginning in March, so that the leap day comes last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_never_negative() {
        let check = |start: &str, end: &str, ms: Known<u64>, stepped: bool| {
            let got = Elapsed::between(&Timestamp::verbatim(start), &Timestamp::verbatim(end));
            assert_eq!((got.ms, got.clock_stepped_back), (ms, stepped), "{start} to {end}");
        };
        let noon = "2026-06-09T12:00:00Z";
        check(noon, "2026-06-09T12:00:01.5Z", Known::Is(1500), false);
        check(noon, noon, Known::UNKNOWN, false);
        check(noon, "2026-06-09T11:55:00Z", Known::UNKNOWN, true);
        check(noon, "soon", Known::UNKNOWN, false);
        check(noon, "2026-06-09T14:00:01+02:00", Known::Is(1000), false);
    }

    proptest! {
        #[test]
        fn the_short_way_reads_what_the_full_parser_reads(
            seconds in 0_i64..4_102_444_800, fraction in 0_i64..1_000_000, digits in 0_usize..8,
        ) {
            let at = RecordedAt(seconds * 1_000_000 + fraction).to_string(); // six fraction digits
            let text = match digits {
                0 => format!("{}Z", at.split('.').next().unwrap()),
                7 => at,
                n => format!("{}Z", &at[..20 + n - 1 + 1]),
            };
            let timestamp = Timestamp::verbatim(text);
            prop_assert_eq!(micros(&timestamp), timestamp.micros(), "{}", timestamp);
        }

        #[test]
        fn nothing_else_is_read(text in "[0-9TZ:.+-]{0,30}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,9})?(Z|[+-]0[0-9]:00)") {
            let timestamp = Timestamp::verbatim(text);
            prop_assert_eq!(micros(&timestamp), timestamp.micros(), "{}", timestamp);
        }
    }
}
