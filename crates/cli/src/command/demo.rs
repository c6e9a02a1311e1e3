//! `spine demo`: the whole story on recordings that the binary carries, in a few seconds.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use event_spine::{LogReader, RecordedAt, SessionId, SessionSummary, ulid};
use read_model::render::svg;
use serde_json::json;

use crate::app::App;
use crate::command::{check, ingest, replay, sessions, show};
use crate::failure::{Answer, Failure};
use crate::file::write_atomically;
use crate::intake::{Plan, recognise};
use crate::output::{BAD, DIM, GOOD, LIVE, STRONG};
use crate::render::transcript;
use crate::source::Source;
use crate::store;
use crate::tally::{Taken, Tally};
use crate::text::{counted, one_line};

/// Show the whole story on bundled recordings: no key, no network
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine demo                                in a new temporary folder
  spine demo --data ./tour                  in a folder of your choice")]
pub(crate) struct Args {}

/// The recordings: what they are called, what they are, and their bytes.
const RECORDINGS: &[(&str, &str, &[u8])] = &[
    (
        "approval.jsonl",
        "two dangerous tools, one approved, one refused",
        include_bytes!("../../../../fixtures/native/approval/events.jsonl"),
    ),
    (
        "codex-rollout.jsonl",
        "Codex runs three commands at once, one fails",
        include_bytes!("../../../../fixtures/codex/code-mode-parallel.jsonl"),
    ),
    (
        "parallel-tools.jsonl",
        "LangGraph over AG-UI, three tools at once",
        include_bytes!("../../../../fixtures/ag-ui/parallel-tools.jsonl"),
    ),
    (
        "subagents.jsonl",
        "two reviewers at work, one of them times out",
        include_bytes!("../../../../fixtures/native/subagents/events.jsonl"),
    ),
];

/// The time of facts to which a recording gives none: the day on which the recordings were made.
const RECORDED: RecordedAt = RecordedAt(1_780_999_200_000_000);

pub(crate) fn run(app: &mut App, _: &Args) -> Result<Answer, Failure> {
    if !app.data_given {
        let name = ulid(&*app.clock, &*app.entropy).to_string().to_lowercase();
        app.data =
            std::env::temp_dir().join(format!("spine-demo-{}", name.get(18..).unwrap_or(&name)));
    }
    if app.json {
        return as_json(app);
    }
    let title = app.out.paint(STRONG, "spine demo");
    let folder = app.out.paint(DIM, format!("everything below happens in {}", app.data.display()));
    writeln!(app.out, "{title}  {folder}")?;
    let shown = record(app)?;
    let reader = store::reader(app)?;
    list(app, &reader)?;
    let first = summary(&reader, &shown)?;
    tell(app, &reader, &first)?;
    draw(app, &reader)?;
    rebuild(app, &reader)?;
    prove(app, &reader)?;
    check(app, &reader)?;
    go_on(app, &shown)
}

/// The same story for programs.
fn as_json(app: &mut App) -> Result<Answer, Failure> {
    let mut recordings = Vec::new();
    for (name, what, bytes) in RECORDINGS {
        let first = take(app, name, bytes)?;
        let again: u64 = take(app, name, bytes)?.sessions.iter().map(Tally::added).sum();
        let facts: u64 = first.sessions.iter().map(|tally| tally.added() + tally.already).sum();
        recordings
            .push(json!({"name": name, "what": what, "facts": facts, "newWhenRepeated": again}));
    }
    let reader = store::reader(app)?;
    let mut passed = true;
    let mut sessions = Vec::new();
    for session in reader.sessions()? {
        let id = &session.session_id;
        let outcome = replay::compare_with_served(app, &reader, &session, None)?;
        let verification = reader.verify(id)?;
        let checked = check::session(app, id.as_str(), false)?;
        let replayed = outcome.difference.is_none();
        passed &= replayed && verification.intact() && checked.passed;
        sessions.push(json!({
            "sessionId": id, "events": session.head.sequence, "chain": session.head.chain.to_string(),
            "stateHash": outcome.replayed.state_hash(), "replayedToTheSame": replayed,
            "intact": verification.intact(), "level": checked.level.to_string(),
            "graphNodes": outcome.replayed.graph.len(),
        }));
    }
    app.out.json(&json!({
        "data": app.data, "passed": passed, "recordings": recordings, "sessions": sessions,
    }))?;
    Ok(passed.into())
}

