//! Owns what surrounds the conversation: the head of the file, instructions, settings, states, compaction.

use event_spine::Timestamp;
use event_spine::event::family::context::{
    ContextAttached, HistoryCompacted, HistoryRollbackCompleted, SnapshotUpdated,
};
use event_spine::event::family::diagnostics::MetricsChanged;
use event_spine::event::family::task::ChannelMessage;
use serde_json::Value;

use super::cx::{Cx, Place};
use super::frame::{enclosing_tag, json, list, message_text, owned, text};
use super::state::Held;
use super::{agents, turn};

/// What Codex puts between agents.
const NOTIFICATION: &str = "subagent_notification";

/// `session_meta`. Forked files repeat that of the file they came from; the first is that of this file.
pub(super) fn session(cx: &mut Cx<'_>, payload: &Value, first: bool) {
    let mut state = payload.clone();
    if let Value::Object(members) = &mut state {
        // Long, the same in every file of a version, and in the raw input.
        members.shift_remove("base_instructions");
        members.shift_remove("instructions");
    }
    if first {
        cx.thread.provider = owned(payload, "model_provider");
        cx.thread.cwd = owned(payload, "cwd");
        cx.thread.model = owned(payload, "model");
        agents::born(cx, payload);
    }
    snapshot(cx, if first { "thread" } else { "thread_origin" }, &state);
    let given = ["base_instructions", "instructions", "user_instructions"];
    for name in given {
        let words = match payload.get(name) {
            Some(Value::String(words)) => Some(words.as_str()),
            Some(more) => text(more, "text"),
            None => None,
        };
        if let Some(words) = words.filter(|_| first) {
            attached(cx, "instructions", Some(name), "codex", words.len());
        }
    }
}

/// `turn_context`: told when it changes.
pub(super) fn turn_context(cx: &mut Cx<'_>, payload: &Value) {
    cx.thread.model = owned(payload, "model").or_else(|| cx.thread.model.take());
    cx.thread.cwd = owned(payload, "cwd").or_else(|| cx.thread.cwd.take());
    let mut state = payload.clone();
    if let Value::Object(members) = &mut state {
        for name in [
            "turn_id",
            "root_turn_id",
            "base_instructions",
            "user_instructions",
            "developer_instructions",
        ] {
            members.shift_remove(name);
        }
    }
    if cx.thread.last_context.as_ref() != Some(&state) {
        snapshot(cx, "turn_context", &state);
        cx.thread.last_context = Some(state);
    }
}

/// `world_state`.
pub(super) fn world(cx: &mut Cx<'_>, payload: &Value) {
    let state = payload.get("state").unwrap_or(payload).clone();
    snapshot(cx, "world", &state);
    let part = payload.get("full").and_then(Value::as_bool) == Some(false);
    cx.with("full", part.then_some("false"));
}

