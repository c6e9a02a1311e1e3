//! Owns what can be wrong with a frame. None of it ends the stream.

use event_spine::wire::WireError;

/// Something was wrong with one frame of the input. The stream goes on behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct AdaptError {
    /// Number of the frame, 1 first.
    pub frame: u64,
    /// Line of the input on which the frame begins, 1 first.
    pub line: u64,
    /// What is wrong.
    pub kind: AdaptErrorKind,
}

/// What is wrong with a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdaptErrorKind {
    /// It is larger than allowed; it was skipped without being read into memory.
    #[error("the frame is larger than {limit} bytes and was skipped; raise the limit to take it")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// It has bytes that are no UTF-8. Each became U+FFFD and the frame was taken.
    #[error("byte {byte} of the line is not UTF-8; it was replaced by U+FFFD")]
    InvalidUtf8 {
        /// The first such byte of the line, 0 first.
        byte: usize,
    },
    /// The input ends in the middle of it.
    #[error("the input ends in the middle of this frame; what came of it was not taken")]
    CutOff,
    /// It is not JSON, or nests too deep.
    #[error("{detail}")]
    NotJson {
        /// What is wrong and where.
        detail: String,
    },
    /// It is JSON and not a frame of this format.
    #[error("{detail}")]
    NotAFrame {
        /// What is wrong.
        detail: String,
    },
    /// It is not a RuntimeEvent.
    #[error(transparent)]
    NotAnEvent(#[from] WireError),
    /// It has escapes that are half of a surrogate pair. Each became U+FFFD and the frame was taken.
    #[error("{count} lone surrogate escapes were replaced by U+FFFD")]
    LoneSurrogates {
        /// How many.
        count: usize,
    },
}

impl AdaptError {
    /// True when the frame, or a part of it, was not taken.
    #[must_use]
    pub fn lost(&self) -> bool {
        match self.kind {
            AdaptErrorKind::TooLong { .. }
            | AdaptErrorKind::CutOff
            | AdaptErrorKind::NotJson { .. }
            | AdaptErrorKind::NotAFrame { .. }
            | AdaptErrorKind::NotAnEvent(_) => true,
            AdaptErrorKind::InvalidUtf8 { .. } | AdaptErrorKind::LoneSurrogates { .. } => false,
        }
    }
}
