//! SP0075: a foreign system's own state lies behind a raw ref.

use serde_json::{Map, Value};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct RawPayloadInline;

impl Rule for RawPayloadInline {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0075",
            code: "raw_payload_inline",
            severity: Severity::Degraded,
            demand: "a foreign system's own state, event or response lies behind a raw ref, not in the payload",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let text = look.subject.event.draft.payload.as_str();
        // A quick look first: nearly no payload has one of these.
        if !RAW.iter().any(|member| text.contains(member)) {
            return;
        }
        let Ok(payload) = look.subject.event.draft.payload.read::<Map<String, Value>>() else { return };
        for member in RAW.iter().filter(|member| payload.get(**member).is_some_and(|v| !v.is_null())) {
            out.add(format!("payload.{member}"), format!("{member} belongs behind a raw ref"));
        }
    }
}

const RAW: &[&str] =
    &["nativeState", "rawEvent", "rawPayload", "rawResponse", "providerPayload", "providerResponse"];
