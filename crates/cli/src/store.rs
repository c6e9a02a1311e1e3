//! Owns opening the data folder, and finding a session by what a person types.

use event_spine::SessionId;
use event_spine::{EventLog, LogOptions, LogReader, SessionSummary, StorageFinding};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::Failure;
use crate::text::{counted, near};

/// The word that stands for the session with the newest activity.
const LAST: &str = "last";

/// The data folder for reading: needs no lock, changes nothing. Says when it is known to be damaged, since a session of
/// which nothing can be read shows nowhere else.
pub(crate) fn reader(app: &App) -> Result<LogReader, Failure> {
    let reader = LogReader::open(&app.data)?;
    let places = reader.damaged_places()?;
    if places > 0 {
        app.note(format!(
            "{} is damaged in {}; `spine verify` says where and what is missing",
            app.data.display(),
            counted(places, "place")
        ));
    }
    Ok(reader)
}

/// A damaged place of the storage, in a line.
pub(crate) fn damage(finding: &StorageFinding) -> String {
    format!("{} at byte {}: {}", finding.file, finding.offset, finding.what)
}

/// The same as JSON.
pub(crate) fn damage_json(finding: &StorageFinding) -> Value {
    let held: Vec<_> = finding
        .held
        .iter()
        .map(|held| json!({"sessionId": held.session_id, "from": held.first}))
        .collect();
    json!({
        "file": finding.file, "offset": finding.offset, "what": finding.what,
        "unfinished": finding.unfinished, "held": held,
    })
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
