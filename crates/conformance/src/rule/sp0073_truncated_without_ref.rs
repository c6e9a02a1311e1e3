//! SP0073: what was cut can be read somewhere, or is said to be gone.

use event_spine::event::family::ToolEvent;
use event_spine::{Event, RefKind};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct TruncatedWithoutRef;

impl Rule for TruncatedWithoutRef {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0073",
            code: "truncated_without_ref",
            severity: Severity::Degraded,
            demand: "an output that was cut names the ref that holds all of it",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(event)) = look.subject.decoded() else { return };
        let (truncated, output_ref) = match event {
            ToolEvent::ToolResult(end) => (end.truncated, end.output_ref.is_some()),
            ToolEvent::ToolFailed(end) => (end.truncated, end.output_ref.is_some()),
            ToolEvent::ToolStarted(_)
            | ToolEvent::ToolArgs(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_) => return,
        };
        let refs = look.subject.event.draft.refs.to_vec();
        let has_ref = output_ref || refs.iter().any(|r| matches!(r.kind, RefKind::Output | RefKind::Raw));
        let said = look.open_tool().is_some_and(|(_, tool)| tool.has_ref || tool.truncated);
        if truncated && !has_ref && !said {
            out.add("payload.truncated", "the output was cut, and nothing says where the rest is");
        }
    }
}
