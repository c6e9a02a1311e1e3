//! Owns drawing how complete and how healthy a session is: status, context, diagnostics.

use std::io::{self, Write as _};

use read_model::projections::context::Context;
use read_model::projections::diagnostics::{Diagnostics, Severity};
use read_model::projections::status::Status;

use super::{took, whole, word};
use crate::output::{BAD, DIM, LIVE, Out, WARN, left, right};
use crate::text::{count, counted, one_line, wrapped};

/// What the session is doing.
pub(crate) fn status(out: &mut Out, status: &Status) -> io::Result<()> {
    writeln!(out)?;
    let mut rows = vec![
        ("status", status.runtime.to_string()),
        ("phase", status.phase.to_string()),
        (
            "in its own words",
            [status.native_phase.clone(), status.phase_title.clone()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(": "),
        ),
    ];
    let turns = &status.turns;
    let ended = format!(
        "{} completed, {} failed, {} canceled",
        turns.completed, turns.failed, turns.canceled
    );
    rows.push(("turns", format!("{} ({ended})", count(turns.started))));
    if let Some(last) = &status.last_outcome {
        let why = [last.reason.as_deref(), last.detail.as_deref(), last.error.as_deref()];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join(": ");
        rows.push(("last turn", format!("{} {}", last.kind, one_line(&why, 80))));
        rows.push(("it took", took(&last.elapsed).unwrap_or_default()));
        rows.push(("what to do", last.recovery.clone().unwrap_or_default()));
    }
    for waiting in status.waiting.iter() {
        let title = waiting.title.as_deref().unwrap_or(&waiting.action_type);
        rows.push(("waits for", out.paint(WARN, one_line(title, 80))));
    }
    for tool in status.tools.iter() {
        rows.push(("runs", out.paint(LIVE, &tool.tool_name)));
    }
    if let Some(block) = &status.blocked_by {
        rows.push((
            "blocked by",
            out.paint(
                BAD,
                format!("{} {}", block.kind, block.reason.as_deref().unwrap_or_default()),
            ),
        ));
    }
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.trim().is_empty()) {
        let name = out.paint(DIM, format!("{name:>17}"));
        writeln!(out, "{name}  {}", value.trim())?;
    }
    if status.threads.len() > 1 {
        out.heading("Threads")?;
        let rows = status
            .threads
            .iter()
            .map(|thread| {
                let id = thread.thread_id.as_ref().map(ToString::to_string).unwrap_or_default();
                vec![id, thread.status.to_string(), count(thread.turns), String::new()]
            })
            .collect();
        out.table(&[left("thread"), left("status"), right("turns"), left("")], rows)?;
    }
    Ok(())
}

/// What the model sees, and whether the recording is complete.
pub(crate) fn context(out: &mut Out, context: &Context) -> io::Result<()> {
    writeln!(out)?;
    let hydration = &context.hydration;
    let why = hydration.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    writeln!(out, "recording: {}{why}", word(&hydration.status))?;
    for (number, what) in [
        (hydration.interruptions, "interruption"),
        (hydration.repairs, "repair"),
        (hydration.lost_events, "lost event"),
        (hydration.unreadable, "unreadable event"),
    ] {
        if number > 0 {
            let text = out.paint(WARN, counted(number, what));
            writeln!(out, "  {text}")?;
        }
    }
    for (items, what) in [(&context.attached, "attached"), (&context.missing, "missing")] {
        for item in items.iter() {
            let name = item.name.as_deref().or(item.skill_id.as_deref()).unwrap_or_default();
            let gone = if item.detached.is_some() { " (detached later)" } else { "" };
            writeln!(out, "{what}: {} {}{gone}", item.kind, one_line(name, 60))?;
        }
    }
    for compaction in context.compactions.iter() {
        let sizes = match (compaction.before_tokens, compaction.after_tokens) {
            (Some(before), Some(after)) => {
                format!(", {} to {} tokens", count(before), count(after))
            }
            _ => String::new(),
        };
        let trigger = compaction.trigger.as_deref().unwrap_or("unstated trigger");
        writeln!(
            out,
            "compaction at {}: {}, {trigger}{sizes}",
            compaction.first.sequence,
            word(&compaction.state)
        )?;
    }
    if let Some(summary) = context.boundary.as_ref().and_then(|boundary| boundary.summary.as_ref())
    {
        for line in wrapped(&whole(summary), out.prose_width(), "  ").into_iter().take(6) {
            let line = out.paint(DIM, line);
            writeln!(out, "{line}")?;
        }
    }
    for rollback in context.rollbacks.iter() {
        let to = rollback.to_sequence.map(|to| format!(" to {to}")).unwrap_or_default();
        writeln!(out, "rolled back at {}{to}", rollback.at.sequence)?;
    }
    if let Some(fork) = &context.fork {
        writeln!(out, "forked from {} at {}", fork.parent_session_id, fork.parent_sequence)?;
    }
    for document in context.documents.iter() {
        let stale = if document.stale { ", stale" } else { "" };
        let patches = counted(document.patches, "patch");
        writeln!(
            out,
            "state «{}»: {} and {patches}{stale}",
            document.name,
            counted(document.snapshots, "snapshot")
        )?;
    }
    Ok(())
}

/// Warnings, errors, measurements.
pub(crate) fn diagnostics(out: &mut Out, diagnostics: &Diagnostics) -> io::Result<()> {
    writeln!(out)?;
    if diagnostics.entries.is_empty() && diagnostics.metrics.is_empty() {
        let none = out.paint(DIM, "nothing to report");
        return writeln!(out, "{none}");
    }
    let rows = diagnostics
        .entries
        .iter()
        .map(|entry| {
            let style = match entry.severity {
                Severity::Error => BAD,
                Severity::Warning => WARN,
                Severity::Note => DIM,
            };
            vec![
                entry.first.sequence.to_string(),
                out.paint(style, word(&entry.severity)),
                entry.code.clone(),
                count(entry.count),
                one_line(&entry.message, 120),
            ]
        })
        .collect();
    out.table(
        &[right("at"), left("severity"), left("code"), right("times"), left("message")],
        rows,
    )?;
    for (name, metric) in &diagnostics.metrics {
        writeln!(out, "{name}: {} {}", metric.value, metric.unit.as_deref().unwrap_or_default())?;
    }
    for (reason, number) in &diagnostics.masked_by_reason {
        writeln!(out, "masked: {} ({reason})", count(*number))?;
    }
    Ok(())
}
