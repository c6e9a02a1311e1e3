//! Owns the stored form of a batch: one postcard record, borrowed when read. The only file that knows it.
//!
//! The form is frozen by [`BATCH_VERSION`], which stands in the frame outside postcard. Strings are the strings of the
//! envelope; the payload is its own JSON text; nothing here knows an event type.
//!
//! Next: [`store::journal`](crate::store::journal), where the bytes go.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::EventType;
use crate::id::{EventId, RuntimeId, SessionId};
use crate::integrity::ChainHash;
use crate::json::JsonText;
use crate::record::{EventDraft, RecordedEvent};
use crate::refs::Refs;
use crate::scope::Scope;
use crate::store::{ForkPoint, SealedBatch};
use crate::time::{RecordedAt, Timestamp};

/// Version of the stored form of a batch.
pub(crate) const BATCH_VERSION: u8 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredBatch<'a> {
    pub(crate) session_id: &'a str,
    /// Microseconds since 1970 UTC.
    pub(crate) recorded_at: i64,
    /// Sequence of the first record.
    pub(crate) first: u64,
    /// Chain value before the first record.
    #[serde(with = "serde_bytes")]
    previous: &'a [u8],
    /// Parent and last shared sequence, in the first batch of a fork.
    parent: Option<(&'a str, u64)>,
    #[serde(borrow)]
    pub(crate) records: Vec<StoredRecord<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRecord<'a> {
    pub(crate) event_id: &'a str,
    event_type: &'a str,
    schema_version: &'a str,
    runtime_id: &'a str,
    timestamp: &'a str,
    /// Which scope ids there are, by position.
    scope_mask: u32,
    #[serde(borrow)]
    scope: Vec<&'a str>,
    payload: &'a str,
    refs: Option<&'a str>,
    extra: Option<&'a str>,
    #[serde(with = "serde_bytes")]
    salt: &'a [u8],
    #[serde(with = "serde_bytes")]
    chain: &'a [u8],
}

/// The stored form of a batch, in a buffer that may have served another one.
///
/// # Errors
/// Never for a batch that was sealed here; the signature is postcard's.
pub(crate) fn encode(batch: &SealedBatch, mut bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
    let stored = head(batch, Vec::new());
    let text = |event: &RecordedEvent| event.draft.payload.as_str().len() + 512;
    let room = 256 + batch.events.iter().map(text).sum::<usize>();
    bytes.clear();
    bytes.reserve(room);
    bytes = postcard::to_extend(&stored, bytes)?;
    // Records are the last member, and postcard writes a list as its length and its items, one behind the other: so
    // they are written in place of the empty list, and the later ones by themselves on another core.
    bytes.pop();
    bytes = postcard::to_extend(&batch.events.len(), bytes)?;
    let (written, behind) = crate::parallel::fold_halves(
        &batch.events,
        bytes,
        || Vec::with_capacity(room / 2),
        |bytes, event| postcard::to_extend(&record(event), bytes),
    );
    bytes = written?;
    if let Some(behind) = behind {
        bytes.extend_from_slice(&behind?);
    }
    Ok(bytes)
}

fn record(event: &RecordedEvent) -> StoredRecord<'_> {
    let draft = &event.draft;
    StoredRecord {
        event_id: draft.event_id.as_str(),
        event_type: draft.event_type.name(),
        schema_version: &draft.schema_version,
        runtime_id: draft.runtime_id.as_str(),
        timestamp: draft.timestamp.as_str(),
        scope_mask: draft.scope.shared().fold(0, |mask, (at, _)| mask | (1 << at)),
        scope: draft.scope.shared().map(|(_, id)| &**id).collect(),
        payload: draft.payload.as_str(),
        refs: draft.refs.as_json().map(JsonText::as_str),
        extra: draft.extra.as_ref().map(JsonText::as_str),
        salt: &event.salt,
        chain: &event.chain.0,
    }
}

