//! Owns the list of AG-UI's events and what each becomes.

use event_spine::event::family::context::{SnapshotUpdated, StateDelta};
use event_spine::event::family::message::MessagesSnapshot;
use event_spine::event::family::task::{
    SubagentCompleted, SubagentFailed, SubagentStarted, SubagentStatus,
};
use event_spine::event::value::{SnapshotMessage, SnapshotToolCall};
use event_spine::{JsonText, StepId};

use super::cx::{Cx, quoted};
use super::ends::subagent_scope;
use super::frame::{Message, Outcome, Wire, list, outcome};
use super::people;
use super::run::{self, status};
use super::state::{Step, Subagent, message_id, subagent_id};
use super::{stated, text, tools};

/// State of the agent, as opposed to that of an activity.
const AGENT_STATE: &str = "agent_state";
/// State of an activity; the message id says of which.
const ACTIVITY: &str = "activity";

/// What an event that lacks a member which it must have is kept as.
const MALFORMED: &str = "malformed_frame";

/// Takes one event.
pub(super) fn event(cx: &mut Cx<'_>, wire: &Wire, raw: &JsonText) {
    let kind = wire.kind.as_deref().unwrap_or_default();
    // The chunk forms of a lane end with the next other event in it. Raw events are no part of a lane.
    if !kind.ends_with("_CHUNK") && kind != "RAW" && !cx.run.ended {
        text::close_chunks(cx, wire.subagent_run_id.as_deref());
    }
    let owner = wire.subagent_run_id.as_deref();
    match kind {
        // A step ends with its state; what the state did not tell by then, it does not tell.
        "STEP_STARTED" | "STEP_FINISHED" | "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CHUNK" => {
            stated::release_held(cx, Some(owner));
        }
        "REASONING_START" | "REASONING_MESSAGE_START" | "REASONING_MESSAGE_CHUNK" => {
            stated::release_held(cx, Some(owner));
        }
        "RUN_FINISHED" | "RUN_ERROR" => stated::release_held(cx, None),
        _ => {}
    }
    let taken = if cx.run.ended {
        after_the_end(cx, wire, raw, kind)
    } else {
        lifecycle(cx, wire, kind)
            .or_else(|| messages(cx, wire, kind))
            .or_else(|| calls(cx, wire, kind))
            .or_else(|| whole_states(cx, wire, kind))
            .or_else(|| agents(cx, wire, kind))
            .or_else(|| others(cx, wire, raw, kind))
    };
    match taken {
        Some(true) => {}
        Some(false) => cx.warn(MALFORMED, Some(kind.to_owned()), Some(raw)),
        None => cx.warn("unknown_frame", Some(kind.to_owned()), Some(raw)),
    }
}

/// What may come behind the end of a run. A second end is noted, and so is work that nobody ordered.
fn after_the_end(cx: &mut Cx<'_>, wire: &Wire, raw: &JsonText, kind: &str) -> Option<bool> {
    let code = match kind {
        "RUN_FINISHED" | "RUN_ERROR" => "second_terminal",
        _ => {
            let taken = whole_states(cx, wire, kind).or_else(|| others(cx, wire, raw, kind));
            if taken.is_some() {
                return taken;
            }
            "event_after_terminal"
        }
    };
    cx.warn(code, Some(kind.to_owned()), Some(raw));
    Some(true)
}

fn lifecycle(cx: &mut Cx<'_>, wire: &Wire, kind: &str) -> Option<bool> {
    match kind {
        "RUN_FINISHED" => run::finished(cx, wire),
        "RUN_ERROR" => run::failed(cx, wire),
        "STEP_STARTED" | "STEP_FINISHED" => {
            let Some(name) = &wire.step_name else {
                return Some(false);
            };
            let owner = wire.subagent_run_id.as_deref();
            if kind == "STEP_STARTED" {
                step_started(cx, owner, name);
            } else {
                step_finished(cx, owner, name);
            }
        }
        _ => return None,
    }
    Some(true)
}

