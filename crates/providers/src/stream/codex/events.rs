//! Owns `event_msg`: what the user interface was told, of all versions.

use event_spine::event::family::diagnostics::{RateLimitHit, RuntimeError};
use event_spine::event::family::evidence::ReviewVerdict;
use event_spine::event::family::policy::SandboxBlocked;
use event_spine::event::value::{ToolKind, Verdict};
use event_spine::{EvidenceId, TaskId};
use serde_json::Value;

use super::cx::Cx;
use super::frame::{given, list, owned, text};
use super::state::{Form, Held};
use super::tools::Opening;
use super::{agents, context, items, people, tools, turn, usage};

/// Takes an event; `false` when its kind is not known.
pub(super) fn take(cx: &mut Cx<'_>, payload: &Value) -> bool {
    let kind = text(payload, "type").unwrap_or_default();
    if kind != "token_count" {
        items::let_go_of_reasoning(cx);
    }
    lifecycle(cx, kind, payload)
        || words(cx, kind, payload)
        || calls(cx, kind, payload)
        || diagnostics(cx, kind, payload)
}

fn lifecycle(cx: &mut Cx<'_>, kind: &str, payload: &Value) -> bool {
    match kind {
        "task_started" | "turn_started" => turn::task_started(cx, payload),
        "task_complete" | "turn_complete" => turn::task_complete(cx, payload),
        "turn_aborted" => turn::turn_aborted(cx, payload),
        "token_count" => {
            limits(cx, payload);
            usage::count(cx, payload);
        }
        "thread_settings_applied" => {
            let settings = payload.get("thread_settings").unwrap_or(payload).clone();
            context::snapshot(cx, "thread_settings", &settings);
        }
        "context_compacted" => context::compacted(cx, "event", payload),
        "thread_rolled_back" | "undo_completed" => context::rolled_back(cx, payload),
        "entered_review_mode" => {
            turn::ensure(cx);
            people::phase(cx, "review", "entered_review_mode");
        }
        "exited_review_mode" => reviewed(cx, payload),
        _ => return false,
    }
    true
}

fn words(cx: &mut Cx<'_>, kind: &str, payload: &Value) -> bool {
    match kind {
        "user_message" => turn::user_message(cx, None, payload),
        "agent_message" => {
            let words = owned(payload, "message").unwrap_or_default();
            items::agent_message(cx, None, words, text(payload, "phase"));
        }
        "agent_message_content_delta" => items::piece(cx, payload),
        "reasoning_content_delta" => items::reasoning_piece(cx, payload),
        "agent_reasoning" => items::reasoning_event(cx, text(payload, "text").unwrap_or_default()),
        "agent_reasoning_raw_content" => {
            items::raw_reasoning(cx, text(payload, "text").unwrap_or_default());
        }
        "agent_reasoning_section_break" => {}
        "plan_update" => items::plan_changed(cx, "event", payload),
        "item_completed" => {
            let Some(item) = payload.get("item") else {
                return false;
            };
            return completed(cx, item, payload);
        }
        "item_started" => {
            let Some(item) = payload.get("item") else {
                return false;
            };
            return began(cx, item);
        }
        _ => return false,
    }
    true
}

/// `item_completed`.
fn completed(cx: &mut Cx<'_>, item: &Value, frame: &Value) -> bool {
    let id = text(item, "id");
    match (text(item, "type").unwrap_or_default(), id) {
        ("UserMessage", id) => turn::user_message(cx, id, item),
        ("AgentMessage", id) => {
            let texts: Vec<&str> =
                list(item, "content").iter().filter_map(|c| text(c, "text")).collect();
            items::agent_message(cx, id, texts.join(""), text(item, "phase"));
        }
        ("Reasoning", _) => items::reasoning_item(cx, item),
        ("Plan", _) => items::plan_final(cx, item),
        ("CommandExecution", Some(id)) => tools::command(cx, id, item, frame),
        ("FileChange", Some(id)) => tools::file_change(cx, id, item, frame),
        ("McpToolCall" | "DynamicToolCall", Some(id)) => tools::mcp(cx, id, item, frame),
        ("CollabAgentToolCall", Some(id)) => agents::call(cx, id, item),
        ("SubAgentActivity", _) => agents::activity(cx, item),
        ("WebSearch", Some(id)) => {
            let args = given(item, "action").or_else(|| given(item, "query"));
            finished(cx, id, "web_search", Some(ToolKind::WebSearch), args);
        }
        ("ImageView", Some(id)) => {
            finished(cx, id, "view_image", Some(ToolKind::Function), given(item, "path"));
        }
        ("ImageGeneration", Some(id)) => {
            finished(cx, id, "image_generation", None, given(item, "revised_prompt"));
        }
        ("Sleep", Some(id)) => finished(cx, id, "sleep", None, given(item, "duration_ms")),
        ("ContextCompaction", _) => context::compacted(cx, "turn_item", item),
        _ => return false,
    }
    true
}

