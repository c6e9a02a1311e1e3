//! Owns the way from bytes to drafts: framing, then the adapter, then what the log has already left out.

use std::collections::HashMap;

use event_spine::{EventDraft, EventId, JsonText, RefKind, SessionId};
use serde_json::Value;

use super::frames::{DEFAULT_LIMIT, Frame, Framed, Framer, Framing};
use super::{
    AdaptError, AdaptErrorKind, AdapterContext, EndOfInput, Format, SessionDraft, StreamAdapter,
    adapter,
};

/// What came of a piece of the input.
#[derive(Debug, Default)]
pub struct Batch {
    /// The facts, in order.
    pub drafts: Vec<SessionDraft>,
    /// What was wrong, in order.
    pub faults: Vec<AdaptError>,
    /// How many facts were left out because the log has them.
    pub known: usize,
    /// The first fact that the log has otherwise. The log will refuse it, and all that is stored together with it.
    pub conflict: Option<Conflict>,
}

/// A fact that the log has otherwise: the input is another recording of what a session holds already, since its ids are the same
/// and what it says is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "event {frame} of the input is told otherwise in session {session}, which holds another recording of the same work; put this one into a session of its own"
)]
pub struct Conflict {
    /// The session.
    pub session: SessionId,
    /// The fact.
    pub event_id: EventId,
    /// Number of the frame that it comes from, 1 first; 0 for what the end of the input gave rise to.
    pub frame: u64,
}

/// Turns the bytes of a stream into drafts.
pub struct Pipeline {
    framer: Framer,
    adapter: Box<dyn StreamAdapter>,
    recorded: HashMap<Key, Print>,
    cut: bool,
}

impl Pipeline {
    /// A pipeline for a stream whose form is known; see [`Format::detect`] and [`Framing::detect`].
    #[must_use]
    pub fn new(format: Format, framing: Framing, context: AdapterContext) -> Self {
        Self::with_limit(format, framing, context, DEFAULT_LIMIT)
    }

    /// A pipeline that takes frames of at most `limit` bytes.
    #[must_use]
    pub fn with_limit(
        format: Format,
        framing: Framing,
        context: AdapterContext,
        limit: usize,
    ) -> Self {
        Self {
            framer: Framer::new(framing, limit),
            adapter: adapter(format, context),
            recorded: HashMap::new(),
            cut: false,
        }
    }

    /// Finds the session that a stream speaks of from the head of it, so that the caller can [`Pipeline::recall`] it.
    #[must_use]
    pub fn session_of(format: Format, head: &[u8], context: AdapterContext) -> Option<SessionId> {
        let mut pipeline = Self::new(format, Framing::detect(head), context);
        pipeline.push(head);
        pipeline.adapter.session_id().cloned()
    }

    /// Tells what the log has of a session, in order, before the bytes that continue or repeat it.
    ///
    /// Facts that come again are then left out, although the raw copy they refer to, or the time that stands in for one
    /// the source does not give, may be another by now. A fact that comes with another content is passed on, for the
    /// log to refuse.
    pub fn recall(&mut self, session: &SessionId, recorded: &EventDraft) {
        self.adapter.recall(session, recorded);
        self.recorded.insert(key(&recorded.event_id), Print::of_recorded(recorded));
    }

    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Batch {
        let mut frames = Vec::new();
        self.framer.push(bytes, &mut |framed| frames.push(framed));
        self.take(frames)
    }

    /// Takes the end of the input. A frame that was cut makes it [`EndOfInput::Cut`].
    pub fn finish(&mut self, end: EndOfInput) -> Batch {
        let mut frames = Vec::new();
        self.framer.finish(&mut |framed| frames.push(framed));
        let mut batch = self.take(frames);
        let end = match end {
            EndOfInput::Closed if self.cut => EndOfInput::Cut,
            end => end,
        };
        for draft in self.adapter.finish(end) {
            self.keep(draft, &mut batch);
        }
        batch
    }

    /// The session that the stream speaks of, as soon as it has said so.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.adapter.session_id()
    }

    fn take(&mut self, frames: Vec<Framed>) -> Batch {
        let mut batch = Batch::default();
        for framed in frames {
            match framed {
                Ok(frame) if is_cut(&frame) => {
                    self.cut = true;
                    batch.faults.push(frame.error(AdaptErrorKind::CutOff));
                }
                Ok(frame) => {
                    let adapted = self.adapter.push(&frame);
                    for draft in adapted.drafts {
                        self.keep(draft, &mut batch);
                    }
                    batch.faults.extend(adapted.fault);
                }
                Err(fault) => {
                    self.cut |= fault.kind == AdaptErrorKind::CutOff;
                    batch.faults.push(fault);
                }
            }
        }
        batch
    }

    fn keep(&self, made: SessionDraft, batch: &mut Batch) {
        let recorded = self.recorded.get(&key(&made.draft.event_id));
        if let Some(recorded) = recorded {
            if recorded.fact == fact(&made.draft) {
                batch.known += 1;
                return;
            }
            if recorded.verbatim && batch.conflict.is_none() {
                batch.conflict = Some(Conflict {
                    session: made.session_id.clone(),
                    event_id: made.draft.event_id.clone(),
                    frame: frame_of(&made.draft),
                });
            }
        }
        batch.drafts.push(made);
    }
}

