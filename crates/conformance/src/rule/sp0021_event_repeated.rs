//! SP0021: an event may come again; readers drop it.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct EventRepeated;

impl Rule for EventRepeated {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0021",
            code: "event_repeated",
            severity: Severity::Note,
            demand: "an event is sent once; one that comes again, the same in all it says, is dropped by its id",
        }
    }

    fn repeat(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let id = &look.subject.event.draft.event_id;
        out.add("eventId", format!("{id} came before, the same in all it says"));
    }
}
