//! Owns the report for people: one line a finding, then the sum.

use std::fmt;

use super::{Level, Report};
use crate::finding::{Finding, Severity};

impl fmt::Display for Finding {
    /// `line 12 · evt_7 · error SP0010 missing_scope_id · tool.started lacks stepId`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.sequence, self.frame) {
            (Some(line), _, _) => write!(f, "line {line} · ")?,
            (None, Some(sequence), _) => write!(f, "sequence {sequence} · ")?,
            (None, None, Some(frame)) => write!(f, "frame {frame} · ")?,
            (None, None, None) => {}
        }
        if let Some(id) = &self.event_id {
            write!(f, "{id} · ")?;
        }
        write!(f, "{} {} {} · {}", self.severity.as_str(), self.rule, self.code, self.message)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConformant => "not conformant",
            Self::ProjectionCompatible => "projection compatible",
            Self::RuntimeCompatible => "runtime compatible",
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if self.dropped > 0 {
            writeln!(f, "… and {} more", self.dropped)?;
        }
        let counts = &self.counts;
        writeln!(
            f,
            "{}: {}, {}, {} in {} of {}",
            self.level,
            plural(self.total(Severity::Error), "error"),
            plural(self.total(Severity::Degraded), "degraded fact"),
            plural(self.total(Severity::Note), "note"),
            plural(counts.events, "event"),
            plural(counts.sessions, "session"),
        )
    }
}

fn plural(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}
