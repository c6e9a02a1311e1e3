//! Owns the life of turns: how they begin, what the person said, how they end, and what is closed with them.

use event_spine::event::family::context::{StreamInterrupted, StreamRepaired};
use event_spine::event::family::diagnostics::RateLimitHit;
use event_spine::event::family::evidence::EvidenceChanged;
use event_spine::event::family::lifecycle::{
    TurnCanceled, TurnCompleted, TurnFailed, TurnStarted, TurnSubmitted,
};
use event_spine::event::family::message::ModelFailed;
use event_spine::event::family::task::{TaskCreated, TaskUpdated};
use event_spine::event::value::{ContentPart, EvidenceStatus, Role, TaskStatus, ToolStatus};
use event_spine::{EvidenceId, TurnId};
use serde_json::Value;

use super::super::recovery::recovery;
use super::cx::Cx;
use super::frame::{list, number, owned, text};
use super::state::{Failure, Form, Turn, message_id, turn_id};
use super::{agents, context, events, items, people, tools, usage};

/// Why a turn ended that has no record of its end.
const NOT_RECORDED: &str = "end_not_recorded";

/// How a turn ends.
pub(super) enum Ending<'a> {
    Completed { duration_ms: Option<u64>, reason: Option<&'a str> },
    Canceled { reason: Option<&'a str> },
    Failed { failure: Failure, reason: Option<&'a str> },
}

/// `task_started`.
pub(super) fn task_started(cx: &mut Cx<'_>, payload: &Value) {
    cx.thread.says_ends = true;
    let id = text(payload, "turn_id").map(turn_id);
    if let Some(turn) = cx.turn() {
        // In some versions the person's words stand before the start of the work on them.
        if !turn.named && !turn.spoke && turn.submitted {
            turn.alias = id;
            return;
        }
        if id.as_ref() == Some(&turn.id) {
            return;
        }
    }
    end_unrecorded(cx);
    open(cx, id);
    let root = text(payload, "root_turn_id").map(turn_id);
    if let Some(turn) = cx.turn() {
        turn.root = root.filter(|root| *root != turn.id);
    }
    agents::announce(cx);
    if cx.thread.form == Form::Exec {
        ensure(cx); // no words of the user come
    }
    if std::mem::take(&mut cx.thread.broken) {
        // It goes on from what it has on disk; what was lost is lost for it too.
        repaired(cx, "tail_cut");
    }
}

fn repaired(cx: &mut Cx<'_>, method: &str) {
    let payload = StreamRepaired {
        method: Some(method.to_owned()),
        from_sequence: None,
        to_sequence: None,
        lost: None,
        detail: None,
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

fn open(cx: &mut Cx<'_>, id: Option<TurnId>) {
    cx.thread.turns += 1;
    let nth = cx.thread.turns;
    let named = || match &cx.thread.run {
        Some(run) => run.turn(&cx.thread.id, nth),
        None => TurnId::derived(&[cx.thread.id.as_str(), "turn", "", &nth.to_string()]),
    };
    let is_named = id.is_some();
    let mut turn = Turn::new(id.unwrap_or_else(named));
    turn.named = is_named;
    cx.thread.turn = Some(turn);
}

/// Something of a turn happens: it has begun, whoever did not say so.
pub(super) fn ensure(cx: &mut Cx<'_>) {
    if cx.thread.turn.is_none() {
        open(cx, None);
    }
    agents::announce(cx);
    context::let_go(cx);
    let scope = cx.thread.scope();
    let (model, provider, cwd) =
        (cx.thread.model.clone(), cx.thread.provider.clone(), cx.thread.cwd.clone());
    let Some(turn) = cx.turn() else {
        return;
    };
    let is_root = turn.root.is_none();
    let submitted = std::mem::replace(&mut turn.submitted, true);
    let started = std::mem::replace(&mut turn.started, true);
    if !submitted {
        cx.emit_synthetic(scope.clone(), &said(None, None, Vec::new(), None));
    }
    if !started {
        let payload = TurnStarted { model, provider, cwd, title: None };
        cx.emit(scope.clone(), &payload);
        if is_root {
            cx.emit(scope, &task_created());
        }
    }
}

fn task_created() -> TaskCreated {
    TaskCreated {
        objective: None,
        label: None,
        status: Some(TaskStatus::Running),
        kind: Some("codex.turn".to_owned()),
        depends_on: Vec::new(),
        attempt: None,
    }
}

fn said(
    role: Option<Role>,
    text: Option<String>,
    parts: Vec<ContentPart>,
    source: Option<&str>,
) -> TurnSubmitted {
    TurnSubmitted { role, text, parts, source: source.map(str::to_owned), input_ref: None }
}

/// What the person said: `UserMessage`, or `user_message` of older files.
pub(super) fn user_message(cx: &mut Cx<'_>, id: Option<&str>, content: &Value) {
    // The record of what went to the model says the same.
    cx.thread.held_users.pop();
    context::let_go(cx);
    let running = cx.turn().is_some_and(|turn| turn.submitted);
    if running && !cx.thread.says_ends {
        end_unrecorded(cx);
    }
    if cx.thread.turn.is_none() {
        open(cx, None);
    }
    agents::announce(cx);
    let steers = cx.turn().is_some_and(|turn| turn.submitted);
    let mut scope = cx.thread.scope();
    scope.message_id = id.map(message_id);
    let (text, parts) = input(content);
    let (role, source) = match (&cx.thread.agent, steers) {
        // What another agent asks for is not the speech of a person.
        (Some(_), _) => (Role::Assistant, "agent"),
        (None, true) => (Role::User, "steer"),
        (None, false) => (Role::User, "user"),
    };
    let payload = said(Some(role), Some(text), parts, Some(source));
    cx.emit(scope, &payload);
    if let Some(turn) = cx.turn() {
        turn.submitted = true;
        turn.ends_in_answer = false;
    }
    // In older files the model and the rest come behind what the person said.
    if cx.thread.says_ends {
        ensure(cx);
    }
}

/// The text of an input, and its parts when it is more than text.
fn input(content: &Value) -> (String, Vec<ContentPart>) {
    let mut parts = Vec::new();
    let mut words = Vec::new();
    if let Some(message) = text(content, "message") {
        words.push(message.to_owned());
    }
    for part in list(content, "content") {
        let kind = text(part, "type").unwrap_or("unknown");
        if let Some(text) = text(part, "text") {
            words.push(text.to_owned());
            parts.push(ContentPart::text(text));
            continue;
        }
        parts.push(image(kind, text(part, "path")));
    }
    let images = list(content, "images").len() + list(content, "local_images").len();
    parts.extend((0..images).map(|_| image("image", None)));
    let only_text = parts.iter().all(|part| part.kind == "text");
    (words.join(""), if only_text { Vec::new() } else { parts })
}

/// An image; inline data stays in the raw input.
fn image(kind: &str, path: Option<&str>) -> ContentPart {
    ContentPart {
        kind: kind.to_owned(),
        text: None,
        media_type: None,
        uri: path.map(str::to_owned),
        content_ref: None,
    }
}

/// True for the records that end a turn.
pub(super) fn is_end(kind: &str) -> bool {
    matches!(kind, "task_complete" | "turn_complete" | "turn_aborted")
}

/// `task_complete`.
pub(super) fn task_complete(cx: &mut Cx<'_>, payload: &Value) {
    if !is_current(cx, payload) {
        cx.warn("second_terminal", owned(payload, "type"), Some(payload));
        return;
    }
    let failure = payload
        .get("error")
        .filter(|error| !error.is_null())
        .map(failure)
        .or_else(|| cx.turn().and_then(|turn| turn.error.take()));
    let ending = match failure {
        Some(failure) => Ending::Failed { failure, reason: None },
        None => Ending::Completed { duration_ms: number(payload, "duration_ms"), reason: None },
    };
    end(cx, &ending);
}

/// `turn_aborted`.
pub(super) fn turn_aborted(cx: &mut Cx<'_>, payload: &Value) {
    if !is_current(cx, payload) {
        cx.warn("second_terminal", owned(payload, "type"), Some(payload));
        return;
    }
    end(cx, &Ending::Canceled { reason: text(payload, "reason") });
}

/// True when an end is that of the turn that goes on.
fn is_current(cx: &mut Cx<'_>, payload: &Value) -> bool {
    let id = text(payload, "turn_id").map(turn_id);
    cx.turn().is_some_and(|turn| id.is_none_or(|id| id == turn.id || Some(id) == turn.alias))
}

/// The category and the words of an error. The category follows from Codex's own code, never from the words.
pub(super) fn failure(error: &Value) -> Failure {
    let info = error.get("codex_error_info").unwrap_or(&Value::Null);
    let (code, status) = match info {
        Value::String(code) => (code.as_str(), None),
        Value::Object(tagged) => tagged
            .iter()
            .next()
            .map_or(("", None), |(code, more)| (code.as_str(), number(more, "http_status_code"))),
        _ => ("", None),
    };
    let category = match (code, status) {
        (_, Some(429)) | ("rate_limited", _) => "rate_limited",
        (_, Some(401)) | ("unauthorized", _) => "auth_failed",
        (_, Some(403)) => "forbidden",
        (_, Some(404)) => "not_found",
        (_, Some(500..)) | ("internal_server_error" | "server_overloaded", _) => "server_error",
        ("context_window_exceeded", _) => "context_too_long",
        ("usage_limit_exceeded", _) => "quota_exceeded",
        ("bad_request", _) => "client_error",
        ("sandbox_error", _) => "sandbox_blocked",
        ("response_stream_disconnected", _) => "stream_interrupted",
        (
            "http_connection_failed"
            | "response_stream_connection_failed"
            | "response_too_many_failed_attempts",
            _,
        ) => "network_error",
        _ => "runtime_error",
    };
    Failure { category: category.to_owned(), message: owned(error, "message") }
}

/// A turn ends without a record of it: another one begins, or the file ends.
pub(super) fn end_unrecorded(cx: &mut Cx<'_>) {
    let says_ends = cx.thread.says_ends;
    let idle = cx.thread.open.is_empty();
    let Some(turn) = cx.turn() else {
        return;
    };
    // Older files record no ends. There a turn ends with the answer behind which the model asks for nothing more.
    if !says_ends && idle && turn.ends_in_answer && turn.error.is_none() {
        end(cx, &Ending::Completed { duration_ms: None, reason: Some(NOT_RECORDED) });
        return;
    }
    let failure =
        turn.error.take().unwrap_or(Failure { category: "incomplete".to_owned(), message: None });
    if says_ends {
        ensure(cx);
        let payload = StreamInterrupted {
            reason: NOT_RECORDED.to_owned(),
            last_source_sequence: None,
            expected_source_sequence: None,
        };
        let scope = cx.thread.scope();
        cx.emit_synthetic(scope, &payload);
        cx.thread.broken = true;
    }
    end(cx, &Ending::Failed { failure, reason: Some(NOT_RECORDED) });
}

/// The input ended.
pub(super) fn end_of_input(cx: &mut Cx<'_>, cut: bool) {
    if cut
        && let Some(turn) = cx.turn()
        && turn.error.is_none()
    {
        turn.error = Some(Failure { category: "stream_interrupted".to_owned(), message: None });
    }
    end_unrecorded(cx);
}

fn end(cx: &mut Cx<'_>, ending: &Ending<'_>) {
    ensure(cx);
    events::ends_with(
        cx,
        match ending {
            Ending::Failed { failure, reason: None } => failure.message.as_deref(),
            Ending::Failed { .. } | Ending::Completed { .. } | Ending::Canceled { .. } => None,
        },
    );
    let (category, status) = match ending {
        Ending::Completed { .. } => ("no_result", ToolStatus::Interrupted),
        Ending::Canceled { .. } | Ending::Failed { .. } => ("interrupted", ToolStatus::Interrupted),
    };
    tools::fail_open(cx, category, status);
    people::cancel_open(cx);
    items::cut_off(cx);
    usage::missing(cx);
    if let Ending::Failed { failure, .. } = ending {
        model_failed(cx, failure);
    }
    evidence(cx, matches!(ending, Ending::Failed { .. }));
    task_updated(cx, ending);
    terminal(cx, ending);
    if cx.thread.left_open.is_some()
        && cx.thread.left_open == cx.thread.turn.as_ref().map(|turn| turn.id.clone())
        && cx.place.frame > 0
    {
        cx.thread.left_open = None;
        repaired(cx, "replay");
    }
    cx.thread.last_turn = cx.thread.turn.take().map(|turn| turn.id);
}

/// The failures that are those of a model call.
fn model_failed(cx: &mut Cx<'_>, failure: &Failure) {
    if matches!(failure.category.as_str(), "runtime_error" | "incomplete" | "sandbox_blocked") {
        return;
    }
    if matches!(failure.category.as_str(), "rate_limited" | "quota_exceeded") {
        let scope = cx.thread.scope();
        let payload = RateLimitHit {
            provider: cx.thread.provider.clone(),
            retry_after_ms: None,
            detail: failure.message.clone(),
        };
        cx.emit(scope, &payload);
    }
    let mut scope = cx.step_scope();
    let turn = scope.turn_id.as_ref().map_or("", TurnId::as_str);
    scope.message_id = Some(event_spine::MessageId::derived(&[turn, "failed"]));
    let payload = ModelFailed {
        failure_category: failure.category.clone(),
        error: failure.message.clone(),
        code: None,
        retryable: None,
        partial_text: None,
    };
    if cx.place.frame == 0 || failure.message.is_none() {
        cx.emit_synthetic(scope, &payload);
    } else {
        cx.emit(scope, &payload);
    }
}

/// The recording of a turn is the evidence for it.
fn evidence(cx: &mut Cx<'_>, failed: bool) {
    let mut scope = cx.thread.scope();
    let turn = scope.turn_id.as_ref().map_or("", TurnId::as_str).to_owned();
    let parts = [cx.thread.session.as_str(), cx.thread.id.as_str(), &turn, "recording"];
    scope.evidence_id = Some(EvidenceId::derived(&parts));
    let payload = EvidenceChanged {
        kind: Some("source".to_owned()),
        title: Some(format!("{} of turn {turn}", cx.thread.form.recording())),
        status: Some(if failed { EvidenceStatus::Partial } else { EvidenceStatus::Ready }),
        location: None,
        summary: None,
        claim: None,
    };
    cx.emit(scope, &payload);
}

fn task_updated(cx: &mut Cx<'_>, ending: &Ending<'_>) {
    if cx.turn().is_none_or(|turn| turn.root.is_some()) {
        return;
    }
    let (status, error) = match ending {
        Ending::Completed { .. } => (TaskStatus::Completed, None),
        Ending::Canceled { .. } => (TaskStatus::Cancelled, None),
        Ending::Failed { failure, .. } => (TaskStatus::Failed, failure.message.clone()),
    };
    let payload = TaskUpdated {
        status: Some(status),
        native_status: None,
        label: None,
        progress: None,
        attempt: None,
        error,
        summary: None,
    };
    let scope = cx.thread.scope();
    cx.emit(scope, &payload);
}

fn terminal(cx: &mut Cx<'_>, ending: &Ending<'_>) {
    let scope = cx.thread.scope();
    match ending {
        Ending::Completed { duration_ms, reason } => {
            let payload = TurnCompleted {
                reason: reason.map(str::to_owned),
                detail: None,
                terminal_status: reason.map(|_| "unknown".to_owned()),
                duration_ms: *duration_ms,
                usage: None,
            };
            if reason.is_some() {
                cx.emit_synthetic(scope, &payload);
            } else {
                cx.emit(scope, &payload);
            }
        }
        Ending::Canceled { reason } => {
            let payload = TurnCanceled {
                reason: reason.map(str::to_owned),
                detail: None,
                terminal_status: None,
                canceled_by: reason.filter(|r| *r == "interrupted").map(|_| "user".to_owned()),
            };
            cx.emit(scope, &payload);
        }
        Ending::Failed { failure, reason } => {
            let payload = TurnFailed {
                failure_category: failure.category.clone(),
                error: failure.message.clone(),
                reason: reason.map(str::to_owned),
                detail: None,
                terminal_status: None,
                recovery: recovery(&failure.category).map(str::to_owned),
                usage: None,
            };
            if reason.is_some() {
                cx.emit_synthetic(scope, &payload);
            } else {
                cx.emit(scope, &payload);
            }
        }
    }
}
