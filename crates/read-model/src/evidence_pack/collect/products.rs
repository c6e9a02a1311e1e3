//! Owns what artifacts, evidence and reviews add to a pack.

use std::collections::BTreeMap;

use event_spine::RecordedEvent;
use event_spine::event::family::artifact::ArtifactChanged;
use event_spine::event::family::{ArtifactEvent, EvidenceEvent};

use super::Facts;
use crate::evidence_pack::model::{ProductEntry, Review};

impl Facts {
    pub(super) fn artifact(&mut self, recorded: &RecordedEvent, event: &ArtifactEvent) {
        let Some(id) = recorded.scope().artifact_id.as_ref().map(ToString::to_string) else {
            return;
        };
        let entry = product(&mut self.artifacts, recorded, id);
        match event {
            ArtifactEvent::ArtifactChanged(e) => artifact_changed(entry, e),
            ArtifactEvent::ArtifactVersioned(e) => {
                entry.state = format!("version {}", e.version_id);
                keep(&mut entry.title, &e.title);
                keep(&mut entry.read_ref, &e.read_ref);
            }
            ArtifactEvent::ArtifactExported(e) => entry.state = format!("exported to {}", e.target),
        }
    }

    pub(super) fn evidence_event(&mut self, recorded: &RecordedEvent, event: &EvidenceEvent) {
        let Some(id) = recorded.scope().evidence_id.as_ref().map(ToString::to_string) else {
            return;
        };
        match event {
            EvidenceEvent::EvidenceChanged(e) => {
                let entry = product(&mut self.evidence, recorded, id);
                entry.state = e.status.map_or("unknown", |status| status.as_str()).to_owned();
                keep(&mut entry.title, &e.title);
                keep(&mut entry.kind, &e.kind);
                keep(&mut entry.claim, &e.claim);
                keep(&mut entry.location, &e.location);
            }
            EvidenceEvent::EvidenceExported(e) => {
                let entry = product(&mut self.evidence, recorded, id);
                entry.state = "exported".to_owned();
                keep(&mut entry.kind, &e.format);
                keep(&mut entry.location, &e.target);
            }
            EvidenceEvent::ReviewVerdict(e) => self.reviews.push(Review {
                sequence: recorded.sequence,
                evidence_id: Some(id),
                verdict: e.verdict,
                reviewer: e.reviewer.clone(),
                reason: e.reason.clone(),
            }),
        }
    }
}

fn product<'a>(
    list: &'a mut BTreeMap<String, ProductEntry>,
    recorded: &RecordedEvent,
    id: String,
) -> &'a mut ProductEntry {
    let entry = list.entry(id.clone()).or_insert_with(|| ProductEntry {
        id,
        title: None,
        kind: None,
        state: "unknown".to_owned(),
        claim: None,
        location: None,
        read_ref: None,
        first_sequence: recorded.sequence,
        last_sequence: recorded.sequence,
        tool_call_id: None,
    });
    entry.last_sequence = recorded.sequence;
    if let Some(call) = &recorded.scope().tool_call_id {
        entry.tool_call_id = Some(call.to_string());
    }
    entry
}

fn artifact_changed(entry: &mut ProductEntry, e: &ArtifactChanged) {
    entry.state = e.change.as_str().to_owned();
    keep(&mut entry.title, &e.title);
    keep(&mut entry.kind, &e.kind);
    keep(&mut entry.location, &e.path);
    keep(&mut entry.read_ref, &e.read_ref);
}

/// Overwrites what is known with what is stated.
fn keep(known: &mut Option<String>, stated: &Option<String>) {
    if stated.is_some() {
        known.clone_from(stated);
    }
}