/// A hash of an event id.
type Key = [u8; 16];

/// What is kept of a recorded fact: a session can have millions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Print {
    /// A hash of what it says.
    fact: [u8; 8],
    /// The log keeps it as it was given: nothing of it was masked or put elsewhere.
    verbatim: bool,
}

impl Print {
    fn of_recorded(recorded: &EventDraft) -> Self {
        let elsewhere = recorded.refs.to_vec().iter().any(|r| r.pointer.is_some());
        let masked = recorded.payload.as_str().contains("[masked:");
        Self { fact: fact(recorded), verbatim: !elsewhere && !masked }
    }
}

fn key(id: &EventId) -> Key {
    let mut key = Key::default();
    blake3::Hasher::new().update(id.as_str().as_bytes()).finalize_xof().fill(&mut key);
    key
}

/// A hash of what a fact says: its type, where it belongs, and its payload as a value, whatever the order of its members.
fn fact(draft: &EventDraft) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    part(draft.event_type.name());
    for (name, id) in draft.scope.present() {
        part(name);
        part(id);
    }
    part("");
    part(&in_order(&draft.payload));
    let mut hash = [0; 8];
    hasher.finalize_xof().fill(&mut hash);
    hash
}

/// A value with the members of its objects in order.
fn in_order(payload: &JsonText) -> String {
    match payload.read::<Value>() {
        Ok(mut value) => {
            value.sort_all_objects();
            value.to_string()
        }
        Err(_) => payload.as_str().to_owned(),
    }
}

fn frame_of(draft: &EventDraft) -> u64 {
    let refs = draft.refs.to_vec();
    let raw = refs.iter().filter(|r| r.kind == RefKind::Raw);
    raw.filter_map(|r| r.origin.as_ref()).map(|origin| origin.frame).next().unwrap_or(0)
}

/// True when an input ended in the middle of this frame.
fn is_cut(frame: &Frame) -> bool {
    !frame.ended
        && serde_json::from_str::<serde::de::IgnoredAny>(&frame.text).is_err_and(|e| e.is_eof())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{adapt, pipeline, run};
    use super::*;

    /// Whatever a fact holds, a repeated input costs a few bytes for each.
    // verifies: H25
    #[test]
    fn of_a_recorded_fact_a_print_is_kept() {
        fn owns_nothing<T: Copy>() -> usize {
            size_of::<T>()
        }
        assert!(owns_nothing::<(Key, Print)>() <= 32);
    }

    const RUN: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"WORDS"}
{"type":"TEXT_MESSAGE_END","messageId":"m"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
"#;

    fn again(change: impl Fn(&mut EventDraft), words: &str) -> Batch {
        let told = adapt(Format::AgUi, RUN.as_bytes(), EndOfInput::Closed);
        let mut second = pipeline(Format::AgUi, RUN.as_bytes());
        for mut made in told.drafts {
            change(&mut made.draft);
            second.recall(&made.session_id, &made.draft);
        }
        run(second, RUN.replace("WORDS", words).as_bytes(), EndOfInput::Closed)
    }

    #[test]
    fn another_recording_of_the_same_work_is_found() {
        assert_eq!(again(|_| {}, "WORDS").conflict, None);
        let conflict = again(|_| {}, "other").conflict.unwrap();
        assert_eq!(conflict.frame, 3);
        assert!(conflict.to_string().contains("event 3 of the input"), "{conflict}");
        // What the log keeps otherwise than it was given cannot be compared.
        let masked = |draft: &mut EventDraft| {
            let payload = draft.payload.as_str().replace("WORDS", "[masked:key:00000000]");
            draft.payload = JsonText::parse(&payload).unwrap().0;
        };
        assert_eq!(again(masked, "WORDS").conflict, None);
    }

    #[test]
    fn the_order_of_members_is_no_difference() {
        let turned = |draft: &mut EventDraft| {
            let value: serde_json::Map<String, Value> = draft.payload.read().unwrap();
            let turned: serde_json::Map<String, Value> = value.into_iter().rev().collect();
            draft.payload = JsonText::from_value(&turned).unwrap();
        };
        let batch = again(turned, "WORDS");
        assert_eq!((batch.drafts.len(), batch.conflict), (0, None));
    }
}
