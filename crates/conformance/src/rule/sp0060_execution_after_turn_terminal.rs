//! SP0060: when a turn has ended, its work has.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::meaning;

pub(super) struct ExecutionAfterTurnTerminal;

impl Rule for ExecutionAfterTurnTerminal {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0060",
            code: "execution_after_turn_terminal",
            severity: Severity::Error,
            demand: "nothing of a turn's execution follows its end",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(turn) = &look.subject.event.draft.scope.turn_id else { return };
        if look.subject.decoded().is_some_and(meaning::is_execution) && look.stream.has_ended(turn) {
            out.add("turnId", format!("{turn} has ended, and {} follows", look.subject.type_name()));
        }
    }
}
