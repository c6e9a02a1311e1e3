//! Owns times for people: how long something took, how long ago it was, and when it was in the reader's time zone.

use event_spine::RecordedAt;
use jiff::{Timestamp, tz::TimeZone};

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const TWO_DAYS: i64 = 2 * DAY;
const WEEK: i64 = 7 * DAY;
const A_LITTLE_AHEAD: i64 = -MINUTE;

/// A duration in microseconds: `340 µs`, `12 ms`, `1.4 s`, `2 m 05 s`, `3 h 20 m`, `4 d 06 h`. A clock that ran backwards
/// gives `0 s`.
pub(crate) fn lasted(micros: i64) -> String {
    let micros = micros.max(0);
    match micros {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{micros} µs"),
        1_000..SECOND => format!("{} ms", micros / 1_000),
        SECOND..MINUTE => format!("{}.{} s", micros / SECOND, micros % SECOND / 100_000),
        MINUTE..HOUR => format!("{} m {:02} s", micros / MINUTE, micros % MINUTE / SECOND),
        HOUR..DAY => format!("{} h {:02} m", micros / HOUR, micros % HOUR / MINUTE),
        DAY.. => format!("{} d {:02} h", micros / DAY, micros % DAY / HOUR),
        i64::MIN..0 => String::new(),
    }
}

/// How long before `now` it was: `just now`, `5 min ago`, `3 h ago`, `2 days ago`, and the date when it is longer ago.
pub(crate) fn ago(at: RecordedAt, now: RecordedAt) -> String {
    let past = now.0.saturating_sub(at.0);
    match past {
        // A clock that is a little ahead is no news; one that is far ahead shows its time.
        A_LITTLE_AHEAD..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", past / MINUTE),
        HOUR..DAY => format!("{} h ago", past / HOUR),
        DAY..TWO_DAYS => "yesterday".to_owned(),
        TWO_DAYS..WEEK => format!("{} days ago", past / DAY),
        _ => local(at),
    }
}

/// The moment in the reader's time zone, to the minute.
pub(crate) fn local(at: RecordedAt) -> String {
    format(at, "%Y-%m-%d %H:%M")
}

/// The moment in the reader's time zone, to the second.
pub(crate) fn local_exact(at: RecordedAt) -> String {
    format(at, "%Y-%m-%d %H:%M:%S")
}

fn format(at: RecordedAt, pattern: &str) -> String {
    Timestamp::from_microsecond(at.0).map_or_else(
        |_| at.to_string(),
        |at| at.to_zoned_datetime(TimeZone::system()).strftime(pattern).to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let check = |micros, expected| assert_eq!(lasted(micros), expected);
        check(-5, "0 s");
        check(0, "0 s");
        check(340, "340 µs");
        check(12_900, "12 ms");
        check(1_449_000, "1.4 s");
        check(125_000_000, "2 m 05 s");
        check(12_000_000_000, "3 h 20 m");
        check(368_000_000_000, "4 d 06 h");
    }

    #[test]
    fn ages() {
        let now = RecordedAt(1_749_463_200_000_000);
        let check = |past: i64, expected| assert_eq!(ago(RecordedAt(now.0 - past), now), expected);
        check(0, "just now");
        check(-30 * SECOND, "just now");
        check(5 * MINUTE, "5 min ago");
        check(3 * HOUR, "3 h ago");
        check(DAY, "yesterday");
        check(3 * DAY, "3 days ago");
        assert!(ago(RecordedAt(now.0 - 30 * DAY), now).starts_with("2025-05-1"));
        assert!(ago(RecordedAt(now.0 + DAY), now).starts_with("2025-06-1"));
    }
}
