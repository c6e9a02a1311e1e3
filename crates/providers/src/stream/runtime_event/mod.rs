//! Owns reading RuntimeEvents in their own JSON form: what `spine events` writes, and what any other producer of the
//! contract writes. Events are taken verbatim, with nothing added; only gaps in their numbers give facts of our own.
//!
//! Next: [`order`], which finds the gaps.

mod order;
#[cfg(test)]
mod tests;

use event_spine::event::family::context::{StreamInterrupted, StreamRepaired};
use event_spine::wire::{WireError, WireEvent};
use event_spine::{RuntimeId, Scope, SessionId};

use super::draft::{Drafter, Source};
use super::{
    AdaptError, AdaptErrorKind, Adapted, AdapterContext, EndOfInput, Format, Frame, SessionDraft,
    StreamAdapter,
};
use order::{Numbers, Seen};

const VERSION: u32 = 1;

/// The adapter of the native form.
pub struct RuntimeEvents {
    session: Option<SessionId>,
    first: Option<SessionId>,
    drafter: Drafter,
    numbers: Numbers,
}

pub(super) fn recognises(frame: &serde_json::Value) -> bool {
    ["eventId", "sessionId", "type", "payload"].iter().all(|member| frame.get(member).is_some())
}

impl RuntimeEvents {
    /// A fresh adapter.
    #[must_use]
    pub fn new(context: AdapterContext) -> Self {
        let runtime = RuntimeId::derived(&["runtime-event"]);
        let drafter = Drafter::new(Format::RuntimeEvent.name(), VERSION, runtime, &context);
        Self { session: context.session, first: None, drafter, numbers: Numbers::default() }
    }

    /// Puts what the numbers say into drafts, in order.
    fn facts(&self, seen: Vec<Seen>, frame: u64) -> Vec<SessionDraft> {
        seen.into_iter()
            .map(|seen| match seen {
                Seen::Event(draft) => draft,
                Seen::Gap { beside, last, next } => self.gap(&beside, frame, last, next),
                Seen::Repaired { beside, number } => self.repaired(&beside, frame, number),
            })
            .collect()
    }

    fn gap(&self, beside: &SessionDraft, frame: u64, last: u64, next: u64) -> SessionDraft {
        let payload = StreamInterrupted {
            reason: "sequence_gap".to_owned(),
            last_source_sequence: Some(last),
            expected_source_sequence: Some(last + 1),
        };
        let key = ["gap", &last.to_string(), &next.to_string()];
        let mut made = self.beside(beside, frame).0.synthetic(
            self.beside(beside, frame).1,
            &key,
            thread_of(beside),
            &payload,
        );
        made.draft.payload =
            super::draft::with_member(&made.draft.payload, order::NEXT, &next.to_string());
        made
    }

    fn repaired(&self, beside: &SessionDraft, frame: u64, number: u64) -> SessionDraft {
        let payload = StreamRepaired {
            method: Some("replay".to_owned()),
            from_sequence: None,
            to_sequence: None,
            lost: Some(0),
            detail: None,
        };
        let (drafter, source) = self.beside(beside, frame);
        drafter.synthetic(source, &["repaired", &number.to_string()], thread_of(beside), &payload)
    }

    /// Our own facts are told in the name, and at the time, of the event that showed them.
    fn beside<'a>(&self, event: &'a SessionDraft, frame: u64) -> (Drafter, Source<'a>) {
        let drafter = self.drafter.speaking_for(event.draft.runtime_id.clone());
        let source =
            Source { session: &event.session_id, frame, time: Some(&event.draft.timestamp) };
        (drafter, source)
    }
}

fn thread_of(event: &SessionDraft) -> Scope {
    Scope { thread_id: event.draft.scope.thread_id.clone(), ..Scope::default() }
}

impl StreamAdapter for RuntimeEvents {
    fn format(&self) -> Format {
        Format::RuntimeEvent
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn recall(&mut self, session: &SessionId, recorded: &event_spine::EventDraft) {
        self.numbers.recall(session, recorded);
    }

    fn push(&mut self, frame: &Frame) -> Adapted {
        let event = match WireEvent::parse(&frame.text) {
            Ok(event) => event,
            Err(e) => {
                return Adapted { drafts: Vec::new(), fault: Some(fault(frame, e)) };
            }
        };
        let repaired = event.repairs.lone_surrogates;
        let session_id = self.session.clone().unwrap_or(event.session_id);
        self.first.get_or_insert_with(|| session_id.clone());
        let draft = SessionDraft { session_id, draft: event.draft };
        let seen = self.numbers.take(event.sequence, draft);
        Adapted {
            drafts: self.facts(seen, frame.number),
            fault: (repaired > 0)
                .then(|| frame.error(AdaptErrorKind::LoneSurrogates { count: repaired })),
        }
    }

    fn finish(&mut self, _end: EndOfInput) -> Vec<SessionDraft> {
        let seen = self.numbers.give_up();
        self.facts(seen, 0)
    }

    fn session_id(&self) -> Option<&SessionId> {
        self.first.as_ref()
    }
}

fn fault(frame: &Frame, error: WireError) -> AdaptError {
    frame.error(match error {
        WireError::Json(error) => AdaptErrorKind::NotJson { detail: error.to_string() },
        error => AdaptErrorKind::NotAnEvent(error),
    })
}
