//! SP0032: `tool.failed` ends a tool call that had started.

use event_spine::event::family::tool::ToolFailed;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ToolFailedWithoutStart;

impl Rule for ToolFailedWithoutStart {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0032",
            code: "tool_failed_without_start",
            severity: Severity::Error,
            demand: "tool.failed ends a tool call that had started and had not ended",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.is::<ToolFailed>() {
            look.tool_end_without_start(out);
        }
    }
}
