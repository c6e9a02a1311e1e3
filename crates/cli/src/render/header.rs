//! Owns the head of a session: what it is, how it stands, how large it is, where its chain is.

use std::io::{self, Write as _};

use event_spine::{RecordedAt, SessionSummary};
use read_model::SessionView;
use read_model::projections::status::RuntimeStatus;
use read_model::projections::transcript::Body;

use super::figures::in_and_out;
use crate::output::{BAD, DIM, GOOD, LIVE, Out, STRONG, WARN};
use crate::text::{count, counted, one_line};
use crate::when;

/// A status in its colour, with a sign.
pub(crate) fn status(out: &Out, status: RuntimeStatus) -> String {
    let (style, sign) = match status {
        RuntimeStatus::Idle => (DIM, "·"),
        RuntimeStatus::Running => (LIVE, "●"),
        RuntimeStatus::Waiting => (WARN, "▲"),
        RuntimeStatus::Blocked => (BAD, "⊘"),
        RuntimeStatus::Completed => (GOOD, "✓"),
        RuntimeStatus::Failed => (BAD, "✗"),
        RuntimeStatus::Canceled => (WARN, "■"),
    };
    out.paint(style, format!("{sign} {status}"))
}

/// The model that answered last.
pub(crate) fn model(view: &SessionView) -> Option<&str> {
    let answered = view.transcript.parts.iter().rev().find_map(|part| match &part.body {
        Body::AssistantText(text) => text.model.as_deref(),
        _ => None,
    });
    answered.or_else(|| view.status.active_turn().and_then(|turn| turn.model.as_deref()))
}

/// Draws it.
pub(crate) fn draw(
    out: &mut Out,
    view: &SessionView,
    summary: &SessionSummary,
    title: Option<&str>,
    now: RecordedAt,
) -> io::Result<()> {
    let id = out.paint(STRONG, &view.at.session_id);
    let status = status(out, view.status.runtime);
    writeln!(out, "{id}  {status}")?;
    if let Some(title) = title {
        writeln!(out, "{}", one_line(title, out.prose_width()))?;
    }
    let mut facts =
        vec![counted(view.status.turns.started, "turn"), counted(view.at.sequence, "event")];
    facts.extend(model(view).map(str::to_owned));
    facts.extend(in_and_out(&view.usage.session));
    facts.push(format!("recorded {}", when::ago(summary.last_recorded_at, now)));
    facts.push(format!("chain {}", view.at.chain.short()));
    if view.at.sequence < summary.head.sequence {
        facts.push(format!(
            "as it was at {} of {}",
            count(view.at.sequence),
            count(summary.head.sequence)
        ));
    }
    let facts = out.paint(DIM, facts.join(" · "));
    writeln!(out, "{facts}")?;
    if let Some(parent) = &summary.parent {
        let line =
            out.paint(DIM, format!("forked from {} at {}", parent.session_id, parent.sequence));
        writeln!(out, "{line}")?;
    }
    for stretch in &view.lost.stretches {
        let line =
            format!("✗ {} to {} cannot be read: {}", stretch.from, stretch.to, stretch.reason);
        let line = out.paint(BAD, line);
        writeln!(out, "{line}")?;
    }
    Ok(())
}
