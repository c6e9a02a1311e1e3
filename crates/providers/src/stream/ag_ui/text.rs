//! Owns text messages and reasoning: whole forms, chunk forms, and the THINKING names of 0.x.

use event_spine::event::family::message::{ModelCompleted, ModelDelta, ModelFailed};
use event_spine::event::family::reasoning::{ReasoningDelta, ReasoningSummary};
use event_spine::event::value::Role;

use super::cx::Cx;
use super::frame::Wire;
use super::state::{Chunk, Message, Part, message_id, part_id, tool_call_id};
use super::{stated, tools};

/// TEXT_MESSAGE_START.
pub(super) fn start(cx: &mut Cx<'_>, wire: &Wire, id: &str) {
    if cx.run.messages.contains_key(id) {
        cx.warn("already_open", Some(format!("message {id}")), None);
        return;
    }
    open(cx, id, wire.role.as_deref(), wire.subagent_run_id.as_deref());
}

fn open(cx: &mut Cx<'_>, id: &str, role: Option<&str>, owner: Option<&str>) {
    let role = role.map(role_of).filter(|role| *role != Role::Assistant);
    if role.is_none() {
        cx.run.model_speaks(owner);
    }
    if role.is_none() {
        stated::said(cx, id, owner, true);
    }
    let part = part(cx, id, "text", owner);
    cx.run.messages.insert(id.to_owned(), Message { part, role });
}

/// A part of the message, told apart from an earlier one that has been closed.
fn part(cx: &mut Cx<'_>, id: &str, kind: &str, owner: Option<&str>) -> Part {
    let opened = cx.run.openings.entry(format!("{id}/{kind}")).or_default();
    *opened += 1;
    let again = match *opened {
        1 => String::new(),
        n => n.to_string(),
    };
    Part {
        message: id.to_owned(),
        name: format!("{id}/{kind}{again}"),
        owner: owner.map(str::to_owned),
        step: cx.run.step(&cx.thread.session, owner),
    }
}

pub(super) fn role_of(word: &str) -> Role {
    serde_json::from_value(word.into()).unwrap_or(Role::Unknown)
}

/// TEXT_MESSAGE_CONTENT.
pub(super) fn content(cx: &mut Cx<'_>, wire: &Wire, id: &str, delta: String) {
    if !cx.run.messages.contains_key(id) {
        cx.warn("not_started", Some(format!("message {id}")), None);
        open(cx, id, wire.role.as_deref(), wire.subagent_run_id.as_deref());
    }
    let Some(message) = cx.run.messages.get(id) else {
        return;
    };
    let payload = ModelDelta { delta, role: message.role };
    let scope = cx.part_scope(&message.part);
    cx.emit(scope, &payload);
}

/// TEXT_MESSAGE_END.
pub(super) fn end(cx: &mut Cx<'_>, id: &str) {
    let Some(message) = cx.run.messages.remove(id) else {
        cx.warn("not_open", Some(format!("message {id}")), None);
        return;
    };
    let payload = ModelCompleted {
        text: None,
        mode: None,
        role: message.role,
        is_final: false,
        finish_reason: None,
        usage: None,
        model: None,
        parts: Vec::new(),
    };
    let scope = cx.part_scope(&message.part);
    cx.emit(scope, &payload);
}

/// Messages that were never ended: nobody said that they are whole.
pub(super) fn fail_open(cx: &mut Cx<'_>, category: &str) {
    for lane in cx.run.lanes.values_mut() {
        lane.chunk = None;
    }
    cx.run.reasoning.clear();
    for (_, message) in std::mem::take(&mut cx.run.messages) {
        let payload = ModelFailed {
            failure_category: category.to_owned(),
            error: None,
            code: None,
            retryable: None,
            partial_text: None,
        };
        let scope = cx.part_scope(&message.part);
        cx.emit_synthetic(scope, &payload);
    }
}

