//! SP0041: an answer belongs to a request that waits.

use event_spine::event::{Entity, Pairing};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ActionResolvedWithoutRequest;

impl Rule for ActionResolvedWithoutRequest {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0041",
            code: "action_resolved_without_request",
            severity: Severity::Error,
            demand: "action.resolved, action.cancelled and action.expired close a request that waits",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.pairing() != Pairing::Closes(Entity::Action) {
            return;
        }
        let scope = &look.subject.event.draft.scope;
        let after_end = scope.turn_id.as_ref().is_some_and(|turn| look.stream.has_ended(turn));
        if let Some(id) = &scope.action_id
            && !look.stream.actions.contains_key(id)
            && !after_end
        {
            out.add_as(look.no_start(), "actionId", format!("{id} does not wait for an answer"));
        }
    }
}
