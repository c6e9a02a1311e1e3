//! SP0035: `tool.result` is for calls that succeeded.

use event_spine::Event;
use event_spine::event::family::ToolEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::meaning;

pub(super) struct ToolResultNotSuccess;

impl Rule for ToolResultNotSuccess {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0035",
            code: "tool_result_not_success",
            severity: Severity::Error,
            demand: "a tool call that did not succeed ends with tool.failed",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(ToolEvent::ToolResult(result))) = look.subject.decoded() else { return };
        if let Some(status) = result.status.filter(|status| meaning::is_failure(*status)) {
            out.add("payload.status", format!("tool.result with status {status}"));
        }
    }
}
