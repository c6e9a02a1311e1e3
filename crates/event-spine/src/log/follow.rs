//! Owns following: history first, then live, without a gap and without a repeat at the seam.
//!
//! A follower always reads the next sequence from the log; what wakes it is only a hint. So there is no seam.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::watch;

use crate::error::ReadError;
use crate::event::Durability;
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::log::read::LogReader;
use crate::record::RecordedEvent;
use crate::store::{Entry, Head, ReadMode};

/// How far a reader has come: a sequence, and the chain value it saw there.
///
/// The chain value matters: a buffered event can be taken by a crash and its number given out again. A cursor whose
/// chain value the log does not have is sent back ([`ReadError::Diverged`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The last event seen; 0 for none.
    pub sequence: u64,
    /// The chain value there, if the reader kept it.
    pub chain: Option<ChainHash>,
}

impl Cursor {
    /// Before the first event.
    pub const START: Self = Self { sequence: 0, chain: None };

    /// Behind a head.
    #[must_use]
    pub fn at(head: Head) -> Self {
        Self { sequence: head.sequence, chain: Some(head.chain) }
    }
}

/// Events of a session as they come. Ends never; stop by dropping it.
pub struct Follow {
    reader: LogReader,
    session: SessionId,
    cursor: Cursor,
    changes: watch::Receiver<u64>,
    ready: VecDeque<RecordedEvent>,
}

/// How many events a follower takes from the log at once.
const READ_AHEAD: u64 = 1024;

impl LogReader {
    /// Follows a session from behind a cursor. The session need not exist yet.
    ///
    /// # Errors
    /// The log has another history than the cursor, or a file cannot be read.
    pub fn follow(&self, session: &SessionId, after: Cursor) -> Result<Follow, ReadError> {
        if let Some(chain) = after.chain.filter(|_| after.sequence > 0) {
            self.check_history(session, after.sequence, chain)?;
        }
        Ok(Follow {
            reader: self.clone(),
            session: session.clone(),
            cursor: after,
            changes: self.store.changes(),
            ready: VecDeque::new(),
        })
    }

    fn check_history(
        &self,
        session: &SessionId,
        sequence: u64,
        chain: ChainHash,
    ) -> Result<(), ReadError> {
        let head = self.head(session)?;
        let known = match head {
            Some(head) if head.sequence >= sequence => self.chain_at(session, sequence)?,
            _ => None,
        };
        if known == Some(chain) {
            return Ok(());
        }
        let newest = head.map_or(0, |head| head.sequence);
        let last_barrier = self.last_barrier(session, sequence.saturating_sub(1).min(newest))?;
        Err(ReadError::Diverged { session: session.clone(), sequence, last_barrier })
    }

    /// The newest event at or before `sequence` that was on disk before anyone was told of it.
    fn last_barrier(&self, session: &SessionId, sequence: u64) -> Result<Head, ReadError> {
        let mut to = sequence;
        while to > 0 {
            let from = to.saturating_sub(255).max(1);
            let mut newest = None;
            for entry in self.read(session, from..=to, ReadMode::Tolerant)? {
                if let Entry::Event(event) = entry?
                    && event.event_type().durability() == Durability::Barrier
                {
                    newest = Some(Head { sequence: event.sequence, chain: event.chain });
                }
            }
            if let Some(head) = newest {
                return Ok(head);
            }
            to = from - 1;
        }
        Ok(Head::genesis(session))
    }
}

impl Follow {
    /// How far this follower has come: what to resume from.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The next event, or nothing when the time is up first. Blocks.
    ///
    /// # Errors
    /// The log is damaged at the next event, or a file cannot be read.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<RecordedEvent>, ReadError> {
        let poll = self.reader.store.poll_interval();
        let mut left = timeout;
        loop {
            // Seen before reading, so that a change during the read is not missed.
            self.changes.borrow_and_update();
            if let Some(event) = self.take()? {
                return Ok(Some(event));
            }
            if left.is_zero() {
                return Ok(None);
            }
            let nap = poll.unwrap_or(Duration::from_secs(1)).min(left);
            let begun = std::time::Instant::now();
            let _ = crate::wait::block_on(self.changes.changed(), Some(nap)); // a closed writer just stops ticking
            left = left.saturating_sub(begun.elapsed().max(Duration::from_micros(1)));
        }
    }

    /// The next event. Waits as long as it takes.
    ///
    /// # Errors
    /// As [`Follow::next_timeout`].
    pub async fn next_event(&mut self) -> Result<RecordedEvent, ReadError> {
        let poll = self.reader.store.poll_interval();
        loop {
            self.changes.borrow_and_update();
            if let Some(event) = self.take()? {
                return Ok(event);
            }
            match poll {
                None => {
                    if self.changes.changed().await.is_err() {
                        tokio::time::sleep(Duration::from_millis(25)).await; // the writer is gone; others may come
                    }
                }
                Some(interval) => tokio::time::sleep(interval).await,
            }
        }
    }

    fn take(&mut self) -> Result<Option<RecordedEvent>, ReadError> {
        if self.ready.is_empty() {
            self.fill()?;
        }
        let event = self.ready.pop_front();
        if let Some(event) = &event {
            self.cursor = Cursor { sequence: event.sequence, chain: Some(event.chain) };
        }
        Ok(event)
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        let next = self.cursor.sequence + 1;
        match self.reader.head(&self.session)? {
            Some(head) if head.sequence >= next => {}
            _ => return Ok(()),
        }
        for entry in self.reader.read(&self.session, next..next + READ_AHEAD, ReadMode::Strict)? {
            match entry? {
                Entry::Event(event) => self.ready.push_back(event),
                Entry::Gap(_) => break, // a strict read never gives one
            }
        }
        Ok(())
    }
}
