//! SP0072: a large body is sent once.


use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::limit;
use crate::stream::large_strings;

pub(super) struct LargeBodyRepeated;

impl Rule for LargeBodyRepeated {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0072",
            code: "large_body_repeated",
            severity: Severity::Degraded,
            demand: "a string of 4 KiB or more stands in the stream once; later events name its ref",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        for (path, body) in large_strings(&look.subject.event.draft.payload, limit::BODY) {
            if look.stream.has_body(&body) {
                out.add(path, format!("these {} bytes were in the stream before", body.len()));
            }
        }
    }
}
