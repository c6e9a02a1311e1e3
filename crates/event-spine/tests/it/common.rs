//! What the tests share: options with a clock and entropy of their own, and drafts.

use std::sync::Arc;

use event_spine::event::family::message::ModelDelta;
use event_spine::event::family::tool::ToolStarted;
use event_spine::{
    EventDraft, EventId, EventLog, EventPayload, LogOptions, RecordedAt, RuntimeId, Scope,
    SeededEntropy, SessionId, SteppingClock, Timestamp,
};

pub(crate) fn options() -> LogOptions {
    options_with_seed(1)
}

pub(crate) fn options_with_seed(seed: u64) -> LogOptions {
    let start = RecordedAt(1_780_000_000_000_000);
    LogOptions::new(Arc::new(SteppingClock::new(start, 1000)), Arc::new(SeededEntropy::new(seed)))
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn draft<P: EventPayload>(id: &str, payload: &P) -> EventDraft {
    let mut scope = Scope::default();
    for name in ["threadId", "turnId", "stepId", "toolCallId", "messageId", "partId"] {
        scope.set(name, &format!("{name}-1")).unwrap();
    }
    let at = Timestamp::verbatim("2026-06-09T10:00:00.000Z");
    EventDraft::new(
        RuntimeId::parse("rt_test").unwrap(),
        EventId::parse(id).unwrap(),
        at,
        scope,
        payload,
    )
    .unwrap()
}

/// A barrier fact.
pub(crate) fn tool_started(id: &str) -> EventDraft {
    let payload: ToolStarted = serde_json::from_str(r#"{"toolName":"write_file"}"#).unwrap();
    draft(id, &payload)
}

/// A buffered fact.
pub(crate) fn delta(id: &str, text: &str) -> EventDraft {
    draft(id, &ModelDelta { delta: text.to_owned(), role: None })
}

/// Every event of a session as (sequence, event id).
pub(crate) fn history(log: &EventLog, session: &SessionId) -> Vec<(u64, String)> {
    let mut events = log.reader().read(session, .., event_spine::ReadMode::Strict).unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        all.push((event.sequence, event.draft.event_id.to_string()));
    }
    all
}

/// A copy of a data folder as a crash would leave it: whatever the files hold right now.
pub(crate) fn crashed_copy(dir: &std::path::Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(dir, copy.path());
    copy
}

pub(crate) fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// The only segment of a small log.
pub(crate) fn segment(dir: &std::path::Path) -> std::path::PathBuf {
    dir.join("journal/0000000001.seg")
}

/// Every file of a folder with its bytes.
pub(crate) fn contents(
    dir: &std::path::Path,
) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut all = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            all.extend(contents(&entry.path()));
        } else {
            all.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
    all
}
