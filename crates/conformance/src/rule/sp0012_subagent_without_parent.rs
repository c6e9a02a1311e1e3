//! SP0012: a sub-agent says who started it.

use event_spine::Event;
use event_spine::event::family::TaskEvent;
use event_spine::event::{Entity, Pairing};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct SubagentWithoutParent;

impl Rule for SubagentWithoutParent {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0012",
            code: "subagent_without_parent",
            severity: Severity::Degraded,
            demand: "a sub-agent names the task, sub-agent or tool call that started it, or the turn it belongs to",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.pairing() != Pairing::Opens(Entity::Subagent) {
            return;
        }
        let scope = &look.subject.event.draft.scope;
        let by_scope = ["parentTaskId", "taskId", "turnId", "toolCallId"];
        let by_payload = matches!(
            look.subject.decoded(),
            Some(Event::Task(TaskEvent::SubagentStarted(started)))
                if started.parent_subagent_id.is_some() || started.parent_tool_call_id.is_some()
        );
        if !by_payload && by_scope.iter().all(|name| scope.get(name).is_none()) {
            out.add("parentTaskId", "nothing says what the sub-agent belongs to; it is shown unplaced");
        }
    }
}
