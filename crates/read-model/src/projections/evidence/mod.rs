//! Owns the view of evidence: each piece once, with what reviewers judged and where it was exported to.

#[cfg(test)]
mod tests;

use event_spine::event::family::{Event, EvidenceEvent};
use event_spine::event::value::{EvidenceStatus, Verdict};
use event_spine::{EvidenceId, RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::moment::Moment;
use crate::projection::{Applied, Projection};
use crate::projections::shared::keep_newer;
use crate::window::{Row, Window};

/// The evidence of a session.
///
/// Verification and review never overwrite each other: the status is the source's, the verdicts are the reviewers'.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The pieces, in the order in which they appeared; those that changed last are kept.
    pub items: Window<EvidenceItem>,
    /// What was exported.
    pub exports: Window<EvidenceExport>,
    /// What reviewers judged.
    pub reviews: Window<Review>,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceItem {
    /// What it belongs to; `evidenceId` names it.
    pub scope: Scope,
    /// What it is: `source`, `citation`, `verification`, `pack`, `replay`.
    pub kind: Option<String>,
    /// Title for people.
    pub title: Option<String>,
    /// Where it stands; absent until its source says so.
    pub status: Option<EvidenceStatus>,
    /// Where the source lies.
    pub location: Option<String>,
    /// What it says.
    pub summary: Option<String>,
    /// What it supports.
    pub claim: Option<String>,
    /// The newest verdict on it.
    pub verdict: Option<Verdict>,
    /// How many verdicts there were.
    pub verdicts: u64,
    /// How many times it was exported.
    pub exports: u64,
    /// Its first event.
    pub first: Moment,
    /// Its newest event.
    pub last: Moment,
}

/// An export of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceExport {
    /// What it belongs to.
    pub scope: Scope,
    /// Where to.
    pub target: Option<String>,
    /// Format of the pack.
    pub format: Option<String>,
    /// BLAKE3 of the pack, in hex.
    pub digest: Option<String>,
    /// First event in it.
    pub from_sequence: Option<u64>,
    /// Last event in it.
    pub to_sequence: Option<u64>,
    /// Chain value at the last event, in hex.
    pub chain_head: Option<String>,
    /// When.
    pub at: Moment,
}

/// A reviewer's judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// What it belongs to.
    pub scope: Scope,
    /// The judgement.
    pub verdict: Verdict,
    /// Who.
    pub reviewer: Option<String>,
    /// What was judged.
    pub target: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What has to change.
    pub fixes: Vec<String>,
    /// When.
    pub at: Moment,
}

impl Projection for Evidence {
    const NAME: &'static str = "evidence";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Evidence(event) => state.evidence(recorded, event),
            Event::Lifecycle(_)
            | Event::Message(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Task(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.items.limit(limits);
        state.exports.limit(limits);
        state.reviews.limit(limits);
    }
}

impl Evidence {
    fn evidence(&mut self, recorded: &RecordedEvent, event: &EvidenceEvent) -> Applied {
        let scope = &recorded.draft.scope;
        if scope.evidence_id.is_none() {
            return Applied::Unchanged;
        }
        let known = self.items.place(&scope.evidence_id);
        let place = known.unwrap_or_else(|| self.items.push(EvidenceItem::new(recorded)));
        self.items.update_at(place, |item| item.fold(recorded, event));
        match event {
            EvidenceEvent::EvidenceChanged(_) => {}
            EvidenceEvent::EvidenceExported(exported) => {
                self.exports.push(EvidenceExport {
                    scope: scope.clone(),
                    target: exported.target.clone(),
                    format: exported.format.clone(),
                    digest: exported.digest.clone(),
                    from_sequence: exported.from_sequence,
                    to_sequence: exported.to_sequence,
                    chain_head: exported.chain_head.clone(),
                    at: Moment::of(recorded),
                });
            }
            EvidenceEvent::ReviewVerdict(verdict) => {
                self.reviews.push(Review {
                    scope: scope.clone(),
                    verdict: verdict.verdict,
                    reviewer: verdict.reviewer.clone(),
                    target: verdict.target.clone(),
                    reason: verdict.reason.clone(),
                    fixes: verdict.fixes.clone(),
                    at: Moment::of(recorded),
                });
            }
        }
        Applied::Changed
    }
}

impl EvidenceItem {
    fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            kind: None,
            title: None,
            status: None,
            location: None,
            summary: None,
            claim: None,
            verdict: None,
            verdicts: 0,
            exports: 0,
            first: Moment::of(recorded),
            last: Moment::of(recorded),
        }
    }

    fn fold(&mut self, recorded: &RecordedEvent, event: &EvidenceEvent) {
        self.last = Moment::of(recorded);
        match event {
            EvidenceEvent::EvidenceChanged(changed) => {
                keep_newer(&mut self.kind, &changed.kind);
                keep_newer(&mut self.title, &changed.title);
                keep_newer(&mut self.location, &changed.location);
                keep_newer(&mut self.summary, &changed.summary);
                keep_newer(&mut self.claim, &changed.claim);
                self.status = changed.status.or(self.status);
            }
            EvidenceEvent::EvidenceExported(_) => self.exports += 1,
            EvidenceEvent::ReviewVerdict(verdict) => {
                self.verdicts += 1;
                self.verdict = Some(verdict.verdict);
            }
        }
    }
}

impl Row for EvidenceItem {
    type Key<'a> = &'a Option<EvidenceId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.evidence_id)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.last.sequence)
    }
    fn weight(&self) -> usize {
        self.summary.as_ref().map_or(0, String::len)
    }
}

impl Row for EvidenceExport {
    type Key<'a> = ();
    fn key(&self) -> Option<()> {
        None
    }
    fn first(&self) -> u64 {
        self.at.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.at.sequence)
    }
}

impl Row for Review {
    type Key<'a> = ();
    fn key(&self) -> Option<()> {
        None
    }
    fn first(&self) -> u64 {
        self.at.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.at.sequence)
    }
}
