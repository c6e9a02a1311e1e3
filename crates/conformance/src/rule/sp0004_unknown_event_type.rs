//! SP0004: a type is registered before it is used.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct UnknownEventType;

impl Rule for UnknownEventType {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0004",
            code: "unknown_event_type",
            severity: Severity::Degraded,
            demand: "a type is registered in the catalog before it is used",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let event_type = &look.subject.event.draft.event_type;
        if event_type.descriptor().is_some() {
            return;
        }
        let name = event_type.name();
        if event_spine::wire::well_formed_name(event_type) {
            out.add("type", format!("{name} is not registered; it is kept whole and shown as unknown"));
        } else {
            let message = format!("{name:?} is no type name: lower case words joined by dots");
            out.add_as(Severity::Error, "type", message);
        }
    }
}
