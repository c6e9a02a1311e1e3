//! SP0020: an event id names one fact, at one place.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::stream::Identity;

pub(super) struct DuplicateEventId;

impl Rule for DuplicateEventId {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0020",
            code: "duplicate_event_id",
            severity: Severity::Error,
            demand: "an event id names one fact, and the fact stands in the stream once",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let id = &look.subject.event.draft.event_id;
        match look.identity {
            Identity::New | Identity::Repeat => {}
            Identity::OtherContent => {
                out.add("eventId", format!("{id} was used before, for another fact"));
            }
            Identity::SecondPlace => {
                out.add("eventId", format!("{id} stands in the stream before, under another sequence"));
            }
        }
    }
}
