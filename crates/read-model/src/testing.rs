//! Owns how tests write streams of facts and look at views: one line an event, one short text a view.
//!
//! ```text
//! turn.submitted  turn=u1             {"text":"Hi"}
//! model.delta     turn=u1 message=m1  {"delta":"Hel"}  @5
//! ```
//! A line is a type, scope ids, a payload (`{}` when left out) and the second at which it happened (one second after
//! the event before when left out; any other text after `@` is taken verbatim as the timestamp). The thread is `t1`
//! unless the line names another.

use event_spine::event::resolve;
use event_spine::integrity::leaf;
use event_spine::{
    ChainHash, EventDraft, EventId, JsonText, RecordedAt, RecordedEvent, Refs, RuntimeId,
    SCHEMA_VERSION, Scope, SessionId, Timestamp,
};
use serde::Serialize;
use serde_json::Value;

use crate::{Applied, Limits, SessionView};

const START: i64 = 1_781_006_400_000_000; // 2026-06-09T12:00:00Z

pub(crate) fn session() -> SessionId {
    SessionId::parse("sess_1").unwrap()
}

/// The drafts that the lines say.
pub(crate) fn drafts(lines: &str) -> Vec<EventDraft> {
    let mut second = -1_i64;
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let draft = |(at, line): (usize, &str)| {
        let (line, when) =
            line.rsplit_once(" @").map_or((line, None), |(l, w)| (l, Some(w.trim())));
        let (head, payload) = line.find('{').map_or((line, "{}"), |at| line.split_at(at));
        let (payload, refs) = match payload.split_once(" refs=") {
            Some((payload, refs)) => (payload, Some(refs)),
            None => (payload, None),
        };
        let mut words = head.split_whitespace();
        let name = words.next().unwrap();
        let mut scope = Scope::default();
        scope.set("threadId", "t1").unwrap();
        for word in words {
            let (key, id) = word.split_once('=').unwrap_or_else(|| panic!("{line}: {word}"));
            let wire = match key {
                "tool" => "toolCallId".to_owned(),
                "parentTask" => "parentTaskId".to_owned(),
                key => format!("{key}Id"),
            };
            assert!(scope.set(&wire, id).unwrap(), "{line}: {key}");
        }
        second += 1;
        let timestamp = match when.map(|w| (w, w.parse::<i64>())) {
            None => RecordedAt(START + second * 1_000_000).to_string(),
            Some((_, Ok(s))) => {
                second = s;
                RecordedAt(START + second * 1_000_000).to_string()
            }
            Some((text, Err(_))) => text.to_owned(),
        };
        let (payload, _) = JsonText::parse(payload).unwrap_or_else(|e| panic!("{line}: {e}"));
        EventDraft {
            schema_version: SCHEMA_VERSION.into(),
            runtime_id: RuntimeId::parse("rt_test").unwrap(),
            event_id: EventId::parse(format!("evt_{}", at + 1)).unwrap(),
            timestamp: Timestamp::verbatim(timestamp),
            event_type: resolve(name, &payload),
            scope,
            refs: refs
                .map_or(Refs::NONE, |refs| Refs::parse(&JsonText::parse(refs).unwrap().0).unwrap()),
            payload,
            extra: None,
        }
    };
    lines.enumerate().map(draft).collect()
}

/// The events that the lines say, sealed as the log seals them.
pub(crate) fn events(lines: &str) -> Vec<RecordedEvent> {
    seal(drafts(lines))
}

pub(crate) fn seal(drafts: Vec<EventDraft>) -> Vec<RecordedEvent> {
    let session_id = session();
    let mut chain = ChainHash::genesis(&session_id);
    let seal = |(at, draft): (usize, EventDraft)| {
        let (sequence, salt) = (at as u64 + 1, [7; 16]);
        let recorded_at = RecordedAt(START + at as i64 * 1_000_000);
        chain = chain.next(&leaf(&session_id, sequence, recorded_at, &salt, &draft));
        RecordedEvent { session_id: session_id.clone(), sequence, recorded_at, salt, chain, draft }
    };
    drafts.into_iter().enumerate().map(seal).collect()
}

pub(crate) fn fold(events: &[RecordedEvent], limits: Limits) -> SessionView {
    let mut view = SessionView::with_limits(session(), limits);
    for event in events {
        let applied = view.apply(event);
        assert!(matches!(applied, Applied::Changed | Applied::Unchanged), "{applied:?}");
    }
    view
}

/// The view of the events that the lines say.
pub(crate) fn view(lines: &str) -> SessionView {
    fold(&events(lines), Limits::default())
}

/// A view as a short text: JSON without what is absent, empty or false, with moments as `#sequence`.
pub(crate) fn brief(view: &impl Serialize) -> String {
    let value = short(serde_json::to_value(view).unwrap());
    serde_json::to_string_pretty(&value.unwrap_or(Value::Null)).unwrap()
}

fn short(value: Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(short).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(members) => {
            if members.contains_key("eventId") && members.contains_key("recordedAt") {
                return Some(Value::String(format!("#{}", members["sequence"])));
            }
            if members.contains_key("clockSteppedBack") && members["ms"] == "not_applicable" {
                return None;
            }
            let members: serde_json::Map<_, _> = members
                .into_iter()
                .filter(|(name, value)| !(name == "threadId" && value == "t1"))
                .filter_map(|(name, value)| Some((name, short(value)?)))
                .collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        other => Some(other),
    }
}
