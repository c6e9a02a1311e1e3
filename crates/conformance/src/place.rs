//! Owns the place of an event in its input, for messages: where something began, where something else went wrong.

use std::fmt;

/// Where an event stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: Option<u64>,
    pub(crate) event_id: Option<String>,
    pub(crate) sequence: Option<u64>,
}

/// The shortest unambiguous name of a place, for what has to be remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    Line(u64),
    Sequence(u64),
    #[default]
    Somewhere,
}

impl Place {
    pub(crate) fn mark(&self) -> Mark {
        match (self.line, self.sequence) {
            (Some(line), _) => Mark::Line(line),
            (None, Some(sequence)) => Mark::Sequence(sequence),
            (None, None) => Mark::Somewhere,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Sequence(sequence) => write!(f, "sequence {sequence}"),
            Self::Somewhere => f.write_str("earlier"),
        }
    }
}
