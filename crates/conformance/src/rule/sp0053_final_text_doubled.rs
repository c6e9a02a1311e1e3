//! SP0053: a final text is not the streamed text twice.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct FinalTextDoubled;

impl Rule for FinalTextDoubled {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0053",
            code: "final_text_doubled",
            severity: Severity::Degraded,
            demand: "the final text is the whole text once, not the streamed text with itself appended",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some((text, part, _)) = look.final_text() else { return };
        if part.streamed.is_half_of(text) && part.streamed.bytes >= SHORTEST {
            out.add("payload.text", "the final text is the streamed text twice");
        }
    }
}

/// Shorter texts repeat themselves by nature.
const SHORTEST: usize = 8;
