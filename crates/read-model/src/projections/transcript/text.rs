//! Owns how text streams and how it becomes final.
//!
//! Who decides what: ids and parts say which text is meant, the mode that the event states says how it relates to the
//! streamed one. Only where no mode is stated are the two compared, and then only to mark the part, never to decide
//! whether something is a repeat.

use event_spine::event::family::message::{ModelCompleted, ModelFailed};
use event_spine::event::value::{ContentPart, Reconciliation, Role};
use event_spine::{RecordedEvent, Scope};

use super::state::{
    Attachment, Body, ErrorPart, Part, PartKey, PartState, Slot, TextPart, Transcript,
};
use crate::projection::Applied;
use crate::projections::shared::{spilled, spilled_under};
use crate::text::Text;
use crate::window::{Place, Row};

impl Transcript {
    /// Appends a piece to the part it belongs to, which comes to be with its first piece.
    pub(super) fn delta(
        &mut self,
        recorded: &RecordedEvent,
        slot: Slot,
        piece: &str,
        blank: impl FnOnce() -> Body,
    ) -> Applied {
        let limit = self.text_bytes;
        let shortened = spilled(recorded, "/delta").is_some();
        let append = |part: &mut Part| {
            if let Some(text) = part.body.text_mut() {
                text.push(piece, limit);
            }
            if shortened && let Some(text) = part.body.text_part_mut() {
                text.shortened = true;
            }
            part.last_sequence = recorded.sequence;
        };
        match self.voice(slot, &recorded.draft.scope) {
            Some((place, PartState::Streaming)) => {
                self.parts.update_at(place, append);
            }
            // The final text stands; what comes late was in it.
            Some(_) => {
                self.reconciled.late_pieces += 1;
                return Applied::Changed;
            }
            None => {
                self.supersede_interrupted(slot, recorded);
                let place = self.parts.push(Part::new(recorded, PartState::Streaming, blank()));
                self.parts.update_at(place, append);
            }
        }
        Applied::Changed
    }

    /// The part of this voice, if pieces may still find it.
    fn voice(&self, slot: Slot, scope: &Scope) -> Option<(Place, PartState)> {
        if let Some((place, last)) = self.parts.last()
            && last.state == PartState::Streaming
            && last.is_voice(slot, scope)
        {
            return Some((place, last.state));
        }
        let place = self.parts.place(PartKey::voice(slot, scope))?;
        Some((place, self.parts.at(place)?.state))
    }

    /// Ends the runs of pieces that have no message id, since something else begins: what follows is another part.
    pub(super) fn break_unnamed(&mut self, scope: &Scope) {
        let unnamed = |part: &&Part| {
            part.scope.message_id.is_none()
                && part.body.slot().is_some_and(|slot| part.is_speaker(slot, scope))
        };
        let held = |part: &Part| self.parts.place(part.key()?);
        let places: Vec<Place> = self.parts.open().filter(unnamed).filter_map(held).collect();
        for place in places {
            self.parts.release(place);
        }
    }

    /// A model was asked: if it answers under a message id whose text is final, that is another text.
    pub(super) fn requested(&mut self, recorded: &RecordedEvent) -> Applied {
        let scope = &recorded.draft.scope;
        self.break_unnamed(scope);
        if scope.message_id.is_some() {
            for slot in [Slot::Assistant, Slot::Reasoning] {
                let place = self.parts.place(PartKey::voice(slot, scope));
                let is_over = |place: &Place| {
                    self.parts.at(*place).is_some_and(|part| part.state != PartState::Streaming)
                };
                if let Some(place) = place.filter(is_over) {
                    self.parts.release(place);
                }
            }
        }
        Applied::Unchanged
    }

    /// The final text of a message: it confirms, corrects or replaces what was streamed, and makes it final.
    pub(super) fn completed(
        &mut self,
        recorded: &RecordedEvent,
        completed: &ModelCompleted,
    ) -> Applied {
        let role = completed.role.unwrap_or(Role::Assistant);
        let slot = Slot::of_role(role);
        let scope = &recorded.draft.scope;
        let places = self.streamed(slot, scope);
        let text = completed.text.as_deref().map(|text| Stated::of(recorded, text));
        let joined = joined(&completed.parts);
        let text = text.or_else(|| joined.as_deref().map(|text| Stated::of_parts(recorded, text)));
        let mode = completed.mode;

        let place = match (places.as_slice(), &text) {
            ([], None) if completed.parts.is_empty() => None,
            ([], _) => {
                self.supersede_interrupted(slot, recorded);
                let body = match slot {
                    Slot::Reasoning => Body::Reasoning(Default::default()),
                    _ => TextPart::new(role).into_body(),
                };
                let place = self.parts.push(Part::new(recorded, PartState::Streaming, body));
                if let Some(text) = text {
                    self.put(place, &text);
                }
                Some(place)
            }
            ([place], Some(text)) => {
                self.reconcile(*place, text, mode);
                Some(*place)
            }
            ([place], None) => {
                self.mark(*place, Reconciliation::Confirm);
                Some(*place)
            }
            ([first, ..], text) => {
                self.reconcile_many(&places, text.as_ref(), mode);
                Some(*first)
            }
        };
        for place in places.iter().copied().chain(place) {
            self.finish(place, recorded, PartState::Final);
        }
        if let Some(place) = place {
            self.parts.update_at(place, |part| {
                if let Some(text) = part.body.text_part_mut() {
                    text.attachments = attachments(&completed.parts);
                    text.is_final_answer = completed.is_final;
                    text.finish_reason.clone_from(&completed.finish_reason);
                    text.model.clone_from(&completed.model);
                }
            });
        }
        self.finish_reasoning(recorded);
        Applied::Changed
    }

