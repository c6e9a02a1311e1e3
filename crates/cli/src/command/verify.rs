//! `spine verify`: has anybody changed the history? Walks hash chains, of sessions or of an evidence pack.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use event_spine::{LogReader, SessionId, StorageFinding, Verification, reason};
use read_model::evidence_pack::{FORMAT, verify_pack};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::output::{BAD, DIM, GOOD, WARN, left, right};
use crate::progress::{Progress, Unit};
use crate::source::is_file_name;
use crate::store;
use crate::text::{bytes, count, counted};

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
    if let Some(file) =
        args.what.as_deref().map(Path::new).filter(|path| path.is_file() || is_file_name(path))
    {
        return pack(app, file);
    }
    let folder = args.what.as_deref().filter(|what| Path::new(what).is_dir());
    let is_folder = |failure| match folder {
        Some(what) => Failure::input(format!(
            "{what} is a folder; `spine verify --data {what}` verifies a data folder"
        )),
        None => failure,
    };
    let reader = store::reader(app).map_err(is_folder)?;
    let sessions = match &args.what {
        Some(typed) => vec![store::find(&reader, typed).map_err(is_folder)?],
        None => reader.sessions()?.into_iter().rev().collect(),
    };
    let total = sessions.iter().map(|s| s.head.sequence).sum();
    let mut progress = Progress::new(app.quiet, "verifying", Unit::Events, Some(total));
    let found = sessions
        .iter()
        .map(|s| {
            reader.verify_with(&s.session_id, |more| progress.advance(more)).map_err(Failure::from)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let seconds = progress.elapsed().as_secs_f64();
    drop(progress);
    let of = args.what.as_ref().and_then(|_| found.first()).map(|v| &v.session_id);
    let storage = storage(&reader, of)?;
    // What a killed or failed write left was never acknowledged: nothing of the history is in it.
    let intact = storage.iter().all(|f| f.unfinished) && found.iter().all(Verification::intact);
    if app.json {
        let storage: Vec<_> = storage.iter().map(store::damage_json).collect();
        app.out.json(&json!({
            "intact": intact,
            "sessions": found.iter().map(describe).collect::<Vec<_>>(),
            "storage": storage,
        }))?;
        return Ok(intact.into());
    }
    table(app, &found)?;
    for finding in &storage {
        let (style, word) =
            if finding.unfinished { (WARN, "unfinished") } else { (BAD, "damaged") };
        let word = app.out.paint(style, word);
        writeln!(app.out, "{word}  {}", store::damage(finding))?;
    }
    summary(app, &found, intact, seconds)?;
    Ok(intact.into())
}

/// What is wrong below the events: everywhere, or where events of one session were.
fn storage(
    reader: &LogReader,
    of: Option<&SessionId>,
) -> Result<Vec<StorageFinding>, event_spine::ReadError> {
    let Some(session) = of else {
        return reader.verify_storage();
    };
    if reader.damaged_places()? == 0 {
        return Ok(Vec::new());
    }
    let mut found = reader.verify_storage()?;
    found.retain(|finding| finding.held.iter().any(|held| held.session_id == *session));
    Ok(found)
}

/// The largest pack that is read: it is read whole.
const LARGEST: u64 = 1 << 30;

/// Checks an evidence pack. Needs nothing but the file.
fn pack(app: &mut App, file: &Path) -> Result<Answer, Failure> {
    let text = read_pack(file)?;
    let found = verify_pack(&text);
    if app.json {
        let faults: Vec<_> = found
            .faults
            .iter()
            .map(|f| json!({"sequence": f.sequence, "part": f.part, "what": f.what}))
            .collect();
        app.out.json(&json!({
            "intact": found.intact(), "sessionId": found.session_id, "events": found.events,
            "missing": found.missing, "chain": found.head.map(|head| head.to_string()), "faults": faults,
        }))?;
        return Ok(found.intact().into());
    }
    let session = found.session_id.as_ref().map(ToString::to_string).unwrap_or_default();
    let head = found.head.map(|head| head.to_string()).unwrap_or_default();
    writeln!(app.out, "{}  session {session}, {}", file.display(), counted(found.events, "event"))?;
    if found.intact() {
        let intact = app.out.paint(GOOD, "✓ every fact is what was recorded");
        let hint = app
            .out
            .paint(DIM, format!("chain head {head}; compare it with one you know from elsewhere"));
        writeln!(app.out, "{intact}  {hint}")?;
    }
    for fault in found.faults.iter().take(20) {
        let fault = app.out.paint(BAD, format!("✗ {fault}"));
        writeln!(app.out, "{fault}")?;
    }
    Ok(found.intact().into())
}

/// Reads a file that begins as a pack does; anything else is no pack, and not a broken one.
fn read_pack(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let failed = |e: std::io::Error| Failure::input(format!("cannot read {name}: {}", reason(&e)));
    let open = File::open(file).map_err(failed)?;
    let size = open.metadata().map_err(failed)?.len();
    let mut reader = BufReader::new(open);
    let head = reader.fill_buf().map_err(failed)?;
    if memchr::memmem::find(head.get(..256).unwrap_or(head), FORMAT.as_bytes()).is_none() {
        return Err(Failure::input(format!(
            "{name} is no evidence pack; `spine export SESSION --as evidence -o FILE` writes one"
        )));
    }
    if size > LARGEST {
        return Err(Failure::input(format!(
            "{name} has {}; packs of up to {} can be verified",
            bytes(size),
            bytes(LARGEST)
        )));
    }
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
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
    let columns = [left("session"), right("events"), left("chain head"), left("verdict")];
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
    let detail = app.out.paint(DIM, format!("{} recomputed, {speed}", counted(verified, "hash")));
    writeln!(app.out, "\n{verdict}  {detail}")?;
    Ok(())
}
