//! Owns the words on a picture: tokens, counts, tooltips.

use super::super::status_word;
use super::super::text::{duration, short_number};
use crate::projections::graph::{Counts, Figures, Node, Status, Tokens};
use event_spine::RecordedAt;

/// Tokens as `1.2k in · 80 out`; `~` marks an estimate.
pub(super) fn tokens(tokens: Option<Tokens>) -> Option<String> {
    let tokens = tokens.filter(|tokens| !tokens.is_unknown())?;
    let about = if tokens.estimated { "~" } else { "" };
    let side = |n: Option<u64>, word: &str| {
        n.map_or_else(|| format!("? {word}"), |n| format!("{about}{} {word}", short_number(n)))
    };
    Some(format!("{} · {}", side(tokens.input, "in"), side(tokens.output, "out")))
}

/// Both sides together, for narrow places; `≥` when some calls did not say.
pub(super) fn token_sum(figures: &Figures) -> Option<String> {
    let tokens = figures.rolled_up?;
    let sum = tokens.input.unwrap_or(0).saturating_add(tokens.output.unwrap_or(0));
    let mark = match (figures.calls_without_usage > 0, tokens.estimated) {
        (true, _) => "≥ ",
        (false, true) => "~",
        (false, false) => "",
    };
    Some(format!("{mark}{} tokens", short_number(sum)))
}

/// `1 tool call`, `2 tool calls`.
pub(super) fn count(n: u64, one: &str, many: &str) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{} {many}", grouped(n))),
    }
}

/// A number with thin gaps between thousands: `12 345`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202F}');
        }
        out.push(digit);
    }
    out
}

/// What is in a turn, a sub-agent or a fold, in the order of importance.
pub(super) fn contents(counts: &Counts) -> Vec<String> {
    let mut words: Vec<Option<String>> = vec![
        count(counts.turns, "turn", "turns"),
        count(counts.model_calls, "model call", "model calls"),
        count(counts.tool_calls, "tool call", "tool calls").map(|words| {
            let failed = counts.tool_calls_failed;
            let denied = counts.tool_calls_denied;
            match (failed, denied) {
                (0, 0) => words,
                (failed, 0) => format!("{words} ({failed} failed)"),
                (0, denied) => format!("{words} ({denied} denied)"),
                (failed, denied) => format!("{words} ({failed} failed, {denied} denied)"),
            }
        }),
        count(counts.actions, "approval", "approvals").map(|words| match counts.actions_waiting {
            0 => words,
            waiting => format!("{words} ({waiting} waiting)"),
        }),
        count(counts.subagents, "sub-agent", "sub-agents"),
    ];
    words.push(count(counts.tasks, "task", "tasks"));
    words.push(count(counts.artifacts, "artifact", "artifacts"));
    words.push(count(counts.evidence, "piece of evidence", "pieces of evidence"));
    words.into_iter().flatten().collect()
}

/// What a pointer over a node shows.
pub(super) fn tooltip(node: &Node, status: Status, figures: Option<&Figures>) -> String {
    let mut lines = vec![format!("{} · {}", node.kind().label(), node.id.name())];
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("{name}: {value}"));
        }
    };
    line("title", Some(node.title.clone()));
    line("status", Some(status_word(node.kind(), status).to_owned()));
    line("why", node.failure_category.clone());
    line("decided by", node.decided_by.clone());
    line("model", node.model.clone());
    line("in", node.input.clone());
    line("out", node.output.clone());
    let events = if node.last_sequence > node.first_sequence {
        format!("{} to {}", node.first_sequence, node.last_sequence)
    } else {
        node.first_sequence.to_string()
    };
    line("events", (node.first_sequence > 0).then_some(events));
    line("began", (node.started_at != 0).then(|| RecordedAt(node.started_at).to_string()));
    line("took", figures.and_then(|f| f.duration_ms).map(duration));
    line("tokens", tokens(node.own_tokens));
    line("tokens as reported", tokens(node.reported_tokens));
    if node.own_tokens.is_none() {
        line("tokens, rolled up", figures.and_then(|f| tokens(f.rolled_up)));
    }
    line("contains", figures.map(|f| contents(&f.counts).join(", ")));
    line("revisions", (node.revisions > 1).then(|| node.revisions.to_string()));
    line("refs", (!node.refs.is_empty()).then(|| node.refs.join(", ")));
    lines.join("\n")
}
