//! Owns a view at a consumer behind an unreliable wire: events come late, twice, out of order, or not at all, and after
//! a crash of the sender the newest of them may never have been.
//!
//! ```text
//!   anchor ──── tail: the newest events, kept ────► view ····· gap ····· held back
//!      ▲                       ▲
//!      │                       └ going back to a barrier in here needs nobody
//!      └ going back to before this needs a snapshot
//! ```
//! The view itself is never wrong, only late; the mark says so ([`Freshness`]) and stands beside the view, since the
//! view has to equal a replay.

use std::collections::{BTreeMap, VecDeque};

use event_spine::event::Durability;
use event_spine::integrity::leaf;
use event_spine::{ChainHash, Head, RecordedEvent, SessionId};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::projection::Applied;
use crate::view::{REDUCER_VERSION, SessionView};

/// Whether a consumer's view can be trusted to be up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// Nothing is known to be missing.
    Live,
    /// Events are missing; a repair has to be asked for.
    Stale,
    /// A repair was asked for and is not complete.
    Repairing,
}

/// What has to be asked of the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// Events of a session.
    Range {
        /// The session.
        session_id: SessionId,
        /// The first event that is needed.
        from: u64,
        /// The last event that is needed; nothing for "up to the newest".
        to: Option<u64>,
        /// Chain value at the event before: a sender with another one there has another history.
        after: ChainHash,
    },
    /// A whole view, since the common history lies before everything that is kept here.
    Snapshot {
        /// The session.
        session_id: SessionId,
    },
}

/// What became of an event that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is in the view, with those that had waited for it; this many.
    Applied(usize),
    /// It was there already.
    Duplicate,
    /// Events before it are missing; it waits for them, or has to come again if too many wait.
    Held,
    /// It is of another history than the view; the view went back to the last event that both may share.
    Diverged,
}

/// How much a [`Replica`] keeps beside its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaOptions {
    /// Newest events that are kept to go back to a barrier without help.
    pub tail: usize,
    /// Events that may wait for a gap to be filled.
    pub held: usize,
    /// True when each event's place in the hash chain is computed and compared, which costs some microseconds.
    pub verify: bool,
}

impl Default for ReplicaOptions {
    fn default() -> Self {
        Self { tail: 512, held: 1024, verify: true }
    }
}

/// A view at a consumer behind an unreliable wire.
#[derive(Debug, Clone)]
pub struct Replica {
    view: SessionView,
    anchor: SessionView,
    tail: VecDeque<RecordedEvent>,
    held: BTreeMap<u64, RecordedEvent>,
    /// The newest event that is known to be somewhere.
    known: u64,
    freshness: Freshness,
    needs_snapshot: bool,
    options: ReplicaOptions,
}

impl Replica {
    /// A replica that has seen nothing.
    #[must_use]
    pub fn new(session_id: SessionId, limits: Limits, options: ReplicaOptions) -> Self {
        Self::from_snapshot(SessionView::with_limits(session_id, limits), options)
    }

    /// A replica that begins with a view.
    #[must_use]
    pub fn from_snapshot(view: SessionView, options: ReplicaOptions) -> Self {
        Self {
            anchor: view.clone(),
            known: view.at.sequence,
            view,
            tail: VecDeque::new(),
            held: BTreeMap::new(),
            freshness: Freshness::Live,
            needs_snapshot: false,
            options,
        }
    }

    /// The view as far as it goes.
    #[must_use]
    pub const fn view(&self) -> &SessionView {
        &self.view
    }

    /// Whether the view can be trusted to be up to date.
    #[must_use]
    pub const fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// How many events wait for a gap to be filled.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes an event, live or as part of a repair.
    pub fn receive(&mut self, event: RecordedEvent) -> Received {
        let next = self.view.at.sequence + 1;
        self.known = self.known.max(event.sequence);
        if event.sequence < next {
            return self.seen_before(&event);
        }
        if event.sequence > next {
            self.hold(event);
            return Received::Held;
        }
        if !self.continues(&event) {
            return self.diverge(event.sequence);
        }
        self.append(event);
        let mut applied = 1;
        while let Some(event) = self.held.remove(&(self.view.at.sequence + 1)) {
            if !self.continues(&event) {
                return self.diverge(event.sequence);
            }
            self.append(event);
            applied += 1;
        }
        self.clear_if_whole();
        Received::Applied(applied)
    }

    /// What has to be asked of the sender, if something is missing. Asking again is harmless.
    pub fn repair(&mut self) -> Option<Repair> {
        if self.freshness == Freshness::Live {
            return None;
        }
        self.freshness = Freshness::Repairing;
        let session_id = self.view.at.session_id.clone();
        if self.needs_snapshot {
            return Some(Repair::Snapshot { session_id });
        }
        Some(Repair::Range {
            session_id,
            from: self.view.at.sequence + 1,
            to: self.held.keys().next().map(|first| first - 1),
            after: self.view.at.chain,
        })
    }

