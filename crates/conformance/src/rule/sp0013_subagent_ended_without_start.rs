//! SP0013: a sub-agent starts before it ends.

use event_spine::event::{Entity, Pairing};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct SubagentEndedWithoutStart;

impl Rule for SubagentEndedWithoutStart {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0013",
            code: "subagent_ended_without_start",
            severity: Severity::Degraded,
            demand: "subagent.completed and subagent.failed end a sub-agent that had started",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.pairing() != Pairing::Closes(Entity::Subagent) {
            return;
        }
        if let Some(id) = &look.subject.event.draft.scope.subagent_id
            && !look.stream.subagents.contains(id)
        {
            out.add("subagentId", format!("{id} had not started"));
        }
    }
}
