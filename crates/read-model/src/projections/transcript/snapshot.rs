//! Owns how a message list that the source states is reconciled with the transcript.
//!
//! It may correct texts, and add messages that were never seen (a client that attached late). It never takes anything
//! away: an open action, a failed tool, a text that it forgets all stay. Messages are matched by id alone.

use event_spine::event::family::message::MessagesSnapshot;
use event_spine::event::value::{Reconciliation, SnapshotMessage};
use event_spine::{MessageId, RecordedEvent, ToolCallId};

use super::state::{Body, Part, PartKey, PartState, Slot, TextPart, Transcript};
use super::text::Stated;
use crate::projection::Applied;
use crate::projections::shared::spilled_all;
use crate::projections::tools::{CallStatus, ToolCall};
use crate::window::Place;

impl Transcript {
    pub(super) fn snapshot(
        &mut self,
        recorded: &RecordedEvent,
        snapshot: &MessagesSnapshot,
    ) -> Applied {
        let known: Vec<Option<Place>> =
            snapshot.messages.iter().map(|message| self.known(message)).collect();
        // Parts may have been dropped from the window. An unknown message that stands before a known one, or in front
        // of a transcript that has dropped parts, is taken for one of those.
        let question = snapshot.question().filter(|(at, _)| known.get(*at) == Some(&None));
        let asked = question.filter(|(_, message)| self.fill_input(recorded, message));
        let last_known = known.iter().rposition(Option::is_some);
        let had_more = self.parts.dropped() > 0;
        let spilled = spilled_all(recorded);
        let is_shortened = |at: usize| {
            let text = format!("/messages/{at}/text");
            spilled.iter().any(|r| r.pointer.as_deref() == Some(text.as_str()))
        };
        let mut changed = false;
        for (at, (message, place)) in snapshot.messages.iter().zip(&known).enumerate() {
            changed |= match place {
                // The ends of a text cannot correct the whole of it.
                Some(_) if message.tool_call_id.is_none() && is_shortened(at) => false,
                Some(place) => self.correct(*place, recorded, message),
                None if asked.is_some_and(|(question, _)| question == at) => true,
                None if had_more && last_known.is_none_or(|last| at < last) => false,
                None => self.add_message(recorded, message),
            };
        }
        Applied::when(changed)
    }

    /// Writes a person's message into the input of the running turn, when the source told that there was an input
    /// and not what it says.
    fn fill_input(&mut self, recorded: &RecordedEvent, message: &SnapshotMessage) -> bool {
        let turn = &recorded.draft.scope.turn_id;
        let is_blank = |part: &Part| match &part.body {
            Body::UserText(text) => {
                part.scope.turn_id == *turn
                    && part.scope.message_id.is_none()
                    && text.text.is("")
                    && text.attachments.is_empty()
                    && text.content_ref.is_none()
            }
            _ => false,
        };
        let blank = self.parts.places().rfind(|(_, part)| is_blank(part)).map(|(place, _)| place);
        let Some(place) = blank else {
            return false;
        };
        let stated = message.text.as_deref().unwrap_or_default();
        let text = crate::text::Text::new(stated, self.text_bytes);
        let id = message.message_id.as_deref().and_then(|id| MessageId::parse(id).ok());
        self.parts.rename_at(place, |part| {
            part.scope.message_id = id;
            part.last_sequence = recorded.sequence;
            if let Some(part) = part.body.text_part_mut() {
                part.text = text;
            }
        });
        true
    }

    /// The part that a message of the list is, if it is here.
    fn known(&self, message: &SnapshotMessage) -> Option<Place> {
        if let Some(call) = &message.tool_call_id {
            let id = ToolCallId::parse(call.as_str()).ok()?;
            return self.parts.place(PartKey::Tool(&id));
        }
        let id = MessageId::parse(message.message_id.as_deref()?).ok()?;
        let slot = Slot::of_role(message.role);
        let places = self.parts.places();
        let mut of_message = places
            .filter(|(_, part)| {
                part.scope.message_id.as_ref() == Some(&id) && part.body.slot() == Some(slot)
            })
            .map(|(place, _)| place);
        // Several parts of one message cannot be told apart by one text.
        let first = of_message.next()?;
        Some(first)
    }