fn finished(
    cx: &mut Cx<'_>,
    call: &str,
    name: &str,
    kind: Option<ToolKind>,
    args: Option<event_spine::JsonText>,
) {
    let opening =
        Opening { name: name.to_owned(), kind, args, by_model: true, ..Opening::default() };
    tools::finished(cx, call, opening);
}

/// `item_started`: only calls begin before they end.
fn began(cx: &mut Cx<'_>, item: &Value) -> bool {
    match (text(item, "type").unwrap_or_default(), text(item, "id")) {
        ("CommandExecution", Some(id)) => tools::command_begins(cx, id, item),
        ("FileChange", Some(id)) => tools::patch_begins(cx, id, item),
        ("McpToolCall" | "DynamicToolCall", Some(id)) => tools::mcp(cx, id, item, item),
        ("CollabAgentToolCall", Some(id)) => agents::begins(cx, id, item),
        ("UserMessage" | "AgentMessage" | "Reasoning" | "Plan" | "WebSearch", _) => {}
        _ => return false,
    }
    true
}

fn calls(cx: &mut Cx<'_>, kind: &str, payload: &Value) -> bool {
    let Some(call) = text(payload, "call_id") else {
        if kind == "elicitation_request" || kind == "request_permissions" {
            people::asked(cx, kind, payload);
            return true;
        }
        return false;
    };
    match kind {
        "tool_output_delta" => tools::piece(cx, call, payload),
        "approval_answer" => people::answered(cx, call, payload),
        "approval_closed" => people::closed(cx, call),
        "exec_command_begin" => tools::command_begins(cx, call, payload),
        "exec_command_end" => tools::command(cx, call, payload, payload),
        "patch_apply_begin" => tools::patch_begins(cx, call, payload),
        "patch_apply_end" => tools::file_change(cx, call, payload, payload),
        "mcp_tool_call_begin" | "mcp_tool_call_end" => tools::mcp(cx, call, payload, payload),
        "web_search_begin" => {}
        "web_search_end" => {
            let args = given(payload, "action").or_else(|| given(payload, "query"));
            finished(cx, call, "web_search", Some(ToolKind::WebSearch), args);
        }
        "view_image_tool_call" => {
            finished(cx, call, "view_image", Some(ToolKind::Function), given(payload, "path"));
        }
        "image_generation_end" => {
            finished(cx, call, "image_generation", None, given(payload, "revised_prompt"));
        }
        "exec_approval_request"
        | "apply_patch_approval_request"
        | "request_permissions"
        | "request_user_input"
        | "elicitation_request" => people::asked(cx, kind, payload),
        "collab_agent_spawn_end" => agents::spawned(cx, payload),
        "collab_waiting_end" | "collab_close_end" | "collab_resume_end" => {
            if let Some(Value::Object(states)) = payload.get("statuses") {
                for (id, state) in states {
                    agents::stands(cx, id, state);
                }
            } else if let (Some(id), Some(state)) =
                (text(payload, "receiver_thread_id"), payload.get("status"))
            {
                agents::stands(cx, id, state);
            }
        }
        _ => return false,
    }
    true
}

fn diagnostics(cx: &mut Cx<'_>, kind: &str, payload: &Value) -> bool {
    match kind {
        "turn_diff" => tools::turn_diff(cx, payload),
        "error" => error(cx, payload),
        "stream_error" if cx.thread.form == Form::Exec => hold_error(cx, payload),
        "warning" | "guardian_warning" | "stream_error" | "background_event"
        | "deprecation_notice" | "model_reroute" => {
            let message = owned(payload, "message").or_else(|| owned(payload, "summary"));
            cx.warn(kind, message, Some(payload));
        }
        "sub_agent_activity" => agents::activity(cx, payload),
        _ => return false,
    }
    true
}

