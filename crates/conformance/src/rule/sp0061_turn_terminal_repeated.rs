//! SP0061: a turn ends once.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::meaning;

pub(super) struct TurnTerminalRepeated;

impl Rule for TurnTerminalRepeated {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0061",
            code: "turn_terminal_repeated",
            severity: Severity::Error,
            demand: "a turn ends once",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(turn) = &look.subject.event.draft.scope.turn_id else { return };
        if meaning::ends_turn(look.subject) && look.stream.has_ended(turn) {
            out.add("turnId", format!("{turn} has ended before"));
        }
    }
}
