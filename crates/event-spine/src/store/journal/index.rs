//! Owns what is known of the journal in memory: which session has which frames where.
//!
//! Everything here can be rebuilt from the segments. Frames of sealed segments are looked up in the segment's table of
//! contents when they are needed; those of the active segment are kept.

use std::collections::{BTreeMap, HashMap};

use super::toc::Section;
use crate::codec::StoredBatch;
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::store::{ForkPoint, Head, SealedBatch, SessionSummary, id_hash};
use crate::time::RecordedAt;

/// What the index has to know of a batch.
#[derive(Debug, Clone)]
pub(super) struct BatchFacts {
    pub(super) session_id: SessionId,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) chain: ChainHash,
    pub(super) recorded_at: RecordedAt,
    pub(super) parent: Option<ForkPoint>,
    /// Hash of each event id, in order of sequence.
    pub(super) ids: Vec<u64>,
}

impl BatchFacts {
    pub(super) fn of_sealed(batch: &SealedBatch) -> Self {
        let head = batch.head();
        Self {
            session_id: batch.session_id.clone(),
            first: batch.first(),
            last: head.sequence,
            chain: head.chain,
            recorded_at: batch.events.first().map_or(RecordedAt(0), |event| event.recorded_at),
            parent: batch.parent.clone(),
            ids: batch.events.iter().map(|event| id_hash(event.draft.event_id.as_str())).collect(),
        }
    }

    pub(super) fn of_stored(batch: &StoredBatch<'_>) -> Option<Self> {
        Some(Self {
            session_id: SessionId::parse(batch.session_id).ok()?,
            first: batch.first,
            last: batch.last(),
            chain: batch.chain(),
            recorded_at: RecordedAt(batch.recorded_at),
            parent: batch.parent(),
            ids: batch.records.iter().map(|record| id_hash(record.event_id)).collect(),
        })
    }
}

/// Where a batch lies in its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FramePlace {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) offset: u32,
    pub(super) size: u32,
}

impl FramePlace {
    pub(super) fn new(facts: &BatchFacts, offset: u64, size: usize) -> Self {
        Self {
            first: facts.first,
            last: facts.last,
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            size: u32::try_from(size).unwrap_or(u32::MAX),
        }
    }
}

/// The frames of a session within one segment.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) segment: u64,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) bytes: u64,
    pub(super) places: Places,
}

#[derive(Debug, Clone)]
pub(super) enum Places {
    /// Of a segment that still grows: frames, and for each event (id hash, sequence).
    Kept { frames: Vec<FramePlace>, ids: Vec<(u64, u64)> },
    /// Of a sealed segment: sections of its table of contents.
    Toc { frames: Section, ids: Section },
}

/// A session.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) head: Head,
    pub(super) first_recorded_at: RecordedAt,
    pub(super) last_recorded_at: RecordedAt,
    pub(super) parent: Option<ForkPoint>,
    pub(super) activity: u64,
    pub(super) runs: Vec<Run>,
}

/// A segment.
#[derive(Debug, Clone, Default)]
pub(super) struct Segment {
    /// Behind its last frame.
    pub(super) end: u64,
    /// Places in it that are damaged.
    pub(super) damage: Vec<(u64, u64)>,
}

/// The index.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) sessions: HashMap<SessionId, Known>,
    pub(super) segments: BTreeMap<u64, Segment>,
    /// Numbers of segments that are missing: from, to.
    pub(super) missing: Vec<(u64, u64)>,
    pub(super) activity: u64,
}

impl Index {
    /// How many damaged places the segments have, as far as they were walked.
    pub(super) fn damaged_places(&self) -> u64 {
        self.segments.values().map(|segment| segment.damage.len()).sum::<usize>() as u64
            + self.missing.len() as u64
    }

    /// True when a batch comes behind everything that its session has.
    pub(super) fn takes(&self, facts: &BatchFacts) -> bool {
        let head = self.sessions.get(&facts.session_id).map_or(0, |known| known.head.sequence);
        facts.first > head && facts.last >= facts.first
    }

    /// Enters a batch that lies in a segment that still grows.
    pub(super) fn enter(&mut self, facts: &BatchFacts, segment: u64, offset: u64, size: usize) {
        self.activity += 1;
        let place = FramePlace::new(facts, offset, size);
        let known = self.sessions.entry(facts.session_id.clone()).or_insert_with(|| Known {
            head: Head { sequence: 0, chain: facts.chain },
            first_recorded_at: facts.recorded_at,
            last_recorded_at: facts.recorded_at,
            parent: None,
            activity: 0,
            runs: Vec::new(),
        });
        known.head = Head { sequence: facts.last, chain: facts.chain };
        known.last_recorded_at = facts.recorded_at;
        known.activity = self.activity;
        if facts.parent.is_some() {
            known.parent.clone_from(&facts.parent);
        }
        if known.runs.last().is_none_or(|run| run.segment != segment) {
            known.runs.push(Run {
                segment,
                first: facts.first,
                last: facts.last,
                bytes: 0,
                places: Places::Kept { frames: Vec::new(), ids: Vec::new() },
            });
        }
        if let Some(run) = known.runs.last_mut() {
            run.last = facts.last;
            run.bytes += size as u64;
            if let Places::Kept { frames, ids } = &mut run.places {
                frames.push(place);
                ids.extend(facts.ids.iter().copied().zip(facts.first..));
            }
        }
        self.segments.entry(segment).or_default().end = offset + size as u64;
    }

    /// Enters what a sealed segment holds of a session.
    pub(super) fn adopt(&mut self, session_id: SessionId, part: Known) {
        self.activity = self.activity.max(part.activity);
        match self.sessions.get_mut(&session_id) {
            None => {
                self.sessions.insert(session_id, part);
            }
            Some(known) => {
                known.head = part.head;
                known.last_recorded_at = part.last_recorded_at;
                known.activity = part.activity;
                known.parent = part.parent.or(known.parent.take());
                known.runs.extend(part.runs);
            }
        }
    }

    pub(super) fn summary(&self, session_id: &SessionId) -> Option<SessionSummary> {
        let known = self.sessions.get(session_id)?;
        Some(SessionSummary {
            session_id: session_id.clone(),
            head: known.head,
            first_recorded_at: known.first_recorded_at,
            last_recorded_at: known.last_recorded_at,
            bytes: known.runs.iter().map(|run| run.bytes).sum(),
            parent: known.parent.clone(),
            activity: known.activity,
        })
    }

    pub(super) fn summaries(&self) -> Vec<SessionSummary> {
        let mut all: Vec<_> = self.sessions.keys().filter_map(|id| self.summary(id)).collect();
        all.sort_by_key(|summary| summary.activity);
        all
    }
}