/// TEXT_MESSAGE_CHUNK.
pub(super) fn chunk(cx: &mut Cx<'_>, wire: &Wire) {
    let owner = wire.subagent_run_id.as_deref();
    let open_now = match &cx.run.lane(owner).chunk {
        Some(Chunk::Text(id)) => Some(id.clone()),
        Some(Chunk::Reasoning(_) | Chunk::Tool(_)) | None => None,
    };
    let Some(id) = wire.message_id.clone().or_else(|| open_now.clone()) else {
        cx.warn("chunk_without_id", None, None);
        return;
    };
    if open_now.as_ref() != Some(&id) {
        close_chunks(cx, owner);
        if !cx.run.messages.contains_key(&id) {
            open(cx, &id, wire.role.as_deref(), owner);
            cx.run.lane(owner).chunk = Some(Chunk::Text(id.clone()));
        }
    }
    if let Some(delta) = wire.text_delta() {
        content(cx, wire, &id, delta);
    }
}

/// REASONING_MESSAGE_START and its older name.
pub(super) fn start_reasoning(cx: &mut Cx<'_>, wire: &Wire, id: &str) {
    let owner = wire.subagent_run_id.as_deref();
    cx.run.model_speaks(owner);
    let part = part(cx, id, "reasoning", owner);
    cx.run.reasoning.insert(id.to_owned(), part);
}

/// REASONING_MESSAGE_CONTENT and its older name.
pub(super) fn reasoning(cx: &mut Cx<'_>, wire: &Wire, id: &str, delta: String) {
    if !cx.run.reasoning.contains_key(id) {
        start_reasoning(cx, wire, id);
    }
    if let Some(part) = cx.run.reasoning.get(id) {
        let scope = cx.part_scope(part);
        cx.emit(scope, &ReasoningDelta { delta });
    }
}

/// REASONING_MESSAGE_CHUNK.
pub(super) fn reasoning_chunk(cx: &mut Cx<'_>, wire: &Wire) {
    let owner = wire.subagent_run_id.as_deref();
    let open_now = match &cx.run.lane(owner).chunk {
        Some(Chunk::Reasoning(id)) => Some(id.clone()),
        Some(Chunk::Text(_) | Chunk::Tool(_)) | None => None,
    };
    let Some(id) = wire.message_id.clone().or_else(|| open_now.clone()) else {
        cx.warn("chunk_without_id", None, None);
        return;
    };
    if open_now.as_ref() != Some(&id) {
        close_chunks(cx, owner);
        start_reasoning(cx, wire, &id);
        cx.run.lane(owner).chunk = Some(Chunk::Reasoning(id.clone()));
    }
    if let Some(delta) = wire.text_delta() {
        reasoning(cx, wire, &id, delta);
    }
}

/// The id under which reasoning of 0.x goes, which has none of its own.
pub(super) fn thinking_id(cx: &Cx<'_>) -> String {
    format!("{}/thinking{}", cx.run.key, cx.run.thinking)
}

/// REASONING_ENCRYPTED_VALUE: that there is one is kept, the value is not.
pub(super) fn encrypted(cx: &mut Cx<'_>, wire: &Wire) {
    let owner = wire.subagent_run_id.as_deref();
    let mut scope = cx.step_scope(owner);
    if let Some(entity) = &wire.entity_id {
        if wire.subtype.as_deref() == Some("tool-call") {
            scope.tool_call_id = Some(tool_call_id(entity));
        } else {
            scope.message_id = Some(message_id(entity));
            scope.part_id = Some(part_id(&format!("{entity}/encrypted")));
        }
    }
    let payload = ReasoningSummary { text: String::new(), encrypted: true };
    cx.emit(scope, &payload);
}

/// Closes what the chunk form has open in one agent's lane.
pub(super) fn close_chunks(cx: &mut Cx<'_>, owner: Option<&str>) {
    match cx.run.lane(owner).chunk.take() {
        Some(Chunk::Text(id)) => end(cx, &id),
        Some(Chunk::Reasoning(id)) => {
            cx.run.reasoning.remove(&id);
        }
        Some(Chunk::Tool(id)) => tools::end(cx, &id),
        None => {}
    }
}

pub(super) fn close_all_chunks(cx: &mut Cx<'_>) {
    let mut owners: Vec<Option<String>> = cx.run.lanes.keys().cloned().collect();
    owners.sort();
    for owner in owners {
        close_chunks(cx, owner.as_deref());
    }
}
