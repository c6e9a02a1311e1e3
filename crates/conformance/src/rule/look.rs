//! Owns the questions that several rules ask of an event and its stream.

use event_spine::event::family::MessageEvent;
use event_spine::event::value::Reconciliation;
use event_spine::{Event, ToolCallId};

use super::{Look, Out};
use crate::finding::Severity;
use crate::meaning;
use crate::stream::turn::{OpenTool, Part, Turn};

impl Look<'_> {
    /// The tool call of the event, if it runs.
    pub(super) fn open_tool(&self) -> Option<(&ToolCallId, &OpenTool)> {
        let call = self.subject.event.draft.scope.tool_call_id.as_ref()?;
        self.stream.turn_of(self.subject)?.tools.get_key_value(call)
    }

    /// The turn that this event ends, as it was before.
    pub(super) fn ending_turn(&self) -> Option<&Turn> {
        meaning::ends_turn(self.subject).then(|| self.stream.turn_of(self.subject)).flatten()
    }

    /// How much it matters that something ends which had not started: an error, unless it can have started before this
    /// stream begins, or in another input of a foreign runtime.
    pub(super) fn no_start(&self) -> Severity {
        let first = self.stream.first_sequence.or(self.subject.event.sequence);
        let begins_late = first.is_some_and(|first| first > 1);
        if begins_late || self.options.foreign { Severity::Degraded } else { Severity::Error }
    }

    /// Reports a tool end whose call does not run. Calls without their ids, and events after the end of their turn,
    /// have rules of their own.
    pub(super) fn tool_end_without_start(&self, out: &mut Out<'_>) {
        let scope = &self.subject.event.draft.scope;
        let (Some(call), Some(turn)) = (&scope.tool_call_id, &scope.turn_id) else {
            return;
        };
        if !self.stream.has_ended(turn) && self.open_tool().is_none() {
            let message = format!("{call} does not run in {turn}");
            out.add_as(self.no_start(), "toolCallId", message);
        }
    }

    /// A final text, the streamed part that it settles, and the mode it claims.
    pub(super) fn final_text(&self) -> Option<(&str, &Part, Option<Reconciliation>)> {
        let Event::Message(MessageEvent::ModelCompleted(end)) = self.subject.decoded()? else {
            return None;
        };
        let scope = &self.subject.event.draft.scope;
        let turn = self.stream.turn_of(self.subject)?;
        let part = turn.messages.get(&scope.message_id)?.streamed(scope.part_id.as_ref())?;
        Some((end.text.as_deref()?, part, end.mode))
    }
}