fn step_started(cx: &mut Cx<'_>, owner: Option<&str>, name: &str) {
    cx.run.steps_begun += 1;
    let id = StepId::derived(&[
        cx.thread.session.as_str(),
        cx.run.key.as_str(),
        owner.unwrap_or_default(),
        name,
        &cx.run.steps_begun.to_string(),
    ]);
    cx.run.steps.push(Step { owner: owner.map(str::to_owned), name: name.to_owned(), id });
    status(cx, name, None, Some("step_started"));
    place_status(cx, owner);
}

fn step_finished(cx: &mut Cx<'_>, owner: Option<&str>, name: &str) {
    let mine = |step: &Step| step.owner.as_deref() == owner;
    let open = |step: &Step| mine(step) && step.name == name;
    let Some(at) = cx.run.steps.iter().rposition(open) else {
        cx.warn("not_open", Some(format!("step {name}")), None);
        return;
    };
    let step = cx.run.steps.remove(at);
    let outer = cx.run.steps.iter().rev().find(|s| mine(s));
    let phase = outer.map_or_else(|| "running".to_owned(), |s| s.name.clone());
    status(cx, &phase, Some(name), Some("step_finished"));
    place_status(cx, owner);
    if let Some(last) = cx.out.last_mut() {
        last.draft.scope.step_id = Some(step.id);
    }
}

/// Puts the status that was just told into its step and its agent's lane.
fn place_status(cx: &mut Cx<'_>, owner: Option<&str>) {
    let step = cx.run.step(&cx.thread.session, owner);
    if let Some(last) = cx.out.last_mut() {
        last.draft.scope.step_id = Some(step);
        last.draft.scope.subagent_id = owner.map(subagent_id);
    }
}

fn messages(cx: &mut Cx<'_>, wire: &Wire, kind: &str) -> Option<bool> {
    let id = wire.message_id.as_deref();
    let delta = wire.text_delta();
    match (kind, id, delta) {
        ("TEXT_MESSAGE_START", Some(id), _) => text::start(cx, wire, id),
        ("TEXT_MESSAGE_CONTENT", Some(id), Some(delta)) => text::content(cx, wire, id, delta),
        ("TEXT_MESSAGE_END", Some(id), _) => text::end(cx, id),
        ("TEXT_MESSAGE_CHUNK", _, _) => text::chunk(cx, wire),
        ("REASONING_START" | "REASONING_END", Some(_), _) => {}
        ("REASONING_MESSAGE_START", Some(id), _) => text::start_reasoning(cx, wire, id),
        ("REASONING_MESSAGE_CONTENT", Some(id), Some(delta)) => {
            text::reasoning(cx, wire, id, delta);
        }
        ("REASONING_MESSAGE_END", Some(id), _) => {
            cx.run.reasoning.remove(id);
        }
        ("REASONING_MESSAGE_CHUNK", _, _) => text::reasoning_chunk(cx, wire),
        ("REASONING_ENCRYPTED_VALUE", _, _) => text::encrypted(cx, wire),
        ("THINKING_START" | "THINKING_END", _, _) => {}
        ("THINKING_TEXT_MESSAGE_START", _, _) => {
            cx.run.thinking += 1;
            let id = text::thinking_id(cx);
            text::start_reasoning(cx, wire, &id);
        }
        ("THINKING_TEXT_MESSAGE_CONTENT", _, Some(delta)) => {
            let id = text::thinking_id(cx);
            text::reasoning(cx, wire, &id, delta);
        }
        ("THINKING_TEXT_MESSAGE_END", _, _) => {
            let id = text::thinking_id(cx);
            cx.run.reasoning.remove(&id);
        }
        (kind, _, _) if is_message(kind) => return Some(false),
        _ => return None,
    }
    Some(true)
}

fn is_message(kind: &str) -> bool {
    kind.starts_with("TEXT_MESSAGE_")
        || matches!(
            kind,
            "REASONING_START"
                | "REASONING_END"
                | "REASONING_MESSAGE_START"
                | "REASONING_MESSAGE_CONTENT"
                | "REASONING_MESSAGE_END"
                | "THINKING_TEXT_MESSAGE_CONTENT"
        )
}

