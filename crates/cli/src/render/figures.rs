//! Owns drawing usage: tokens by model and by turn, and what is not known.

use std::io::{self, Write as _};

use read_model::projections::usage::{Sum, Totals, Usage};
use read_model::{Absence, Known};

use super::word;
use crate::output::{DIM, Out, WARN, left, right};
use crate::text::{count, counted};

/// A sum of tokens: the number, `≥ number` when calls are silent about it, `unknown` when all of them are.
pub(crate) fn tokens(sum: &Sum) -> String {
    match sum.tokens {
        Known::Is(tokens) => count(tokens),
        Known::Stale(tokens) => format!("{} (stale)", count(tokens)),
        Known::Not(_) if sum.at_least > 0 => format!("≥ {}", count(sum.at_least)),
        Known::Not(Absence::NotApplicable) => "-".to_owned(),
        Known::Not(absence) => absence.to_string(),
    }
}

/// Tokens in and out in a few words; nothing where nothing is said.
pub(crate) fn in_and_out(totals: &Totals) -> Option<String> {
    let silent = |sum: &Sum| sum.figures == 0 && sum.at_least == 0;
    (!silent(&totals.input) || !silent(&totals.output))
        .then(|| format!("{} tokens in, {} out", tokens(&totals.input), tokens(&totals.output)))
}

fn row(name: String, totals: &Totals) -> Vec<String> {
    let sums = [&totals.input, &totals.cached_input, &totals.output, &totals.reasoning];
    std::iter::once(name).chain(sums.map(tokens)).collect()
}

/// Draws the view.
pub(crate) fn draw(out: &mut Out, usage: &Usage) -> io::Result<()> {
    writeln!(out)?;
    let columns = [
        left("tokens"),
        right("in"),
        right("of it cached"),
        right("out"),
        right("of it reasoning"),
        left(""),
    ];
    let mut rows = vec![row("session".into(), &usage.session)];
    if usage.subagents.input.figures > 0 {
        rows.push(row("sub-agents".into(), &usage.subagents));
    }
    rows.extend(usage.models.iter().map(|(model, totals)| row(format!("  {model}"), totals)));
    rows.iter_mut().for_each(|row| row.push(String::new()));
    out.table(&columns, rows)?;
    if usage.has_unknown_usage {
        let unknown = usage.session.output.unknown.max(usage.session.input.unknown);
        let text = format!(
            "{} did not say what was used; sums that lack them say so",
            counted(unknown, "model call")
        );
        let text = out.paint(WARN, text);
        writeln!(out, "{text}")?;
    }
    if let Some(budget) = &usage.budget {
        let estimate = count(budget.estimated_input_tokens);
        writeln!(
            out,
            "budget: {} ({} estimated of {}) {}",
            word(&budget.action),
            estimate,
            count(budget.prompt_budget),
            budget.reason
        )?;
    }
    let notes = &usage.notes;
    for (number, what) in [
        (notes.went_down, "running total went down"),
        (notes.conflicts, "call was counted twice with other numbers"),
        (notes.parts_exceed_whole, "whole is smaller than its parts"),
        (notes.totals_differ, "total differs from the sum"),
    ] {
        if number > 0 {
            let text = out.paint(
                WARN,
                format!("{} time{}: a {what}", number, if number == 1 { "" } else { "s" }),
            );
            writeln!(out, "{text}")?;
        }
    }
    draw_accounts(out, usage)
}

/// Who used how much, when more than one did.
fn draw_accounts(out: &mut Out, usage: &Usage) -> io::Result<()> {
    let rows: Vec<_> = usage
        .accounts
        .iter()
        .map(|account| {
            let who = account.subagent_id.as_ref().map(ToString::to_string);
            let who = who
                .or_else(|| account.turn_id.as_ref().map(ToString::to_string))
                .unwrap_or_default();
            vec![
                who,
                tokens(&account.counted.input),
                tokens(&account.counted.output),
                word(&account.counted_by),
            ]
        })
        .collect();
    if rows.len() > 1 {
        writeln!(out)?;
        out.table(&[left("turn or agent"), right("in"), right("out"), left("counted by")], rows)?;
    } else {
        let hint = out.paint(
            DIM,
            format!(
                "{} in {}",
                counted(usage.calls.total(), "model call"),
                counted(usage.accounts.total(), "turn")
            ),
        );
        writeln!(out, "{hint}")?;
    }
    Ok(())
}
