//! Owns opening the data folder, and finding a session by what a person types.

use event_spine::SessionId;
use event_spine::{EventLog, LogOptions, LogReader, SessionSummary};

use crate::app::App;
use crate::failure::Failure;
use crate::text::near;

/// The word that stands for the session with the newest activity.
const LAST: &str = "last";

/// The data folder for reading: needs no lock, changes nothing.
pub(crate) fn reader(app: &App) -> Result<LogReader, Failure> {
    Ok(LogReader::open(&app.data)?)
}

/// The data folder for writing. Says what had to be repaired.
pub(crate) fn writer(app: &App) -> Result<EventLog, Failure> {
    let log = EventLog::open(&app.data, options(app))?;
    for note in &log.recovery().notes {
        app.note(note.message());
    }
    Ok(log)
}

/// How this process writes.
pub(crate) fn options(app: &App) -> LogOptions {
    LogOptions::new(app.clock.clone(), app.entropy.clone())
}

/// The session that `typed` means: its id, a prefix that only it has, or `last`.
pub(crate) fn find(reader: &LogReader, typed: &str) -> Result<SessionSummary, Failure> {
    let mut sessions = reader.sessions()?;
    if let Some(at) = sessions.iter().position(|s| s.session_id.as_str() == typed) {
        return Ok(sessions.swap_remove(at));
    }
    if typed == LAST {
        return sessions.pop().ok_or_else(|| {
            Failure::input("the log has no session yet; `spine ingest FILE` adds one")
        });
    }
    let meant = |s: &SessionSummary| !typed.is_empty() && abbreviates(typed, &s.session_id);
    let found: Vec<_> = sessions.iter().filter(|s| meant(s)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let hint = near(typed, sessions.iter().map(|s| s.session_id.as_str()));
            Err(Failure::input(format!(
                "there is no session `{typed}`; {hint}`spine sessions` lists them"
            )))
        }
        [first, second, rest @ ..] => {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            let (first, second) = (&first.session_id, &second.session_id);
            Err(Failure::input(format!(
                "`{typed}` could be `{first}`, `{second}`{more}; type more of it"
            )))
        }
    }
}

/// True when `typed` is the beginning of the id, its prefix (`sess_`) typed or not.
fn abbreviates(typed: &str, id: &SessionId) -> bool {
    let id = id.as_str();
    id.starts_with(typed)
        || id.strip_prefix(SessionId::PREFIX).is_some_and(|bare| bare.starts_with(typed))
}
