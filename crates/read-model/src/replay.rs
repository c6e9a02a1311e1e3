//! Owns the proof of a view: building it from nothing, and comparing it with the one that is served.
//!
//! Next: [`Engine`](crate::Engine), which serves views without building them from nothing each time.

use event_spine::{Entry, LogReader, ReadError, ReadMode, SessionId};
use serde_json::Value;

use crate::limits::Limits;
use crate::view::SessionView;

/// Builds the view of a session from nothing, up to an event or to its newest one.
///
/// Where the log is damaged, the view goes on behind the damage and names it in [`SessionView::lost`].
///
/// # Errors
/// There is no such session, or a file cannot be read.
pub fn replay(
    reader: &LogReader,
    session: &SessionId,
    to: Option<u64>,
) -> Result<SessionView, ReadError> {
    replay_with(reader, session, to, Limits::default(), |_| {})
}

/// As [`replay`], keeping this much, and telling the sequence of each event that it has folded.
///
/// # Errors
/// As [`replay`].
pub fn replay_with(
    reader: &LogReader,
    session: &SessionId,
    to: Option<u64>,
    limits: Limits,
    mut progress: impl FnMut(u64),
) -> Result<SessionView, ReadError> {
    let mut view = SessionView::with_limits(session.clone(), limits);
    for entry in reader.read(session, 1..=to.unwrap_or(u64::MAX), ReadMode::Tolerant)? {
        match entry? {
            Entry::Event(event) => view.apply(&event),
            Entry::Gap(gap) => view.pass_over(&gap),
        };
        progress(view.at.sequence);
    }
    Ok(view)
}

/// The first difference between two views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Name of the member of [`SessionView`]: a view, or `at`, `limits`, `lost`.
    pub view: String,
    /// Place in it, as a JSON Pointer (RFC 6901) from the root.
    pub pointer: String,
    /// What is served there, as JSON; nothing when it is absent.
    pub served: Option<String>,
    /// What the replay gives there, as JSON; nothing when it is absent.
    pub replayed: Option<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
        write!(
            f,
            "{} differs at {}: served {}, replayed {}",
            self.view,
            self.pointer,
            show(&self.served),
            show(&self.replayed)
        )
    }
}

/// Compares a view that is served with one that was replayed; nothing when they are equal.
#[must_use]
pub fn compare(served: &SessionView, replayed: &SessionView) -> Option<Difference> {
    if served == replayed {
        return None;
    }
    let json = |view| serde_json::to_value(view).unwrap_or(Value::Null);
    let mut path = Vec::new();
    let (served, replayed) = difference(&json(served), &json(replayed), &mut path)?;
    let pointer =
        path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
    Some(Difference {
        view: path.first().cloned().unwrap_or_default(),
        pointer: pointer.collect(),
        served,
        replayed,
    })
}

type Sides = (Option<String>, Option<String>);

/// Finds the first place where two values differ; `path` is left at it.
fn difference(served: &Value, replayed: &Value, path: &mut Vec<String>) -> Option<Sides> {
    match (served, replayed) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| step(name.clone(), a.get(name), b.get(name), path))
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len()))
            .find_map(|at| step(at.to_string(), a.get(at), b.get(at), path)),
        (a, b) if a == b => None,
        (a, b) => Some((Some(a.to_string()), Some(b.to_string()))),
    }
}

fn step(
    name: String,
    served: Option<&Value>,
    replayed: Option<&Value>,
    path: &mut Vec<String>,
) -> Option<Sides> {
    path.push(name);
    let found = match (served, replayed) {
        (Some(a), Some(b)) => difference(a, b, path),
        (None, None) => None,
        (a, b) => Some((a.map(Value::to_string), b.map(Value::to_string))),
    };
    if found.is_none() {
        path.pop();
    }
    found
}
