//! SP0062: a whole stream has the end of each turn.


use super::{Info, Out, Rule};
use crate::finding::Severity;
use crate::stream::Stream;

pub(super) struct TurnUnclosedAtEnd;

impl Rule for TurnUnclosedAtEnd {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0062",
            code: "turn_unclosed_at_end",
            severity: Severity::Error,
            demand: "in a stream that is whole, every turn has ended",
        }
    }

    fn end(&self, stream: &Stream, out: &mut Out<'_>) {
        for (id, turn) in &stream.turns {
            out.add("turnId", format!("{id} never ended, since {}", turn.since));
        }
    }
}
