//! `spine sessions`: what is in the log.

use std::io::Write as _;

use event_spine::{Clock as _, LogReader, SessionSummary};
use read_model::{Known, SessionView};
use serde_json::{Value, json};

use crate::app::App;
use crate::brief::{self, Brief};
use crate::command::show::fold;
use crate::failure::{Answer, Failure};
use crate::output::{DIM, LIVE, left, right};
use crate::render::header;
use crate::store;
use crate::text::{count, one_line};
use crate::when;

/// List the sessions, the most recently active first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine sessions
  spine sessions --json | jq -r '.[] | select(.status == \"failed\") | .sessionId'

«Most recently active» is the order of the log; a wrong clock does not change it.")]
pub(crate) struct Args {
    /// Show so many; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// One session of the list.
pub(crate) struct Line {
    summary: SessionSummary,
    brief: Brief,
    view: SessionView,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let total = reader.sessions()?.len();
    let most = if args.limit == 0 { total } else { args.limit };
    let lines = newest(app, &reader, most)?;
    if app.json {
        app.out.json(&lines.iter().map(describe).collect::<Vec<_>>())?;
        return Ok(Answer::Yes);
    }
    if lines.is_empty() {
        app.note("the log has no session yet; `spine ingest FILE` adds one");
        return Ok(Answer::Yes);
    }
    table(app, &lines)?;
    if total > most {
        let more = app
            .out
            .paint(DIM, format!("… and {} more; -n 0 shows all", count((total - most) as u64)));
        writeln!(app.out, "{more}")?;
    }
    Ok(Answer::Yes)
}

/// The sessions that were active last.
pub(crate) fn newest(app: &App, reader: &LogReader, most: usize) -> Result<Vec<Line>, Failure> {
    let sessions = reader.sessions()?;
    sessions.into_iter().rev().take(most).map(|summary| line(app, reader, summary)).collect()
}

fn line(app: &App, reader: &LogReader, summary: SessionSummary) -> Result<Line, Failure> {
    let brief = brief::of(reader, &summary.session_id)?;
    let view = fold(app, reader, &summary, None)?;
    Ok(Line { summary, brief, view })
}

/// The table of some sessions. Ids are as long as they must be to be told apart, since the beginning of one is enough to
/// name it.
pub(crate) fn table(app: &mut App, lines: &[Line]) -> Result<(), Failure> {
    let now = app.clock.now();
    let ids: Vec<_> = lines.iter().map(|line| line.summary.session_id.as_str()).collect();
    let rows = lines
        .iter()
        .map(|line| {
            let id = line.summary.session_id.as_str();
            let mut row = vec![
                app.out.paint(LIVE, if app.verbose { id } else { shortest(id, &ids) }),
                header::status(&app.out, line.view.status.runtime),
                count(line.summary.head.sequence),
                count(line.view.status.turns.started),
                tokens(&line.view),
            ];
            if app.verbose {
                row.push(line.brief.started.map(when::local_exact).unwrap_or_default());
                row.push(when::local_exact(line.summary.last_recorded_at));
            } else {
                row.push(when::ago(line.summary.last_recorded_at, now));
            }
            row.push(line.brief.source.clone().unwrap_or_default());
            row.push(one_line(line.brief.title.as_deref().unwrap_or_default(), 60));
            row
        })
        .collect();
    let mut columns =
        vec![left("session"), left("status"), right("events"), right("turns"), right("tokens")];
    if app.verbose {
        columns.push(left("started"));
    }
    columns.extend([left("last active"), left("source"), left("first input")]);
    app.out.table(&columns, rows)?;
    Ok(())
}

/// Tokens in and out together, when somebody said how many.
fn tokens(view: &SessionView) -> String {
    let (input, output) = (&view.usage.session.input, &view.usage.session.output);
    match (input.tokens, output.tokens) {
        (Known::Is(input), Known::Is(output)) => count(input + output),
        _ if input.at_least + output.at_least > 0 => {
            format!("≥ {}", count(input.at_least + output.at_least))
        }
        _ => "-".to_owned(),
    }
}

/// The beginning of an id that no other one of the list has, in full when that saves next to nothing.
fn shortest<'a>(id: &'a str, ids: &[&str]) -> &'a str {
    const AT_LEAST: usize = 13;
    let only = |length: usize| {
        id.get(..length)
            .is_some_and(|begin| ids.iter().all(|other| *other == id || !other.starts_with(begin)))
    };
    match (AT_LEAST..id.len()).find(|length| only(*length)) {
        Some(length) if length + 4 < id.len() => id.get(..length).unwrap_or(id),
        _ => id,
    }
}

fn describe(line: &Line) -> Value {
    let Line { summary, brief, view } = line;
    json!({
        "sessionId": summary.session_id,
        "status": view.status.runtime,
        "phase": view.status.phase,
        "events": summary.head.sequence,
        "turns": view.status.turns,
        "model": header::model(view),
        "tokens": {"input": view.usage.session.input.tokens, "output": view.usage.session.output.tokens},
        "title": brief.title.as_deref().map(|title| one_line(title, 200)),
        "source": brief.source,
        "startedAt": brief.started.map(|at| at.to_string()),
        "firstRecordedAt": summary.first_recorded_at.to_string(),
        "lastRecordedAt": summary.last_recorded_at.to_string(),
        "bytes": summary.bytes,
        "chain": summary.head.chain.to_string(),
        "parent": summary.parent.as_ref().map(|p| json!({"sessionId": p.session_id, "sequence": p.sequence})),
    })
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn ids_are_cut_to_what_tells_them_apart() {
        let ids = [
            "sess_4X2GS48KNJ1FSKT05V1PVKSGZK",
            "sess_4X2GS48KNJ1FSKT05V1PVAAAAA",
            "sess_approval",
            "überlange-kennung-ü",
        ];
        let check = |id: &str, expected: &str| assert_eq!(shortest(id, &ids), expected);
        check("sess_approval", "sess_approval");
        check(ids[0], ids[0]);
        check("sess_9X2GS48KNJ1FSKT05V1PVKSGZK", "sess_9X2GS48K");
        check("überlange-kennung-ü", "überlange-ke");
    }
}