    /// A model call failed: what was streamed is all there is of it.
    pub(super) fn failed(&mut self, recorded: &RecordedEvent, failed: &ModelFailed) -> Applied {
        let scope = &recorded.draft.scope;
        for slot in [Slot::Assistant, Slot::Reasoning] {
            let places = self.streamed(slot, scope);
            for place in &places {
                self.finish(*place, recorded, PartState::Interrupted);
            }
            if let (Slot::Assistant, [], Some(partial)) =
                (slot, places.as_slice(), failed.partial_text.as_deref().filter(|t| !t.is_empty()))
            {
                let body = TextPart::new(Role::Assistant).into_body();
                let place = self.parts.push(Part::new(recorded, PartState::Interrupted, body));
                self.put(place, &Stated::of(recorded, partial));
            }
        }
        let error = Body::Error(ErrorPart {
            category: failed.failure_category.clone(),
            message: failed.error.clone(),
            recovery: None,
            retryable: failed.retryable,
        });
        self.parts.push(Part::new(recorded, PartState::Final, error));
        Applied::Changed
    }

    /// The parts that a final text of this voice is about: the one with its ids, else the streaming ones of its message.
    pub(super) fn streamed(&self, slot: Slot, scope: &Scope) -> Vec<Place> {
        if let Some((place, state)) = self.voice(slot, scope)
            && (state == PartState::Streaming || scope.message_id.is_some())
        {
            return vec![place];
        }
        let of_message = |part: &Part| {
            part.scope.message_id == scope.message_id
                && (scope.part_id.is_none() || part.scope.part_id.is_none())
                && part.is_speaker(slot, scope)
        };
        let mut places: Vec<Place> =
            self.parts.open_places().filter(|(_, part)| of_message(part)).map(|p| p.0).collect();
        if scope.message_id.is_none() {
            // Nothing says which of several texts is meant: it is the newest.
            places.drain(..places.len().saturating_sub(1));
        }
        places
    }

    fn reconcile(&mut self, place: Place, text: &Stated<'_>, mode: Option<Reconciliation>) {
        let Some(body) = self.parts.at(place).map(|part| &part.body) else {
            return;
        };
        let Some(streamed) = body.text() else {
            return;
        };
        let found = match body.text_part() {
            Some(part) if part.shortened => Reconciliation::Unknown,
            _ => text.compared_with(streamed),
        };
        let mode = mode.filter(|mode| *mode != Reconciliation::Unknown).unwrap_or(found);
        // What was streamed is more of the text than what is left of a final text that was too large.
        let keep = found == Reconciliation::Confirm
            || (found == Reconciliation::Unknown && text.spilled.is_some());
        if !keep {
            self.put(place, text);
        }
        self.mark(place, mode);
    }

    /// One final text for several parts of a message. If it is them all, each is confirmed; else the first one takes
    /// it and the others give way.
    fn reconcile_many(
        &mut self,
        places: &[Place],
        text: Option<&Stated<'_>>,
        mode: Option<Reconciliation>,
    ) {
        let texts = places.iter().filter_map(|place| self.parts.at(*place)?.body.text()?.whole());
        let streamed: String = texts.collect();
        let same = text.is_none_or(|text| text.is(&streamed));
        let Some((first, others)) = places.split_first() else {
            return;
        };
        match text {
            Some(text) if !same => {
                self.put(*first, text);
                let mode = mode.filter(|mode| *mode != Reconciliation::Unknown);
                self.mark(*first, mode.unwrap_or(Reconciliation::Replace));
                for place in others {
                    self.parts.update_at(*place, |part| part.state = PartState::Superseded);
                }
            }
            _ => {
                for place in places {
                    self.mark(*place, Reconciliation::Confirm);
                }
            }
        }
    }

    /// Puts a stated text in place of what is there.
    pub(super) fn put(&mut self, place: Place, text: &Stated<'_>) {
        let limit = self.text_bytes;
        self.parts.update_at(place, |part| {
            if let Some(kept) = part.body.text_mut() {
                kept.set(text.text, limit);
            }
            if let Some(kept) = part.body.text_part_mut() {
                kept.content_ref = text.spilled.as_ref().map(|whole| whole.id.clone());
                kept.shortened = text.spilled.is_some();
            }
        });
    }

