//! Owns the numbers of a source: where they jump, the events behind the gap are held for a while, so that late ones still
//! come in order. The time of an event never decides order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use event_spine::event::family::{ContextEvent, Event};
use event_spine::{EventDraft, SessionId};

use super::SessionDraft;

/// How many events wait behind a gap at most. Then they go on, and the gap stays.
const HOLD: usize = 1024;

/// How many missing numbers are remembered at most; of a larger gap only the first ones are.
const REMEMBER: u64 = 4096;

/// Extra member of our `stream.interrupted`: the number that came instead of the expected one.
pub(super) const NEXT: &str = "nextSourceSequence";

/// What the number of an event shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// An event whose turn it is.
    Event(SessionDraft),
    /// Between `last` and `next`, which `beside` carries, there is nothing.
    Gap { beside: SessionDraft, last: u64, next: u64 },
    /// With `number`, which `beside` carries, all that was missing has come.
    Repaired { beside: SessionDraft, number: u64 },
}

/// The numbers of all sessions of a stream.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<SessionId, Session>);

#[derive(Debug, Default)]
struct Session {
    /// The number that comes next, once one has come.
    expected: Option<u64>,
    held: BTreeMap<u64, SessionDraft>,
    missing: BTreeSet<u64>,
    /// More is missing than is remembered, so a repair cannot be told.
    beyond_repair: bool,
}

impl Numbers {
    pub(super) fn take(&mut self, number: Option<u64>, draft: SessionDraft) -> Vec<Seen> {
        let session = self.0.entry(draft.session_id.clone()).or_default();
        match number {
            Some(number) => session.take(number, draft),
            None => vec![Seen::Event(draft)],
        }
    }

    /// Lets go of all that waits.
    pub(super) fn give_up(&mut self) -> Vec<Seen> {
        let mut waiting: Vec<_> = self.0.iter_mut().collect();
        waiting.sort_by_key(|(session, _)| *session);
        waiting.into_iter().flat_map(|(_, session)| session.give_up()).collect()
    }

    /// Learns of gaps that an earlier input of the session left.
    pub(super) fn recall(&mut self, session: &SessionId, recorded: &EventDraft) {
        let Ok(Event::Context(event)) = recorded.event() else {
            return;
        };
        let session = self.0.entry(session.clone()).or_default();
        match event {
            ContextEvent::StreamInterrupted(gap) => {
                let next = recorded
                    .payload
                    .read::<serde_json::Value>()
                    .ok()
                    .and_then(|payload| payload.get(NEXT)?.as_u64());
                if let (Some(expected), Some(next)) = (gap.expected_source_sequence, next) {
                    session.miss(expected, next);
                }
            }
            ContextEvent::StreamRepaired(_) => session.missing.clear(),
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::ContextMissing(_)
            | ContextEvent::CompactionStarted(_)
            | ContextEvent::CompactionCompleted(_)
            | ContextEvent::CompactionFailed(_)
            | ContextEvent::HistoryCompacted(_)
            | ContextEvent::HistoryRolledBack(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_)
            | ContextEvent::SessionForked(_) => {}
        }
    }
}

impl Session {
    fn take(&mut self, number: u64, draft: SessionDraft) -> Vec<Seen> {
        let expected = *self.expected.get_or_insert(number);
        if number < expected || self.held.contains_key(&number) {
            // Late, or there already: whether that is right is for the conformance rules to say.
            return self.give(number, draft);
        }
        if number == expected {
            self.expected = Some(number + 1);
            let mut seen = self.give(number, draft);
            self.give_held(&mut seen);
            return seen;
        }
        let mut seen = Vec::new();
        let last = self.held.last_key_value().map_or(expected - 1, |(n, _)| *n);
        if number > last + 1 {
            self.miss(last + 1, number);
            seen.push(Seen::Gap { beside: draft.clone(), last, next: number });
        }
        self.held.insert(number, draft);
        if self.held.len() > HOLD {
            seen.extend(self.give_up());
        }
        seen
    }

    fn miss(&mut self, from: u64, to: u64) {
        self.missing.extend(from..to.min(from.saturating_add(REMEMBER)));
        while self.missing.len() as u64 > REMEMBER {
            self.missing.pop_last();
            self.beyond_repair = true;
        }
        self.beyond_repair |= to - from > REMEMBER;
    }

    /// Gives an event; if it was the last that was missing, says so.
    fn give(&mut self, number: u64, draft: SessionDraft) -> Vec<Seen> {
        let was_missing = self.missing.remove(&number);
        if was_missing && self.missing.is_empty() && !self.beyond_repair {
            let beside = draft.clone();
            return vec![Seen::Event(draft), Seen::Repaired { beside, number }];
        }
        vec![Seen::Event(draft)]
    }

    /// Gives the events that are no longer behind a gap. A repair is told behind them, when order is whole again.
    fn give_held(&mut self, seen: &mut Vec<Seen>) {
        let repaired = match seen.last() {
            Some(Seen::Repaired { .. }) => seen.pop(),
            _ => None,
        };
        while let Some(expected) = self.expected
            && let Some(draft) = self.held.remove(&expected)
        {
            seen.push(Seen::Event(draft));
            self.expected = Some(expected + 1);
        }
        seen.extend(repaired);
    }

    fn give_up(&mut self) -> Vec<Seen> {
        if let Some((last, _)) = self.held.last_key_value() {
            self.expected = Some(last + 1);
        }
        std::mem::take(&mut self.held).into_values().map(Seen::Event).collect()
    }
}
