//! Owns how the execution graph is shown: as a picture, and as text for other programs that draw.
//!
//! Next: [`svg`](mod@svg), the picture; `text` measures what goes into it.

mod dot;
mod mermaid;
mod svg;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;

use crate::projections::graph::{NodeKind, Status};

/// What a status means for a kind of node: an approval "succeeds" by being approved.
const fn status_word(kind: NodeKind, status: Status) -> &'static str {
    match (kind, status) {
        (NodeKind::Action, Status::Succeeded) => "approved",
        (NodeKind::Artifact, Status::Succeeded) => "ready",
        (NodeKind::Artifact, Status::Cancelled) => "deleted",
        (NodeKind::ToolCall, Status::Unknown) => "returned",
        (_, Status::TimedOut) => "timed out",
        (_, status) => status.as_str(),
    }
}

/// True for characters that nobody sees and that make a text look like another one: those that turn the direction of
/// text, spaces without width, tags. What shows a recording to people must not pass them on.
#[must_use]
pub const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{61C}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

#[cfg(test)]
mod tests;