/// A batch with these records.
fn head<'a>(batch: &'a SealedBatch, records: Vec<StoredRecord<'a>>) -> StoredBatch<'a> {
    StoredBatch {
        session_id: batch.session_id.as_str(),
        recorded_at: batch.events.first().map_or(0, |event| event.recorded_at.0),
        first: batch.first(),
        previous: &batch.previous.0,
        parent: batch.parent.as_ref().map(|point| (point.session_id.as_str(), point.sequence)),
        records,
    }
}

/// Reads the stored form of a batch without copying; refuses bytes that are left over.
///
/// # Errors
/// The bytes are not a batch.
pub(crate) fn decode(bytes: &[u8]) -> Result<StoredBatch<'_>, postcard::Error> {
    let (batch, rest) = postcard::take_from_bytes::<StoredBatch<'_>>(bytes)?;
    if rest.is_empty() { Ok(batch) } else { Err(postcard::Error::DeserializeUnexpectedEnd) }
}

/// Whose batch bytes that are not whole seem to begin, and with which sequence.
pub(crate) fn peek(bytes: &[u8]) -> Option<(SessionId, u64)> {
    // The first three fields of the stored batch.
    let ((session, _, first), _) = postcard::take_from_bytes::<(&str, i64, u64)>(bytes).ok()?;
    let plausible = first > 0 && !session.chars().any(char::is_control);
    Some((SessionId::parse(session).ok().filter(|_| plausible)?, first))
}

/// Whose batch the bytes are, and the first and last sequence in it, without reading its records.
pub(crate) fn place_of(bytes: &[u8]) -> Option<(SessionId, u64, u64)> {
    // All fields before the records, and how many these are.
    type Head<'b> = (&'b str, i64, u64, &'b [u8], Option<(&'b str, u64)>, u64);
    let (head, _) = postcard::take_from_bytes::<Head<'_>>(bytes).ok()?;
    let (session, _, first, _, _, records) = head;
    Some((SessionId::parse(session).ok()?, first, first.checked_add(records.checked_sub(1)?)?))
}

impl StoredBatch<'_> {
    /// Sequence of the last record.
    pub(crate) fn last(&self) -> u64 {
        self.first + (self.records.len() as u64).saturating_sub(1)
    }

    pub(crate) fn previous(&self) -> ChainHash {
        chain_hash(self.previous)
    }

    /// Chain value at the last record.
    pub(crate) fn chain(&self) -> ChainHash {
        self.records.last().map_or_else(|| self.previous(), |record| chain_hash(record.chain))
    }

    pub(crate) fn parent(&self) -> Option<ForkPoint> {
        let (session, sequence) = self.parent?;
        Some(ForkPoint { session_id: SessionId::trusted(session.into()), sequence })
    }

    /// The record at a place, as an event of its own.
    pub(crate) fn event(
        &self,
        at: usize,
        session: &SessionId,
        pool: &mut StrPool,
    ) -> Option<RecordedEvent> {
        let record = self.records.get(at)?;
        let mut scope = Scope::default();
        let mut ids = record.scope.iter();
        let mut mask = record.scope_mask;
        while mask != 0 {
            let position = mask.trailing_zeros() as usize;
            scope.set_trusted(position, pool.share(ids.next()?));
            mask &= mask - 1;
        }
        Some(RecordedEvent {
            session_id: session.clone(),
            sequence: self.first + at as u64,
            recorded_at: RecordedAt(self.recorded_at),
            salt: record.salt.try_into().ok()?,
            chain: chain_hash(record.chain),
            draft: EventDraft {
                schema_version: pool.share(record.schema_version),
                runtime_id: RuntimeId::trusted(pool.share(record.runtime_id)),
                event_id: EventId::trusted(record.event_id.into()),
                timestamp: Timestamp::verbatim(pool.share(record.timestamp)),
                event_type: pool.event_type(record.event_type),
                scope,
                refs: Refs::trusted(record.refs.map(|refs| JsonText::trusted(refs.into()))),
                payload: JsonText::trusted(record.payload.into()),
                extra: record.extra.map(|extra| JsonText::trusted(extra.into())),
            },
        })
    }
}

