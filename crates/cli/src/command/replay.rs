//! `spine replay`: rebuild a session's views from nothing and compare them with those that are served.

use std::io::Write as _;
use std::sync::Arc;

use event_spine::{EventLog, LogReader, OpenError, SessionId, SessionSummary};
use read_model::{Difference, Engine, Limits, SessionView, compare, replay_with};
use serde_json::json;

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::output::{BAD, DIM, GOOD, STRONG};
use crate::progress::{Progress, Unit};
use crate::store;
use crate::text::{counted, rate};

/// Rebuild the views of a session from nothing and compare them with those that are served
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine replay last
  spine replay last --to 40                 as it was after event 40

Served views are a saved fold and the events since. With --to, where no fold was saved yet, where the folder cannot be
written, and while another process holds the log, they are a fold that was saved half-way, read back and gone on with.
Exit status: 0 when both are equal, 1 when they differ; the first difference is named.")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `last`
    session: String,
    /// Up to this event
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
}

/// A replay and what it was compared with.
pub(crate) struct Outcome {
    pub(crate) served: Arc<SessionView>,
    pub(crate) replayed: SessionView,
    pub(crate) difference: Option<Difference>,
    pub(crate) seconds: f64,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let summary = store::find(&reader, &args.session)?;
    let newest = summary.head.sequence;
    if let Some(to) = args.to.filter(|to| *to > newest || *to == 0) {
        let session = &summary.session_id;
        return Err(Failure::input(format!(
            "{session} has no event {to}; its events are 1 to {newest}"
        )));
    }
    let outcome = compare_with_served(app, &reader, &summary, args.to)?;
    let equal = outcome.difference.is_none();
    if app.json {
        describe(app, &outcome)?;
    } else {
        report(app, &outcome)?;
    }
    Ok(equal.into())
}

/// Replays a session and compares.
pub(crate) fn compare_with_served(
    app: &App,
    reader: &LogReader,
    summary: &SessionSummary,
    to: Option<u64>,
) -> Result<Outcome, Failure> {
    let session = &summary.session_id;
    let served = match to {
        Some(to) => resumed(reader, session, to)?,
        None => served(app, reader, session, summary.head.sequence)?,
    };
    let to = served.at.sequence;
    let mut progress = Progress::new(app.quiet, "replaying", Unit::Events, Some(to));
    let mut before = 0;
    let replayed = replay_with(reader, session, Some(to), Limits::default(), |sequence| {
        progress.advance(sequence - before);
        before = sequence;
    })?;
    let seconds = progress.elapsed().as_secs_f64();
    let difference = compare(&served, &replayed);
    Ok(Outcome { served, replayed, difference, seconds })
}

/// What whoever holds the log serves.
fn served(
    app: &App,
    reader: &LogReader,
    session: &SessionId,
    head: u64,
) -> Result<Arc<SessionView>, Failure> {
    // Without saved folds there is nothing to open the log for: a reader makes none.
    if !app.data.join("index").is_dir() {
        return resumed(reader, session, head);
    }
    match EventLog::open(&app.data, store::options(app)) {
        Ok(log) => Ok(Engine::open(&log).view(session)?),
        // Saved folds belong to whoever holds the log.
        Err(OpenError::InUse { .. }) => resumed(reader, session, head),
        Err(OpenError::Io { source, .. }) if not_writable(&source) => {
            resumed(reader, session, head)
        }
        Err(other) => Err(other.into()),
    }
}

fn not_writable(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull)
}

/// A fold that is saved half-way and goes on from what was saved.
fn resumed(reader: &LogReader, session: &SessionId, to: u64) -> Result<Arc<SessionView>, Failure> {
    let half = replay_with(reader, session, Some((to / 2).max(1)), Limits::default(), |_| {})?;
    let saved = serde_json::to_vec(&half)?;
    let mut view: SessionView = serde_json::from_slice(&saved)?;
    for entry in reader.read(session, view.at.sequence + 1..=to, event_spine::ReadMode::Tolerant)? {
        match entry? {
            event_spine::Entry::Event(event) => view.apply(&event),
            event_spine::Entry::Gap(gap) => view.pass_over(&gap),
        };
    }
    Ok(Arc::new(view))
}

fn describe(app: &mut App, outcome: &Outcome) -> Result<(), Failure> {
    let at = &outcome.replayed.at;
    let difference = outcome.difference.as_ref().map(|d| {
        json!({"view": d.view, "pointer": d.pointer, "served": d.served, "replayed": d.replayed})
    });
    app.out.json(&json!({
        "sessionId": at.session_id,
        "sequence": at.sequence,
        "chain": at.chain.to_string(),
        "reducerVersion": at.reducer_version,
        "equal": outcome.difference.is_none(),
        "servedHash": outcome.served.state_hash(),
        "replayedHash": outcome.replayed.state_hash(),
        "difference": difference,
        "seconds": outcome.seconds,
    }))
}

fn report(app: &mut App, outcome: &Outcome) -> Result<(), Failure> {
    let at = &outcome.replayed.at;
    let id = app.out.paint(STRONG, &at.session_id);
    let facts = format!(
        "{}, chain {}, folds of version {}",
        counted(at.sequence, "event"),
        at.chain.short(),
        at.reducer_version
    );
    let facts = app.out.paint(DIM, facts);
    writeln!(app.out, "{id}  {facts}")?;
    for (name, hash) in
        [("served", outcome.served.state_hash()), ("replayed", outcome.replayed.state_hash())]
    {
        writeln!(app.out, "  {name:9} {hash}")?;
    }
    verdict(app, outcome)
}

/// Equal or not, in a line.
pub(crate) fn verdict(app: &mut App, outcome: &Outcome) -> Result<(), Failure> {
    let speed = app.out.paint(DIM, rate(outcome.replayed.at.sequence, outcome.seconds));
    match &outcome.difference {
        None => {
            let equal = app.out.paint(GOOD, "✓ equal");
            writeln!(app.out, "{equal}  {speed}")?;
        }
        Some(difference) => {
            let differs = app.out.paint(BAD, "✗ differs");
            writeln!(app.out, "{differs}  {difference}")?;
        }
    }
    Ok(())
}
