//! SP0023: what is missing from a stream is said to be missing.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct SequenceGap;

/// Types that account for a gap just before them.
const ACCOUNT_FOR_GAPS: &[&str] = &["stream.interrupted", "stream.repaired", "snapshot.updated"];

impl Rule for SequenceGap {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0023",
            code: "sequence_gap",
            severity: Severity::Degraded,
            demand: "a gap in the sequence is filled, or the stream says that it broke off",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let (Some(last), Some(sequence)) =
            (look.stream.last_sequence, look.subject.event.sequence)
        else {
            return;
        };
        let said = look.stream.interrupted || ACCOUNT_FOR_GAPS.contains(&look.subject.type_name());
        if sequence > last + 1 && !said {
            let (from, to) = (last + 1, sequence - 1);
            let what = if from == to { format!("{from} is") } else { format!("{from} to {to} are") };
            out.add("sequence", format!("{what} missing, and nothing says so"));
        }
    }
}
