//! Owns sub-agents: each has a thread and a file of its own; its parent's file says when it began and how it ended.

use event_spine::Scope;
use event_spine::event::family::task::{
    SubagentCompleted, SubagentFailed, SubagentStarted, SubagentStatus,
};
use event_spine::event::value::ToolKind;
use serde_json::Value;

use super::cx::Cx;
use super::frame::{list, owned, snake, text};
use super::state::{Form, Held, subagent_id};
use super::tools::{self, Opening, Outcome};

/// The head of a sub-agent's own file. What it works for is told with its first turn.
pub(super) fn born(cx: &mut Cx<'_>, meta: &Value) {
    let by_source = meta.get("source").and_then(|source| source.get("subagent"));
    let by_parent = text(meta, "parent_thread_id").filter(|id| !id.is_empty());
    if by_source.is_none() && by_parent.is_none() {
        return;
    }
    cx.thread.agent = Some(subagent_id(cx.thread.id.as_str()));
    cx.thread.birth = Some(Held { place: cx.place.clone(), payload: meta.clone() });
}

/// Tells of the sub-agent whose file this is.
pub(super) fn announce(cx: &mut Cx<'_>) {
    let Some(Held { place, payload: meta }) = cx.thread.birth.take() else {
        return;
    };
    let source = meta.get("source").and_then(|source| source.get("subagent"));
    let spawn = source.and_then(|source| source.get("thread_spawn"));
    let parent = spawn
        .and_then(|spawn| text(spawn, "parent_thread_id"))
        .or_else(|| text(&meta, "parent_thread_id"));
    let kind = source.and_then(Value::as_str).map(str::to_owned);
    let payload = SubagentStarted {
        name: owned(&meta, "agent_nickname").or(kind),
        role: owned(&meta, "agent_role"),
        objective: None,
        // The thread of the session itself is that of the main agent.
        parent_subagent_id: parent
            .filter(|parent| *parent != cx.thread.main.as_str())
            .map(str::to_owned),
        parent_tool_call_id: None,
        child_thread_id: Some(cx.thread.id.as_str().to_owned()),
        handoff: false,
        model: None,
    };
    let thread = cx.thread.id.as_str().to_owned();
    cx.at(place, |cx| started(cx, &thread, &payload));
}

fn started(cx: &mut Cx<'_>, thread: &str, payload: &SubagentStarted) {
    let id = subagent_id(thread);
    cx.thread.agents.entry(thread.to_owned()).or_default();
    let mut scope = scope(cx, thread);
    scope.parent_task_id.clone_from(&scope.task_id);
    cx.emit_named(scope, payload, thread);
    // The other file may have told it; then it stands there already, in that file's words.
    let known = cx.thread.known_agents.get(&id);
    if let (Some(known), Some(made)) = (known, cx.out.last())
        && known.event_id == made.draft.event_id
        && known.payload != made.draft.payload
    {
        cx.out.pop();
    }
}

fn scope(cx: &Cx<'_>, thread: &str) -> Scope {
    let mut scope = cx.thread.scope();
    scope.subagent_id = Some(subagent_id(thread));
    scope
}

/// `CollabAgentToolCall` begins.
pub(super) fn begins(cx: &mut Cx<'_>, call: &str, item: &Value) {
    let opening = Opening {
        name: snake(text(item, "tool").unwrap_or("unknown")),
        kind: Some(ToolKind::Agent),
        by_model: true,
        ..Opening::default()
    };
    tools::open(cx, call, opening);
}