fn chain_hash(bytes: &[u8]) -> ChainHash {
    ChainHash(bytes.try_into().unwrap_or([0; 32]))
}

/// Shares equal strings among the events of a read: most ids of a session repeat from event to event.
///
/// Direct-mapped: a string that falls on another's place takes it. So it is small, and never grows.
pub(crate) struct StrPool {
    slots: Vec<Option<Arc<str>>>,
    types: Vec<Option<EventType>>,
}

const SLOTS: usize = 256;

impl Default for StrPool {
    fn default() -> Self {
        Self { slots: vec![None; SLOTS], types: vec![None; 64] }
    }
}

impl StrPool {
    fn share(&mut self, text: &str) -> Arc<str> {
        let Some(slot) = self.slots.get_mut(place(text) % SLOTS) else {
            return text.into();
        };
        match slot {
            Some(shared) if **shared == *text => Arc::clone(shared),
            _ => {
                let shared: Arc<str> = text.into();
                *slot = Some(Arc::clone(&shared));
                shared
            }
        }
    }

    fn event_type(&mut self, name: &str) -> EventType {
        let Some(slot) = self.types.get_mut(place(name) % 64) else {
            return EventType::named(name);
        };
        match slot {
            Some(known) if known.name() == name => known.clone(),
            _ => {
                let named = EventType::named(name);
                *slot = Some(named.clone());
                named
            }
        }
    }
}

/// A quick hash: length, and up to sixteen bytes of the end, where ids differ.
fn place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let word = |from: usize| {
        let mut word = [0_u8; 8];
        for (to, from) in word.iter_mut().zip(bytes.iter().skip(from)) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    };
    let end = word(bytes.len().saturating_sub(8));
    let before = word(bytes.len().saturating_sub(16));
    let mixed =
        (end ^ before.rotate_left(23) ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonText;

    fn batch(len: u64) -> SealedBatch {
        let events = (1..=len).map(|sequence| {
            let mut scope = Scope::default();
            for name in Scope::WIRE_NAMES.iter().step_by(1 + sequence as usize % 3) {
                scope.set(name, &format!("{name}_{sequence}")).unwrap();
            }
            let extra = (sequence % 5 == 0).then(|| JsonText::parse("{\"x\":1}").unwrap().0);
            RecordedEvent {
                session_id: "sess_1".parse().unwrap(),
                sequence,
                recorded_at: RecordedAt(7),
                salt: [1; 16],
                chain: ChainHash([sequence as u8; 32]),
                draft: EventDraft {
                    schema_version: "0.1".into(),
                    runtime_id: "rt_1".parse().unwrap(),
                    event_id: format!("evt_{sequence}").parse().unwrap(),
                    timestamp: Timestamp::verbatim("2026-06-09T10:00:00.000Z"),
                    event_type: EventType::named("tool.started"),
                    scope,
                    refs: Refs::NONE,
                    payload: JsonText::parse(&format!("{{\"n\":{sequence}}}")).unwrap().0,
                    extra,
                },
            }
        });
        SealedBatch {
            session_id: "sess_1".parse().unwrap(),
            previous: ChainHash([9; 32]),
            events: events.collect(),
            sync: true,
            parent: None,
        }
    }

    /// Parts that are written by themselves make the bytes of one postcard record, and none is out of place.
    #[test]
    fn a_batch_in_parts_is_the_batch_in_one() {
        for len in [0, 1, 127, 128, 600, 1300] {
            let batch = batch(len);
            let whole = head(&batch, batch.events.iter().map(record).collect());
            let bytes = encode(&batch, vec![1; 9]).unwrap();
            assert_eq!(bytes, postcard::to_stdvec(&whole).unwrap(), "{len} events");
            let stored = decode(&bytes).unwrap();
            let mut pool = StrPool::default();
            for (at, event) in batch.events.iter().enumerate() {
                assert_eq!(stored.event(at, &batch.session_id, &mut pool).as_ref(), Some(event));
            }
        }
    }
}
