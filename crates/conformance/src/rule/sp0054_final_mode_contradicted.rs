//! SP0054: a final text is what its mode says.

use event_spine::event::value::Reconciliation;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct FinalModeContradicted;

impl Rule for FinalModeContradicted {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0054",
            code: "final_mode_contradicted",
            severity: Severity::Degraded,
            demand: "a final text that says confirm is equal to the streamed one; one that says correct or replace is not",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some((text, part, Some(mode))) = look.final_text() else { return };
        let equal = part.streamed.is(text);
        match mode {
            Reconciliation::Confirm if !equal => {
                out.add("payload.mode", "it says confirm, and the streamed text was another one");
            }
            Reconciliation::Correct | Reconciliation::Replace if equal => {
                out.add("payload.mode", format!("it says {mode}, and the streamed text was the same"));
            }
            Reconciliation::Confirm
            | Reconciliation::Correct
            | Reconciliation::Replace
            | Reconciliation::Unknown => {}
        }
    }
}
