//! `spine salvage`: what can still be read of a damaged data folder goes into a new one. The old one is left alone.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use event_spine::{Salvaged, salvage};
use serde_json::json;

use crate::app::App;
use crate::failure::{Answer, Failure, sentence};
use crate::output::{BAD, DIM, GOOD, left, right};
use crate::store;
use crate::text::{count, counted};

/// Copy what can still be read of a damaged data folder into a new one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine salvage .spine                      into .spine.salvaged
  spine salvage .spine -o /backup/spine

The old folder is left as it is. Of each session the events up to the first gap are copied with their hashes; events
behind a gap, and forks of what is lost, are kept as JSON lines in NEWDIR/behind-gap. Ingest the recording again into
NEWDIR to have all of it in order; where there is none, ingest those lines with --session ID.rest.
Exit status: 0 when everything could be read, 1 when something is lost.")]
pub(crate) struct Args {
    /// The damaged data folder
    dir: PathBuf,
    /// The new one; it must not exist or be empty
    #[arg(short, long, value_name = "NEWDIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let target = args.output.clone().unwrap_or_else(|| {
        let mut name = args.dir.clone().into_os_string();
        name.push(".salvaged");
        name.into()
    });
    let taken = std::fs::read_dir(&target).is_ok_and(|mut entries| entries.next().is_some());
    if taken || target.is_file() {
        return Err(Failure::input(format!(
            "{} is there already; name a new folder with -o",
            target.display()
        )));
    }
    let salvaged = salvage(&args.dir, &target, store::options(app))
        .map_err(|e| Failure::input(sentence(&e)))?;
    let whole = salvaged.whole();
    if app.json {
        let list: Vec<_> = salvaged
            .sessions
            .iter()
            .map(|s| {
                json!({
                    "sessionId": s.session_id, "events": s.events,
                    "behindGap": s.behind_gap, "keptIn": s.kept_in, "firstLost": s.first_lost,
                })
            })
            .collect();
        app.out.json(&json!({
            "from": args.dir, "to": target, "whole": whole, "sessions": list,
            "damage": salvaged.damage.iter().map(store::damage_json).collect::<Vec<_>>(),
        }))?;
        return Ok(whole.into());
    }
    let rows = salvaged.sessions.iter().map(|s| row(app, s)).collect();
    app.out.table(&[left("session"), right("events"), left("lost")], rows)?;
    for finding in &salvaged.damage {
        let bad = app.out.paint(BAD, "damaged");
        writeln!(app.out, "{bad}  {}", store::damage(finding))?;
    }
    let events = counted(salvaged.sessions.iter().map(|s| s.events).sum(), "event");
    let style = if whole { GOOD } else { BAD };
    let done = app.out.paint(style, format!("{events} copied to {}", target.display()));
    writeln!(app.out, "\n{done}")?;
    app.note(format!("next: spine verify --data {}", target.display()));
    for session in &salvaged.sessions {
        again(app, session, &target);
    }
    Ok(whole.into())
}

/// How events that are kept aside come into the new log.
fn again(app: &App, salvaged: &Salvaged, target: &Path) {
    let (Some(file), id) = (&salvaged.kept_in, &salvaged.session_id) else {
        return;
    };
    let (data, file) = (target.display(), file.display());
    app.note(format!(
        "{id}: `spine ingest RECORDING --data {data}` with the recording it came from brings back all of it; without one, \
         `spine ingest {file} --session {id}.rest --data {data}` makes a session of what lay behind the gap"
    ));
}

fn row(app: &App, salvaged: &Salvaged) -> Vec<String> {
    let lost = match (salvaged.first_lost, salvaged.behind_gap) {
        (None, _) => app.out.paint(DIM, "nothing"),
        (Some(from), 0) => app.out.paint(BAD, format!("from {from} on")),
        (Some(from), kept) => {
            let text = format!("gap at {from}; {} behind it kept as JSON", counted(kept, "event"));
            app.out.paint(BAD, text)
        }
    };
    vec![salvaged.session_id.to_string(), count(salvaged.events), lost]
}
