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
        let category = failed.failure_category.trim();
        if category.is_empty() {
            out.add("payload.failureCategory", "tool.failed with an empty failure category");
        }
        // What was cut off or called off has no error of its own.
        let no_error = ["interrupted", "incomplete", "cancelled", "canceled"].contains(&category);
        if !no_error && failed.error.as_deref().is_none_or(|error| error.trim().is_empty()) {
            out.add("payload.error", "tool.failed without an error text");
        }
    }
}
