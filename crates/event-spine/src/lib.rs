//! The contract and the log of Spine, the flight recorder and backbone of AI agents.
//!
//! A *fact* is one thing that happened. The facts of a session form one stream with dense sequence numbers and a hash
//! chain over them.

// Modules stand in reading order.
pub mod blob;
mod canonical;
pub mod event;
mod id;
pub mod integrity;
mod json;
mod record;
mod refs;
mod scope;
mod time;
pub mod wire;

pub use event::{Event, EventPayload, EventType};
pub use id::{
    ActionId, ArtifactId, AttemptId, EventId, EvidenceId, IdError, MAX_ID_BYTES, MessageId, PartId,
    RunId, RuntimeId, SessionId, SpanId, StepId, SubagentId, TaskId, ThreadId, ToolCallId, TraceId,
    TurnId, check_id, derived_id,
};
pub use integrity::{ChainHash, LeafHash, PayloadDigest, Salt};
pub use json::{JsonError, JsonText, MAX_DEPTH, Repairs};
pub use record::{EventDraft, RecordedEvent, SCHEMA_VERSION};
pub use refs::{Ref, RefKind, RefOrigin, Refs, RefsError};
pub use scope::{MissingScope, Scope, ScopeKind};
pub use time::{Clock, Entropy, RecordedAt, SeededEntropy, SteppingClock, Timestamp, ulid};
