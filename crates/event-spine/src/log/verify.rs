//! Owns verification: recomputes every leaf and every chain value of a session and names the first that differs.

use std::ops::RangeInclusive;

use crate::error::ReadError;
use crate::id::SessionId;
use crate::integrity::{LeafHash, LeafWriter};
use crate::log::read::LogReader;
use crate::record::RecordedEvent;
use crate::store::{Entry, Gap, Head, ReadMode, StorageFinding};
use crate::time::RecordedAt;

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

/// Events that a thread checks in one go: enough that a thread is worth it, few enough that progress is seen.
const STRETCH: u64 = 16 * 1024;

/// Recomputes the chain of a run of events, one after the other.
pub(super) struct ChainCheck {
    last: Head,
    /// What the leaves of a batch have in common, and of which batch.
    leaves: Option<(SessionId, RecordedAt, LeafWriter)>,
}

impl ChainCheck {
    pub(super) fn new(before: Head) -> Self {
        Self { last: before, leaves: None }
    }

    pub(super) fn check(&mut self, event: &RecordedEvent) -> Option<Fault> {
        let expected = self.last.sequence + 1;
        if event.sequence != expected {
            let what = format!("the next event has sequence {}", event.sequence);
            return Some(Fault { sequence: expected, what });
        }
        let leaf = self.leaf(event);
        let chain = self.last.chain.next(&leaf);
        self.last = head_at(event);
        if chain == event.chain {
            return None;
        }
        let what = format!(
            "its chain value is {}, its content and the events before it give {}",
            event.chain.short(),
            chain.short()
        );
        Some(Fault { sequence: event.sequence, what })
    }

    fn leaf(&mut self, event: &RecordedEvent) -> LeafHash {
        let shared = self.leaves.take_if(|(session, recorded_at, _)| {
            *session != event.session_id || *recorded_at != event.recorded_at
        });
        drop(shared);
        let (_, _, writer) = self.leaves.get_or_insert_with(|| {
            let writer = LeafWriter::new(&event.session_id, event.recorded_at);
            (event.session_id.clone(), event.recorded_at, writer)
        });
        writer.leaf(event.sequence, &event.salt, &event.draft)
    }
}

fn gap_fault(gap: &Gap) -> Fault {
    Fault { sequence: gap.from, what: gap.reason.clone() }
}

fn head_at(event: &RecordedEvent) -> Head {
    Head { sequence: event.sequence, chain: event.chain }
}

/// What checking a stretch gave.
struct Checked {
    right: u64,
    /// The last event that was looked at.
    last: Head,
    fault: Option<Fault>,
}

impl LogReader {
    /// Recomputes the hash chain of a session from its first event, a fork's shared prefix included.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read. A history that is not intact is no error but the answer.
    pub fn verify(&self, session: &SessionId) -> Result<Verification, ReadError> {
        self.verify_with(session, |_| {})
    }

    /// [`LogReader::verify`], telling the progress: called with how many events more were found right.
    ///
    /// # Errors
    /// As [`LogReader::verify`].
    pub fn verify_with(
        &self,
        session: &SessionId,
        mut progress: impl FnMut(u64),
    ) -> Result<Verification, ReadError> {
        let summary = self
            .summary(session)?
            .ok_or_else(|| ReadError::NoSession { session: session.clone() })?;
        let head = summary.head;
        // A fork begins with the chain of the session that its oldest events come from.
        let oldest = self.stretches(&summary, 1, head.sequence)?.into_iter().next();
        let origin = oldest.map_or_else(|| session.clone(), |stretch| stretch.session);
        let mut verification =
            Verification { session_id: session.clone(), verified: 0, head, fault: None };
        let mut last = Head::genesis(&origin);
        while last.sequence < head.sequence {
            let stretches = stretches_behind(last.sequence, head.sequence);
            let end = stretches.last().map_or(last.sequence, |stretch| *stretch.end());
            let check = |stretch: &RangeInclusive<u64>| self.check(session, stretch, last);
            for checked in crate::parallel::map_each(&stretches, check) {
                let checked = checked?;
                verification.verified += checked.right;
                progress(checked.right);
                last = checked.last;
                if checked.fault.is_some() {
                    verification.fault = checked.fault;
                    return Ok(verification);
                }
            }
            if last.sequence != end {
                break; // events that the log speaks of are not there
            }
        }
        if last != head {
            let what = format!("the log says that the newest event is {}", head.sequence);
            verification.fault = Some(Fault { sequence: last.sequence + 1, what });
        }
        Ok(verification)
    }

