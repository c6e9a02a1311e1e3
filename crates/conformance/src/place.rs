//! Owns the place of an event in its input, for messages: where something began, where something else went wrong.

use std::fmt;

/// Where an event stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: Option<u64>,
    pub(crate) frame: Option<u64>,
    pub(crate) event_id: Option<String>,
    pub(crate) sequence: Option<u64>,
}

/// The shortest unambiguous name of a place, for what has to be remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    Line(u64),
    Frame(u64),
    Sequence(u64),
    #[default]
    Somewhere,
}

impl Place {
    pub(crate) fn mark(&self) -> Mark {
        let line = self.line.map(Mark::Line);
        let sequence = self.sequence.map(Mark::Sequence);
        line.or(sequence).or(self.frame.map(Mark::Frame)).unwrap_or_default()
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Frame(frame) => write!(f, "frame {frame}"),
            Self::Sequence(sequence) => write!(f, "sequence {sequence}"),
            Self::Somewhere => f.write_str("earlier"),
        }
    }
}
