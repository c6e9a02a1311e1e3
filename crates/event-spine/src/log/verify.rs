//! Owns verification: recomputes every leaf and every chain value of a session and names the first that differs.

use crate::error::ReadError;
use crate::id::SessionId;
use crate::integrity::{ChainHash, LeafHash, leaves};
use crate::log::read::LogReader;
use crate::record::RecordedEvent;
use crate::store::{Entry, Head, ReadMode, StorageFinding};

/// The first thing that is wrong with a session's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The first bad sequence.
    pub sequence: u64,
    /// What is wrong there, for people.
    pub what: String,
}

/// What verifying a session found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The session.
    pub session_id: SessionId,
    /// Events whose chain value was recomputed and found right.
    pub verified: u64,
    /// The newest event, as the log states it.
    pub head: Head,
    /// The first fault, if there is one.
    pub fault: Option<Fault>,
}

impl Verification {
    /// True when the whole history is what was recorded.
    #[must_use]
    pub fn intact(&self) -> bool {
        self.fault.is_none()
    }
}

/// Events whose leaves are computed together.
const BLOCK: usize = 2048;

/// Recomputes the chain of a run of events, one after the other.
pub(crate) struct ChainCheck {
    sequence: u64,
    chain: ChainHash,
}

impl ChainCheck {
    pub(crate) fn new(before: Head) -> Self {
        Self { sequence: before.sequence, chain: before.chain }
    }

    /// Checks the next events; gives how many are right before the first that is not, and what is wrong with it.
    pub(crate) fn check_all(&mut self, events: &[RecordedEvent]) -> (u64, Option<Fault>) {
        let mut right = 0;
        for (event, leaf) in events.iter().zip(leaves(events)) {
            if let Some(fault) = self.check(event, &leaf) {
                return (right, Some(fault));
            }
            right += 1;
        }
        (right, None)
    }

    fn check(&mut self, event: &RecordedEvent, leaf: &LeafHash) -> Option<Fault> {
        let fault = |sequence, what: String| Some(Fault { sequence, what });
        if event.sequence != self.sequence + 1 {
            return fault(
                self.sequence + 1,
                format!("the next event has sequence {}", event.sequence),
            );
        }
        let chain = self.chain.next(leaf);
        self.sequence = event.sequence;
        self.chain = event.chain;
        if chain == event.chain {
            return None;
        }
        fault(
            event.sequence,
            format!(
                "its chain value is {}, its content and the events before it give {}",
                event.chain.short(),
                chain.short()
            ),
        )
    }
}

impl LogReader {
    /// Recomputes the hash chain of a session from its first event, a fork's shared prefix included.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read. A history that is not intact is no error but the answer.
    pub fn verify(&self, session: &SessionId) -> Result<Verification, ReadError> {
        self.verify_with(session, |_| {})
    }

    /// [`LogReader::verify`], telling the progress: called with each event that was checked.
    ///
    /// # Errors
    /// As [`LogReader::verify`].
    pub fn verify_with(
        &self,
        session: &SessionId,
        mut progress: impl FnMut(&RecordedEvent),
    ) -> Result<Verification, ReadError> {
        let summary = self
            .summary(session)?
            .ok_or_else(|| ReadError::NoSession { session: session.clone() })?;
        // A fork begins with the chain of the session that its oldest events come from.
        let oldest = self.stretches(&summary, 1, summary.head.sequence)?.into_iter().next();
        let origin = oldest.map_or_else(|| session.clone(), |stretch| stretch.session);
        let mut check = ChainCheck::new(Head::genesis(&origin));
        let mut verification = Verification {
            session_id: session.clone(),
            verified: 0,
            head: summary.head,
            fault: None,
        };
        let mut block = Vec::with_capacity(BLOCK);
        let mut entries = self.read(session, .., ReadMode::Tolerant)?;
        loop {
            let entry = entries.next().transpose()?;
            let gap = match entry {
                Some(Entry::Event(event)) => {
                    progress(&event);
                    block.push(event);
                    if block.len() < BLOCK {
                        continue;
                    }
                    None
                }
                Some(Entry::Gap(gap)) => Some(Fault { sequence: gap.from, what: gap.reason }),
                None if block.is_empty() => break,
                None => None,
            };
            let (right, fault) = check.check_all(&block);
            verification.verified += right;
            verification.fault = fault.or(gap);
            if verification.fault.is_some() {
                return Ok(verification);
            }
            block.clear();
        }
        let last = Head { sequence: check.sequence, chain: check.chain };
        if last != summary.head {
            let what = format!("the log says that the newest event is {}", summary.head.sequence);
            verification.fault = Some(Fault { sequence: last.sequence + 1, what });
        }
        Ok(verification)
    }

    /// How many damaged places are known so far, without reading everything: 0 does not mean that there is none, and
    /// [`LogReader::verify_storage`] says what they are.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn damaged_places(&self) -> Result<u64, ReadError> {
        self.store.damaged_places()
    }

    /// Checks what lies below the events: frames, padding, tables of contents.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn verify_storage(&self) -> Result<Vec<StorageFinding>, ReadError> {
        self.store.verify_storage()
    }
}