    pub(super) fn mark(&mut self, place: Place, mode: Reconciliation) {
        match mode {
            Reconciliation::Confirm => self.reconciled.confirmed += 1,
            Reconciliation::Correct => self.reconciled.corrected += 1,
            Reconciliation::Replace => self.reconciled.replaced += 1,
            Reconciliation::Unknown => {}
        }
        self.parts.update_at(place, |part| {
            if let Some(text) = part.body.text_part_mut() {
                text.reconciliation = Some(mode);
            }
        });
    }

    pub(super) fn finish(&mut self, place: Place, recorded: &RecordedEvent, state: PartState) {
        let unnamed = self.parts.update_at(place, |part| {
            part.last_sequence = recorded.sequence;
            if part.state == PartState::Streaming {
                part.state = state;
            }
            part.scope.message_id.is_none()
        });
        // Without a message id nothing more can be meant for this part.
        if unnamed == Some(true) {
            self.parts.release(place);
        }
    }

    /// The reasoning of a message is over when the message is.
    fn finish_reasoning(&mut self, recorded: &RecordedEvent) {
        let scope = &recorded.draft.scope;
        let places: Vec<Place> = self
            .parts
            .open_places()
            .filter(|(_, part)| {
                part.scope.message_id == scope.message_id && part.is_speaker(Slot::Reasoning, scope)
            })
            .map(|(place, _)| place)
            .collect();
        for place in places {
            self.finish(place, recorded, PartState::Final);
        }
    }

    /// Text of a call that failed gives way when the same turn goes on with another.
    fn supersede_interrupted(&mut self, slot: Slot, recorded: &RecordedEvent) {
        if !matches!(slot, Slot::Assistant | Slot::Reasoning) || !self.retries(recorded) {
            return;
        }
        let scope = &recorded.draft.scope;
        self.parts.update_all(
            |part| part.state == PartState::Interrupted && part.is_speaker(slot, scope),
            |part| part.state = PartState::Superseded,
        );
    }

    /// True when the newest failure of the turn is still among the newest parts, so that this text is another try.
    fn retries(&self, recorded: &RecordedEvent) -> bool {
        let turn = &recorded.draft.scope.turn_id;
        self.parts.iter().rev().take(8).any(|part| {
            part.scope.turn_id == *turn
                && (part.state == PartState::Interrupted || matches!(part.body, Body::Error(_)))
        })
    }
}

/// A whole text as an event states it; only its ends when it was too large to stay in the event.
pub(super) struct Stated<'a> {
    text: &'a str,
    spilled: Option<event_spine::Ref>,
}

impl<'a> Stated<'a> {
    pub(super) fn of(recorded: &RecordedEvent, text: &'a str) -> Self {
        let spilled = spilled(recorded, "/text").or_else(|| spilled(recorded, "/partialText"));
        Self { text, spilled }
    }

    /// The text of a message that is given in parts, of which one may be shortened.
    fn of_parts(recorded: &RecordedEvent, text: &'a str) -> Self {
        let spilled = spilled_under(recorded, "/parts").map(|part| event_spine::Ref {
            size_bytes: None, // of one part, not of the text
            ..part
        });
        Self { text, spilled }
    }

    pub(super) const fn whole(text: &'a str) -> Self {
        Self { text, spilled: None }
    }

    /// True when this is `other`, as far as it is here: a text that was too large is known by its size.
    fn is(&self, other: &str) -> bool {
        match &self.spilled {
            None => self.text == other,
            Some(whole) => whole.size_bytes == Some(other.len() as u64),
        }
    }

    /// How the text relates to the streamed one.
    fn compared_with(&self, streamed: &Text) -> Reconciliation {
        let same = match &self.spilled {
            None => streamed.is(self.text),
            Some(whole) => match whole.size_bytes {
                Some(size) => size == streamed.len(),
                None => return Reconciliation::Unknown,
            },
        };
        if same {
            return Reconciliation::Confirm;
        }
        let Some(before) = streamed.whole() else {
            return Reconciliation::Correct;
        };
        // Most of it is still there: a correction. Otherwise it is another text.
        let head = common(before.bytes(), self.text.bytes());
        let rest = before.len().min(self.text.len()) - head;
        let tail = common(before.bytes().rev(), self.text.bytes().rev()).min(rest);
        if 2 * (head + tail) >= before.len().max(self.text.len()) {
            Reconciliation::Correct
        } else {
            Reconciliation::Replace
        }
    }
}

fn common(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// The text of a message that is given in parts.
pub(super) fn joined(parts: &[ContentPart]) -> Option<String> {
    let mut texts = parts.iter().filter_map(|part| part.text.as_deref()).peekable();
    texts.peek()?;
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// What comes with the text and is none. Content inside a `data:` address stays in the log.
pub(super) fn attachments(parts: &[ContentPart]) -> Vec<Attachment> {
    parts
        .iter()
        .filter(|part| part.text.is_none())
        .take(32)
        .map(|part| Attachment {
            kind: part.kind.clone(),
            media_type: part.media_type.clone(),
            uri: part.uri.clone().filter(|uri| !uri.starts_with("data:") && uri.len() <= 2048),
            content_ref: part.content_ref.clone(),
        })
        .collect()
}