fn calls(cx: &mut Cx<'_>, wire: &Wire, kind: &str) -> Option<bool> {
    let id = wire.tool_call_id.as_deref().map(|id| tools::same_call(cx, wire, id).to_owned());
    let id = id.as_deref();
    match (kind, id, wire.text_delta(), &wire.content) {
        ("TOOL_CALL_START", Some(id), _, _) => tools::start(cx, wire, id),
        ("TOOL_CALL_ARGS", Some(id), Some(delta), _) => tools::args(cx, wire, id, delta),
        ("TOOL_CALL_END", Some(id), _, _) => tools::end(cx, id),
        ("TOOL_CALL_CHUNK", _, _, _) => tools::chunk(cx, wire),
        ("TOOL_CALL_RESULT", Some(id), _, Some(content)) => tools::result(cx, wire, id, content),
        ("TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END" | "TOOL_CALL_RESULT", ..) => {
            return Some(false);
        }
        _ => return None,
    }
    Some(true)
}

fn whole_states(cx: &mut Cx<'_>, wire: &Wire, kind: &str) -> Option<bool> {
    let owner = wire.subagent_run_id.as_deref();
    match kind {
        "STATE_SNAPSHOT" => {
            let Some(state) = &wire.snapshot else {
                return Some(false);
            };
            stated::state(cx, state);
            snapshot(cx, owner, AGENT_STATE, state);
        }
        "STATE_DELTA" => {
            let Some(patch) = &wire.delta else {
                return Some(false);
            };
            delta(cx, owner, AGENT_STATE, patch);
        }
        "ACTIVITY_SNAPSHOT" => {
            let (Some(id), Some(content)) = (&wire.message_id, &wire.content) else {
                return Some(false);
            };
            snapshot(cx, owner, ACTIVITY, content);
            let activity = wire.activity_type.as_deref().map(quoted);
            cx.with("activityType", activity.as_deref());
            cx.with("replace", wire.replace.filter(|r| !r).map(|_| "false"));
            in_message(cx, id);
        }
        "ACTIVITY_DELTA" => {
            let (Some(id), Some(patch)) = (&wire.message_id, &wire.patch) else {
                return Some(false);
            };
            delta(cx, owner, ACTIVITY, patch);
            in_message(cx, id);
        }
        "MESSAGES_SNAPSHOT" => {
            if wire.messages.is_none() {
                return Some(false);
            }
            messages_snapshot(cx, &list(wire.messages.as_ref()));
        }
        _ => return None,
    }
    Some(true)
}

fn snapshot(cx: &mut Cx<'_>, owner: Option<&str>, kind: &str, state: &JsonText) {
    let payload = SnapshotUpdated {
        kind: Some(kind.to_owned()),
        state: Some(state.clone()),
        state_ref: None,
        revision: None,
    };
    let scope = cx.scope(owner);
    cx.emit(scope, &payload);
}

fn delta(cx: &mut Cx<'_>, owner: Option<&str>, target: &str, patch: &JsonText) {
    let payload = StateDelta { patch: patch.clone(), target: Some(target.to_owned()) };
    let scope = cx.scope(owner);
    cx.emit(scope, &payload);
}

fn in_message(cx: &mut Cx<'_>, id: &str) {
    if let Some(last) = cx.out.last_mut() {
        last.draft.scope.message_id = Some(message_id(id));
    }
}

