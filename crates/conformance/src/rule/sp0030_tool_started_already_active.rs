//! SP0030: a tool call that runs does not start again.

use event_spine::Event;
use event_spine::event::family::ToolEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ToolStartedAlreadyActive;

impl Rule for ToolStartedAlreadyActive {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0030",
            code: "tool_started_already_active",
            severity: Severity::Error,
            demand: "a tool call that runs does not start again",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(ToolEvent::ToolStarted(_))) = look.subject.decoded() else { return };
        if let Some((call, tool)) = look.open_tool() {
            out.add("toolCallId", format!("{call} runs already, since {}", tool.since));
        }
    }
}
