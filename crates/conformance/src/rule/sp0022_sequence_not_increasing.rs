//! SP0022: sequence numbers only grow.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct SequenceNotIncreasing;

impl Rule for SequenceNotIncreasing {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0022",
            code: "sequence_not_increasing",
            severity: Severity::Error,
            demand: "within one stream the sequence only grows",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let (Some(last), Some(sequence)) =
            (look.stream.last_sequence, look.subject.event.sequence)
        else {
            return;
        };
        if sequence <= last {
            out.add("sequence", format!("{sequence} comes after {last}"));
        }
    }
}
