//! Owns the two states of a fact: the draft that somebody proposes, and the recorded event that the log vouches for.
//!
//! Next: [`wire`](crate::wire) for their JSON form, `integrity` for what the chain covers.

use crate::event::{DecodeError, Event, EventPayload, EventType};
use crate::id::{EventId, RuntimeId, SessionId};
use crate::integrity::{ChainHash, Salt};
use crate::json::{JsonError, JsonText};
use crate::refs::Refs;
use crate::scope::Scope;
use crate::time::{RecordedAt, Timestamp};

/// The `schemaVersion` that drafts made here carry.
pub const SCHEMA_VERSION: &str = "0.1";

/// A fact not yet in the log: the envelope without what the log adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    /// Version of the envelope and payload schemas the producer wrote.
    pub schema_version: std::sync::Arc<str>,
    /// The producing runtime.
    pub runtime_id: RuntimeId,
    /// Unique within the session, for ever. The same id with the same content is the same fact.
    pub event_id: EventId,
    /// The producer's time.
    pub timestamp: Timestamp,
    /// What happened.
    pub event_type: EventType,
    /// Where it belongs.
    pub scope: Scope,
    /// What it refers to.
    pub refs: Refs,
    /// The particulars, as JSON text.
    pub payload: JsonText,
    /// Top-level members of a foreign envelope that the contract does not name: one JSON object, or nothing.
    pub extra: Option<JsonText>,
}

impl EventDraft {
    /// A draft of a type of the catalog.
    ///
    /// # Errors
    /// Never for payloads of the catalog; the signature is serde's.
    pub fn new<P: EventPayload>(
        runtime_id: RuntimeId,
        event_id: EventId,
        timestamp: Timestamp,
        scope: Scope,
        payload: &P,
    ) -> Result<Self, JsonError> {
        Ok(Self {
            schema_version: SCHEMA_VERSION.into(),
            runtime_id,
            event_id,
            timestamp,
            event_type: EventType::Known(P::descriptor()),
            scope,
            refs: Refs::NONE,
            payload: JsonText::from_value(payload)?,
            extra: None,
        })
    }

    /// Decodes the payload by its type.
    ///
    /// # Errors
    /// The type is known and the payload does not have its shape.
    pub fn event(&self) -> Result<Event, DecodeError> {
        self.event_type.decode(&self.payload)
    }

    /// True when both state the same fact: everything equal, payloads compared as JSON values with numbers as written.
    #[must_use]
    pub fn same_content(&self, other: &Self) -> bool {
        let same_extra = match (&self.extra, &other.extra) {
            (None, None) => true,
            (Some(a), Some(b)) => a.same_value(b),
            _ => false,
        };
        same_extra
            && self.payload.same_value(&other.payload)
            && self.schema_version == other.schema_version
            && self.runtime_id == other.runtime_id
            && self.event_id == other.event_id
            && self.timestamp == other.timestamp
            && self.event_type == other.event_type
            && self.scope == other.scope
            && self.refs == other.refs
    }
}

/// A fact in the log: a draft after it got its sequence and its place in the hash chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The session whose stream took it. In a fork the shared prefix keeps the id of the session that recorded it.
    pub session_id: SessionId,
    /// Place in the session: 1, 2, 3 … without gaps.
    pub sequence: u64,
    /// When the log took it.
    pub recorded_at: RecordedAt,
    /// Hides the payload behind its digest, so that it can be erased one day.
    pub salt: Salt,
    /// Chain value of the session up to and including this event.
    pub chain: ChainHash,
    /// The fact.
    pub draft: EventDraft,
}

impl RecordedEvent {
    /// Decodes the payload by its type. What cannot be decoded (it was written by another version) is kept whole as
    /// [`Event::Unknown`], so that one record never costs a session.
    #[must_use]
    pub fn event(&self) -> Event {
        self.draft.event().unwrap_or_else(|_| Event::Unknown {
            name: self.draft.event_type.name().into(),
            payload: self.draft.payload.clone(),
        })
    }

    /// What happened.
    #[must_use]
    pub fn event_type(&self) -> &EventType {
        &self.draft.event_type
    }

    /// Where it belongs.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.draft.scope
    }
}
