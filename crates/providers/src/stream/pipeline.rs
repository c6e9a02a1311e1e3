//! Owns the way from bytes to drafts: framing, then the adapter, then what the log has already left out.

use std::collections::HashMap;

use event_spine::{EventDraft, EventId, SessionId};

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
}

/// Turns the bytes of a stream into drafts.
pub struct Pipeline {
    framer: Framer,
    adapter: Box<dyn StreamAdapter>,
    recorded: HashMap<EventId, EventDraft>,
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
        self.recorded.insert(recorded.event_id.clone(), recorded.clone());
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
        match self.recorded.get(&made.draft.event_id) {
            Some(recorded) if same_fact(recorded, &made.draft) => batch.known += 1,
            _ => batch.drafts.push(made),
        }
    }
}

/// True when an input ended in the middle of this frame.
fn is_cut(frame: &Frame) -> bool {
    !frame.ended
        && serde_json::from_str::<serde::de::IgnoredAny>(&frame.text).is_err_and(|e| e.is_eof())
}

fn same_fact(recorded: &EventDraft, made: &EventDraft) -> bool {
    recorded.event_type == made.event_type
        && recorded.scope == made.scope
        && recorded.payload.same_value(&made.payload)
}
