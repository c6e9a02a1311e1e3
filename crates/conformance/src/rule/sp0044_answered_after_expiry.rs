//! SP0044: an answer comes before its request expires.

use event_spine::event::family::policy::ActionResolved;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct AnsweredAfterExpiry;

impl Rule for AnsweredAfterExpiry {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0044",
            code: "answered_after_expiry",
            severity: Severity::Degraded,
            demand: "an answer comes before its request expires; after that, the request has expired",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let draft = &look.subject.event.draft;
        if !look.subject.is::<ActionResolved>() {
            return;
        }
        let action = draft.scope.action_id.as_ref().and_then(|id| look.stream.actions.get(id));
        let expires = action.and_then(|action| action.expires);
        let answered = draft.timestamp.micros().filter(|_| look.subject.has_time);
        if let (Some(expires), Some(answered)) = (expires, answered)
            && answered > expires
        {
            let seconds = (answered - expires) as f64 / 1_000_000.0;
            out.add("timestamp", format!("answered {seconds} s after the request expired"));
        }
    }
}
