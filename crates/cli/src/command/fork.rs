//! `spine fork`: a session that shares the history of another one up to a point, by reference.

use std::io::Write as _;

use event_spine::{AppendError, SessionId};
use serde_json::json;

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::output::LIVE;
use crate::store;

/// Branch a session off at one of its events; nothing is copied
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine fork last --at 12                   a new session with the first 12 events of the newest one
  spine fork last --at 12 --as retry-1 --reason 'other model'")]
pub(crate) struct Args {
    /// The session to branch off: its id, the beginning of it, or `last`
    session: String,
    /// The last event that both share
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// Id of the new session; made up when left out
    #[arg(long = "as", value_name = "ID")]
    id: Option<String>,
    /// Why, for those who look at it later
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    // Looked up without the lock first: a typo must neither wait for the writer nor touch the folder.
    let found = store::find(&store::reader(app)?, &args.session)?;
    let (parent, newest) = (found.session_id, found.head.sequence);
    if args.at == 0 || args.at > newest {
        let at = args.at;
        return Err(Failure::input(format!(
            "{parent} has no event {at} to fork at; its events are 1 to {newest}"
        )));
    }
    let child = match &args.id {
        Some(id) => named(id)?,
        None => SessionId::minted(event_spine::ulid(&*app.clock, &*app.entropy)),
    };
    let log = store::writer(app)?;
    let forked = log.fork(&parent, args.at, &child, &app.runtime()?, args.reason.as_deref());
    let receipt = forked.map_err(|error| match error {
        AppendError::WrongExpected { .. } => Failure::input(format!(
            "there is a session {child} already, and it is no fork of {parent} at {}; give the new one \
             another id with --as",
            args.at
        )),
        other => other.into(),
    })?;
    if app.json {
        app.out.json(&json!({
            "sessionId": child, "parentSessionId": parent, "parentSequence": args.at,
            "sequence": receipt.head.sequence, "chain": receipt.head.chain.to_string(),
        }))?;
    } else {
        let id = app.out.paint(LIVE, &child);
        writeln!(app.out, "{id}")?;
        app.note(format!(
            "shares {} with {parent}; `spine show {child}` shows it",
            crate::text::counted(args.at, "event")
        ));
    }
    Ok(Answer::Yes)
}

/// The id that the user gives to the new session: one that can be typed.
fn named(id: &str) -> Result<SessionId, Failure> {
    let typed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    if !id.chars().all(typed) || !id.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Err(Failure::input(format!(
            "--as {id}: an id has letters, digits and - _ . : only, so that it can be typed again"
        )));
    }
    SessionId::parse(id).map_err(|e| Failure::input(format!("--as {id}: {e}")))
}
