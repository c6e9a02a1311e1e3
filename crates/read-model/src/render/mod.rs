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

/// True for invisible characters that turn the direction of text: they can make a picture say something else than the
/// log, so no picture has them.
const fn turns_text(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
