//! Owns reading: sessions, heads, ranges. A reader holds no lock and changes no file.
//!
//! A fork's history up to the fork is its parent's, by reference; here is where a reader is led there.
//!
//! Next: [`follow`](super::follow), history and then live.

use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::Arc;

use crate::blob::Blobs;
use crate::error::{OpenError, ReadError};
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::record::RecordedEvent;
use crate::store::journal::JournalReader;
use crate::store::{Entry, Gap, Head, Pieces, ReadMode, ReadStore, SessionSummary};

/// Forks of forks are followed this deep.
const MAX_FORK_DEPTH: usize = 64;

/// Reads a log. Clones share what they know of it.
#[derive(Clone)]
pub struct LogReader {
    pub(super) store: Arc<dyn ReadStore>,
    blobs: Blobs,
}

/// A stretch of a session's history that one session recorded.
pub(super) struct Stretch {
    pub(super) session: SessionId,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl LogReader {
    pub(crate) fn new(store: Arc<dyn ReadStore>, blobs: Blobs) -> Self {
        Self { store, blobs }
    }

    /// Opens a data folder for reading, also while another process writes it. Nothing in it is changed.
    ///
    /// # Errors
    /// There is no log, it is of a newer format, or a file cannot be read.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        Self::over(JournalReader::open(dir)?, dir)
    }

    /// Opens a data folder by its journal alone, also when its format mark is lost or cannot be read: for looking at a
    /// damaged folder.
    ///
    /// # Errors
    /// There is no such folder, it has no journal, a newer version wrote it, or the journal cannot be listed.
    pub fn open_journal(dir: &Path) -> Result<Self, OpenError> {
        Self::over(JournalReader::open_journal(dir)?, dir)
    }

    fn over(store: JournalReader, dir: &Path) -> Result<Self, OpenError> {
        let blobs = Blobs::local(&dir.join("blobs"))
            .map_err(|e| OpenError::Blobs { detail: e.to_string() })?;
        Ok(Self::new(Arc::new(store), blobs))
    }

    /// The large bodies.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// All sessions, the most recently active last. Activity is the order in the log; no clock decides it.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError> {
        self.store.sessions()
    }

    /// What is known of one session without reading its events.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError> {
        self.store.summary(session)
    }

    /// The newest event of a session, or nothing when there is no such session.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn head(&self, session: &SessionId) -> Result<Option<Head>, ReadError> {
        Ok(self.store.summary(session)?.map(|summary| summary.head))
    }

    /// The chain value of a session at a sequence, or nothing when it has no such event.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read.
    pub fn chain_at(
        &self,
        session: &SessionId,
        sequence: u64,
    ) -> Result<Option<ChainHash>, ReadError> {
        if sequence == 0 {
            return Ok(Some(ChainHash::genesis(session)));
        }
        let mut events = self.read(session, sequence..=sequence, ReadMode::Tolerant)?;
        Ok(events.next_event()?.map(|event| event.chain))
    }

    /// Reads a range of a session, in order. Sequences outside the session are left out.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read.
    pub fn read(
        &self,
        session: &SessionId,
        range: impl RangeBounds<u64>,
        mode: ReadMode,
    ) -> Result<Events, ReadError> {
        let summary = self
            .store
            .summary(session)?
            .ok_or_else(|| ReadError::NoSession { session: session.clone() })?;
        let from = match range.start_bound() {
            Bound::Included(&from) => from,
            Bound::Excluded(&from) => from.saturating_add(1),
            Bound::Unbounded => 1,
        }
        .max(1);
        let to = match range.end_bound() {
            Bound::Included(&to) => to,
            Bound::Excluded(&to) => to.saturating_sub(1),
            Bound::Unbounded => u64::MAX,
        }
        .min(summary.head.sequence);
        let mut stretches = self.stretches(&summary, from, to)?;
        stretches.reverse();
        Ok(Events {
            store: Arc::clone(&self.store),
            session: session.clone(),
            mode,
            stretches,
            pieces: None,
            piece: Vec::new().into_iter(),
            next: from,
            to,
            failed: false,
        })
    }

    /// Which sessions recorded which part of a session's history, the oldest first.
    pub(super) fn stretches(
        &self,
        of: &SessionSummary,
        from: u64,
        to: u64,
    ) -> Result<Vec<Stretch>, ReadError> {
        let mut stretches = Vec::new();
        let mut session = of.session_id.clone();
        let mut parent = of.parent.clone();
        let mut upper = to;
        for _ in 0..MAX_FORK_DEPTH {
            let own_from = parent.as_ref().map_or(1, |point| point.sequence + 1);
            let stretch_from = own_from.max(from);
            if stretch_from <= upper {
                stretches.push(Stretch { session: session.clone(), from: stretch_from, to: upper });
            }
            let Some(point) = parent else { break };
            if point.sequence < from {
                break;
            }
            upper = upper.min(point.sequence);
            parent = self.store.summary(&point.session_id)?.and_then(|summary| summary.parent);
            session = point.session_id;
        }
        stretches.reverse();
        Ok(stretches)
    }

    /// Event-id hashes of a session's whole history, with their sequences.
    pub(super) fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError> {
        let Some(summary) = self.store.summary(session)? else {
            return Ok(Vec::new());
        };
        let mut ids = Vec::new();
        for stretch in self.stretches(&summary, 1, summary.head.sequence)? {
            let own = self.store.event_ids(&stretch.session)?;
            ids.extend(
                own.into_iter()
                    .filter(|(_, sequence)| (stretch.from..=stretch.to).contains(sequence)),
            );
        }
        Ok(ids)
    }
}