/// A numbered heading.
fn chapter(app: &mut App, number: u8, text: &str, command: &str) -> Result<(), Failure> {
    let heading = app.out.paint(STRONG, format!("{number}  {text}"));
    let command = app.out.paint(DIM, command);
    writeln!(app.out, "\n{heading}  {command}")?;
    Ok(())
}

/// Takes the recordings, twice. Gives the session that is looked at.
fn record(app: &mut App) -> Result<SessionId, Failure> {
    chapter(app, 1, "Recordings of agent runs become facts in one log", "spine ingest FILE")?;
    let mut shown = None;
    let mut again = 0;
    for (name, what, bytes) in RECORDINGS {
        let first = take(app, name, bytes)?;
        for tally in &first.sessions {
            let facts = format!("{:>9}", counted(tally.added() + tally.already, "fact"));
            let facts = app.out.paint(GOOD, facts);
            let what = app.out.paint(DIM, what);
            writeln!(app.out, "   {name:21} → {facts}  {what}")?;
            shown.get_or_insert_with(|| tally.session_id.clone());
        }
        again += take(app, name, bytes)?.sessions.iter().map(Tally::added).sum::<u64>();
    }
    let line = format!(
        "   Taken a second time they add {again}: a fact is stored once, however often it comes."
    );
    let line = app.out.paint(DIM, line);
    writeln!(app.out, "{line}")?;
    shown.ok_or_else(|| Failure::input("the bundled recordings hold no session"))
}

fn take(app: &App, name: &str, bytes: &'static [u8]) -> Result<Taken, Failure> {
    let mut source = Source::bundled(name, bytes, RECORDED)?;
    let format = recognise(&source)?;
    let plan = Plan { format, session: None, lenient: false, paused: false, batch: 8 };
    ingest::take(app, &plan, &mut source)
}

fn list(app: &mut App, reader: &LogReader) -> Result<(), Failure> {
    chapter(app, 2, "What is there", "spine sessions")?;
    let lines = sessions::newest(app, reader, RECORDINGS.len())?;
    sessions::table(app, &lines)
}

fn summary(reader: &LogReader, session: &SessionId) -> Result<SessionSummary, Failure> {
    store::find(reader, session.as_str())
}

fn tell(app: &mut App, reader: &LogReader, session: &SessionSummary) -> Result<(), Failure> {
    chapter(
        app,
        3,
        "What did the agent do, and who allowed it?",
        &format!("spine show {}", session.session_id),
    )?;
    let view = show::fold(app, reader, session, None)?;
    transcript::draw(&mut app.out, &view.transcript, false)?;
    Ok(())
}

fn draw(app: &mut App, reader: &LogReader) -> Result<(), Failure> {
    chapter(app, 4, "The run as a picture", "spine graph SESSION -o run.svg")?;
    let Some(session) = reader.sessions()?.pop() else {
        return Ok(());
    };
    let view = show::fold(app, reader, &session, None)?;
    let picture = app.data.join("demo.svg");
    let text = svg(&view.graph);
    write_atomically(&picture, |to| Ok(to.write_all(text.as_bytes())?))?;
    let counted = format!("{} of {}", counted(view.graph.len() as u64, "node"), session.session_id);
    let counted = app.out.paint(DIM, counted);
    let path = app.out.paint(LIVE, picture.display());
    writeln!(app.out, "   {path}  {counted}")?;
    Ok(())
}

fn rebuild(app: &mut App, reader: &LogReader) -> Result<(), Failure> {
    chapter(app, 5, "Rebuilt from nothing, every view is the same", "spine replay SESSION")?;
    for session in reader.sessions()? {
        let outcome = replay::compare_with_served(app, reader, &session, None)?;
        let (style, sign) = if outcome.difference.is_none() { (GOOD, "✓") } else { (BAD, "✗") };
        let sign = app.out.paint(style, sign);
        let hash = outcome.replayed.state_hash();
        let hash = hash.get(..16).unwrap_or(&hash);
        let detail = app.out.paint(DIM, format!("served {hash}… = replayed {hash}…"));
        writeln!(app.out, "   {sign} {:34} {detail}", session.session_id.as_str())?;
    }
    Ok(())
}

