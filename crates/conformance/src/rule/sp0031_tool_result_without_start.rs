//! SP0031: `tool.result` ends a tool call that had started.

use event_spine::event::family::tool::ToolResult;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct ToolResultWithoutStart;

impl Rule for ToolResultWithoutStart {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0031",
            code: "tool_result_without_start",
            severity: Severity::Error,
            demand: "tool.result ends a tool call that had started and had not ended",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.is::<ToolResult>() {
            look.tool_end_without_start(out);
        }
    }
}
