//! Owns drawing the views that are lists: tool calls, requests to people, and what rules decided.

use std::io::{self, Write as _};

use read_model::projections::actions::Actions;
use read_model::projections::tools::Tools;

use super::card;
use super::took;
use crate::output::{DIM, Out, left, right};
use crate::text::{counted, one_line};

/// Tool calls.
pub(crate) fn tools(out: &mut Out, tools: &Tools) -> io::Result<()> {
    let rows: Vec<_> = tools
        .calls
        .iter()
        .map(|call| {
            let sign = card::sign(out, call.status);
            vec![
                call.first.sequence.to_string(),
                format!("{sign} {}", call.status.as_str().replace('_', " ")),
                call.tool_name.clone().unwrap_or_default(),
                took(&call.elapsed).unwrap_or_default(),
                one_line(&card::brief(call), 60),
            ]
        })
        .collect();
    list(out, "tool call", tools.calls.dropped(), rows, |out, rows| {
        out.table(&[right("at"), left("status"), left("tool"), right("took"), left("what")], rows)
    })
}

/// Requests to people, and what rules and sandboxes decided without asking.
pub(crate) fn actions(out: &mut Out, actions: &Actions) -> io::Result<()> {
    writeln!(out)?;
    if actions.actions.is_empty() && actions.decisions.is_empty() {
        let none = out.paint(DIM, "nobody was asked for anything");
        return writeln!(out, "{none}");
    }
    for action in actions.actions.iter() {
        card::action(out, action, "")?;
        if let Some(id) = &action.scope.action_id {
            let line = out.paint(DIM, format!("  {id}"));
            writeln!(out, "{line}")?;
        }
    }
    if actions.decisions.is_empty() {
        return Ok(());
    }
    out.heading("Decided by rules and sandboxes")?;
    let rows = actions
        .decisions
        .iter()
        .map(|d| {
            let about =
                d.operation.clone().or_else(|| d.target.clone()).or_else(|| d.tool_name.clone());
            vec![
                d.at.sequence.to_string(),
                d.decision.clone(),
                one_line(&about.unwrap_or_default(), 40),
                one_line(d.reason.as_deref().or(d.rule_id.as_deref()).unwrap_or_default(), 60),
            ]
        })
        .collect();
    out.table(&[right("at"), left("decision"), left("about"), left("why")], rows)
}

/// A table, or a word when there is nothing to put into it.
fn list(
    out: &mut Out,
    noun: &str,
    dropped: u64,
    rows: Vec<Vec<String>>,
    draw: impl FnOnce(&mut Out, Vec<Vec<String>>) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out)?;
    if rows.is_empty() {
        let none = out.paint(DIM, format!("no {noun}"));
        return writeln!(out, "{none}");
    }
    if dropped > 0 {
        let note = out.paint(DIM, format!("… {} earlier", counted(dropped, noun)));
        writeln!(out, "{note}")?;
    }
    draw(out, rows)
}
