//! SP0050: a turn does not end over a running model call.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::place::Mark;
use crate::stream::Stream;
use crate::stream::turn::Turn;

pub(super) struct ModelUnclosedAtTurnEnd;

impl Rule for ModelUnclosedAtTurnEnd {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0050",
            code: "model_unclosed_at_turn_end",
            severity: Severity::Error,
            demand: "every model call and every streamed message is completed or failed before its turn ends",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        for (name, since) in look.ending_turn().into_iter().flat_map(open) {
            out.add("messageId", format!("{name} is still open, since {since}"));
        }
    }

    fn end(&self, stream: &Stream, out: &mut Out<'_>) {
        for (name, since) in stream.turns.values().flat_map(open) {
            out.add("messageId", format!("{name} was never completed, since {since}"));
        }
    }
}

fn open(turn: &Turn) -> impl Iterator<Item = (&str, Mark)> {
    turn.messages.iter().filter_map(|(id, message)| {
        let name = id.as_ref().map_or("a model call without messageId", |id| id.as_str());
        message.open.map(|since| (name, since))
    })
}
