//! `spine ingest`: a recording becomes facts in the log.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use event_spine::SessionId;
use providers::stream::Format;
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::intake::{BATCH, Plan, recognise};
use crate::output::{DIM, GOOD, LIVE, WARN};
use crate::progress::{Progress, Unit};
use crate::source::Source;
use crate::store;
use crate::tally::{Taken, Tally};
use crate::text::{count, counted};

/// Take a recording into the log; doing it again changes nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine ingest ~/.codex/sessions/2025/06/09/rollout-….jsonl
  spine ingest ~/.codex/sessions/2025/06/*/*.jsonl
  my-agent --events | spine ingest -
  spine ingest run.sse --from ag-ui --session checkout-42

All of a recording is checked before anything of it is stored.")]
pub(crate) struct Args {
    /// The recording, or several; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Its format; recognised when left out
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<Format>,
    /// Put everything into this session instead of the one that the recording names
    #[arg(long, value_name = "ID", value_parser = |id: &str| SessionId::parse(id))]
    session: Option<SessionId>,
    /// Take what can be read instead of refusing the recording: leave out bad lines, replace bytes that are no UTF-8
    #[arg(long)]
    lenient: bool,
    /// The recording is a part and goes on later: leave open what is open at its end
    #[arg(long)]
    part: bool,
}

/// Reads the name of a format.
pub(crate) fn format(name: &str) -> Result<Format, String> {
    Format::named(name).ok_or_else(|| {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", known.join(", "))
    })
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let mut described = Vec::new();
    let mut failed = Vec::new();
    for file in &args.files {
        match one_file(app, args, file) {
            Ok(taken) => described.push(taken),
            // The others are still wanted; nothing else can be done while another process writes.
            Err(Failure::Input(sentence)) if args.files.len() > 1 => {
                described.push(json!({"source": file, "error": sentence}));
                failed.push(sentence);
            }
            Err(failure) => return Err(failure),
        }
    }
    if app.json {
        match described.as_slice() {
            [one] => app.out.json(one)?,
            several => app.out.json(&several)?,
        }
    }
    match failed.as_slice() {
        [] => Ok(Answer::Yes),
        [sentence] => Err(Failure::input(sentence)),
        [first, rest @ ..] => {
            for sentence in rest {
                app.note(sentence);
            }
            let all = args.files.len();
            Err(Failure::input(format!(
                "{} of {all} recordings were refused: {first}",
                failed.len()
            )))
        }
    }
}

/// Takes one recording. Gives what came of it as JSON.
fn one_file(app: &mut App, args: &Args, file: &Path) -> Result<Value, Failure> {
    let mut source = Source::open(file, &*app.clock)?;
    let format = match args.from {
        Some(format) => format,
        None => recognise(&source)?,
    };
    let plan = Plan {
        format,
        session: args.session.clone(),
        lenient: args.lenient,
        paused: args.part,
        batch: BATCH,
    };
    let taken = take(app, &plan, &mut source)?;
    if !app.json {
        report(app, &source, format, &taken)?;
    }
    Ok(describe(&source, format, &taken))
}

/// Checks a recording and stores it.
pub(crate) fn take(app: &App, plan: &Plan, source: &mut Source) -> Result<Taken, Failure> {
    let mut progress = Progress::new(app.quiet, "checking", Unit::Bytes, Some(source.size));
    let checked = plan.check(source, &mut progress)?;
    drop(progress);
    let log = store::writer(app)?;
    let mut progress = Progress::new(app.quiet, "storing", Unit::Bytes, Some(source.size));
    plan.store(source, &log, checked, &mut progress)
}

fn describe(source: &Source, format: Format, taken: &Taken) -> Value {
    let session = |tally: &Tally| {
        let families: serde_json::Map<_, _> =
            tally.new.iter().map(|(family, n)| (title(*family).to_owned(), json!(n))).collect();
        json!({
            "sessionId": tally.session_id,
            "new": tally.added(),
            "already": tally.already,
            "families": families,
            "masked": tally.masked,
            "spilled": tally.spilled,
            "sequence": tally.head.map(|head| head.sequence),
            "chain": tally.head.map(|head| head.chain.to_string()),
        })
    };
    json!({
        "source": source.name,
        "format": format.name(),
        "bytes": source.size,
        "repaired": taken.repaired,
        "skipped": taken.skipped,
        "sessions": taken.sessions.iter().map(session).collect::<Vec<_>>(),
    })
}

fn title(family: Option<event_spine::event::Family>) -> &'static str {
    family.map_or("unknown types", event_spine::event::Family::title)
}

fn report(app: &mut App, source: &Source, format: Format, taken: &Taken) -> Result<(), Failure> {
    for tally in &taken.sessions {
        one(app, tally)?;
    }
    if app.quiet {
        return Ok(());
    }
    for (number, what) in [
        (taken.repaired, "repaired to be kept"),
        (taken.skipped, "left out, since it cannot be read"),
    ] {
        if number > 0 {
            let text = app.out.paint(WARN, format!("{} {what}", counted(number, "place")));
            writeln!(app.out, "  {text}")?;
        }
    }
    let from = app.out.paint(DIM, format!("from {} ({format})", source.name));
    writeln!(app.out, "  {from}")?;
    if let [tally] = taken.sessions.as_slice() {
        app.out.flush()?;
        app.note(format!("next: spine show {}", tally.session_id));
    } else {
        app.out.flush()?;
        app.note("next: spine sessions");
    }
    Ok(())
}

fn one(app: &mut App, tally: &Tally) -> Result<(), Failure> {
    if app.quiet {
        writeln!(app.out, "{}", tally.session_id)?;
        return Ok(());
    }
    let id = app.out.paint(LIVE, &tally.session_id);
    let new = app.out.paint(GOOD, format!("{} new", count(tally.added())));
    writeln!(app.out, "{id}  {new}, {} already there", count(tally.already))?;
    let families: Vec<_> =
        tally.new.iter().map(|(family, n)| format!("{} {}", title(*family), count(*n))).collect();
    if !families.is_empty() {
        writeln!(app.out, "  {}", families.join(" · "))?;
    }
    let mut done = Vec::new();
    if tally.masked > 0 {
        done.push(format!("masked {}", counted(tally.masked, "secret")));
    }
    if tally.spilled > 0 {
        done.push(format!("moved {} to the blob store", counted(tally.spilled, "large string")));
    }
    if !done.is_empty() {
        let text = app.out.paint(WARN, done.join(", "));
        writeln!(app.out, "  {text}")?;
    }
    Ok(())
}
