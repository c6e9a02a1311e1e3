//! SP0034: a failed tool call says what went wrong.

use event_spine::Event;
use event_spine::event::family::ToolEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ToolFailureUnexplained;

impl Rule for ToolFailureUnexplained {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0034",
            code: "tool_failure_unexplained",
            severity: Severity::Degraded,
            demand: "tool.failed carries a failure category and an error",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(ToolEvent::ToolFailed(failed))) = look.subject.decoded() else { return };
        if failed.failure_category.trim().is_empty() {
            out.add("payload.failureCategory", "tool.failed with an empty failure category");
        }
        if failed.error.as_deref().is_none_or(|error| error.trim().is_empty()) {
            out.add("payload.error", "tool.failed without an error text");
        }
    }
}
