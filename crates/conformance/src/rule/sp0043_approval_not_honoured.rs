//! SP0043: what was not allowed does not succeed.

use event_spine::Event;
use event_spine::event::family::ToolEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::meaning;
use crate::stream::turn::Guard;

pub(super) struct ApprovalNotHonoured;

impl Rule for ApprovalNotHonoured {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0043",
            code: "approval_not_honoured",
            severity: Severity::Error,
            demand: "a tool call that was refused, or still waits for its approval, does not succeed",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Tool(ToolEvent::ToolResult(result))) = look.subject.decoded() else { return };
        let call = look.subject.event.draft.scope.tool_call_id.as_ref();
        let guard = look.stream.turn_of(look.subject).zip(call).and_then(|(turn, call)| turn.guards.get(call));
        let Some(call) = call.filter(|_| meaning::claims_success(result.status)) else { return };
        match guard {
            Some(Guard::Asked(since)) => {
                out.add("toolCallId", format!("{call} succeeded while its approval waits, since {since}"));
            }
            Some(Guard::Refused(at)) => {
                out.add("toolCallId", format!("{call} succeeded although it was refused ({at})"));
            }
            Some(Guard::Allowed) | None => {}
        }
    }
}