/// The events of a range, in order.
pub struct Events {
    store: Arc<dyn ReadStore>,
    session: SessionId,
    mode: ReadMode,
    /// What is left to read, the next one last.
    stretches: Vec<Stretch>,
    pieces: Option<Pieces>,
    piece: std::vec::IntoIter<Entry>,
    next: u64,
    to: u64,
    failed: bool,
}

impl Events {
    /// The next event; gaps are passed over in a tolerant read.
    ///
    /// # Errors
    /// A file cannot be read, or a strict read met damage.
    pub fn next_event(&mut self) -> Result<Option<RecordedEvent>, ReadError> {
        loop {
            match self.next().transpose()? {
                Some(Entry::Event(event)) => return Ok(Some(event)),
                Some(Entry::Gap(_)) => {}
                None => return Ok(None),
            }
        }
    }

    fn advance(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            if let Some(entry) = self.piece.next() {
                return self.accept(entry).map(Some);
            }
            match self.next_piece()? {
                Some(piece) => self.piece = piece.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// The next entries as they come from the store, for who looks at them where they lie. Not to be mixed with the
    /// other ways to go on.
    pub(super) fn next_piece(&mut self) -> Result<Option<Vec<Entry>>, ReadError> {
        loop {
            if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
                return piece.map(Some);
            }
            let Some(stretch) = self.stretches.pop() else {
                return Ok(None);
            };
            self.pieces = Some(self.store.read(&stretch.session, stretch.from, stretch.to)?);
        }
    }

    fn accept(&mut self, entry: Entry) -> Result<Entry, ReadError> {
        match &entry {
            Entry::Event(event) => self.next = event.sequence + 1,
            Entry::Gap(gap) => {
                self.next = gap.to + 1;
                if self.mode == ReadMode::Strict {
                    let Gap { from, to, reason } = gap.clone();
                    return Err(ReadError::Damaged {
                        session: self.session.clone(),
                        from,
                        to,
                        reason,
                    });
                }
            }
        }
        Ok(entry)
    }

    /// The sequence that comes next, and the last one of the range.
    #[must_use]
    pub fn remaining(&self) -> std::ops::RangeInclusive<u64> {
        self.next..=self.to
    }
}

impl Iterator for Events {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
