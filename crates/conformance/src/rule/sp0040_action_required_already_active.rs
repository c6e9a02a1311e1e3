//! SP0040: an action that waits is not asked for again.

use event_spine::event::{Entity, Pairing};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ActionRequiredAlreadyActive;

impl Rule for ActionRequiredAlreadyActive {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0040",
            code: "action_required_already_active",
            severity: Severity::Error,
            demand: "an action that waits for its answer is not asked for again",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.pairing() != Pairing::Opens(Entity::Action) {
            return;
        }
        if let Some(id) = &look.subject.event.draft.scope.action_id
            && let Some(action) = look.stream.actions.get(id)
        {
            out.add("actionId", format!("{id} waits already, since {}", action.since));
        }
    }
}
