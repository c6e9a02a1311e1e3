//! Owns the one way in: from drafts to a receipt, or to an error and nothing stored.
//!
//! Next: [`intake`] for steps one to three, [`seal`](super::seal) for four, [`store`](crate::store) for five.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::PoisonError;
use std::time::Duration;

use super::{EventLog, Inner, SessionWriter, SyncPolicy};
use crate::error::AppendError;
use crate::event::Durability;
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::log::ids::Hashed;
use crate::log::intake::{self, Prepared};
use crate::log::read::{Events, LogReader};
use crate::log::seal::seal;
use crate::record::EventDraft;
use crate::store::{Head, ReadMode, SealedBatch, Ticket, id_hash};

/// Most events of one batch.
pub(crate) const MAX_BATCH_EVENTS: usize = 65_536;

/// Most bytes of payload of one batch, before large strings are spilled.
pub(crate) const MAX_BATCH_BYTES: usize = 64 * 1024 * 1024;

/// Where the caller believes a session to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Anywhere.
    Any,
    /// Without events.
    Empty,
    /// At this sequence.
    Exact(u64),
}

/// What the log vouches for after an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The session.
    pub session_id: SessionId,
    /// Sequence of each draft, in the order given; for drafts that were there already, their original one.
    pub sequences: Vec<u64>,
    /// The newest event of the session right after this append, or now when nothing was new.
    pub head: Head,
    /// How safe the new events are: `Barrier` is on disk, `Buffered` is handed to the operating system.
    pub durability: Durability,
    /// Drafts that were stored now.
    pub appended: usize,
    /// Drafts that were there already, with the same content.
    pub duplicates: usize,
    /// Places where a secret was masked or withheld; each event they are in is followed by an `output.redacted` fact.
    pub masked: usize,
    /// Large strings that were moved to the blob store.
    pub spilled: usize,
}

impl Receipt {
    /// Chain value at the head.
    #[must_use]
    pub fn chain(&self) -> ChainHash {
        self.head.chain
    }
}

/// An append whose events are numbered and on their way, not yet acknowledged.
#[derive(Debug)]
pub(super) struct PendingAppend {
    receipt: Receipt,
    ticket: Option<Ticket>,
}

impl PendingAppend {
    pub(super) fn into_parts(self) -> (Receipt, Option<Ticket>) {
        (self.receipt, self.ticket)
    }

    fn settle(
        receipt: Receipt,
        outcome: Result<(), crate::error::StoreFault>,
    ) -> Result<Receipt, AppendError> {
        match outcome {
            Ok(()) => Ok(receipt),
            Err(source) => Err(AppendError::Store { session: receipt.session_id, source }),
        }
    }
}

impl EventLog {
    /// Appends drafts to a session, all or none, and blocks until they are as safe as their types demand.
    ///
    /// A draft whose event id is there already with the same content is not stored again: its original sequence is in
    /// the receipt, at any age and under any `expected`. Equal drafts within a batch are stored once.
    ///
    /// # Errors
    /// Says which draft breaks which rule, where the session really is, or why the store did not take it. In every case
    /// nothing of the batch is stored.
    pub fn append(
        &self,
        session: &SessionId,
        expected: Expected,
        drafts: Vec<EventDraft>,
    ) -> Result<Receipt, AppendError> {
        let pending = self.inner.begin(session, expected, drafts)?;
        let outcome = pending.ticket.map_or(Ok(()), Ticket::wait);
        PendingAppend::settle(pending.receipt, outcome)
    }

    /// [`EventLog::append`] for async code: numbering happens at once, the wait for the disk is awaited.
    ///
    /// # Errors
    /// As [`EventLog::append`].
    pub async fn append_async(
        &self,
        session: &SessionId,
        expected: Expected,
        drafts: Vec<EventDraft>,
    ) -> Result<Receipt, AppendError> {
        let pending = self.inner.begin(session, expected, drafts)?;
        let outcome = match pending.ticket {
            Some(ticket) => ticket.acknowledged().await,
            None => Ok(()),
        };
        PendingAppend::settle(pending.receipt, outcome)
    }
}

impl Inner {
    fn begin(
        &self,
        session: &SessionId,
        expected: Expected,
        drafts: Vec<EventDraft>,
    ) -> Result<PendingAppend, AppendError> {
        check_size(&drafts)?;
        intake::validate(&drafts)?;
        let unreadable =
            |source| AppendError::Read { session: session.clone(), source: Box::new(source) };
        let writer = self.writer(session).map_err(unreadable)?;
        // The session stays locked until its batch is queued, so that the order in the chain is the order on disk.
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.append_locked(session, &mut writer, expected, drafts)
    }

