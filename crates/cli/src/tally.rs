//! Owns storing the facts of a recording in batches, and the count of what became of them.

use std::collections::{BTreeMap, HashSet};

use event_spine::event::Family;
use event_spine::{EventDraft, EventId, EventLog, Expected, Head, SessionId};
use providers::stream::{Batch, SessionDraft};

use crate::failure::{Failure, sentence};
use crate::text::counted;

/// What became of a recording.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Per session, in the order in which they appear.
    pub(crate) sessions: Vec<Tally>,
    /// Places that were repaired to be kept, such as bytes that are no UTF-8.
    pub(crate) repaired: u64,
    /// Frames that were left out since they cannot be read.
    pub(crate) skipped: u64,
}

/// What became of the facts of one session.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) session_id: SessionId,
    pub(crate) head: Option<Head>,
    /// Facts that are in the log now and were not before, by family; `None` for types that nobody knows.
    pub(crate) new: BTreeMap<Option<Family>, u64>,
    pub(crate) already: u64,
    pub(crate) masked: u64,
    pub(crate) spilled: u64,
}

impl Tally {
    pub(crate) fn added(&self) -> u64 {
        self.new.values().sum()
    }
}

/// Stores facts in batches and keeps count.
pub(crate) struct Writer<'a> {
    log: &'a EventLog,
    name: String,
    taken: Taken,
    batch: usize,
    /// Facts of one session that are stored together.
    waiting: Vec<SessionDraft>,
}

impl<'a> Writer<'a> {
    /// Writes what comes of the recording `name` to a log, `batch` facts at a time.
    pub(crate) fn new(log: &'a EventLog, name: &str, batch: usize) -> Self {
        Self { log, name: name.to_owned(), taken: Taken::default(), batch, waiting: Vec::new() }
    }

    /// Stores what waits, and says what became of all of it.
    pub(crate) fn finish(mut self) -> Result<Taken, Failure> {
        self.flush()?;
        Ok(self.taken)
    }

    /// Takes what came of a piece of the recording.
    pub(crate) fn take(
        &mut self,
        batch: Batch,
        session: Option<&SessionId>,
    ) -> Result<(), Failure> {
        for fault in &batch.faults {
            if fault.lost() {
                self.taken.skipped += 1;
            } else {
                self.taken.repaired += 1;
            }
        }
        if let Some(session) = session.filter(|_| batch.known > 0) {
            let session = session.clone();
            self.tally(&session)?.already += batch.known as u64;
        }
        for made in batch.drafts {
            let other =
                self.waiting.first().is_some_and(|first| first.session_id != made.session_id);
            if other || self.waiting.len() >= self.batch {
                self.flush()?;
            }
            self.waiting.push(made);
        }
        Ok(())
    }

    /// Takes the fact about the raw input, unless the log has it.
    pub(crate) fn keep(
        &mut self,
        made: SessionDraft,
        known: &HashSet<EventId>,
    ) -> Result<(), Failure> {
        if known.contains(&made.draft.event_id) {
            self.tally(&made.session_id)?.already += 1;
            return Ok(());
        }
        if self.waiting.first().is_some_and(|first| first.session_id != made.session_id) {
            self.flush()?;
        }
        self.waiting.push(made);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(first) = waiting.first() else {
            return Ok(());
        };
        let session = first.session_id.clone();
        let before = self.tally(&session)?.head.map_or(0, |head| head.sequence);
        let drafts: Vec<EventDraft> = waiting.into_iter().map(|made| made.draft).collect();
        let families: Vec<Option<Family>> = drafts
            .iter()
            .map(|draft| draft.event_type.descriptor().map(|row| row.family))
            .collect();
        let receipt = self.log.append(&session, Expected::Any, drafts).map_err(|e| {
            let stored: u64 = self.taken.sessions.iter().map(Tally::added).sum();
            let sentence = sentence(&e);
            let before = if stored == 0 {
                String::new()
            } else {
                format!(" ({} before it were stored)", counted(stored, "event"))
            };
            Failure::input(format!("{}: {sentence}{before}", self.name))
        })?;
        let tally = self.tally(&session)?;
        for (sequence, family) in receipt.sequences.iter().zip(families) {
            if *sequence > before {
                *tally.new.entry(family).or_default() += 1;
            }
        }
        tally.head = Some(receipt.head);
        tally.already += receipt.duplicates as u64;
        tally.masked += receipt.masked as u64;
        tally.spilled += receipt.spilled as u64;
        Ok(())
    }

    fn tally(&mut self, session: &SessionId) -> Result<&mut Tally, Failure> {
        let known = self.taken.sessions.iter().position(|tally| tally.session_id == *session);
        let at = match known {
            Some(at) => at,
            None => {
                self.taken.sessions.push(Tally {
                    session_id: session.clone(),
                    head: self.log.reader().head(session)?,
                    new: BTreeMap::new(),
                    already: 0,
                    masked: 0,
                    spilled: 0,
                });
                self.taken.sessions.len() - 1
            }
        };
        self.taken
            .sessions
            .get_mut(at)
            .ok_or_else(|| Failure::input("the tally of a session is gone"))
    }
}
