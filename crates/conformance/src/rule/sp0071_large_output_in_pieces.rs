//! SP0071: a large output is not sent inline in pieces either.

use event_spine::Event;
use event_spine::event::family::ToolEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::limit;
use crate::meaning;

pub(super) struct LargeOutputInPieces;

impl Rule for LargeOutputInPieces {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0071",
            code: "large_payload_inline",
            severity: Severity::Degraded,
            demand: "a tool call that sends more than 64 KiB of output in pieces names a ref for it",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(ToolEvent::ToolProgress(progress))) = look.subject.decoded() else { return };
        let Some((call, tool)) = look.open_tool() else { return };
        let has_ref = tool.has_ref || progress.output_ref.is_some();
        let after = tool.inline + meaning::inline_bytes(progress);
        // Once, where the limit is passed.
        if !has_ref && tool.inline <= limit::PIECES && after > limit::PIECES {
            let message = format!("{call} has sent {after} bytes of output inline, and names no ref for it");
            out.add("payload.preview", message);
        }
    }
}
