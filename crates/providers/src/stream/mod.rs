//! Owns the law of the stream adapters, and the register of the formats that can be read.
//!
//! Bytes become frames ([`frames`]), frames become facts (one folder per runtime). An adapter is a state machine without
//! IO, clock or randomness. Its laws, which `laws` checks for every adapter over every recorded stream:
//! - the same frames give the same drafts, byte for byte, ids included;
//! - it is total: any frame is taken, what cannot be read is a typed [`AdaptError`] and the stream goes on;
//! - nothing is dropped silently: a frame of an unknown kind becomes a `runtime.warning` that keeps it;
//! - it never invents success: what the source does not say is `unknown`, and what is still open at the end is closed as
//!   interrupted, by drafts marked `synthetic` that come from frame 0;
//! - ids follow from the source's ids, so adapting a stream twice, or a longer copy of it, repeats the same facts;
//! - every draft has the scope ids that its type demands, and a ref to the raw frame that it came from.
//!
//! Next: [`Pipeline`], which is what a program calls; then [`runtime_event`], the simplest adapter.

pub mod ag_ui;
pub mod codex;
mod draft;
mod error;
pub mod frames;
#[cfg(test)]
mod laws;
mod pipeline;
mod recovery;
pub mod runtime_event;
#[cfg(test)]
mod testing;

use event_spine::{EventDraft, SessionId, Timestamp};

pub use error::{AdaptError, AdaptErrorKind};
pub use frames::{Frame, Framing};
pub use pipeline::{Batch, Conflict, Pipeline};

/// What an adapter is told from outside.
#[derive(Debug, Clone)]
pub struct AdapterContext {
    /// Puts everything into this session instead of the one that the source names.
    pub session: Option<SessionId>,
    /// Id of the blob that keeps the raw input. It goes into the `raw` ref of every draft.
    pub raw: Option<String>,
    /// Time of the facts to which the source gives none; one constant for the whole input, such as the time of the file.
    pub timestamp: Timestamp,
}

impl AdapterContext {
    /// A context with a fallback time and nothing else.
    #[must_use]
    pub fn at(timestamp: Timestamp) -> Self {
        Self { session: None, raw: None, timestamp }
    }
}

/// A draft and the session that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDraft {
    /// The session.
    pub session_id: SessionId,
    /// The fact.
    pub draft: EventDraft,
}

/// What came of one frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Adapted {
    /// The facts, in order. Those of one session form one batch.
    pub drafts: Vec<SessionDraft>,
    /// What was wrong with the frame.
    pub fault: Option<AdaptError>,
}

/// How the input ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOfInput {
    /// The source closed it. What is still open ended `incomplete`.
    Closed,
    /// It broke off: the transport failed, or the last frame is cut. What is still open was interrupted.
    Cut,
    /// It is a part; the rest comes later, in another input. Nothing is closed.
    Paused,
}

/// Turns the frames of one runtime's stream into facts. See the module for its laws.
pub trait StreamAdapter: Send {
    /// The format it reads.
    fn format(&self) -> Format;

    /// The version that `refs.origin` names; raised with every change of what comes out.
    fn version(&self) -> u32;

    /// Tells what the log already has of a session, in order, before the frames that continue it. An adapter that gets
    /// the second part of a conversation learns here which turn is waiting. Ignored by adapters that need no memory.
    fn recall(&mut self, _session: &SessionId, _recorded: &EventDraft) {}

    /// Takes one frame.
    fn push(&mut self, frame: &Frame) -> Adapted;

    /// Takes the end of the input. Closes what is open, as far as `end` says that nothing more comes.
    fn finish(&mut self, end: EndOfInput) -> Vec<SessionDraft>;

    /// The session that the stream speaks of, as soon as it has said so.
    fn session_id(&self) -> Option<&SessionId>;
}

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// RuntimeEvents in their own JSON form.
    RuntimeEvent,
    /// Rollout files of Codex.
    Codex,
    /// Event streams of AG-UI 1.0 and 0.x.
    AgUi,
}

impl Format {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::RuntimeEvent, Self::Codex, Self::AgUi];

    /// How much of the input [`Format::detect`] needs at most, in bytes. More does not hurt.
    pub const HEAD: usize = 64 * 1024;

    /// The name, as a person types it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RuntimeEvent => "runtime-event",
            Self::Codex => "codex",
            Self::AgUi => "ag-ui",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Finds the format from the head of the input; `None` when no format, or more than one, is recognised.
    #[must_use]
    pub fn detect(head: &[u8]) -> Option<Self> {
        let values = frames::head_values(head);
        let mut found = Self::ALL
            .iter()
            .copied()
            .filter(|format| values.iter().any(|value| format.recognises(value)));
        match (found.next(), found.next()) {
            (Some(format), None) => Some(format),
            _ => None,
        }
    }

    fn recognises(self, frame: &serde_json::Value) -> bool {
        match self {
            Self::RuntimeEvent => runtime_event::recognises(frame),
            Self::Codex => codex::recognises(frame),
            Self::AgUi => ag_ui::recognises(frame),
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A fresh adapter.
#[must_use]
pub fn adapter(format: Format, context: AdapterContext) -> Box<dyn StreamAdapter> {
    match format {
        Format::RuntimeEvent => Box::new(runtime_event::RuntimeEvents::new(context)),
        Format::Codex => Box::new(codex::Codex::new(context)),
        Format::AgUi => Box::new(ag_ui::AgUi::new(context)),
    }
}
