//! SP0074: a payload names refs that the event has.

use serde_json::{Map, Value};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct DanglingRef;

impl Rule for DanglingRef {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0074",
            code: "dangling_ref",
            severity: Severity::Degraded,
            demand: "every ref that a payload names stands in the event's refs",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let draft = &look.subject.event.draft;
        // A quick look first: most payloads name no ref.
        if !draft.payload.as_str().contains("Ref\":") {
            return;
        }
        let Ok(payload) = draft.payload.read::<Map<String, Value>>() else { return };
        let refs = draft.refs.to_vec();
        for (member, id) in payload.iter().filter_map(|(m, v)| Some((m, v.as_str()?))) {
            if member.ends_with("Ref") && !refs.iter().any(|r| r.id == id) {
                out.add(format!("payload.{member}"), format!("{id} is not in the refs of the event"));
            }
        }
    }
}
