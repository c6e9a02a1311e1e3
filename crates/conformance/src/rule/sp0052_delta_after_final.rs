//! SP0052: nothing is appended to a final text.

use event_spine::Event;
use event_spine::event::family::MessageEvent;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct DeltaAfterFinal;

impl Rule for DeltaAfterFinal {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0052",
            code: "delta_after_final",
            severity: Severity::Error,
            demand: "no delta follows the final text of its part",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Message(MessageEvent::ModelDelta(delta))) = look.subject.decoded() else { return };
        let scope = &look.subject.event.draft.scope;
        let settled = look
            .stream
            .turn_of(look.subject)
            .and_then(|turn| turn.messages.get(&scope.message_id))
            .and_then(|message| message.settled(scope.part_id.as_ref()));
        if let Some(at) = settled.filter(|_| !delta.delta.is_empty()) {
            out.add("payload.delta", format!("the text of this part is final since {at}"));
        }
    }
}