/// `CollabAgentToolCall`: a call that starts, asks, awaits or ends agents.
pub(super) fn call(cx: &mut Cx<'_>, call: &str, item: &Value) {
    let tool = snake(text(item, "tool").unwrap_or("unknown"));
    begins(cx, call, item);
    if let Some(open) = cx.thread.open.get_mut(call) {
        open.verdict = tools::status(item);
    }
    let receivers = list(item, "receiver_agents");
    let ids = list(item, "receiver_thread_ids").iter().filter_map(Value::as_str);
    if tool == "spawn_agent" {
        for id in ids {
            let about = receivers.iter().find(|r| text(r, "thread_id") == Some(id));
            let payload = SubagentStarted {
                name: about.and_then(|a| owned(a, "agent_nickname")),
                role: about.and_then(|a| owned(a, "agent_role")),
                objective: owned(item, "prompt"),
                parent_subagent_id: cx.thread.agent.as_ref().map(|a| a.as_str().to_owned()),
                parent_tool_call_id: Some(call.to_owned()),
                child_thread_id: Some(id.to_owned()),
                handoff: false,
                model: owned(item, "model"),
            };
            if !cx.thread.agents.contains_key(id) {
                started(cx, id, &payload);
            }
        }
    }
    if let Some(Value::Object(states)) = item.get("agents_states") {
        for (id, state) in states {
            stands(cx, id, state);
        }
    }
    // Of a rollout the output comes as a record of its own.
    if let Some(status) = tools::status(item).filter(|_| cx.thread.form != Form::Rollout) {
        let outcome = Outcome { status, ..Outcome::default() };
        tools::settle(cx, call, outcome);
    }
}

/// How an agent stands: a word, or a word with what came of it.
pub(super) fn stands(cx: &mut Cx<'_>, id: &str, state: &Value) {
    let (word, more) = match state {
        Value::String(word) => (word.clone(), None),
        Value::Object(tagged) => match tagged.iter().next() {
            Some((word, more)) => (word.clone(), more.as_str().map(str::to_owned)),
            None => return,
        },
        _ => return,
    };
    let word = snake(&word);
    let ended = cx.thread.agents.get(id).is_some_and(|agent| agent.ended);
    let known = cx.thread.agents.contains_key(id);
    let scope = scope(cx, id);
    match word.as_str() {
        "completed" if known && !ended => {
            let payload =
                SubagentCompleted { summary: more, output: None, output_ref: None, usage: None };
            cx.emit(scope, &payload);
        }
        "errored" | "shutdown" if known && !ended => {
            let category = if word == "errored" { "runtime_error" } else { "cancelled" };
            let payload =
                SubagentFailed { failure_category: category.to_owned(), error: more, code: None };
            cx.emit(scope, &payload);
        }
        _ => {
            cx.emit(scope, &SubagentStatus { status: word, message: more });
            return;
        }
    }
    cx.thread.agents.entry(id.to_owned()).or_default().ended = true;
}

/// `collab_agent_spawn_end` of older files.
pub(super) fn spawned(cx: &mut Cx<'_>, payload: &Value) {
    let Some(id) = text(payload, "new_thread_id").or_else(|| text(payload, "receiver_thread_id"))
    else {
        return;
    };
    let start = SubagentStarted {
        name: owned(payload, "new_agent_nickname"),
        role: owned(payload, "new_agent_role"),
        objective: owned(payload, "prompt"),
        parent_subagent_id: cx.thread.agent.as_ref().map(|a| a.as_str().to_owned()),
        parent_tool_call_id: owned(payload, "call_id"),
        child_thread_id: Some(id.to_owned()),
        handoff: false,
        model: owned(payload, "model"),
    };
    if !cx.thread.agents.contains_key(id) {
        started(cx, id, &start);
    }
    if let Some(state) = payload.get("status") {
        stands(cx, id, state);
    }
}

/// `SubAgentActivity`.
pub(super) fn activity(cx: &mut Cx<'_>, item: &Value) {
    let (Some(id), Some(kind)) = (text(item, "agent_thread_id"), text(item, "kind")) else {
        return;
    };
    let scope = scope(cx, id);
    let payload = SubagentStatus { status: snake(kind), message: owned(item, "agent_path") };
    cx.emit(scope, &payload);
}