/// An error: if the turn then ends without saying why, this is why.
fn error(cx: &mut Cx<'_>, payload: &Value) {
    if let Some(turn) = cx.turn() {
        turn.error = Some(turn::failure(payload));
    }
    hold_error(cx, payload);
}

/// Before a turn fails its error is told, and told again as the turn's end: that is one fact.
fn hold_error(cx: &mut Cx<'_>, payload: &Value) {
    let_go_of_error(cx);
    cx.thread.held_error = Some(Held { place: cx.place.clone(), payload: payload.clone() });
}

/// The turn ends for that reason.
pub(super) fn ends_with(cx: &mut Cx<'_>, reason: Option<&str>) {
    let same = |held: &mut Held| reason.is_some() && text(&held.payload, "message") == reason;
    if cx.thread.held_error.take_if(same).is_none() {
        let_go_of_error(cx);
    }
}

/// An error that no end of a turn repeats.
pub(super) fn let_go_of_error(cx: &mut Cx<'_>) {
    let Some(Held { place, payload }) = cx.thread.held_error.take() else {
        return;
    };
    cx.at(place, |cx| match text(&payload, "type") {
        Some("error") => tell_error(cx, &payload),
        _ => cx.warn("stream_error", owned(&payload, "message"), Some(&payload)),
    });
}

fn tell_error(cx: &mut Cx<'_>, payload: &Value) {
    let failure = turn::failure(payload);
    let scope = cx.thread.scope();
    let error = RuntimeError {
        code: failure.category.clone(),
        message: failure.message.clone(),
        detail: given(payload, "codex_error_info"),
        fatal: false,
    };
    cx.emit(scope, &error);
    if failure.category == "sandbox_blocked" {
        sandbox(cx, failure.message.as_deref());
    }
}

/// The sandbox stopped something: Codex's own code says so.
fn sandbox(cx: &mut Cx<'_>, reason: Option<&str>) {
    turn::ensure(cx);
    let mut scope = cx.thread.scope();
    let turn = scope.get("turnId").unwrap_or_default().to_owned();
    // Which call it was, the error does not say; the turn is the work that was stopped.
    scope.task_id = Some(TaskId::derived(&[cx.thread.session.as_str(), &turn]));
    let mode = cx.thread.last_context.as_ref().and_then(|context| {
        let policy = context.get("sandbox_policy")?;
        owned(policy, "type").or_else(|| owned(policy, "mode"))
    });
    let payload = SandboxBlocked {
        reason: reason.unwrap_or("sandbox_error").to_owned(),
        operation: None,
        target: None,
        sandbox_mode: mode,
    };
    cx.emit(scope, &payload);
}

/// A limit that was reached.
fn limits(cx: &mut Cx<'_>, payload: &Value) {
    let Some(limits) = payload.get("rate_limits") else {
        return;
    };
    if let Some(reached) = owned(limits, "rate_limit_reached_type") {
        let scope = cx.thread.scope();
        let hit = RateLimitHit {
            provider: cx.thread.provider.clone(),
            retry_after_ms: None,
            detail: Some(reached),
        };
        cx.emit(scope, &hit);
    }
}

/// `exited_review_mode`.
fn reviewed(cx: &mut Cx<'_>, payload: &Value) {
    turn::ensure(cx);
    people::phase(cx, "running", "exited_review_mode");
    let Some(output) = payload.get("review_output").filter(|output| !output.is_null()) else {
        return;
    };
    let mut scope = cx.thread.scope();
    let parts = [cx.thread.id.as_str(), &cx.place.key, "review"];
    scope.evidence_id = Some(EvidenceId::derived(&parts));
    let verdict = ReviewVerdict {
        // How it judges is told in words, which are kept and not read.
        verdict: Verdict::Informational,
        reviewer: Some("codex".to_owned()),
        target: None,
        reason: owned(output, "overall_explanation")
            .or_else(|| owned(output, "overall_correctness")),
        fixes: list(output, "findings").iter().filter_map(|f| owned(f, "title")).collect(),
    };
    cx.emit(scope, &verdict);
}