/// Proves the log, and shows that the proof is worth something: one bit is flipped in a copy.
fn prove(app: &mut App, reader: &LogReader) -> Result<(), Failure> {
    chapter(app, 6, "Nobody has changed the history", "spine verify")?;
    let mut hashes = 0;
    let mut intact = true;
    for session in reader.sessions()? {
        let found = reader.verify(&session.session_id)?;
        hashes += found.verified;
        intact &= found.intact();
    }
    let (style, sign) = if intact { (GOOD, "✓") } else { (BAD, "✗") };
    let verdict = app.out.paint(style, format!("{sign} {} recomputed", counted(hashes, "hash")));
    writeln!(app.out, "   {verdict}: every fact is what was recorded")?;
    let copy = app.data.join("tampered");
    flip_one_bit(&app.data, &copy)?;
    writeln!(app.out, "   Now one bit of a copy is flipped, in the word that refused the push:")?;
    let tampered = LogReader::open(&copy)?;
    let mut found = Vec::new();
    for session in tampered.sessions()? {
        if let Some(fault) = tampered.verify(&session.session_id)?.fault {
            found.push(format!(
                "✗ {} is broken at {}: {}",
                session.session_id, fault.sequence, fault.what
            ));
        }
    }
    found.extend(
        tampered
            .verify_storage()?
            .into_iter()
            .map(|f| format!("✗ {} at byte {}: {}", f.file, f.offset, f.what)),
    );
    let width = app.out.width.saturating_sub(4);
    for line in found.iter().take(2) {
        let line = app.out.paint(BAD, one_line(line, width));
        writeln!(app.out, "   {line}")?;
    }
    Ok(())
}

/// The word in the recordings that refused a tool.
const REFUSAL: &[u8] = b"rejected";

/// Copies the journal and flips a bit of the refusal.
fn flip_one_bit(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::input(format!("cannot copy {}: {}", from.display(), event_spine::reason(&e)))
    };
    let copy = || -> std::io::Result<()> {
        let journal = to.join("journal");
        if to.exists() {
            std::fs::remove_dir_all(to)?;
        }
        std::fs::create_dir_all(&journal)?;
        std::fs::copy(from.join("FORMAT"), to.join("FORMAT"))?;
        for entry in std::fs::read_dir(from.join("journal"))? {
            let entry = entry?;
            let mut bytes = std::fs::read(entry.path())?;
            let refusal = memchr::memmem::find(&bytes, REFUSAL);
            if let Some(byte) = refusal.and_then(|at| bytes.get_mut(at)) {
                *byte ^= 1;
            }
            std::fs::write(journal.join(entry.file_name()), bytes)?;
        }
        Ok(())
    };
    copy().map_err(failed)
}

fn check(app: &mut App, reader: &LogReader) -> Result<(), Failure> {
    chapter(app, 7, "The recordings keep the contract", "spine check SESSION")?;
    let mut levels: BTreeMap<String, u64> = BTreeMap::new();
    let mut passed = true;
    for session in reader.sessions()? {
        let report = check::session(app, session.session_id.as_str(), false)?;
        passed &= report.passed;
        *levels.entry(report.level.to_string()).or_default() += 1;
    }
    let (style, sign) = if passed { (GOOD, "✓") } else { (BAD, "✗") };
    let levels: Vec<_> = levels
        .iter()
        .map(|(level, number)| format!("{}: {level}", counted(*number, "session")))
        .collect();
    let levels = app.out.paint(style, format!("{sign} {}", levels.join(", ")));
    writeln!(app.out, "   {levels}")?;
    Ok(())
}

/// How this program was called, as short as it can be typed again here.
fn program() -> String {
    let called = std::env::args().next().unwrap_or_else(|| "spine".to_owned());
    let here = std::env::current_dir().unwrap_or_default();
    match Path::new(&called).strip_prefix(&here) {
        Ok(below) => below.display().to_string(),
        Err(_) => called,
    }
}

/// What to type next. Every line works as it stands.
fn go_on(app: &mut App, session: &SessionId) -> Result<Answer, Failure> {
    let heading = app.out.paint(STRONG, "Try next");
    writeln!(app.out, "\n{heading}")?;
    let (program, data) = (program(), app.data.display().to_string());
    for (what, command) in [
        ("what happened when", format!("--data {data} show {session} --view timeline")),
        ("everything, for programs", format!("--data {data} show {session} --view all --json")),
        ("a pack for an auditor", format!("--data {data} export {session} --as evidence")),
        ("your own recording", "ingest RECORDING.jsonl".to_owned()),
    ] {
        let what = app.out.paint(DIM, format!("{what:26}"));
        let command = app.out.paint(LIVE, format!("{program} {command}"));
        writeln!(app.out, "   {what}{command}")?;
    }
    Ok(Answer::Yes)
}
