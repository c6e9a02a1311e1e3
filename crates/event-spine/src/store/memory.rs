//! Owns the memory twin of the journal: the law of a store in its simplest form.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use super::{
    Entry, ForkPoint, Gap, Pieces, ReadStore, SealedBatch, SessionSummary, StorageFinding, Store,
    Ticket, id_hash,
};
use crate::error::{ReadError, StoreFault};
use crate::id::SessionId;
use crate::record::RecordedEvent;

/// How many events one piece of a read holds.
const PIECE: usize = 512;

struct Session {
    events: Vec<RecordedEvent>,
    bytes: u64,
    parent: Option<ForkPoint>,
    activity: u64,
}

/// A store in memory. It forgets everything when it goes.
pub(crate) struct MemoryStore {
    sessions: RwLock<HashMap<SessionId, Session>>,
    changes: watch::Sender<u64>,
}

impl MemoryStore {
    pub(crate) fn new() -> Self {
        Self { sessions: RwLock::default(), changes: watch::Sender::new(0) }
    }

    fn with<T>(&self, read: impl FnOnce(&HashMap<SessionId, Session>) -> T) -> T {
        read(&self.sessions.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn summary(session_id: &SessionId, session: &Session) -> Option<SessionSummary> {
    let (first, last) = (session.events.first()?, session.events.last()?);
    Some(SessionSummary {
        session_id: session_id.clone(),
        head: super::Head { sequence: last.sequence, chain: last.chain },
        first_recorded_at: first.recorded_at,
        last_recorded_at: last.recorded_at,
        bytes: session.bytes,
        parent: session.parent.clone(),
        activity: session.activity,
    })
}

impl ReadStore for MemoryStore {
    fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError> {
        Ok(self.with(|sessions| sessions.get(session).and_then(|found| summary(session, found))))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError> {
        let mut all: Vec<_> = self.with(|sessions| {
            sessions.iter().filter_map(|(id, session)| summary(id, session)).collect()
        });
        all.sort_by_key(|summary| summary.activity);
        Ok(all)
    }

    fn read(&self, session: &SessionId, from: u64, to: u64) -> Result<Pieces, ReadError> {
        let events: Vec<RecordedEvent> = self.with(|sessions| {
            let own =
                sessions.get(session).map(|found| found.events.as_slice()).unwrap_or_default();
            own.iter().filter(|event| (from..=to).contains(&event.sequence)).cloned().collect()
        });
        let missing = from <= to && events.is_empty();
        let gap =
            missing.then(|| Ok(vec![Entry::Gap(Gap { from, to, reason: "never stored".into() })]));
        let mut events = events.into_iter();
        let pieces = std::iter::from_fn(move || {
            let piece: Vec<_> = events.by_ref().take(PIECE).map(Entry::Event).collect();
            (!piece.is_empty()).then_some(Ok(piece))
        });
        Ok(Box::new(pieces.chain(gap)))
    }

    fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError> {
        Ok(self.with(|sessions| {
            let own =
                sessions.get(session).map(|found| found.events.as_slice()).unwrap_or_default();
            own.iter()
                .map(|event| (id_hash(event.draft.event_id.as_str()), event.sequence))
                .collect()
        }))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn damaged_places(&self) -> Result<u64, ReadError> {
        Ok(0)
    }

    fn verify_storage(&self) -> Result<Vec<StorageFinding>, ReadError> {
        Ok(Vec::new())
    }
}

impl Store for MemoryStore {
    fn submit(&self, batch: SealedBatch) -> Ticket {
        let (sender, ticket) = Ticket::new();
        {
            let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
            let activity = *self.changes.borrow() + 1; // the tick below makes it so
            let session = sessions.entry(batch.session_id).or_insert_with(|| Session {
                events: Vec::new(),
                bytes: 0,
                parent: batch.parent,
                activity,
            });
            session.activity = activity;
            for event in batch.events {
                session.bytes += event.draft.payload.as_str().len() as u64;
                session.events.push(event);
            }
            self.changes.send_modify(|ticks| *ticks += 1);
        }
        let _ = sender.send(Ok(())); // the caller may have stopped waiting
        ticket
    }

    fn fault(&self) -> Option<StoreFault> {
        None
    }

    fn as_read(self: Arc<Self>) -> Arc<dyn ReadStore> {
        self
    }
}
