//! `spine verify`: has anybody changed the history? Walks hash chains, of sessions or of an evidence pack.

use std::io::Write as _;

use event_spine::Verification;
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::output::{BAD, DIM, GOOD, left, right};
use crate::progress::{Progress, Unit};
use crate::store;
use crate::text::{count, counted};

/// Walk the hash chain of a session, of all sessions, or of an evidence pack
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine verify                              every session, and the files below them
  spine verify last
  spine verify evidence.json                a pack from `spine export --as evidence`; needs no data folder

Exit status: 0 when every fact is what was recorded, 1 when one is not; the first bad sequence is named.")]
pub(crate) struct Args {
    /// A session (its id, the beginning of it, or `last`) or an evidence pack file; all sessions when left out
    #[arg(value_name = "SESSION|FILE")]
    what: Option<String>,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let sessions = match &args.what {
        Some(typed) => vec![store::find(&reader, typed)?],
        None => reader.sessions()?.into_iter().rev().collect(),
    };
    let total = sessions.iter().map(|s| s.head.sequence).sum();
    let mut progress = Progress::new(app.quiet, "verifying", Unit::Events, Some(total));
    let found = sessions
        .iter()
        .map(|s| {
            reader
                .verify_with(&s.session_id, |_| progress.advance(1))
                .map_err(Failure::from)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let seconds = progress.elapsed().as_secs_f64();
    drop(progress);
    let storage = if args.what.is_none() {
        reader.verify_storage()?
    } else {
        Vec::new()
    };
    let intact = storage.is_empty() && found.iter().all(Verification::intact);
    if app.json {
        let storage: Vec<_> = storage
            .iter()
            .map(|f| json!({"file": f.file, "offset": f.offset, "what": f.what}))
            .collect();
        app.out.json(&json!({
            "intact": intact,
            "sessions": found.iter().map(describe).collect::<Vec<_>>(),
            "storage": storage,
        }))?;
        return Ok(intact.into());
    }
    table(app, &found)?;
    for finding in &storage {
        let bad = app.out.paint(BAD, "damaged");
        writeln!(
            app.out,
            "{bad}  {} at byte {}: {}",
            finding.file, finding.offset, finding.what
        )?;
    }
    summary(app, &found, intact, seconds)?;
    Ok(intact.into())
}

fn describe(found: &Verification) -> Value {
    json!({
        "sessionId": found.session_id,
        "events": found.head.sequence,
        "verified": found.verified,
        "chain": found.head.chain.to_string(),
        "intact": found.intact(),
        "fault": found.fault.as_ref().map(|f| json!({"sequence": f.sequence, "what": f.what})),
    })
}

pub(crate) fn table(app: &mut App, found: &[Verification]) -> Result<(), Failure> {
    if found.is_empty() {
        app.note("the log has no session yet");
        return Ok(());
    }
    let rows = found
        .iter()
        .map(|v| {
            let verdict = match &v.fault {
                None => app.out.paint(GOOD, "intact"),
                Some(fault) => {
                    let at = app.out.paint(BAD, format!("broken at {}", fault.sequence));
                    format!("{at}: {}", fault.what)
                }
            };
            let chain = v.head.chain.short();
            vec![
                v.session_id.to_string(),
                count(v.head.sequence),
                app.out.paint(DIM, chain),
                verdict,
            ]
        })
        .collect();
    let columns = [
        left("session"),
        right("events"),
        left("chain head"),
        left("verdict"),
    ];
    app.out.table(&columns, rows)?;
    Ok(())
}

pub(crate) fn summary(
    app: &mut App,
    found: &[Verification],
    intact: bool,
    seconds: f64,
) -> Result<(), Failure> {
    if app.quiet {
        return Ok(());
    }
    let verified: u64 = found.iter().map(|v| v.verified).sum();
    let verdict = if intact {
        app.out.paint(GOOD, "✓ every fact is what was recorded")
    } else {
        app.out.paint(BAD, "✗ the history was changed or damaged")
    };
    let speed = crate::text::rate(verified, seconds);
    let detail = app.out.paint(
        DIM,
        format!("{} recomputed, {speed}", counted(verified, "hash")),
    );
    writeln!(app.out, "\n{verdict}  {detail}")?;
    Ok(())
}
