//! SP0005: a type is written under its own name.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct AliasedEventType;

impl Rule for AliasedEventType {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0005",
            code: "aliased_event_type",
            severity: Severity::Note,
            demand: "a type is written under the name that the contract gives it",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        if let Some(alias) = look.subject.alias() {
            out.add("type", format!("{alias} is read as {}", look.subject.type_name()));
        }
    }
}
