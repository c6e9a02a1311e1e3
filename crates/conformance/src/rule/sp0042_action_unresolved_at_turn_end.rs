//! SP0042: a turn does not end over an open question.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::meaning;
use crate::stream::Stream;

pub(super) struct ActionUnresolvedAtTurnEnd;

impl Rule for ActionUnresolvedAtTurnEnd {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0042",
            code: "action_unresolved_at_turn_end",
            severity: Severity::Error,
            demand: "every action.required is resolved, cancelled or expired before its turn ends",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let turn = look.subject.event.draft.scope.turn_id.as_ref();
        if !meaning::ends_turn(look.subject) || turn.is_none() {
            return;
        }
        for (id, action) in look.stream.actions.iter().filter(|(_, a)| a.turn.as_ref() == turn) {
            out.add("actionId", format!("{id} still waits, since {}", action.since));
        }
    }

    fn end(&self, stream: &Stream, out: &mut Out<'_>) {
        for (id, action) in &stream.actions {
            out.add("actionId", format!("{id} was never answered, since {}", action.since));
        }
    }
}
