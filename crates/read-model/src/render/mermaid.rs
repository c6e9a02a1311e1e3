//! Owns the graph as a Mermaid flowchart, for READMEs and issues.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::projections::graph::{EdgeKind, ExecutionGraph, Node, NodeId, NodeKind, Status};

/// Writes the graph as a Mermaid flowchart.
///
/// Mermaid reads many words and signs in ids and labels as its own, so nodes are numbered and labels are quoted with
/// every sign that could mean something written as a character code.
#[must_use]
pub fn mermaid(graph: &ExecutionGraph) -> String {
    let derived = graph.derive();
    let names: HashMap<&NodeId, usize> =
        graph.nodes().enumerate().map(|(at, node)| (&node.id, at + 1)).collect();
    let mut out = String::from("flowchart LR\n");
    for (at, node) in graph.nodes().enumerate() {
        let status = derived.status(node);
        let (open, close) = shape(node.kind());
        let text = label(node, status);
        let _ = writeln!(out, "  n{}{open}\"{text}\"{close}:::{}", at + 1, class(status));
    }
    for edge in graph.edges() {
        let (Some(from), Some(to)) = (names.get(&edge.from), names.get(&edge.to)) else {
            continue;
        };
        let arrow = match edge.kind {
            EdgeKind::Contains => "-.-",
            EdgeKind::Next | EdgeKind::Causes => "-->",
            EdgeKind::DependsOn => "-->|before|",
            EdgeKind::Spawned => "-.->|started|",
            EdgeKind::Handoff => "==>|handoff|",
            EdgeKind::Gates => "-->|gates|",
            EdgeKind::Produced => "-->|made|",
            EdgeKind::Consumed => "-.->|used|",
            EdgeKind::Message => "-.->|message|",
        };
        let _ = writeln!(out, "  n{from} {arrow} n{to}");
    }
    out.push_str(
        "  classDef ok stroke:#1a7f37\n  classDef run stroke:#0969da\n  classDef wait stroke:#9a6700,fill:#fff8dc,color:#1f2328\n  \
         classDef bad stroke:#cf222e,fill:#fff0ee,color:#1f2328\n  classDef off stroke:#8c959f,stroke-dasharray:4 3\n",
    );
    out
}

fn label(node: &Node, status: Status) -> String {
    let title = if node.title.is_empty() { node.kind().label() } else { node.title.as_str() };
    let mut out = escaped(title, 48);
    if let Some(more) =
        node.input.as_deref().or(node.output.as_deref()).filter(|more| *more != title)
    {
        out.push_str("<br>");
        out.push_str(&escaped(more, 48));
    }
    let _ = write!(out, "<br>{}", super::status_word(node.kind(), status));
    out
}

/// A label with everything but letters, digits and plain punctuation as a character code.
fn escaped(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == most {
            out.push('…');
            break;
        }
        if c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | ':' | '/' | '-' | '_' | '…') {
            out.push(c);
        } else if super::is_invisible(c) {
            continue;
        } else if c.is_control() {
            out.push(' ');
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}

const fn shape(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Action => ("{", "}"),
        NodeKind::Artifact | NodeKind::Evidence => ("[/", "/]"),
        NodeKind::ModelCall => ("(", ")"),
        NodeKind::Thread | NodeKind::Subagent => ("[[", "]]"),
        NodeKind::Turn | NodeKind::Step => ("([", "])"),
        NodeKind::Compaction | NodeKind::Rollback | NodeKind::Fork | NodeKind::Interruption => {
            ("{{", "}}")
        }
        NodeKind::ToolCall
        | NodeKind::Task
        | NodeKind::Run
        | NodeKind::Attempt
        | NodeKind::Job
        | NodeKind::Unplaced
        | NodeKind::Earlier => ("[", "]"),
    }
}

const fn class(status: Status) -> &'static str {
    match status {
        Status::Succeeded | Status::Partial => "ok",
        Status::Running | Status::Queued => "run",
        Status::Waiting | Status::Blocked => "wait",
        Status::Failed | Status::Denied | Status::TimedOut => "bad",
        Status::Cancelled | Status::Expired | Status::Interrupted | Status::Unknown => "off",
    }
}
