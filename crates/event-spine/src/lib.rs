//! The contract and the log of Spine, the flight recorder and backbone of AI agents.
//!
//! A *fact* is one thing that happened: `tool.started`, `action.resolved`. The facts of a session form one stream with
//! dense sequence numbers and a hash chain over them. This crate owns what a fact can say ([`event`]), how it looks on a
//! wire ([`wire`]), what the chain covers ([`integrity`]), and the log: [`EventLog`] to append, [`LogReader`] to read,
//! follow and verify.
//!
//! It is **not** a message broker, a general event store or a database: one process writes a data folder at a time, any
//! number reads it, and the vocabulary is that of agent runtimes. It knows no projection (see `read-model`) and no foreign
//! format (see `providers`).
//!
//! ```
//! use std::sync::Arc;
//! use event_spine::event::family::message::ModelDelta;
//! use event_spine::{
//!     EventDraft, EventId, EventLog, Expected, LogOptions, ReadMode, RecordedAt, RuntimeId, Scope, SeededEntropy,
//!     SessionId, SteppingClock, Timestamp,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Time and randomness are passed in; a program gives the system's.
//! let clock = Arc::new(SteppingClock::new(RecordedAt(1_780_000_000_000_000), 1));
//! let log = EventLog::in_memory(LogOptions::new(clock, Arc::new(SeededEntropy::new(1))));
//!
//! let session = SessionId::parse("sess_1")?;
//! let mut scope = Scope::default();
//! scope.set("threadId", "thread_1")?;
//! scope.set("turnId", "turn_1")?;
//! let draft = EventDraft::new(
//!     RuntimeId::parse("rt_example")?,
//!     EventId::parse("evt_1")?,
//!     Timestamp::verbatim("2026-06-09T10:00:00.000Z"),
//!     scope,
//!     &ModelDelta { delta: "Hello".into(), role: None },
//! )?;
//!
//! let receipt = log.append(&session, Expected::Empty, vec![draft.clone()])?;
//! assert_eq!(receipt.sequences, [1]);
//! // The same fact again is the same fact.
//! assert_eq!(log.append(&session, Expected::Any, vec![draft])?.duplicates, 1);
//!
//! let mut events = log.reader().read(&session, .., ReadMode::Strict)?;
//! let event = events.next_event()?.ok_or("one event")?;
//! assert_eq!(event.draft.payload.as_str(), r#"{"delta":"Hello"}"#);
//! assert!(log.reader().verify(&session)?.intact());
//! # Ok(())
//! # }
//! ```

// Modules stand in reading order.
mod id;
mod scope;
mod time;
mod json;
mod canonical;
mod refs;
pub mod event;
mod record;
pub mod integrity;
pub mod wire;
mod codec;
mod error;
mod files;
pub mod blob;
pub mod store;
mod log;
mod checkpoint;
mod parallel;
mod wait;

pub use checkpoint::Checkpoints;
pub use error::{AppendError, Defect, OpenError, ReadError, StoreFault, reason};
pub use event::{Event, EventPayload, EventType};
pub use id::{
    ActionId, ArtifactId, AttemptId, EventId, EvidenceId, IdError, MAX_ID_BYTES, MessageId, PartId,
    RunId, RuntimeId, SessionId, SpanId, StepId, SubagentId, TaskId, ThreadId, ToolCallId, TraceId,
    TurnId, check_id, derived_id,
};
pub use integrity::{ChainHash, LeafHash, PayloadDigest, Salt};
pub use json::{JsonError, JsonText, MAX_DEPTH, Members, Repairs};
pub use log::mask;
pub use log::{
    Cursor, Disk, DiskFile, Entry, EventLog, Events, Expected, Fault, Follow, ForkPoint, Found,
    Gap, Head, HeldThere, LogOptions, LogReader, Masker, ReadMode, RealDisk, Receipt, Recovery,
    RecoveryNote, Salvage, SalvageError, Salvaged, SessionSummary, Stats, StatsWarning,
    StorageFinding, SyncPolicy, Verification, salvage, validate,
};
pub use record::{EventDraft, RecordedEvent, SCHEMA_VERSION};
pub use refs::{Ref, RefKind, RefOrigin, Refs, RefsError};
pub use scope::{MissingScope, Scope, ScopeKind};
pub use time::{Clock, Entropy, RecordedAt, SeededEntropy, SteppingClock, Timestamp, ulid};
