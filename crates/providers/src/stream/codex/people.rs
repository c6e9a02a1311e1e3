//! Owns approvals, as far as a rollout has them: what was asked. What was answered follows from what then happened.

use event_spine::event::family::lifecycle::RunStatus;
use event_spine::event::family::policy::{ActionCancelled, ActionRequired, ActionResolved};
use event_spine::event::value::ToolStatus;
use event_spine::{ActionId, JsonText, Scope};
use serde_json::Value;

use super::cx::Cx;
use super::frame::{given, json, list, owned, text};
use super::state::{Asked, action_id, tool_call_id};
use super::{tools, turn};

/// `exec_approval_request`, `apply_patch_approval_request`, `request_user_input`, `elicitation_request` and the like.
pub(super) fn asked(cx: &mut Cx<'_>, kind: &str, payload: &Value) {
    turn::ensure(cx);
    let call = text(payload, "call_id").or_else(|| text(payload, "approval_id"));
    let key =
        call.or_else(|| text(payload, "id")).map_or_else(|| cx.place.key.clone(), str::to_owned);
    if cx.turn().is_some_and(|turn| turn.actions.contains_key(&key)) {
        return;
    }
    let id = action_id(&key);
    let (action_type, tool_name) = match kind {
        "exec_approval_request" => ("tool_permission", Some("exec_command")),
        "apply_patch_approval_request" => ("tool_permission", Some("apply_patch")),
        "request_permissions" => ("approval", None),
        "elicitation_request" => ("elicitation", None),
        _ => ("question", None),
    };
    let questions = list(payload, "questions");
    let action = ActionRequired {
        action_type: action_type.to_owned(),
        title: questions.first().and_then(|q| owned(q, "question")),
        reason: owned(payload, "reason").or_else(|| owned(payload, "message")),
        tool_name: tool_name.map(str::to_owned),
        arguments: arguments(payload).or_else(|| tools::changes_of(cx, &key)),
        arguments_hash: None,
        risk: None,
        choices: choices(payload),
        response_schema: None,
        expires_at: None,
        rule_id: None,
    };
    let scope = scope(cx, &key, &id);
    cx.emit(scope, &action);
    if let Some(turn) = cx.turn() {
        turn.actions.insert(key, Asked { id, answered: None });
    }
    phase(cx, "waiting", "approval");
}

/// The answers that are offered, as words.
fn choices(payload: &Value) -> Vec<String> {
    let word = |choice: &Value| match choice {
        Value::String(word) => Some(word.clone()),
        Value::Object(tagged) => tagged.keys().next().cloned(),
        _ => None,
    };
    list(payload, "available_decisions").iter().filter_map(word).collect()
}

/// What is to be done, without what only ties it to its call.
fn arguments(payload: &Value) -> Option<JsonText> {
    let mut asked = payload.clone();
    if let Value::Object(members) = &mut asked {
        for name in ["type", "call_id", "turn_id", "approval_id", "reason", "available_decisions"] {
            members.shift_remove(name);
        }
    }
    let says_nothing = asked.as_object().is_some_and(serde_json::Map::is_empty);
    json(&asked).filter(|_| !says_nothing).or_else(|| given(payload, "command"))
}

fn scope(cx: &Cx<'_>, key: &str, id: &ActionId) -> Scope {
    let mut scope = cx.step_scope();
    if let Some(tool) = tools::scope_of(cx, key) {
        scope.step_id = tool.step_id;
        scope.tool_call_id = Some(tool_call_id(key));
    }
    scope.action_id = Some(id.clone());
    scope
}

