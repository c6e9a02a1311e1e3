//! SP0011: evidence carries the correlation ids that are known where it is made.

use event_spine::ScopeKind;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct MissingCorrelation;

impl Rule for MissingCorrelation {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0011",
            code: "missing_correlation",
            severity: Severity::Degraded,
            demand: "evidence carries the thread, turn, task, run and trace ids that are known where it is made",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if look.subject.event.draft.event_type.descriptor().map(|row| row.scope)
            != Some(ScopeKind::Evidence)
        {
            return;
        }
        let lacking: Vec<_> = known(look)
            .into_iter()
            .filter(|(name, _)| look.subject.event.draft.scope.get(name).is_none())
            .collect();
        if let Some((first, _)) = lacking.first() {
            let ids: Vec<_> = lacking.iter().map(|(name, id)| format!("{name} {id}")).collect();
            let name = look.subject.type_name();
            out.add(*first, format!("{name} does not name {}, known here", ids.join(", ")));
        }
    }
}

/// What an event at this place could name. Which turn is meant is known when exactly one is open.
fn known<'a>(look: &'a Look<'_>) -> Vec<(&'static str, &'a str)> {
    let mut known = Vec::new();
    if let Some(thread) = &look.stream.thread {
        known.push(("threadId", thread.as_str()));
    }
    if let Some((id, turn)) = look.stream.only_turn() {
        known.push(("turnId", id.as_str()));
        for (name, id) in [("taskId", &turn.task), ("runId", &turn.run), ("traceId", &turn.trace)] {
            known.extend(id.as_deref().map(|id| (name, id)));
        }
    }
    known
}
