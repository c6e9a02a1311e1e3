//! SP0010: an event carries the ids that say where it belongs.

use event_spine::Scope;
use event_spine::event::CATALOG;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::subject::Subject;

pub(super) struct MissingScopeId;

impl Rule for MissingScopeId {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0010",
            code: "missing_scope_id",
            severity: Severity::Error,
            demand: "an event carries the scope ids that its type demands",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let missing = missing(look.subject);
        if let Some(first) = missing.first().and_then(|group| group.first()) {
            let groups: Vec<_> = missing.iter().map(|group| group.join(" or ")).collect();
            out.add(*first, format!("{} lacks {}", look.subject.type_name(), groups.join(", ")));
        }
    }
}

/// Groups of ids of which the event should carry one and carries none.
fn missing(subject: &Subject) -> Vec<&'static [&'static str]> {
    let scope = &subject.event.draft.scope;
    let mut missing: Vec<_> =
        demands(subject).into_iter().filter(|group| lacks(scope, group)).collect();
    if is_attempt(subject) && lacks(scope, ATTEMPT) {
        missing.push(ATTEMPT);
    }
    missing
}

fn lacks(scope: &Scope, group: &[&str]) -> bool {
    group.iter().all(|name| scope.get(name).is_none())
}

const ATTEMPT: &[&str] = &["runId", "attemptId"];

/// The contract: «有执行尝试时 runId / attemptId».
fn is_attempt(subject: &Subject) -> bool {
    #[derive(serde::Deserialize)]
    struct Attempt {
        attempt: Option<serde::de::IgnoredAny>,
    }
    subject.type_name().starts_with("task.")
        && subject.event.draft.payload.read::<Attempt>().is_ok_and(|p| p.attempt.is_some())
}

/// What the type demands. A type that is not registered is held to what all registered types of its first word
/// demand: `tool.anything` still belongs to a tool call.
fn demands(subject: &Subject) -> Vec<&'static [&'static str]> {
    let event_type = &subject.event.draft.event_type;
    if let Some(row) = event_type.descriptor() {
        return row.scope.required().to_vec();
    }
    let word = event_type.name().split('.').next().unwrap_or_default();
    let mut relatives = CATALOG.iter().filter(|row| row.name.split('.').next() == Some(word));
    let Some(first) = relatives.next() else { return Vec::new() };
    if relatives.all(|row| row.scope == first.scope) {
        first.scope.required().to_vec()
    } else {
        Vec::new()
    }
}