    fn correct(
        &mut self,
        place: Place,
        recorded: &RecordedEvent,
        message: &SnapshotMessage,
    ) -> bool {
        let Some(part) = self.parts.at(place) else {
            return false;
        };
        match (&part.body, message.text.as_deref()) {
            (Body::ToolCall(call), text) => {
                // A call that ended stays as it ended. One whose end never arrived gets what the list says of it.
                let lacks_end = !call.status.is_end() || call.status == CallStatus::Interrupted;
                lacks_end && self.end_call(place, recorded, message, text)
            }
            (body, Some(text)) => {
                let id = &part.scope.message_id;
                let alike = self.parts.iter().filter(|other| {
                    other.scope.message_id == *id && other.body.slot() == body.slot()
                });
                let is_current = alike.count() == 1 && part.state != PartState::Superseded;
                let differs = body.text().is_some_and(|kept| !kept.is(text));
                let is_longer_than_kept = part.state == PartState::Streaming
                    && body.text().is_some_and(|kept| kept.len() > text.len() as u64);
                // A list that was made while the text streamed lags behind it.
                if !is_current || !differs || is_longer_than_kept {
                    return false;
                }
                self.put(place, &Stated::whole(text));
                self.mark(place, Reconciliation::Correct);
                self.parts.update_at(place, |part| part.last_sequence = recorded.sequence);
                true
            }
            (_, None) => false,
        }
    }

    fn end_call(
        &mut self,
        place: Place,
        recorded: &RecordedEvent,
        message: &SnapshotMessage,
        text: Option<&str>,
    ) -> bool {
        let limit = self.preview_bytes;
        self.parts
            .update_at(place, |part| {
                if let Body::ToolCall(call) = &mut part.body {
                    call.end_as_listed(recorded, text, message.error.as_deref(), limit);
                }
                part.state = PartState::Final;
                part.last_sequence = recorded.sequence;
            })
            .is_some()
    }

    /// Adds a message that was never seen. One without an id could be any; it is added only to an empty transcript.
    fn add_message(&mut self, recorded: &RecordedEvent, message: &SnapshotMessage) -> bool {
        let id = message.message_id.as_deref().and_then(|id| MessageId::parse(id).ok());
        let call = message.tool_call_id.as_deref().and_then(|id| ToolCallId::parse(id).ok());
        let fresh = self.parts.iter().all(|part| part.first.sequence == recorded.sequence);
        if id.is_none() && call.is_none() && !(fresh && self.parts.dropped() == 0) {
            self.reconciled.unmatched += 1;
            return false;
        }
        if let Some(call) = call {
            let mut part = self.call_part(recorded, call);
            if let Body::ToolCall(call) = &mut part.body {
                let (text, error) = (message.text.as_deref(), message.error.as_deref());
                call.end_as_listed(recorded, text, error, self.preview_bytes);
            }
            part.state = PartState::Final;
            self.parts.push(part);
            return true;
        }
        if message.text.as_deref().is_some_and(|text| !text.is_empty()) {
            let mut text = TextPart::new(message.role);
            let stated = message.text.as_deref().unwrap_or_default();
            text.text = crate::text::Text::new(stated, self.text_bytes);
            let mut part = Part::new(recorded, PartState::Final, text.into_body());
            part.scope.message_id.clone_from(&id);
            self.parts.push(part);
        }
        for listed in &message.tool_calls {
            let Ok(call) = ToolCallId::parse(listed.id.as_str()) else {
                continue;
            };
            if self.parts.place(PartKey::Tool(&call)).is_some() {
                continue;
            }
            let mut part = self.call_part(recorded, call);
            if let Body::ToolCall(call) = &mut part.body {
                let arguments = listed.arguments.as_deref().unwrap_or_default();
                call.begin_as_listed(&listed.name, arguments, self.preview_bytes);
            }
            self.parts.push(part);
        }
        true
    }

    fn call_part(&self, recorded: &RecordedEvent, id: ToolCallId) -> Part {
        let mut call = ToolCall::new(recorded);
        call.scope.tool_call_id = Some(id.clone());
        let mut part = Part::new(recorded, PartState::Streaming, Body::ToolCall(Box::new(call)));
        part.scope.tool_call_id = Some(id);
        part
    }
}