    /// The sender says what is newest: if that is not here, the view is stale.
    pub fn told_head(&mut self, head: Head) {
        let ahead = head.sequence > self.view.at.sequence && self.freshness == Freshness::Live;
        let other = head.sequence == self.view.at.sequence && head.chain != self.view.at.chain;
        if other || head.sequence < self.view.at.sequence {
            self.diverge(head.sequence.max(1));
        } else if ahead {
            self.freshness = Freshness::Stale;
            self.known = head.sequence;
        }
    }

    /// The sender names the last event that both histories share: goes back to it. Without a kept state that old, a
    /// snapshot is needed.
    pub fn go_back(&mut self, common: Head) {
        self.held.clear();
        self.known = common.sequence;
        self.freshness = Freshness::Stale;
        if common.sequence < self.anchor.at.sequence {
            self.needs_snapshot = true;
            return;
        }
        self.tail.retain(|event| event.sequence <= common.sequence);
        self.view = self.anchor.clone();
        for event in &self.tail {
            self.view.apply(event);
        }
        self.needs_snapshot = self.view.at.chain != common.chain;
    }

    /// Takes a whole view in place of this one. One of another version, or older than what is here without need, is
    /// refused.
    pub fn take_snapshot(&mut self, snapshot: SessionView) -> bool {
        let fits = snapshot.at.session_id == self.view.at.session_id
            && snapshot.at.reducer_version == REDUCER_VERSION
            && (self.needs_snapshot || snapshot.at.sequence >= self.view.at.sequence);
        if !fits {
            return false;
        }
        let limits = self.view.limits;
        self.view = snapshot;
        self.view.limit(limits);
        self.anchor = self.view.clone();
        self.tail.clear();
        self.needs_snapshot = false;
        self.held = self.held.split_off(&(self.view.at.sequence + 1));
        self.clear_if_whole();
        if let Some(event) = self.held.remove(&(self.view.at.sequence + 1)) {
            self.receive(event);
        }
        true
    }

    /// An event that is in the view, unless its number was given out a second time after a crash.
    fn seen_before(&mut self, event: &RecordedEvent) -> Received {
        let known = if event.sequence == self.view.at.sequence {
            Some(self.view.at.chain)
        } else {
            self.tail.iter().find(|kept| kept.sequence == event.sequence).map(|kept| kept.chain)
        };
        match known {
            Some(chain) if chain != event.chain => self.diverge(event.sequence),
            _ => Received::Duplicate,
        }
    }

    fn hold(&mut self, event: RecordedEvent) {
        self.held.insert(event.sequence, event);
        if self.held.len() > self.options.held {
            self.held.pop_last(); // the earliest ones are needed first; the others come again
        }
        if self.freshness == Freshness::Live {
            self.freshness = Freshness::Stale;
        }
    }

    /// True when the event is the next one of this history.
    fn continues(&self, event: &RecordedEvent) -> bool {
        if !self.options.verify {
            return true;
        }
        let draft = &event.draft;
        let leaf = leaf(&event.session_id, event.sequence, event.recorded_at, &event.salt, draft);
        self.view.at.chain.next(&leaf) == event.chain
    }

    fn append(&mut self, event: RecordedEvent) {
        if self.view.apply(&event) == Applied::Duplicate {
            return;
        }
        self.tail.push_back(event);
        while self.tail.len() > self.options.tail {
            if let Some(event) = self.tail.pop_front() {
                self.anchor.apply(&event);
            }
        }
    }

    /// The sender has another event at `sequence`: what was buffered after the last barrier is not certain any more.
    fn diverge(&mut self, sequence: u64) -> Received {
        let before = |event: &&RecordedEvent| event.sequence < sequence;
        let is_barrier =
            |event: &&RecordedEvent| event.event_type().durability() == Durability::Barrier;
        let barrier = self.tail.iter().rev().filter(before).find(is_barrier);
        let common = match barrier {
            Some(event) => Head { sequence: event.sequence, chain: event.chain },
            None => Head { sequence: self.anchor.at.sequence, chain: self.anchor.at.chain },
        };
        // Going back to where it is would change nothing: the histories part before everything that is kept.
        if common.sequence >= sequence || common.sequence == self.view.at.sequence {
            self.held.clear();
            self.needs_snapshot = true;
            self.freshness = Freshness::Stale;
        } else {
            self.go_back(common);
        }
        self.known = sequence;
        Received::Diverged
    }

    fn clear_if_whole(&mut self) {
        if self.view.at.sequence >= self.known && !self.needs_snapshot {
            self.freshness = Freshness::Live;
        }
    }
}
