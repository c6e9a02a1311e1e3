//! Owns sub-agents: each has a thread and a file of its own; its parent's file says when it began and how it ended.

use event_spine::Scope;
use event_spine::event::family::task::{
    SubagentCompleted, SubagentFailed, SubagentStarted, SubagentStatus,
};
use serde_json::Value;

use super::cx::Cx;
use super::frame::{list, owned, snake, text};
use super::state::subagent_id;
use super::tools::{self, Opening};

/// The head of a sub-agent's own file.
pub(super) fn born(cx: &mut Cx<'_>, meta: &Value) {
    let Some(source) = meta.get("source").and_then(|source| source.get("subagent")) else {
        return;
    };
    let spawn = source.get("thread_spawn").unwrap_or(source);
    let id = subagent_id(cx.thread.id.as_str());
    cx.thread.agent = Some(id.clone());
    let parent = text(spawn, "parent_thread_id").or_else(|| text(meta, "parent_thread_id"));
    let payload = SubagentStarted {
        name: owned(meta, "agent_nickname").or_else(|| source.as_str().map(str::to_owned)),
        role: owned(meta, "agent_role"),
        objective: None,
        // The thread of the session itself is that of the main agent.
        parent_subagent_id: parent
            .filter(|parent| *parent != cx.thread.session.as_str())
            .map(str::to_owned),
        parent_tool_call_id: None,
        child_thread_id: Some(cx.thread.id.as_str().to_owned()),
        handoff: false,
        model: None,
    };
    let thread = cx.thread.id.as_str().to_owned();
    started(cx, &thread, &payload);
}

fn started(cx: &mut Cx<'_>, thread: &str, payload: &SubagentStarted) {
    let id = subagent_id(thread);
    cx.thread.agents.entry(thread.to_owned()).or_default();
    let scope = scope(cx, thread);
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

/// `CollabAgentToolCall`: a call that starts, asks, awaits or ends agents.
pub(super) fn call(cx: &mut Cx<'_>, call: &str, item: &Value) {
    let tool = snake(text(item, "tool").unwrap_or("unknown"));
    let opening = Opening {
        name: tool.clone(),
        kind: Some(event_spine::event::value::ToolKind::Agent),
        ..Opening::default()
    };
    tools::open(cx, call, opening);
    if let Some(open) = cx.thread.open.get_mut(call) {
        open.verdict = tools::status(item);
    }
    let receivers = list(item, "receiver_agents");
    let ids = list(item, "receiver_thread_ids")
        .iter()
        .filter_map(Value::as_str);
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
            let payload = SubagentCompleted {
                summary: more,
                output: None,
                output_ref: None,
                usage: None,
            };
            cx.emit(scope, &payload);
        }
        "errored" | "shutdown" if known && !ended => {
            let category = if word == "errored" {
                "runtime_error"
            } else {
                "cancelled"
            };
            let payload = SubagentFailed {
                failure_category: category.to_owned(),
                error: more,
                code: None,
            };
            cx.emit(scope, &payload);
        }
        _ => {
            cx.emit(
                scope,
                &SubagentStatus {
                    status: word,
                    message: more,
                },
            );
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
    let payload = SubagentStatus {
        status: snake(kind),
        message: owned(item, "agent_path"),
    };
    cx.emit(scope, &payload);
}