    pub(super) fn append_locked(
        &self,
        session: &SessionId,
        writer: &mut SessionWriter,
        expected: Expected,
        drafts: Vec<EventDraft>,
    ) -> Result<PendingAppend, AppendError> {
        let sorted = self.sort_out_duplicates(session, writer, drafts)?;
        let mut receipt = sorted.receipt(session, writer.head);
        if sorted.fresh.is_empty() {
            receipt.sequences = sorted.places.iter().map(|place| place.sequence(&[])).collect();
            return Ok(PendingAppend { receipt, ticket: None });
        }
        check_expected(session, expected, writer.head)?;
        let prepared = intake::prepare(
            session,
            &self.masker,
            &self.blobs,
            self.options.inline_limit,
            sorted.fresh,
        )?;
        receipt.masked = prepared.masked;
        receipt.spilled = prepared.spilled;
        let Prepared { drafts, fresh_at, .. } = prepared;
        let sync = self.waits_for_disk(&drafts);
        receipt.durability = if sync { Durability::Barrier } else { Durability::Buffered };
        let first = writer.head.sequence + 1;
        let fresh_sequences: Vec<u64> = fresh_at.iter().map(|&at| first + at as u64).collect();
        receipt.sequences =
            sorted.places.iter().map(|place| place.sequence(&fresh_sequences)).collect();

        let previous = writer.head.chain;
        let now = self.options.clock.now();
        let (events, head) = seal(session, writer.head, now, &*self.options.entropy, drafts);
        for event in &events {
            writer.ids.insert(id_hash(event.draft.event_id.as_str()), event.sequence);
        }
        writer.head = head;
        receipt.head = head;
        let parent = writer.parent.take();
        let batch = SealedBatch { session_id: session.clone(), previous, events, sync, parent };
        Ok(PendingAppend { receipt, ticket: Some(self.store.submit(batch)) })
    }

    fn waits_for_disk(&self, drafts: &[EventDraft]) -> bool {
        match self.options.sync {
            SyncPolicy::Always => true,
            SyncPolicy::Relaxed => false,
            SyncPolicy::Barrier => {
                drafts.iter().any(|draft| draft.event_type.durability() == Durability::Barrier)
            }
        }
    }

    /// Separates drafts that are new from those that are there already.
    fn sort_out_duplicates(
        &self,
        session: &SessionId,
        writer: &SessionWriter,
        drafts: Vec<EventDraft>,
    ) -> Result<Sorted, AppendError> {
        if all_new(writer, &drafts) {
            let places = (0..drafts.len()).map(Place::Fresh).collect();
            return Ok(Sorted { places, fresh: drafts });
        }
        let mut sorted = Sorted {
            places: Vec::with_capacity(drafts.len()),
            fresh: Vec::with_capacity(drafts.len()),
        };
        let mut in_batch: HashMap<u64, usize, BuildHasherDefault<Hashed>> =
            HashMap::with_capacity_and_hasher(drafts.len(), BuildHasherDefault::default());
        // Repeats mostly come in the order in which they were stored: one read then serves all of them.
        let mut ahead = None;
        for draft in drafts {
            let conflict = |sequence| AppendError::Conflict {
                session: session.clone(),
                event_id: draft.event_id.clone(),
                sequence,
            };
            let hash = id_hash(draft.event_id.as_str());
            // Two ids with one hash are all but impossible; the second then takes the next free number.
            let mut slot = hash;
            let earlier = loop {
                match in_batch.get(&slot).map(|&at| (at, sorted.fresh.get(at))) {
                    Some((at, Some(first))) if first.event_id == draft.event_id => {
                        break Some((at, first));
                    }
                    Some(_) => slot = slot.wrapping_add(1),
                    None => break None,
                }
            };
            if let Some((at, first)) = earlier {
                if !first.same_content(&draft) {
                    return Err(conflict(writer.head.sequence + 1 + at as u64));
                }
                sorted.places.push(Place::Fresh(at));
                continue;
            }
            match self.stored_with_id(session, writer, hash, &draft, &mut ahead)? {
                Some((sequence, true)) => sorted.places.push(Place::Stored(sequence)),
                Some((sequence, false)) => return Err(conflict(sequence)),
                None => {
                    in_batch.insert(slot, sorted.fresh.len());
                    sorted.places.push(Place::Fresh(sorted.fresh.len()));
                    sorted.fresh.push(draft);
                }
            }
        }
        Ok(sorted)
    }

