//! SP0003: an event states its fact in typed members, not in prose.

use event_spine::JsonText;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::subject::Fault;

pub(super) struct ProseOnly;

/// Members that hold prose whatever the type.
const PROSE: &[&str] =
    &["text", "message", "content", "prose", "summary", "description", "markdown", "body"];

/// True when a payload has nothing but prose. Ask only where its shape is wrong: prose is fine where the type has it.
pub(super) fn is_prose(payload: &JsonText) -> bool {
    payload.read::<serde_json::Map<String, serde_json::Value>>().is_ok_and(|members| {
        !members.is_empty()
            && members.iter().all(|(name, value)| PROSE.contains(&name.as_str()) && value.is_string())
    })
}

impl Rule for ProseOnly {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0003",
            code: "schema_mismatch",
            severity: Severity::Error,
            demand: "an event states its fact in typed members, not in prose",
        }
    }

    fn envelope(&self, faults: &[Fault], out: &mut Out<'_>) {
        for fault in faults.iter().filter(|fault| fault.path == "payload") {
            out.add("payload", &fault.message);
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if let Some(Err(error)) = &look.subject.body
            && is_prose(&look.subject.event.draft.payload)
        {
            let message = format!("{} says it in prose only: {}", look.subject.type_name(), error.detail);
            out.add("payload", message);
        }
    }
}
