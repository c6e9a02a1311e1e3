//! Owns `response_item`: what went to the model and came from it. The events tell most of it too; each fact is told once.

use event_spine::event::family::message::{ModelCompleted, ModelDelta, ModelFailed};
use event_spine::event::family::reasoning::{
    PlanDelta, PlanFinal, ReasoningDelta, ReasoningSummary,
};
use event_spine::event::value::{PlanItem, PlanStatus, ToolKind, ToolStatus};
use event_spine::{JsonText, MessageId, Scope, TurnId};
use serde_json::Value;

use super::cx::Cx;
use super::frame::{given, json, list, message_text, owned, text};
use super::state::{Held, message_id, part_id};
use super::tools::{self, Opening, Outcome};
use super::{context, turn};

/// Takes a response item; `false` when its kind is not known.
pub(super) fn take(cx: &mut Cx<'_>, payload: &Value) -> bool {
    let kind = text(payload, "type").unwrap_or_default();
    let call = text(payload, "call_id").or_else(|| text(payload, "id"));
    if kind != "reasoning" {
        let_go_of_reasoning(cx);
    }
    match (kind, call) {
        ("message", _) => message(cx, payload),
        ("reasoning", _) => reasoning(cx, payload),
        (
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call",
            Some(call),
        ) => {
            asked(cx, call, payload);
        }
        ("function_call_output" | "custom_tool_call_output" | "tool_search_output", Some(call)) => {
            tools::output(cx, call, payload);
        }
        ("web_search_call" | "image_generation_call", Some(call)) => {
            hosted(cx, kind, call, payload)
        }
        ("compaction" | "compaction_summary" | "context_compaction", _) => {
            context::compacted(cx, "item", &Value::Null);
        }
        ("additional_tools", _) => {
            let size = payload.to_string().len();
            context::attached(cx, "tools", Some("additional_tools"), "codex", size);
        }
        ("ghost_snapshot", _) => {
            let commit = payload.get("ghost_commit").unwrap_or(payload).clone();
            context::snapshot(cx, "ghost_snapshot", &commit);
        }
        _ => return false,
    }
    true
}

fn message(cx: &mut Cx<'_>, payload: &Value) {
    if text(payload, "role") != Some("assistant") {
        context::message(cx, payload);
        return;
    }
    turn::ensure(cx);
    let id = text(payload, "id");
    if let Some(turn) = cx.turn() {
        let by_item = id.is_some_and(|id| !turn.told.insert(id.to_owned()));
        if by_item || !turn.messages.first("item") {
            return;
        }
    }
    answered(cx, id, message_text(payload), text(payload, "phase"));
}

/// An answer as an event of its own: `AgentMessage`, or `agent_message` of older files, which has no id.
pub(super) fn agent_message(cx: &mut Cx<'_>, id: Option<&str>, words: String, phase: Option<&str>) {
    turn::ensure(cx);
    if let Some(turn) = cx.turn() {
        let first = match id {
            Some(id) => turn.told.insert(id.to_owned()),
            None => turn.messages.first("event"),
        };
        if !first {
            return;
        }
    }
    answered(cx, id, words, phase);
}

fn answered(cx: &mut Cx<'_>, id: Option<&str>, words: String, phase: Option<&str>) {
    let scope = spoken(cx, id, "text");
    let payload = ModelCompleted {
        text: Some(words),
        mode: None,
        role: None,
        is_final: phase == Some("final_answer"),
        finish_reason: None,
        usage: None,
        model: cx.thread.model.clone(),
        parts: Vec::new(),
    };
    cx.emit(scope, &payload);
    if let Some(turn) = cx.turn() {
        turn.ends_in_answer = true;
        if let Some(id) = id {
            turn.streaming.remove(id);
        }
    }
}

/// Where something that the model said belongs; without an id it is the n-th of its turn.
fn spoken(cx: &mut Cx<'_>, id: Option<&str>, part: &str) -> Scope {
    if let Some(turn) = cx.turn() {
        turn.model_acts();
        turn.nth_message += 1;
    }
    let mut scope = cx.step_scope();
    let nth = cx.turn().map_or(0, |turn| turn.nth_message).to_string();
    let turn = scope.turn_id.as_ref().map_or("", TurnId::as_str);
    let message = id.map_or_else(|| MessageId::derived(&[turn, &nth]), message_id);
    scope.part_id = Some(part_id(&format!("{message}/{part}")));
    scope.message_id = Some(message);
    scope
}

