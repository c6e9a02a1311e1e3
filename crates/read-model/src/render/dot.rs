//! Owns the graph in the DOT language of Graphviz.

use std::fmt::Write as _;

use crate::projections::graph::{EdgeKind, ExecutionGraph, Node, NodeKind, Status};

/// Writes the graph as DOT: `dot -Tsvg` draws it.
///
/// Nodes carry their status as colour and in words, edges their kind. Wholes (a turn, a step, an agent) are nodes with
/// dotted lines to their parts, so that nothing depends on clusters.
#[must_use]
pub fn dot(graph: &ExecutionGraph) -> String {
    let derived = graph.derive();
    let mut out = String::from(
        "digraph execution {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", \
         fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9, color=\"#8c959f\"];\n",
    );
    for node in graph.nodes() {
        let status = derived.status(node);
        let _ = writeln!(
            out,
            "  {} [label={}, {}];",
            quoted(&node.id.to_string()),
            quoted(&label(node, status)),
            look(node.kind(), status)
        );
    }
    for edge in graph.edges() {
        let style = match edge.kind {
            EdgeKind::Contains => "style=dotted, arrowhead=none",
            EdgeKind::Next => "weight=4",
            EdgeKind::Causes => "color=\"#57606a\"",
            EdgeKind::DependsOn => "label=\"before\"",
            EdgeKind::Spawned => "style=dashed, color=\"#8250df\", label=\"started\"",
            EdgeKind::Handoff => "penwidth=2, color=\"#8250df\", label=\"handoff\"",
            EdgeKind::Gates => "color=\"#9a6700\", label=\"gates\"",
            EdgeKind::Produced => "label=\"made\"",
            EdgeKind::Consumed => "style=dashed, label=\"used\"",
            EdgeKind::Message => "style=dashed, label=\"message\"",
        };
        let (from, to) = (quoted(&edge.from.to_string()), quoted(&edge.to.to_string()));
        let _ = writeln!(out, "  {from} -> {to} [{style}];");
    }
    out.push_str("}\n");
    out
}

fn label(node: &Node, status: Status) -> String {
    let word = super::status_word(node.kind(), status);
    let title = if node.title.is_empty() { node.kind().label() } else { node.title.as_str() };
    match node.input.as_deref().or(node.output.as_deref()) {
        Some(more) if more != title => format!("{title}\n{}\n{}", short(more), word),
        _ => format!("{title}\n{word}"),
    }
}

fn short(text: &str) -> String {
    let mut out: String = text.chars().take(48).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}

fn look(kind: NodeKind, status: Status) -> String {
    let shape = match kind {
        NodeKind::Action => "shape=diamond, style=filled, ",
        NodeKind::Artifact | NodeKind::Evidence => "shape=note, style=filled, ",
        NodeKind::Subagent | NodeKind::Thread => "shape=component, style=filled, ",
        NodeKind::Compaction | NodeKind::Rollback | NodeKind::Fork | NodeKind::Interruption => {
            "shape=cds, style=filled, "
        }
        NodeKind::Turn
        | NodeKind::Step
        | NodeKind::ModelCall
        | NodeKind::ToolCall
        | NodeKind::Task
        | NodeKind::Run
        | NodeKind::Attempt
        | NodeKind::Job
        | NodeKind::Unplaced
        | NodeKind::Earlier => "",
    };
    let (line, fill) = match status {
        Status::Succeeded => ("#1a7f37", "#ffffff"),
        Status::Partial => ("#9a6700", "#ffffff"),
        Status::Running => ("#0969da", "#ffffff"),
        Status::Queued => ("#8c959f", "#ffffff"),
        Status::Waiting | Status::Blocked => ("#9a6700", "#fff8dc"),
        Status::Failed | Status::Denied | Status::TimedOut => ("#cf222e", "#fff0ee"),
        Status::Cancelled | Status::Expired => ("#8c959f", "#f0f2f5"),
        Status::Interrupted | Status::Unknown => ("#8c959f", "#eaeef2"),
    };
    format!("{shape}color=\"{line}\", fillcolor=\"{fill}\"")
}

/// A DOT string: quotes and backslashes escaped, line breaks as `\n`, other control characters replaced.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if super::is_invisible(c) => {}
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
