//! Owns the facts that the laws write, and reading a session back as a short list.

use event_spine::event::resolve;
use event_spine::{
    EventDraft, EventId, EventLog, JsonText, ReadMode, RecordedEvent, Refs, RuntimeId,
    SCHEMA_VERSION, Scope, SessionId, Timestamp,
};

use crate::laws::Broken;

pub(super) fn session(name: &str) -> Result<SessionId, Broken> {
    Ok(SessionId::parse(name)?)
}

pub(super) fn runtime() -> Result<RuntimeId, Broken> {
    Ok(RuntimeId::parse("rt_laws")?)
}

/// A fact of any type with any payload, its scope complete for a tool call and a message.
pub(super) fn fact(id: &str, event_type: &str, payload: &str) -> Result<EventDraft, Broken> {
    let (payload, _) = JsonText::parse(payload)?;
    let mut scope = Scope::default();
    for name in ["threadId", "turnId", "stepId", "toolCallId", "messageId", "taskId"] {
        scope.set(name, &format!("{name}_1"))?;
    }
    Ok(EventDraft {
        schema_version: SCHEMA_VERSION.into(),
        runtime_id: runtime()?,
        event_id: EventId::parse(id)?,
        timestamp: Timestamp::verbatim("2026-06-09T10:00:00.000Z"),
        event_type: resolve(event_type, &payload),
        scope,
        refs: Refs::NONE,
        payload,
        extra: None,
    })
}

/// A barrier fact.
pub(super) fn tool_started(id: &str) -> Result<EventDraft, Broken> {
    fact(id, "tool.started", r#"{"toolName":"write_file"}"#)
}

/// A buffered fact.
pub(super) fn delta(id: &str, text: &str) -> Result<EventDraft, Broken> {
    let payload = serde_json::json!({ "delta": text }).to_string();
    fact(id, "model.delta", &payload)
}

/// A fact that breaks the contract: a tool call without its id.
pub(super) fn without_scope(id: &str) -> Result<EventDraft, Broken> {
    let mut draft = tool_started(id)?;
    draft.scope.tool_call_id = None;
    Ok(draft)
}

/// Every event of a session, read strictly.
pub(super) fn events(log: &EventLog, session: &SessionId) -> Result<Vec<RecordedEvent>, Broken> {
    let mut events = log.reader().read(session, .., ReadMode::Strict)?;
    let mut all = Vec::new();
    while let Some(event) = events.next_event()? {
        all.push(event);
    }
    Ok(all)
}

/// Event ids of a session in order; empty when there is no such session. Sequences are checked to be 1, 2, 3 …
pub(super) fn ids(log: &EventLog, session: &SessionId) -> Result<Vec<String>, Broken> {
    if log.reader().head(session)?.is_none() {
        return Ok(Vec::new());
    }
    let events = events(log, session)?;
    for (at, event) in (1..).zip(&events) {
        if event.sequence != at {
            let text = format!("{session}: event {at} has sequence {}", event.sequence);
            return Err(Broken::because(text));
        }
    }
    Ok(events.iter().map(|event| event.draft.event_id.to_string()).collect())
}
