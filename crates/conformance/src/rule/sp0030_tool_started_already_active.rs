//! SP0030: a tool call that runs does not start again.

use event_spine::event::family::tool::ToolStarted;

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
        if look.subject.is::<ToolStarted>()
            && let Some((call, tool)) = look.open_tool()
        {
            out.add("toolCallId", format!("{call} runs already, since {}", tool.since));
        }
    }
}