pub(super) fn snapshot(cx: &mut Cx<'_>, kind: &str, state: &Value) {
    let payload = SnapshotUpdated {
        kind: Some(kind.to_owned()),
        state: json(state),
        state_ref: None,
        revision: None,
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

/// A message that is not the model's: instructions, or what the person or the program says to the model.
pub(super) fn message(cx: &mut Cx<'_>, payload: &Value) {
    let place = cx.place.clone();
    if text(payload, "role") != Some("user") {
        inject(cx, payload);
        return;
    }
    if cx.thread.bare && enclosing_tag(&message_text(payload)).is_none() {
        turn::user_message(cx, text(payload, "id"), payload);
        return;
    }
    let kinds = kinds(payload);
    if kinds.is_empty() || kinds.iter().any(|kind| kind.starts_with("user.")) {
        // The person's words come again as an event of their own, which says that they are the person's.
        cx.thread.held_users.push(Held { place, payload: payload.clone() });
    } else {
        inject(cx, payload);
    }
}

/// What newer versions say about the parts of a message.
fn kinds(payload: &Value) -> Vec<&str> {
    let told = payload.get("internal_chat_message_metadata_passthrough");
    told.map(|told| list(told, "content_item_kinds"))
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// Messages that nobody claimed as the person's words were put in by the program.
pub(super) fn let_go(cx: &mut Cx<'_>) {
    for held in std::mem::take(&mut cx.thread.held_users) {
        let Held { place, payload } = held;
        cx.at(place, |cx| inject(cx, &payload));
    }
}

fn inject(cx: &mut Cx<'_>, payload: &Value) {
    let words = message_text(payload);
    let kinds = kinds(payload);
    let tag = enclosing_tag(&words).map(str::to_owned);
    if tag.as_deref() == Some(NOTIFICATION) || kinds.iter().any(|k| k.ends_with(NOTIFICATION)) {
        let scope = cx.thread.scope();
        let payload = ChannelMessage {
            channel_id: cx.thread.id.as_str().to_owned(),
            from: sender(&words),
            to: None,
            text: Some(words),
            kind: Some("notification".to_owned()),
        };
        cx.emit(scope, &payload);
        return;
    }
    let surroundings = kinds.iter().any(|kind| kind.starts_with("environments."))
        || tag.as_deref() == Some("environment_context");
    let kind = if surroundings { "environment" } else { "instructions" };
    let name = match (kinds.as_slice(), tag) {
        ([], tag) => tag,
        (kinds, _) => Some(kinds.join(" ")),
    };
    let role = text(payload, "role").unwrap_or("unknown").to_owned();
    attached(cx, kind, name.as_deref(), &role, words.len());
}

/// Who a notification is from: the JSON inside it says so.
fn sender(words: &str) -> Option<String> {
    let (_, rest) = words.split_once('{')?;
    let (inner, _) = rest.rsplit_once('}')?;
    let facts: Value = serde_json::from_str(&format!("{{{inner}}}")).ok()?;
    owned(&facts, "agent_path")
}

pub(super) fn attached(cx: &mut Cx<'_>, kind: &str, name: Option<&str>, source: &str, size: usize) {
    let payload = ContextAttached {
        kind: kind.to_owned(),
        name: name.map(str::to_owned),
        skill_id: None,
        source: Some(source.to_owned()),
        size_bytes: Some(size as u64),
        content_ref: None,
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

/// A compaction: the record that replaces the history, the event, and the item tell the same.
pub(super) fn compacted(cx: &mut Cx<'_>, record: &'static str, payload: &Value) {
    if !cx.thread.compactions.first(record) {
        return;
    }
    let kept = list(payload, "replacement_history").len();
    let payload = HistoryCompacted {
        trigger: None,
        compaction_id: None,
        summary: owned(payload, "message").filter(|summary| !summary.is_empty()),
        summary_ref: None,
        before_tokens: None,
        after_tokens: None,
        before_chars: None,
        after_chars: None,
        kept_messages: u32::try_from(kept).ok().filter(|kept| *kept > 0),
        first_kept_sequence: None,
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

/// `thread_rolled_back`, `undo_completed`.
pub(super) fn rolled_back(cx: &mut Cx<'_>, payload: &Value) {
    let turns = super::frame::number(payload, "num_turns");
    let scope = cx.thread.scope();
    let payload = HistoryRollbackCompleted {
        to_sequence: None,
        dropped_turns: turns.and_then(|n| u32::try_from(n).ok()),
        reason: owned(payload, "message"),
    };
    cx.emit(scope, &payload);
}

/// A message between agents.
pub(super) fn between_agents(cx: &mut Cx<'_>, payload: &Value) {
    let scope = cx.thread.scope();
    let said = ChannelMessage {
        channel_id: cx.thread.id.as_str().to_owned(),
        from: owned(payload, "author").or_else(|| owned(payload, "from")),
        to: owned(payload, "recipient").or_else(|| owned(payload, "to")),
        text: owned(payload, "content").or_else(|| owned(payload, "message")),
        kind: Some("peer".to_owned()),
    };
    cx.emit(scope, &said);
}

/// A place that comes of the end of the input, behind the last line.
pub(super) fn end_place(last: &str, time: Option<Timestamp>) -> Place {
    Place { frame: 0, key: format!("end-{last}"), time }
}

/// Lets go of everything that waits for another half.
pub(super) fn let_go_of_all(cx: &mut Cx<'_>) {
    super::items::let_go_of_reasoning(cx);
    super::events::let_go_of_error(cx);
    agents::announce(cx);
    if cx.thread.turn.is_none() {
        let_go(cx);
    } else if !cx.thread.held_users.is_empty() {
        turn::ensure(cx);
    }
}

/// Frames that manage the connection stay in the raw input; they are counted.
pub(super) fn control_frames(cx: &mut Cx<'_>, count: u64) {
    if count == 0 {
        return;
    }
    let scope = cx.thread.scope();
    let payload = MetricsChanged {
        metric: "codex.control_frames".to_owned(),
        value: Some(count as f64),
        unit: Some("frames".to_owned()),
        values: None,
    };
    cx.emit(scope, &payload);
}
