//! SP0002: a payload has the shape of its type.

use super::sp0003_prose_only::is_prose;
use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

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
        let Some(Err(error)) = &look.subject.body else { return };
        let payload = &look.subject.event.draft.payload;
        if is_prose(payload) {
            return;
        }
        out.add("payload", error.to_string());
    }
}
