//! Owns step one of the way in: an event keeps the contract of its type, or the whole batch is refused.

use crate::error::{AppendError, Defect};
use crate::event::{EventType, Family};
use crate::record::EventDraft;
use crate::wire::well_formed_name;

/// Checks every draft as [`EventLog::append`](crate::EventLog::append) does before it stores anything.
///
/// # Errors
/// The first defect.
pub fn validate(drafts: &[EventDraft]) -> Result<(), AppendError> {
    let first = crate::parallel::find_first(drafts, |draft| {
        check(draft).err().map(|defect| (draft.event_id.clone(), draft.event_type.clone(), defect))
    });
    match first {
        None => Ok(()),
        Some((at, (event_id, event_type, defect))) => Err(AppendError::Invalid {
            event_id,
            position: at + 1,
            event_type: event_type.name().to_owned(),
            defect,
        }),
    }
}

/// Checks one draft: type spelled as a type, payload of its shape, scope ids complete.
pub(crate) fn check(draft: &EventDraft) -> Result<(), Defect> {
    if !draft.payload.as_str().starts_with('{') {
        return Err(Defect::PayloadNotAnObject);
    }
    let EventType::Known(row) = &draft.event_type else {
        // Kept whole and flagged by its type; nobody can say what ids it needs.
        return if well_formed_name(&draft.event_type) { Ok(()) } else { Err(Defect::TypeName) };
    };
    if let Some(missing) = row.scope.missing(&draft.scope).next() {
        return Err(Defect::MissingScope { missing: missing.to_string() });
    }
    draft.event().map_err(Defect::Payload)?;
    if row.family == Family::Task && speaks_of_attempt(draft) {
        let scope = &draft.scope;
        if scope.task_id.is_some() && scope.run_id.is_none() && scope.attempt_id.is_none() {
            return Err(Defect::MissingAttempt);
        }
    }
    Ok(())
}

fn speaks_of_attempt(draft: &EventDraft) -> bool {
    #[derive(serde::Deserialize)]
    struct Attempt {
        attempt: Option<serde::de::IgnoredAny>,
    }
    draft.payload.read::<Attempt>().is_ok_and(|payload| payload.attempt.is_some())
}
