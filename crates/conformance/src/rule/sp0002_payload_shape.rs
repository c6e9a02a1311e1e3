//! SP0002: a payload has the shape of its type.

use event_spine::JsonText;
use event_spine::event::EventDescriptor;
use serde_json::{Map, Value};

use super::sp0003_prose_only::is_prose;
use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::pointer;

pub(super) struct PayloadShape;

impl Rule for PayloadShape {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0002",
            code: "schema_mismatch",
            severity: Severity::Error,
            demand: "a payload has the shape of its type",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let draft = &look.subject.event.draft;
        let (Some(Err(error)), Some(row)) = (&look.subject.body, draft.event_type.descriptor())
        else {
            return;
        };
        if is_prose(&draft.payload) {
            return;
        }
        let missing = missing_members(row, &draft.payload);
        for member in &missing {
            out.add(format!("payload.{member}"), format!("{} lacks {member}", row.name));
        }
        if missing.is_empty() {
            let mut path = pointer::at_column(draft.payload.as_str(), error.column);
            path.insert_str(0, if path.is_empty() { "payload" } else { "payload." });
            out.add(path, error.to_string());
        }
    }
}

/// Members that the schema of the type requires and the payload does not have.
fn missing_members(row: &EventDescriptor, payload: &JsonText) -> Vec<String> {
    let Ok(members) = payload.read::<Map<String, Value>>() else { return Vec::new() };
    let schema = (row.schema)();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .filter(|name| !members.contains_key(*name))
        .map(str::to_owned)
        .collect()
}
