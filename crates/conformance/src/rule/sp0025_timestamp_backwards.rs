//! SP0025: the clock of a source may step back; order is by sequence.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct TimestampBackwards;

impl Rule for TimestampBackwards {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0025",
            code: "timestamp_backwards",
            severity: Severity::Note,
            demand: "the producer's clock does not step back; where it does, order stays that of the sequence",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let now = look.subject.event.draft.timestamp.micros().filter(|_| look.subject.has_time);
        if let (Some(before), Some(now)) = (look.stream.last_micros, now)
            && now < before
        {
            let seconds = (before - now) as f64 / 1_000_000.0;
            out.add("timestamp", format!("the clock stepped back by {seconds} s"));
        }
    }
}