    /// Checks a stretch. It begins behind `before`, or behind an event whose chain value is taken as stored: the stretch
    /// before this one, which ends there, says whether it is right.
    fn check(
        &self,
        session: &SessionId,
        stretch: &RangeInclusive<u64>,
        before: Head,
    ) -> Result<Checked, ReadError> {
        let begin = *stretch.start();
        let from = if before.sequence + 1 == begin { begin } else { begin - 1 };
        let mut check = ChainCheck::new(before);
        let mut right = 0;
        let mut events = self.read(session, from..=*stretch.end(), ReadMode::Tolerant)?;
        while let Some(piece) = events.next_piece()? {
            for entry in &piece {
                let fault = match entry {
                    Entry::Event(event) if event.sequence < begin => {
                        check.last = head_at(event);
                        continue;
                    }
                    Entry::Event(event) => check.check(event),
                    Entry::Gap(gap) => Some(gap_fault(gap)),
                };
                if fault.is_some() {
                    return Ok(Checked { right, last: check.last, fault });
                }
                right += 1;
            }
        }
        Ok(Checked { right, last: check.last, fault: None })
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

/// The next stretches behind `last`, one for each core; a short rest is one.
fn stretches_behind(last: u64, head: u64) -> Vec<RangeInclusive<u64>> {
    let cores = crate::parallel::cores() as u64;
    let size = (head - last).div_ceil(cores).clamp(STRETCH / 8, STRETCH);
    let ends = (1..=cores).map(|n| (last + n * size).min(head));
    let stretches = ends.scan(last, |last, end| {
        let begin = std::mem::replace(last, end) + 1;
        Some(begin..=end)
    });
    stretches.filter(|stretch| !stretch.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::blob::Blobs;
    use crate::event::EventType;
    use crate::json::JsonText;
    use crate::log::seal::seal;
    use crate::record::EventDraft;
    use crate::refs::Refs;
    use crate::scope::Scope;
    use crate::store::memory::MemoryStore;
    use crate::store::{SealedBatch, Store};
    use crate::time::{Entropy, Timestamp};

    /// A session of which one event was changed after it was sealed, in a store that gives it as it is.
    fn session_with_a_change_at(changed: Option<u64>, events: u64) -> LogReader {
        let session: SessionId = "sess_1".parse().unwrap();
        let store = Arc::new(MemoryStore::new());
        let mut head = Head::genesis(&session);
        while head.sequence < events {
            let numbers = head.sequence + 1..=(head.sequence + 100).min(events);
            let drafts = numbers.map(|n| EventDraft {
                schema_version: "0.1".into(),
                runtime_id: "rt_1".parse().unwrap(),
                event_id: format!("evt_{n}").parse().unwrap(),
                timestamp: Timestamp::verbatim("2026-06-09T10:00:00.000Z"),
                event_type: EventType::named("model.delta"),
                scope: Scope::default(),
                refs: Refs::NONE,
                payload: JsonText::parse("{\"delta\":\"a\"}").unwrap().0,
                extra: None,
            });
            let previous = head.chain;
            let recorded_at = RecordedAt(head.sequence as i64);
            let (mut events, after) =
                seal(&session, head, recorded_at, &NoEntropy, drafts.collect());
            for event in events.iter_mut().filter(|event| Some(event.sequence) == changed) {
                event.draft.payload = JsonText::parse("{\"delta\":\"b\"}").unwrap().0;
            }
            let session_id = session.clone();
            let batch = SealedBatch { session_id, previous, events, sync: true, parent: None };
            store.submit(batch).wait().unwrap();
            head = after;
        }
        LogReader::new(store.as_read(), Blobs::in_memory())
    }

    struct NoEntropy;

    impl Entropy for NoEntropy {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn the_first_changed_event_is_named_in_whichever_stretch_it_lies() {
        let session: SessionId = "sess_1".parse().unwrap();
        let (events, edge) = (3 * STRETCH / 8 + 9, STRETCH / 8);
        for changed in [1, 2, edge - 1, edge, edge + 1, 2 * edge, 2 * edge + 1, events] {
            let reader = session_with_a_change_at(Some(changed), events);
            let mut told = 0;
            let verification = reader.verify_with(&session, |more| told += more).unwrap();
            assert_eq!(verification.fault.map(|fault| fault.sequence), Some(changed));
            assert_eq!((verification.verified, told), (changed - 1, changed - 1));
        }
        let verification = session_with_a_change_at(None, events).verify(&session).unwrap();
        assert!(verification.intact());
        assert_eq!(verification.verified, events);
    }

    #[test]
    fn stretches_cover_every_event_once() {
        for head in [1, 2, STRETCH / 8, STRETCH / 8 + 1, STRETCH, 9 * STRETCH + 5] {
            let mut last = 0;
            while last < head {
                let stretches = stretches_behind(last, head);
                assert!(!stretches.is_empty() && stretches.len() <= crate::parallel::cores());
                for stretch in stretches {
                    assert_eq!(*stretch.start(), last + 1, "head {head}");
                    last = *stretch.end();
                }
            }
            assert_eq!(last, head);
        }
    }
}
