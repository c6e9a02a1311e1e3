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
    LogOptions::new(
        Arc::new(SteppingClock::new(start, 1000)),
        Arc::new(SeededEntropy::new(seed)),
    )
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn draft<P: EventPayload>(id: &str, payload: &P) -> EventDraft {
    let mut scope = Scope::default();
    for name in [
        "threadId",
        "turnId",
        "stepId",
        "toolCallId",
        "messageId",
        "partId",
    ] {
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
    draft(
        id,
        &ModelDelta {
            delta: text.to_owned(),
            role: None,
        },
    )
}

/// Every event of a session as (sequence, event id).
pub(crate) fn history(log: &EventLog, session: &SessionId) -> Vec<(u64, String)> {
    let mut events = log
        .reader()
        .read(session, .., event_spine::ReadMode::Strict)
        .unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        all.push((event.sequence, event.draft.event_id.to_string()));
    }
    all
}
