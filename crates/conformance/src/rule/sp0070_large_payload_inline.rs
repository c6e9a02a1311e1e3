//! SP0070: large content lies behind a ref.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::limit;

pub(super) struct LargePayloadInline;

impl Rule for LargePayloadInline {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0070",
            code: "large_payload_inline",
            severity: Severity::Error,
            demand: "a payload has at most 16 KiB; what is larger lies behind an output, artifact, evidence or raw ref",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let bytes = look.subject.event.draft.payload.as_str().len();
        if bytes > limit::PAYLOAD {
            out.add("payload", format!("{bytes} bytes inline, {} are allowed", limit::PAYLOAD));
        }
    }
}
