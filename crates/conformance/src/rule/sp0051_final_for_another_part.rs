//! SP0051: the final text settles the part that was streamed.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct FinalForAnotherPart;

impl Rule for FinalForAnotherPart {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0051",
            code: "final_for_another_part",
            severity: Severity::Error,
            demand: "model.completed confirms, corrects or replaces the part that was streamed, not another one",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let messages = look.ending_turn().into_iter().flat_map(|turn| &turn.messages);
        for (message, state) in messages.filter(|(_, state)| state.open.is_none()) {
            let strays: Vec<_> = state.parts.iter().filter(|(_, part)| !part.was_streamed()).collect();
            for (part, _) in state.parts.iter().filter(|(_, part)| part.settled.is_none()) {
                if let Some((stray, at)) = strays.iter().find_map(|(id, p)| Some((id.as_ref()?, p.settled?))) {
                    let (message, part) = (name(message.as_ref()), name(part.as_ref()));
                    let text = format!("{part} of {message} was streamed, and {stray} was completed ({at})");
                    out.add("partId", text);
                }
            }
        }
    }
}

fn name(id: Option<&impl std::fmt::Display>) -> String {
    id.map_or_else(|| "the unnamed part".to_owned(), ToString::to_string)
}