pub(super) fn phase(cx: &mut Cx<'_>, phase: &str, detail: &str) {
    let payload = RunStatus {
        phase: phase.to_owned(),
        from: None,
        title: None,
        attempt: None,
        detail: Some(detail.to_owned()),
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

/// What the client answered, where the stream has it.
pub(super) fn answered(cx: &mut Cx<'_>, call: &str, payload: &Value) {
    let decision = payload.get("decision").unwrap_or(&Value::Null);
    let word = match decision {
        Value::String(word) => word.as_str(),
        Value::Object(tagged) => tagged.keys().next().map_or("", String::as_str),
        _ => "",
    };
    let (decided, resolved_as) = match word {
        "accept"
        | "acceptForSession"
        | "acceptWithExecpolicyAmendment"
        | "approved"
        | "approved_for_session" => ("approve", Some("approved")),
        "decline" | "cancel" | "denied" | "abort" => ("reject", Some("rejected")),
        _ => ("answer", Some("answered")),
    };
    let Some(Asked { id, .. }) = cx.turn().and_then(|turn| turn.actions.remove(call)) else {
        return;
    };
    let mut made = resolved(decided, resolved_as);
    made.response = json(decision);
    made.remember_scope = word.ends_with("ForSession").then(|| "session".to_owned());
    let scope = scope(cx, call, &id);
    cx.emit(scope, &made);
    phase(cx, "running", "answered");
}

fn resolved(decision: &str, resolved_as: Option<&str>) -> ActionResolved {
    ActionResolved {
        decision: decision.to_owned(),
        resolved_as: resolved_as.map(str::to_owned),
        source: None,
        decided_by: None,
        remember_scope: None,
        response: None,
        edited_arguments: None,
        reason: None,
    }
}

/// The question was answered. The answer itself follows from what then happens, if anything tells it at all.
pub(super) fn closed(cx: &mut Cx<'_>, call: &str) {
    let time = cx.place.time.clone();
    if let Some(asked) = cx.turn().and_then(|turn| turn.actions.get_mut(call)) {
        asked.answered = Some(time);
    }
}

/// The call began to run, so it was allowed.
pub(super) fn began(cx: &mut Cx<'_>, call: &str) {
    resolve(cx, call, "approve", Some("approved"));
}

/// The call ended: if it was refused, that was the answer; if it ran, it was allowed. A failure without an exit status
/// does not say that it ran.
pub(super) fn settled(cx: &mut Cx<'_>, call: &str, status: ToolStatus, exited: bool) {
    match status {
        ToolStatus::Rejected | ToolStatus::Denied => resolve(cx, call, "reject", Some("rejected")),
        ToolStatus::Succeeded | ToolStatus::PartialSucceeded => {
            resolve(cx, call, "approve", Some("approved"));
        }
        ToolStatus::Failed if exited => resolve(cx, call, "approve", Some("approved")),
        ToolStatus::Failed
        | ToolStatus::Cancelled
        | ToolStatus::TimedOut
        | ToolStatus::Interrupted
        | ToolStatus::Unknown => resolve(cx, call, "unknown", None),
    }
}

fn resolve(cx: &mut Cx<'_>, call: &str, decision: &str, resolved_as: Option<&str>) {
    if let Some(asked) = cx.turn().and_then(|turn| turn.actions.remove(call)) {
        follow(cx, call, &asked, decision, resolved_as);
        phase(cx, "running", "answered");
    }
}

/// Tells an answer that follows from what happened, at the time at which it was given, where that is known.
fn follow(cx: &mut Cx<'_>, call: &str, asked: &Asked, decision: &str, resolved_as: Option<&str>) {
    let payload = resolved(decision, resolved_as);
    let scope = scope(cx, call, &asked.id);
    let mut place = cx.place.clone();
    if let Some(time) = &asked.answered {
        place.time.clone_from(time);
    }
    cx.at(place, |cx| cx.emit_synthetic(scope, &payload));
}

/// Questions that are open when a turn ends.
pub(super) fn cancel_open(cx: &mut Cx<'_>) {
    let open = cx.turn().map(|turn| std::mem::take(&mut turn.actions)).unwrap_or_default();
    for (key, asked) in open {
        if asked.answered.is_some() {
            follow(cx, &key, &asked, "unknown", None);
            continue;
        }
        let payload = ActionCancelled { reason: Some("turn_ended".to_owned()), cancelled_by: None };
        let scope = scope(cx, &key, &asked.id);
        cx.emit_synthetic(scope, &payload);
    }
}
