//! Read models: everything that a person sees of a session, as pure folds over its facts.
//!
//! A [`SessionView`] holds all views of one session: transcript, status, timeline, tools, actions, tasks, graph,
//! artifacts, evidence, usage, context, queue, diagnostics. Each is a [`Projection`]: `(state, event) -> state`, and
//! nothing else. A view carries the stamp of what it is a fold of ([`ViewStamp`]), so anyone can check that it equals a
//! [`replay()`] of the log.
//!
//! There are two ways to run the same folds: an [`Engine`] beside the log, and a [`Replica`] behind a wire.
//!
//! Views are bounded: what is open, the newest of what is settled, exact totals, and a cursor from which older
//! [pages](page()) are folded again ([`Window`]). What is not known is said to be not known ([`Known`]).
//!
//! This crate does no IO except through the log's reader and the [`CheckpointStore`]; a projection does none at all. It
//! is **not** where facts are written, and it decides nothing: what it shows was stated by an event.
//!
//! ```
//! use std::sync::Arc;
//! use event_spine::event::family::message::{ModelCompleted, ModelDelta};
//! use event_spine::{
//!     EventDraft, EventId, EventLog, EventPayload, Expected, LogOptions, RecordedAt, RuntimeId, Scope,
//!     SeededEntropy, SessionId, SteppingClock, Timestamp,
//! };
//! use read_model::{Engine, compare, replay};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Arc::new(SteppingClock::new(RecordedAt(1_780_000_000_000_000), 1));
//! let log = EventLog::in_memory(LogOptions::new(clock, Arc::new(SeededEntropy::new(1))));
//! let session = SessionId::parse("sess_1")?;
//!
//! fn draft(id: &str, payload: &impl EventPayload) -> Result<EventDraft, Box<dyn std::error::Error>> {
//!     let mut scope = Scope::default();
//!     scope.set("threadId", "thread_1")?;
//!     scope.set("turnId", "turn_1")?;
//!     scope.set("messageId", "msg_1")?;
//!     let at = Timestamp::verbatim("2026-06-09T12:00:00Z");
//!     Ok(EventDraft::new(RuntimeId::parse("rt_1")?, EventId::parse(id)?, at, scope, payload)?)
//! }
//! let piece = ModelDelta { delta: "Helo".into(), role: None };
//! let whole: ModelCompleted = serde_json::from_str(r#"{"text":"Hello"}"#)?;
//! log.append(&session, Expected::Any, vec![draft("evt_1", &piece)?, draft("evt_2", &whole)?])?;
//!
//! let engine = Engine::open(&log);
//! let view = engine.view(&session)?;
//! // The final text corrected the streamed one; it was not appended to it.
//! assert_eq!(view.transcript.parts.len(), 1);
//! let part = view.transcript.parts.iter().next().ok_or("no part")?;
//! assert_eq!(part.body.text().map(ToString::to_string).as_deref(), Some("Hello"));
//!
//! assert_eq!(compare(&view, &replay(&log.reader(), &session, None)?), None);
//! # Ok(())
//! # }
//! ```
//!
//! Read on in `examples/walk.rs`, which walks through all of it, then in the order of the modules below.

// Modules stand in reading order.
mod projection;
mod limits;
mod window;
mod text;
mod moment;
mod honesty;
pub mod projections;
mod view;
mod replay;
mod page;
mod checkpoint;
mod engine;
mod replica;
pub mod render;
pub mod evidence_pack;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod testing;

pub use checkpoint::{CHECKPOINT_NAME, CheckpointStore, NoCheckpoints};
pub use engine::{Engine, EngineOptions, Following};
pub use honesty::{Absence, Known, NotText};
pub use limits::Limits;
pub use moment::{Elapsed, Moment};
pub use page::{Page, page};
pub use projection::{Applied, Projection};
pub use replay::{Difference, compare, replay, replay_with};
pub use replica::{Freshness, Received, Repair, Replica, ReplicaOptions};
pub use text::Text;
pub use view::{Lost, LostStretch, REDUCER_VERSION, SessionView, VIEW_NAMES, ViewStamp};
pub use window::{Place, Row, Window};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
