//! Owns drawing the timeline: a line for each thing that happened, with its place, its time and how long it took.

use std::io::{self, Write as _};

use event_spine::Timestamp;
use read_model::projections::timeline::{Entry, EntryStatus, Timeline};

use super::took;
use crate::output::{BAD, DIM, GOOD, LIVE, Out, WARN};
use crate::text::{columns, counted, one_line};
use crate::when;

/// Draws the view.
pub(crate) fn draw(out: &mut Out, timeline: &Timeline) -> io::Result<()> {
    writeln!(out)?;
    let entries = &timeline.entries;
    if entries.dropped() > 0 {
        let note = format!(
            "… {} before {}",
            counted(entries.dropped(), "entry"),
            entries.before().unwrap_or(1)
        );
        let note = out.paint(DIM, note);
        writeln!(out, "{note}")?;
    }
    let times = || entries.iter().filter_map(|entry| entry.first.timestamp.micros());
    // A source without times of its own has one time for everything, which says nothing.
    let start = times().next().filter(|start| times().any(|at| at != *start));
    let digits = entries.last().map_or(1, |(_, last)| last.last_sequence.to_string().len());
    for entry in entries.iter() {
        line(out, entry, start, digits)?;
    }
    Ok(())
}

fn line(out: &mut Out, entry: &Entry, start: Option<i64>, digits: usize) -> io::Result<()> {
    let sequence = format!("{:>digits$}", entry.first.sequence);
    let offset = format!("{:>9}", since(&entry.first.timestamp, start));
    let depth = "  ".repeat(depth(entry));
    let (style, sign) = match entry.status {
        EntryStatus::Open => (LIVE, "●"),
        EntryStatus::Done => (DIM, "·"),
        EntryStatus::Succeeded => (GOOD, "✓"),
        EntryStatus::Failed => (BAD, "✗"),
        EntryStatus::Denied => (BAD, "⊘"),
        EntryStatus::Canceled | EntryStatus::Interrupted => (WARN, "■"),
        EntryStatus::Unknown => (DIM, "○"),
    };
    let mut right = took(&entry.elapsed).unwrap_or_default();
    if entry.events > 1 {
        let count = if entry.pieces {
            counted(entry.events, "piece")
        } else {
            format!("{} times", crate::text::count(entry.events))
        };
        right = format!("{count} {right}").trim_end().to_owned();
    }
    let used = digits + 2 + columns(&offset) + 2 + columns(&depth) + 2 + 2 + columns(&right);
    let room = out.width.min(120).saturating_sub(used).max(12);
    let title = one_line(&entry.title, room);
    let gap = " ".repeat(room.saturating_sub(columns(&title)) + 2);
    let line = format!(
        "{}  {}  {depth}{} {title}{gap}{}",
        out.paint(DIM, sequence),
        out.paint(DIM, offset),
        out.paint(style, sign),
        out.paint(DIM, right),
    );
    writeln!(out, "{}", line.trim_end())
}

/// How long after the beginning, by the producer's clock; nothing when that clock stepped back or said nothing.
fn since(timestamp: &Timestamp, start: Option<i64>) -> String {
    match (timestamp.micros(), start) {
        (Some(at), Some(start)) if at >= start => format!("+{}", when::lasted(at - start)),
        (Some(_), Some(_)) => "-".to_owned(),
        (_, None) | (None, _) => String::new(),
    }
}

/// Turns stand at the margin, their steps one in, what a step does two in; another agent's work one more.
fn depth(entry: &Entry) -> usize {
    let scope = &entry.scope;
    let within_turn = usize::from(scope.turn_id.is_some() && !entry.class.starts_with("turn."));
    let within_step = usize::from(scope.tool_call_id.is_some() || scope.action_id.is_some());
    within_turn + within_step + usize::from(scope.subagent_id.is_some())
}