/// The whole list. It is also the one place where the protocol says that a tool failed.
fn messages_snapshot(cx: &mut Cx<'_>, messages: &[Message]) {
    stated::asked_in(cx, messages);
    for message in messages {
        tools::told(cx, message);
    }
    let mut listed = Vec::with_capacity(messages.len());
    for message in messages {
        let calls = message.tool_calls.iter().flatten();
        listed.push(SnapshotMessage {
            message_id: message.id.clone(),
            role: text::role_of(&message.role),
            text: message.text(),
            tool_calls: calls
                .map(|call| SnapshotToolCall {
                    id: tools::listed_call(cx, &call.id),
                    name: call.function.name.clone(),
                    arguments: call.function.arguments.clone(),
                })
                .collect(),
            tool_call_id: message.tool_call_id.as_deref().map(|id| tools::listed_call(cx, id)),
            error: message.error.clone(),
        });
    }
    let payload = MessagesSnapshot { messages: listed, reason: None };
    let scope = cx.scope(None);
    cx.emit(scope, &payload);
    run::repaired(cx);
}

fn agents(cx: &mut Cx<'_>, wire: &Wire, kind: &str) -> Option<bool> {
    if !kind.starts_with("SUBAGENT_") {
        return None;
    }
    let Some(id) = wire.subagent_run_id.as_deref() else {
        return Some(false);
    };
    let known = cx.turn().is_some_and(|turn| turn.subagents.contains_key(id));
    match kind {
        "SUBAGENT_STARTED" if known => agent_status(cx, id, "resumed"),
        "SUBAGENT_STARTED" => agent_started(cx, wire, id, false),
        "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => {
            if !known {
                agent_started(cx, wire, id, true);
            }
            agent_ended(cx, wire, id, kind == "SUBAGENT_ERROR");
        }
        _ => return None,
    }
    Some(true)
}

fn agent_started(cx: &mut Cx<'_>, wire: &Wire, id: &str, synthetic: bool) {
    let payload = SubagentStarted {
        name: wire.name.clone(),
        role: None,
        objective: wire.description.clone(),
        parent_subagent_id: wire.parent_subagent_run_id.clone(),
        parent_tool_call_id: wire.parent_tool_call_id.clone(),
        child_thread_id: None,
        handoff: false,
        model: None,
    };
    let mut scope = subagent_scope(cx, id);
    scope.message_id = wire.parent_message_id.as_deref().map(message_id);
    if synthetic {
        cx.emit_synthetic(scope, &payload);
    } else {
        cx.emit(scope, &payload);
    }
    if let Some(turn) = cx.turn() {
        turn.subagents.insert(id.to_owned(), Subagent { suspended: false });
    }
}

fn agent_status(cx: &mut Cx<'_>, id: &str, word: &str) {
    let payload = SubagentStatus { status: word.to_owned(), message: None };
    let scope = subagent_scope(cx, id);
    cx.emit(scope, &payload);
    if let Some(agent) = cx.turn().and_then(|turn| turn.subagents.get_mut(id)) {
        agent.suspended = word == "suspended";
    }
}

fn agent_ended(cx: &mut Cx<'_>, wire: &Wire, id: &str, error: bool) {
    let scope = subagent_scope(cx, id);
    if error {
        let payload = SubagentFailed {
            failure_category: "runtime_error".to_owned(),
            error: wire.message.clone(),
            code: wire.code.clone(),
        };
        cx.emit(scope, &payload);
    } else if matches!(outcome(wire).0, Outcome::Interrupt) {
        agent_status(cx, id, "suspended");
        return;
    } else {
        let summary = wire.result.as_ref().and_then(|r| r.read::<String>().ok());
        let payload = SubagentCompleted {
            output: wire.result.clone().filter(|_| summary.is_none()),
            summary,
            output_ref: None,
            usage: None,
        };
        cx.emit(scope, &payload);
    }
    if let Some(turn) = cx.turn() {
        turn.subagents.remove(id);
    }
}

fn others(cx: &mut Cx<'_>, wire: &Wire, raw: &JsonText, kind: &str) -> Option<bool> {
    match kind {
        "RAW" => cx.run.raw_events += 1,
        "CUSTOM" => {
            if wire.name.as_deref() == Some(people::ON_INTERRUPT) {
                people::note(cx, wire);
            }
            cx.warn("custom_event", wire.name.clone(), Some(raw));
        }
        _ => return None,
    }
    Some(true)
}