/// A piece of an answer, in live streams. The item that follows has the whole.
pub(super) fn piece(cx: &mut Cx<'_>, payload: &Value) {
    let (Some(id), Some(delta)) = (text(payload, "item_id"), owned(payload, "delta")) else {
        return;
    };
    turn::ensure(cx);
    if let Some(turn) = cx.turn() {
        turn.model_acts();
        turn.streaming.insert(id.to_owned());
    }
    let scope = part_of(cx, id, "text");
    cx.emit(scope, &ModelDelta { delta, role: None });
}

/// A piece of reasoning, in live streams.
pub(super) fn reasoning_piece(cx: &mut Cx<'_>, payload: &Value) {
    let (Some(id), Some(delta)) = (text(payload, "item_id"), owned(payload, "delta")) else {
        return;
    };
    turn::ensure(cx);
    if let Some(turn) = cx.turn() {
        turn.model_acts();
    }
    let scope = part_of(cx, id, "reasoning");
    cx.emit(scope, &ReasoningDelta { delta });
}

fn part_of(cx: &Cx<'_>, id: &str, part: &str) -> Scope {
    let mut scope = cx.step_scope();
    scope.message_id = Some(message_id(id));
    scope.part_id = Some(part_id(&format!("{id}/{part}")));
    scope
}

/// Answers of which only pieces came.
pub(super) fn cut_off(cx: &mut Cx<'_>) {
    let cut = cx.turn().map(|turn| std::mem::take(&mut turn.streaming)).unwrap_or_default();
    for id in cut {
        let payload = ModelFailed {
            failure_category: "stream_interrupted".to_owned(),
            error: None,
            code: None,
            retryable: None,
            partial_text: None,
        };
        let scope = part_of(cx, &id, "text");
        cx.emit_synthetic(scope, &payload);
    }
}

/// Reasoning: what the model shows of it, and whether it holds an opaque form, which is not kept.
fn reasoning(cx: &mut Cx<'_>, payload: &Value) {
    let encrypted = payload.get("encrypted_content").is_some_and(|c| !c.is_null());
    let held = cx.thread.held_reasoning.take();
    let id = text(payload, "id");
    let parts: Vec<&str> =
        list(payload, "summary").iter().filter_map(|p| text(p, "text")).collect();
    if let Some(held) = held {
        if id.is_some() && text(&held.payload, "id") == id {
            summarised(cx, id, parts.join("\n\n"), encrypted);
            return;
        }
        cx.thread.held_reasoning = Some(held);
        let_go_of_reasoning(cx);
    }
    turn::ensure(cx);
    let Some(turn) = cx.turn() else {
        return;
    };
    if id.is_some_and(|id| !turn.told.insert(id.to_owned())) {
        return;
    }
    let fresh: Vec<&str> = parts.into_iter().filter(|_| turn.reasoning.first("item")).collect();
    if !fresh.is_empty() {
        summarised(cx, id, fresh.join("\n\n"), encrypted);
    } else if encrypted {
        let scope = spoken(cx, id, "encrypted");
        cx.emit(scope, &ReasoningSummary { text: String::new(), encrypted });
    }
}

fn summarised(cx: &mut Cx<'_>, id: Option<&str>, words: String, encrypted: bool) {
    turn::ensure(cx);
    if let (Some(turn), Some(id)) = (cx.turn(), id) {
        turn.told.insert(id.to_owned());
    }
    let scope = spoken(cx, id, "reasoning");
    cx.emit(scope, &ReasoningSummary { text: words, encrypted });
    if let Some(turn) = cx.turn() {
        turn.ends_in_answer = false;
    }
}

/// `Reasoning` as an item: it waits a line for the other record, which says whether there is an opaque form.
pub(super) fn reasoning_item(cx: &mut Cx<'_>, item: &Value) {
    let_go_of_reasoning(cx);
    let told = text(item, "id").is_some_and(|id| cx.turn().is_some_and(|t| t.told.contains(id)));
    if !told {
        cx.thread.held_reasoning = Some(Held { place: cx.place.clone(), payload: item.clone() });
    }
}

