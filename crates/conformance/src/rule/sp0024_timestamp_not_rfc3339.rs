//! SP0024: a time is an RFC 3339 time.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct TimestampNotRfc3339;

impl Rule for TimestampNotRfc3339 {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0024",
            code: "timestamp_not_rfc3339",
            severity: Severity::Degraded,
            demand: "the timestamp is an RFC 3339 time with its offset",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let timestamp = &look.subject.event.draft.timestamp;
        if look.subject.has_time && timestamp.micros().is_none() {
            out.add("timestamp", format!("{:?} is no RFC 3339 time", timestamp.as_str()));
        }
    }
}
