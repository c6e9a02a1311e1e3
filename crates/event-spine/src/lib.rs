//! The contract and the log of Spine, the flight recorder and backbone of AI agents.
//!
//! A *fact* is one thing that happened. The facts of a session form one stream with dense sequence numbers and a hash
//! chain over them.

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
pub mod blob;
pub mod store;
mod log;
mod checkpoint;
mod parallel;
mod wait;

pub use checkpoint::Checkpoints;
pub use error::{AppendError, Defect, OpenError, ReadError, StoreFault};
pub use event::{Event, EventPayload, EventType};
pub use id::{
    ActionId, ArtifactId, AttemptId, EventId, EvidenceId, IdError, MAX_ID_BYTES, MessageId, PartId,
    RunId, RuntimeId, SessionId, SpanId, StepId, SubagentId, TaskId, ThreadId, ToolCallId, TraceId,
    TurnId, check_id, derived_id,
};
pub use integrity::{ChainHash, LeafHash, PayloadDigest, Salt};
pub use json::{JsonError, JsonText, MAX_DEPTH, Repairs};
pub use log::{
    Cursor, Disk, DiskFile, Entry, EventLog, Events, Expected, Fault, Follow, ForkPoint, Gap, Head,
    LogOptions, LogReader, Masker, ReadMode, RealDisk, Receipt, Recovery, RecoveryNote,
    SalvageError, Salvaged, SessionSummary, Stats, StatsWarning, StorageFinding, SyncPolicy,
    Verification, salvage, validate,
};
pub use record::{EventDraft, RecordedEvent, SCHEMA_VERSION};
pub use refs::{Ref, RefKind, RefOrigin, Refs, RefsError};
pub use scope::{MissingScope, Scope, ScopeKind};
pub use time::{Clock, Entropy, RecordedAt, SeededEntropy, SteppingClock, Timestamp, ulid};