/// `agent_reasoning` of older files.
pub(super) fn reasoning_event(cx: &mut Cx<'_>, words: &str) {
    turn::ensure(cx);
    if cx.turn().is_some_and(|turn| turn.reasoning.first("event")) {
        summarised(cx, None, words.to_owned(), false);
    }
}

/// `agent_reasoning_raw_content` of older files.
pub(super) fn raw_reasoning(cx: &mut Cx<'_>, words: &str) {
    turn::ensure(cx);
    let scope = spoken(cx, None, "reasoning");
    cx.emit(scope, &ReasoningDelta { delta: words.to_owned() });
}

/// Reasoning whose other record did not come.
pub(super) fn let_go_of_reasoning(cx: &mut Cx<'_>) {
    let Some(Held { place, payload }) = cx.thread.held_reasoning.take() else {
        return;
    };
    let parts: Vec<&str> =
        list(&payload, "summary_text").iter().filter_map(Value::as_str).collect();
    let words = parts.join("\n\n");
    cx.at(place, |cx| summarised(cx, text(&payload, "id"), words, false));
}

/// The model asks for a tool.
fn asked(cx: &mut Cx<'_>, call: &str, payload: &Value) {
    let name = text(payload, "name").unwrap_or(match text(payload, "type") {
        Some("local_shell_call") => "local_shell",
        Some("tool_search_call") => "tool_search",
        _ => "unknown",
    });
    // Arguments are JSON inside a string; those of custom tools are any text.
    let (args, raw) = match payload.get("arguments").or_else(|| payload.get("input")) {
        Some(Value::String(words)) => match JsonText::parse(words) {
            Ok((args, _)) => (Some(args), None),
            Err(_) => (None, Some(words.clone())),
        },
        Some(other) => (json(other), None),
        None => (given(payload, "action"), None),
    };
    let free_text = text(payload, "type") == Some("custom_tool_call");
    let opening = Opening {
        name: name.to_owned(),
        kind: super::state::kind_of(name, text(payload, "namespace")),
        by_model: true,
        title: None,
        cwd: None,
        invalid: raw.is_some() && !free_text,
        args: args.clone(),
        raw,
    };
    tools::open(cx, call, opening);
    if name == "update_plan"
        && let Some(plan) = args.and_then(|args| args.read::<Value>().ok())
    {
        plan_changed(cx, "call", &plan);
    }
}

/// A tool that the model's provider runs: it is over when it is recorded.
fn hosted(cx: &mut Cx<'_>, kind: &str, call: &str, payload: &Value) {
    let (name, tool) = match kind {
        "web_search_call" => ("web_search", Some(ToolKind::WebSearch)),
        _ => ("image_generation", None),
    };
    let opening = Opening {
        name: name.to_owned(),
        kind: tool,
        by_model: true,
        args: given(payload, "action").or_else(|| given(payload, "revised_prompt")),
        ..Opening::default()
    };
    tools::open(cx, call, opening);
    let status = match text(payload, "status") {
        Some("completed") => ToolStatus::Succeeded,
        Some("failed") => ToolStatus::Failed,
        _ => ToolStatus::Unknown,
    };
    tools::settle(cx, call, Outcome { status, ..Outcome::default() });
}

/// The plan: the call that changes it and the event tell the same.
pub(super) fn plan_changed(cx: &mut Cx<'_>, record: &'static str, payload: &Value) {
    turn::ensure(cx);
    if !cx.turn().is_some_and(|turn| turn.plans.first(record)) {
        return;
    }
    let item = |step: &Value| PlanItem {
        text: owned(step, "step").unwrap_or_default(),
        id: None,
        status: text(step, "status").map(|word| {
            serde_json::from_value(super::frame::snake(word).into()).unwrap_or(PlanStatus::Unknown)
        }),
    };
    let delta = PlanDelta {
        items: list(payload, "plan").iter().map(item).collect(),
        replace: true,
        text: owned(payload, "explanation"),
    };
    let scope = cx.step_scope();
    cx.emit(scope, &delta);
}

/// `Plan`: the plan that a planning turn ends with.
pub(super) fn plan_final(cx: &mut Cx<'_>, item: &Value) {
    turn::ensure(cx);
    let scope = spoken(cx, text(item, "id"), "plan");
    let payload = PlanFinal { items: Vec::new(), text: owned(item, "text") };
    cx.emit(scope, &payload);
}
