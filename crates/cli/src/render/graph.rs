//! Owns drawing the execution graph as a tree of lines. For the picture there is `spine graph`.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use read_model::projections::graph::{Derived, EdgeKind, ExecutionGraph, Node, NodeId, Status};

use crate::output::{BAD, DIM, GOOD, LIVE, Out, WARN};
use crate::text::{columns, one_line};
use crate::when;

/// Deeper wholes are drawn at this depth: a terminal is only so wide.
const DEEPEST: usize = 16;

/// Draws the tree, and a line about the edges that are not drawn.
pub(crate) fn draw(out: &mut Out, graph: &ExecutionGraph) -> io::Result<()> {
    writeln!(out)?;
    if graph.is_empty() {
        let none = out.paint(DIM, "the graph has no node");
        return writeln!(out, "{none}");
    }
    let mut tree = Tree { parts: BTreeMap::new(), derived: graph.derive() };
    for node in graph.nodes() {
        let whole = node.parent.clone().filter(|parent| graph.node(parent).is_some());
        tree.parts.entry(whole).or_default().push(node);
    }
    tree.draw(out, None, "", 0)?;
    let mut ties: BTreeMap<&str, usize> = BTreeMap::new();
    for edge in
        graph.edges().filter(|edge| !matches!(edge.kind, EdgeKind::Contains | EdgeKind::Next))
    {
        *ties.entry(edge.kind.as_str()).or_default() += 1;
    }
    let ties: Vec<_> = ties.iter().map(|(kind, number)| format!("{kind} {number}")).collect();
    let hint = if ties.is_empty() {
        String::new()
    } else {
        format!("ties not drawn here: {}; ", ties.join(", "))
    };
    let hint = out.paint(DIM, format!("{hint}`spine graph` draws the picture"));
    writeln!(out, "\n{hint}")
}

struct Tree<'a> {
    parts: BTreeMap<Option<NodeId>, Vec<&'a Node>>,
    derived: Derived,
}

impl Tree<'_> {
    fn draw(
        &self,
        out: &mut Out,
        whole: Option<&NodeId>,
        indent: &str,
        depth: usize,
    ) -> io::Result<()> {
        let Some(parts) = self.parts.get(&whole.cloned()) else {
            return Ok(());
        };
        for (at, node) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let (branch, below) = match (whole, last) {
                (None, _) => ("", ""),
                (Some(_), true) => ("└─ ", "   "),
                (Some(_), false) => ("├─ ", "│  "),
            };
            self.line(out, node, &format!("{indent}{branch}"))?;
            let deeper =
                if depth < DEEPEST { format!("{indent}{below}") } else { indent.to_owned() };
            self.draw(out, Some(&node.id), &deeper, depth + 1)?;
        }
        Ok(())
    }

    fn line(&self, out: &mut Out, node: &Node, indent: &str) -> io::Result<()> {
        let (style, sign) = sign(self.derived.status(node));
        let kind = node.id.kind().label();
        let ms = node
            .duration_ms
            .or_else(|| self.derived.of(&node.id).and_then(|figures| figures.duration_ms));
        let took =
            ms.map(|ms| when::lasted(i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000)));
        let took = took.unwrap_or_default();
        let used = columns(indent) + 2 + columns(kind) + 2 + columns(&took) + 2;
        let room = out.width.min(120).saturating_sub(used).max(12);
        let title = one_line(&node.title, room);
        let gap = " ".repeat(room - columns(&title) + 2);
        let line = format!(
            "{}{} {}  {title}{gap}{}",
            out.paint(DIM, indent),
            out.paint(style, sign),
            out.paint(DIM, kind),
            out.paint(DIM, took)
        );
        writeln!(out, "{}", line.trim_end())
    }
}

fn sign(status: Status) -> (anstyle::Style, &'static str) {
    match status {
        Status::Succeeded => (GOOD, "✓"),
        Status::Partial => (WARN, "✓"),
        Status::Queued | Status::Running => (LIVE, "●"),
        Status::Waiting => (WARN, "▲"),
        Status::Failed | Status::TimedOut | Status::Expired => (BAD, "✗"),
        Status::Denied | Status::Blocked => (BAD, "⊘"),
        Status::Cancelled | Status::Interrupted => (WARN, "■"),
        Status::Unknown => (DIM, "·"),
    }
}
