//! `spine show`: a session as a person reads it.

use event_spine::{LogReader, SessionSummary};
use read_model::{Limits, SessionView, VIEW_NAMES, page, replay_with};
use serde_json::{Map, Value};

use crate::app::App;
use crate::brief;
use crate::failure::{Answer, Failure};
use crate::progress::{Progress, Unit};
use crate::render::{figures, graph, header, health, products, tables, timeline, transcript, work};
use crate::store;

/// The name for all views together.
const ALL: &str = "all";

/// Show a session: its transcript, or another view
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine show last                           the newest session as a transcript
  spine show 01JX --view timeline           what happened when; a prefix of the id is enough
  spine show last --at 40                   as it was after event 40
  spine show last --view all --json         everything that is known, for programs")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `last`
    session: String,
    /// The view
    #[arg(long, value_name = "VIEW", default_value = "transcript")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(VIEW_NAMES.iter().chain([&ALL])))]
    view: String,
    /// As it was after this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// An older page of a long session: the turns up to the event before this one, the last of them to its end
    #[arg(long, value_name = "SEQ", conflicts_with = "at")]
    before: Option<u64>,
    /// How many events such a page holds at least
    #[arg(long, value_name = "N", default_value_t = 500, requires = "before")]
    limit: u64,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let summary = store::find(&reader, &args.session)?;
    let view = match args.before {
        Some(before) => older(&reader, &summary, before, args.limit)?,
        None => fold(app, &reader, &summary, args.at)?,
    };
    if app.json {
        app.out.json(&chosen(&view, &args.view)?)?;
        return Ok(Answer::Yes);
    }
    let brief = brief::of(&reader, &summary.session_id)?;
    let now = event_spine::Clock::now(&*app.clock);
    header::draw(&mut app.out, &view, &summary, brief.title.as_deref(), now)?;
    for name in VIEW_NAMES.iter().filter(|name| args.view == **name || args.view == ALL) {
        draw(app, &view, name, args.view == ALL)?;
    }
    Ok(Answer::Yes)
}

/// The view of a session, built from its events.
pub(crate) fn fold(
    app: &App,
    reader: &LogReader,
    summary: &SessionSummary,
    at: Option<u64>,
) -> Result<SessionView, Failure> {
    let newest = summary.head.sequence;
    if let Some(at) = at.filter(|at| *at > newest || *at == 0) {
        let session = &summary.session_id;
        return Err(Failure::input(format!(
            "{session} has no event {at}; its events are 1 to {newest}"
        )));
    }
    let mut progress =
        Progress::new(app.quiet, "reading", Unit::Events, Some(at.unwrap_or(newest)));
    let mut before = 0;
    Ok(replay_with(reader, &summary.session_id, at, Limits::default(), |sequence| {
        progress.advance(sequence - before);
        before = sequence;
    })?)
}

/// An older page.
fn older(
    reader: &LogReader,
    summary: &SessionSummary,
    before: u64,
    events: u64,
) -> Result<SessionView, Failure> {
    let beyond = summary.head.sequence + 1;
    if before < 2 || before > beyond {
        let session = &summary.session_id;
        return Err(Failure::input(format!(
            "{session} has nothing before event {before}; try 2 to {beyond}"
        )));
    }
    Ok(page(reader, &summary.session_id, before, events)?.view)
}

/// The stamp and the view that was asked for.
fn chosen(view: &SessionView, name: &str) -> Result<Value, Failure> {
    let whole = serde_json::to_value(view)?;
    let Value::Object(members) = whole else {
        return Ok(whole);
    };
    let wanted = |member: &str| name == ALL || member == name || matches!(member, "at" | "lost");
    Ok(Value::Object(
        members.into_iter().filter(|(member, _)| wanted(member)).collect::<Map<_, _>>(),
    ))
}

fn draw(app: &mut App, view: &SessionView, name: &str, titled: bool) -> Result<(), Failure> {
    if titled {
        app.out.heading(name)?;
    }
    let out = &mut app.out;
    match name {
        "transcript" => transcript::draw(out, &view.transcript, app.verbose)?,
        "timeline" => timeline::draw(out, &view.timeline)?,
        "status" => health::status(out, &view.status)?,
        "tasks" => work::tasks(out, &view.tasks)?,
        "queue" => work::queue(out, &view.queue)?,
        "artifacts" => products::artifacts(out, &view.artifacts)?,
        "evidence" => products::evidence(out, &view.evidence)?,
        "usage" => figures::draw(out, &view.usage)?,
        "context" => health::context(out, &view.context)?,
        "diagnostics" => health::diagnostics(out, &view.diagnostics)?,
        "graph" => graph::draw(out, &view.graph)?,
        "tools" => tables::tools(out, &view.tools)?,
        "actions" => tables::actions(out, &view.actions)?,
        _ => out.json(&chosen(view, name)?)?,
    }
    Ok(())
}