    /// The stored event with the id of `draft`, and whether it states the same fact.
    fn stored_with_id(
        &self,
        session: &SessionId,
        writer: &SessionWriter,
        hash: u64,
        draft: &EventDraft,
        ahead: &mut Option<Events>,
    ) -> Result<Option<(u64, bool)>, AppendError> {
        let candidates = writer.ids.candidates(hash);
        if candidates.is_empty() {
            return Ok(None);
        }
        let reader =
            LogReader::new(std::sync::Arc::clone(&self.store).as_read(), self.blobs.clone());
        for sequence in candidates {
            self.wait_until_visible(session, sequence)?;
            let unreadable =
                |source| AppendError::Read { session: session.clone(), source: Box::new(source) };
            let at_hand = ahead.as_ref().is_some_and(|events| {
                let remaining = events.remaining();
                *remaining.start() == sequence && sequence <= *remaining.end()
            });
            if !at_hand {
                let events = reader.read(session, sequence.., ReadMode::Strict);
                *ahead = Some(events.map_err(unreadable)?);
            }
            let Some(events) = ahead else { continue };
            let Some(stored) = events.next_event().map_err(unreadable)? else {
                continue;
            };
            if stored.draft.event_id == draft.event_id {
                let same = intake::same_fact(
                    &reader,
                    (session, sequence, &stored.draft),
                    draft,
                    &self.masker,
                    &self.blobs,
                    self.options.inline_limit,
                )?;
                return Ok(Some((sequence, same)));
            }
        }
        Ok(None)
    }

    /// Waits for an event that is numbered and on its way to the store.
    fn wait_until_visible(&self, session: &SessionId, sequence: u64) -> Result<(), AppendError> {
        let mut changes = self.store.changes();
        loop {
            changes.borrow_and_update();
            let unreadable =
                |source| AppendError::Read { session: session.clone(), source: Box::new(source) };
            let summary = self.store.summary(session).map_err(unreadable)?;
            let parent = summary
                .as_ref()
                .and_then(|found| found.parent.as_ref())
                .map_or(0, |point| point.sequence);
            if sequence <= parent.max(summary.map_or(0, |found| found.head.sequence)) {
                return Ok(());
            }
            if let Some(source) = self.store.fault() {
                return Err(AppendError::Store { session: session.clone(), source });
            }
            let _ = crate::wait::block_on(changes.changed(), Some(Duration::from_millis(50))); // looks again either way
        }
    }
}

/// True when no id of the batch can be there already, nor twice in the batch: then no draft has to be moved.
fn all_new(writer: &SessionWriter, drafts: &[EventDraft]) -> bool {
    let mut seen = HashSet::<u64, BuildHasherDefault<Hashed>>::default();
    let several = drafts.len() > 1;
    if several {
        seen.reserve(drafts.len());
    }
    drafts.iter().all(|draft| {
        let hash = id_hash(draft.event_id.as_str());
        (!several || seen.insert(hash)) && writer.ids.candidates(hash).is_empty()
    })
}

struct Sorted {
    /// Per draft of the caller, where it is.
    places: Vec<Place>,
    /// The drafts that are new, each once.
    fresh: Vec<EventDraft>,
}

impl Sorted {
    /// The receipt as far as it is known before anything is stored.
    fn receipt(&self, session: &SessionId, head: Head) -> Receipt {
        Receipt {
            session_id: session.clone(),
            sequences: Vec::new(),
            head,
            durability: Durability::Barrier,
            appended: self.fresh.len(),
            duplicates: self.places.len() - self.fresh.len(),
            masked: 0,
            spilled: 0,
        }
    }
}

enum Place {
    Stored(u64),
    Fresh(usize),
}

impl Place {
    fn sequence(&self, fresh: &[u64]) -> u64 {
        match self {
            Self::Stored(sequence) => *sequence,
            Self::Fresh(at) => fresh.get(*at).copied().unwrap_or(0),
        }
    }
}

fn check_size(drafts: &[EventDraft]) -> Result<(), AppendError> {
    if drafts.is_empty() {
        return Err(AppendError::Empty);
    }
    let too_large = |unit, limit, found| Err(AppendError::TooLarge { unit, limit, found });
    if drafts.len() > MAX_BATCH_EVENTS {
        return too_large("events", MAX_BATCH_EVENTS, drafts.len());
    }
    let bytes = drafts.iter().map(|draft| draft.payload.as_str().len()).sum();
    if bytes > MAX_BATCH_BYTES {
        return too_large("bytes of payload", MAX_BATCH_BYTES, bytes);
    }
    Ok(())
}

fn check_expected(
    session: &SessionId,
    expected: Expected,
    actual: Head,
) -> Result<(), AppendError> {
    let (fits, wanted) = match expected {
        Expected::Any => (true, String::new()),
        Expected::Empty => (actual.sequence == 0, "without events".to_owned()),
        Expected::Exact(sequence) => (actual.sequence == sequence, sequence.to_string()),
    };
    if fits {
        return Ok(());
    }
    Err(AppendError::WrongExpected { session: session.clone(), expected: wanted, actual })
}
