//! SP0001: a line is a RuntimeEvent, with every member the envelope demands.

use super::{Info, Out, Rule};
use crate::finding::Severity;
use crate::subject::Fault;

pub(super) struct Envelope;

impl Rule for Envelope {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0001",
            code: "schema_mismatch",
            severity: Severity::Error,
            demand: "a line is one JSON object with the members of the envelope in their shapes",
        }
    }

    fn envelope(&self, faults: &[Fault], out: &mut Out<'_>) {
        // A payload that is no object has a rule of its own.
        for fault in faults.iter().filter(|fault| fault.path != "payload") {
            out.add(&fault.path, &fault.message);
        }
    }
}
