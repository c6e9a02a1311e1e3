//! Owns the picture of a session: a self-contained SVG, the same bytes for the same graph.
//!
//! `score` says what is drawn, `layout` where, `card` how a node looks; `page`, `band`, `tasks` and `legend` put it
//! together on the `canvas`.

mod band;
pub(super) mod canvas;
mod card;
mod layout;
mod legend;
mod lines;
mod page;
mod score;
mod style;
mod tasks;
mod words;

use crate::projections::graph::ExecutionGraph;

/// Draws the graph as SVG: turns from top to bottom, one lane for each agent, time to the right.
///
/// The picture needs nothing from outside, runs no script, follows the viewer's light or dark setting, and says
/// everything about a node in its tooltip.
#[must_use]
pub fn svg(graph: &ExecutionGraph) -> String {
    page::draw(graph)
}
