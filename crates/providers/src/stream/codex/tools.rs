//! Owns tool calls: the call that the model makes, the item that says how it went, and the output that went back.
//!
//! The output is prose for the model ("Process exited with code 3"); how a call ended is taken from the items only.

use event_spine::event::family::artifact::ArtifactChanged;
use event_spine::event::family::tool::{
    ToolArgs, ToolFailed, ToolProgress, ToolResult, ToolStarted,
};
use event_spine::event::value::{ArgsState, ArtifactChange, ToolKind, ToolStatus};
use event_spine::{JsonText, Scope};
use serde_json::Value;

use super::super::recovery::{recovery, unanswered};
use super::cx::Cx;
use super::frame::{command_line, given, json, millis, owned, snake, text};
use super::state::{Tool, tool_call_id, turn_id};
use super::{output, people, turn};

/// How much of a new file is shown, in characters.
const PREVIEW: usize = 400;

/// How many files of a patch are named in its title.
const NAMED: usize = 5;

/// What is known of a call when it begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Opening {
    pub(super) name: String,
    pub(super) kind: Option<ToolKind>,
    pub(super) title: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) args: Option<JsonText>,
    /// The model asked for it; otherwise a call that runs made it.
    pub(super) by_model: bool,
    /// Arguments that are no JSON.
    pub(super) raw: Option<String>,
    pub(super) invalid: bool,
}

/// What is known of a call when it ends.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) status: ToolStatus,
    pub(super) output: Option<JsonText>,
    /// The part of the output that a person reads, where that is not all of it.
    pub(super) preview: Option<String>,
    pub(super) error: Option<String>,
    pub(super) exit_code: Option<i64>,
    pub(super) duration_ms: Option<u64>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            status: ToolStatus::Unknown,
            output: None,
            preview: None,
            error: None,
            exit_code: None,
            duration_ms: None,
        }
    }
}

/// A call begins, unless it has.
pub(super) fn open(cx: &mut Cx<'_>, call: &str, opening: Opening) {
    if cx.thread.open.contains_key(call) || cx.thread.settled.contains(call) {
        return;
    }
    turn::ensure(cx);
    if let Some(turn) = cx.turn() {
        if opening.by_model {
            turn.model_acts();
        }
        turn.ends_in_answer = false;
    }
    let tool = Tool {
        name: opening.name.clone(),
        kind: opening.kind,
        step: cx.thread.step(),
        verdict: None,
        over: false,
        changes: None,
    };
    let scope = scope(cx, call, &tool);
    let args = ToolArgs {
        tool_name: Some(opening.name.clone()),
        state: if opening.invalid { ArgsState::Invalid } else { ArgsState::Available },
        delta: None,
        args: opening.args,
        raw: opening.raw,
        args_ref: None,
    };
    cx.emit(scope.clone(), &args);
    let started = ToolStarted {
        tool_name: opening.name,
        tool_kind: opening.kind,
        title: opening.title,
        args: None,
        args_ref: None,
        safety: None,
        native_tool_call_id: None,
        cwd: opening.cwd,
    };
    cx.emit(scope, &started);
    cx.thread.open.insert(call.to_owned(), tool);
}

fn scope(cx: &Cx<'_>, call: &str, tool: &Tool) -> Scope {
    let mut scope = cx.thread.scope();
    scope.step_id = Some(tool.step.clone());
    scope.tool_call_id = Some(tool_call_id(call));
    scope
}

/// Where an event about an open call belongs.
pub(super) fn scope_of(cx: &Cx<'_>, call: &str) -> Option<Scope> {
    cx.thread.open.get(call).map(|tool| scope(cx, call, tool))
}

/// The output that went back to the model. It closes a call of which no item said how it ended.
pub(super) fn output(cx: &mut Cx<'_>, call: &str, payload: &Value) {
    if cx.thread.settled.contains(call) {
        return;
    }
    let given = payload.get("output").or_else(|| payload.get("tools"));
    // Some versions wrap the text and say whether it is a success.
    let success = given.and_then(|output| output.get("success")?.as_bool());
    let content = given.and_then(|output| output.get("content")).or(given);
    if !cx.thread.open.contains_key(call) {
        open(cx, call, Opening { name: "unknown".to_owned(), ..Opening::default() });
    }
    let tool = cx.thread.open.get(call);
    let verdict = tool.and_then(|tool| tool.verdict);
    let is_command = tool.is_some_and(|tool| tool.kind == Some(ToolKind::Command));
    if let Some(ran) = content.filter(|_| is_command && verdict.is_none()).and_then(ran) {
        settle(cx, call, ran);
        return;
    }
    let refused = content.filter(|_| is_command).and_then(output::refused);
    let status = match (verdict, success, refused) {
        (Some(verdict), _, _) => verdict,
        (None, Some(true), _) => ToolStatus::Succeeded,
        (None, Some(false), _) => ToolStatus::Failed,
        (None, None, Some(refused)) => refused,
        (None, None, None) => ToolStatus::Unknown,
    };
    let given = content.filter(|c| !c.is_null());
    let outcome = Outcome {
        status,
        preview: given.and_then(output::preview),
        error: refused.and(given).and_then(Value::as_str).map(str::to_owned),
        // The words of a refusal stand in the place of an output.
        output: given.filter(|_| refused.is_none()).and_then(json),
        ..Outcome::default()
    };
    settle(cx, call, outcome);
}

/// The output of the shell tool of 2025: JSON inside a string, with the exit status as a number.
fn ran(content: &Value) -> Option<Outcome> {
    let inner: Value = serde_json::from_str(content.as_str()?).ok()?;
    let facts = inner.get("metadata")?;
    let exit_code = facts.get("exit_code")?.as_i64()?;
    let seconds = facts.get("duration_seconds").and_then(Value::as_f64);
    Some(Outcome {
        status: match exit_code {
            0 => ToolStatus::Succeeded,
            _ => ToolStatus::Failed,
        },
        output: inner.get("output").and_then(json),
        preview: None,
        error: None,
        exit_code: Some(exit_code),
        duration_ms: seconds.map(|s| (s * 1000.0) as u64),
    })
}

/// A call ends.
pub(super) fn settle(cx: &mut Cx<'_>, call: &str, outcome: Outcome) {
    let Some(tool) = cx.thread.open.remove(call) else {
        return;
    };
    people::settled(cx, call, outcome.status, outcome.exit_code.is_some());
    let scope = scope(cx, call, &tool);
    let (failed, category) = match outcome.status {
        ToolStatus::Failed => (true, "execution_failed"),
        ToolStatus::Rejected | ToolStatus::Denied => (true, "permission_denied"),
        ToolStatus::TimedOut => (true, "timeout"),
        ToolStatus::Cancelled => (true, "cancelled"),
        ToolStatus::Interrupted => (true, "interrupted"),
        ToolStatus::Succeeded | ToolStatus::PartialSucceeded | ToolStatus::Unknown => (false, ""),
    };
    if failed {
        let mut payload = failure(category, outcome.status, tool.name);
        payload.output = outcome.output;
        payload.preview = outcome.preview;
        let by_exit = || outcome.exit_code.map(|code| format!("exit status {code}"));
        // What the item says is all that there is.
        let declined = || (outcome.status == ToolStatus::Rejected).then(|| "declined".to_owned());
        payload.error = outcome.error.or_else(by_exit).or_else(declined);
        payload.exit_code = outcome.exit_code;
        payload.duration_ms = outcome.duration_ms;
        cx.emit(scope, &payload);
    } else {
        let payload = ToolResult {
            status: Some(outcome.status),
            output: outcome.output,
            preview: outcome.preview,
            output_ref: None,
            truncated: false,
            exit_code: outcome.exit_code,
            duration_ms: outcome.duration_ms,
            metadata: None,
            tool_name: Some(tool.name),
        };
        cx.emit(scope, &payload);
    }
    done(cx, call);
}

fn done(cx: &mut Cx<'_>, call: &str) {
    cx.thread.settled.insert(call.to_owned());
    if let Some(turn) = cx.turn() {
        turn.after_result = true;
        turn.ends_in_answer = false;
    }
}

fn failure(category: &str, status: ToolStatus, tool_name: String) -> ToolFailed {
    ToolFailed {
        failure_category: category.to_owned(),
        error: None,
        status: Some(status),
        output: None,
        preview: None,
        output_ref: None,
        truncated: false,
        exit_code: None,
        duration_ms: None,
        retryable: None,
        recovery: recovery(category).map(str::to_owned),
        tool_name: Some(tool_name),
        metadata: None,
    }
}

/// Calls that are open when their turn ends. Those that an item called finished are finished.
pub(super) fn fail_open(cx: &mut Cx<'_>, category: &str, status: ToolStatus) {
    let calls: Vec<String> = cx.thread.open.keys().cloned().collect();
    for call in calls {
        let Some(tool) = cx.thread.open.get(&call) else {
            continue;
        };
        if tool.over || tool.verdict.is_some() {
            let status = tool.verdict.unwrap_or(ToolStatus::Unknown);
            settle(cx, &call, Outcome { status, ..Outcome::default() });
            continue;
        }
        let scope = scope(cx, &call, tool);
        let mut payload = failure(category, status, tool.name.clone());
        payload.error = Some(unanswered(category).to_owned());
        cx.emit_synthetic(scope, &payload);
        cx.thread.open.remove(&call);
        done(cx, &call);
    }
}

/// How an item says that its call ended.
pub(super) fn status(item: &Value) -> Option<ToolStatus> {
    let status = match snake(text(item, "status")?).as_str() {
        "completed" => ToolStatus::Succeeded,
        "failed" => ToolStatus::Failed,
        "declined" => ToolStatus::Rejected,
        "in_progress" => return None,
        _ => ToolStatus::Unknown,
    };
    Some(status)
}

/// An item about a call that is closed: what it says is kept beside it.
fn late(cx: &mut Cx<'_>, call: &str, item: &Value, frame: &Value) -> bool {
    if !cx.thread.settled.contains(call) {
        return false;
    }
    let mut scope = cx.thread.scope();
    scope.turn_id = text(frame, "turn_id").map(turn_id).or(scope.turn_id);
    scope.tool_call_id = Some(tool_call_id(call));
    cx.warn_in(scope, "late_outcome", Some(format!("call {call}")), Some(item));
    true
}

/// `CommandExecution`, or `exec_command_end` of older files.
pub(super) fn command(cx: &mut Cx<'_>, call: &str, item: &Value, frame: &Value) {
    if late(cx, call, item, frame) {
        return;
    }
    open_command(cx, call, item);
    let exit_code = item.get("exit_code").and_then(Value::as_i64);
    let by_exit = exit_code.map(|code| match code {
        0 => ToolStatus::Succeeded,
        _ => ToolStatus::Failed,
    });
    let Some(status) = status(item).or(by_exit) else {
        return;
    };
    let both = || Some(format!("{}{}", text(item, "stdout")?, text(item, "stderr")?));
    let output = owned(item, "aggregated_output").or_else(both);
    let outcome = Outcome {
        status,
        output: output.and_then(|words| json(&Value::String(words))),
        preview: None,
        error: None,
        exit_code,
        duration_ms: millis(item),
    };
    settle(cx, call, outcome);
}

/// A command begins to run.
pub(super) fn command_begins(cx: &mut Cx<'_>, call: &str, item: &Value) {
    open_command(cx, call, item);
    people::began(cx, call);
}

/// Opens the call of a command: one of the model's, or one that a call makes by itself.
fn open_command(cx: &mut Cx<'_>, call: &str, item: &Value) {
    let cwd = owned(item, "cwd").map(|cwd| cwd.trim_start_matches("file://").to_owned());
    let opening = Opening {
        name: "exec_command".to_owned(),
        kind: Some(ToolKind::Command),
        title: command_line(item),
        cwd,
        args: given(item, "command").map(|command| {
            JsonText::parse(&format!("{{\"command\":{command}}}")).map_or(command, |(json, _)| json)
        }),
        ..Opening::default()
    };
    open(cx, call, opening);
}

/// `FileChange`, or `patch_apply_end` of older files.
pub(super) fn file_change(cx: &mut Cx<'_>, call: &str, item: &Value, frame: &Value) {
    if late(cx, call, item, frame) {
        return;
    }
    open_patch(cx, call, item);
    let by_flag = item.get("success").and_then(Value::as_bool).map(|success| match success {
        true => ToolStatus::Succeeded,
        false => ToolStatus::Failed,
    });
    let Some(status) = status(item).or(by_flag) else {
        return;
    };
    let known = cx.thread.open.get(call).and_then(|tool| tool.changes.clone());
    let changes = item.get("changes").cloned().or(known);
    let (stdout, stderr) = (owned(item, "stdout"), owned(item, "stderr"));
    let outcome = Outcome {
        status,
        output: stdout.and_then(|words| json(&Value::String(words))),
        preview: None,
        error: stderr.filter(|words| !words.is_empty() && status != ToolStatus::Succeeded),
        exit_code: None,
        duration_ms: millis(item),
    };
    let scope = scope_of(cx, call).unwrap_or_default();
    settle(cx, call, outcome);
    if status == ToolStatus::Succeeded
        && let Some(Value::Object(changes)) = changes
    {
        for (path, change) in &changes {
            artifact(cx, &scope, path, change);
        }
    }
}

/// A patch begins to be applied.
pub(super) fn patch_begins(cx: &mut Cx<'_>, call: &str, item: &Value) {
    open_patch(cx, call, item);
    people::began(cx, call);
}

fn open_patch(cx: &mut Cx<'_>, call: &str, item: &Value) {
    let opening = Opening {
        name: "apply_patch".to_owned(),
        kind: Some(ToolKind::FileChange),
        title: item.get("changes").and_then(files),
        args: item
            .get("changes")
            .and_then(|changes| json(&serde_json::json!({"changes": changes}))),
        ..Opening::default()
    };
    open(cx, call, opening);
    if let (Some(tool), Some(changes)) = (cx.thread.open.get_mut(call), item.get("changes")) {
        tool.changes = Some(changes.clone());
    }
}

/// The names of the files that a patch changes.
fn files(changes: &Value) -> Option<String> {
    let all = changes.as_object()?;
    let names: Vec<&str> = all.keys().take(NAMED).map(String::as_str).collect();
    let more = all.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| names.join(", ") + &more)
}

/// What a patch that waits for an answer would change.
pub(super) fn changes_of(cx: &Cx<'_>, call: &str) -> Option<JsonText> {
    let changes = cx.thread.open.get(call)?.changes.as_ref()?;
    json(&serde_json::json!({"changes": changes}))
}

fn artifact(cx: &mut Cx<'_>, scope: &Scope, path: &str, change: &Value) {
    // Older files tag by the name of the one member, newer ones by `type`.
    let (kind, change) = match (text(change, "type"), change) {
        (Some(kind), change) => (kind, change),
        (None, Value::Object(tagged)) => match tagged.iter().next() {
            Some((kind, change)) => (kind.as_str(), change),
            None => return,
        },
        (None, _) => return,
    };
    let moved = text(change, "move_path");
    let content = text(change, "content");
    let mut scope = scope.clone();
    scope.artifact_id = Some(cx.thread.artifact(moved.unwrap_or(path)));
    let payload = ArtifactChanged {
        change: match kind {
            "add" => ArtifactChange::Created,
            "update" => ArtifactChange::Updated,
            "delete" => ArtifactChange::Deleted,
            _ => ArtifactChange::Unknown,
        },
        kind: Some("file".to_owned()),
        title: moved.map(|to| format!("{path} → {to}")),
        path: Some(moved.unwrap_or(path).to_owned()),
        version_id: None,
        media_type: None,
        size_bytes: content.filter(|_| kind == "add").map(|c| c.len() as u64),
        preview: content.filter(|_| kind == "add").map(|c| c.chars().take(PREVIEW).collect()),
        read_ref: None,
        diff: owned(change, "unified_diff"),
    };
    cx.emit(scope, &payload);
}

/// `turn_diff` of older files: all that the turn changed so far.
pub(super) fn turn_diff(cx: &mut Cx<'_>, payload: &Value) {
    turn::ensure(cx);
    let mut scope = cx.thread.scope();
    let turn = scope.get("turnId").unwrap_or_default().to_owned();
    scope.artifact_id = Some(cx.thread.artifact(&format!("{turn}/diff")));
    let payload = ArtifactChanged {
        change: ArtifactChange::Updated,
        kind: Some("diff".to_owned()),
        title: Some("all changes of the turn".to_owned()),
        path: None,
        version_id: None,
        media_type: None,
        size_bytes: None,
        preview: None,
        read_ref: None,
        diff: owned(payload, "unified_diff"),
    };
    cx.emit(scope, &payload);
}

/// `McpToolCall`, or `mcp_tool_call_begin` and `_end` of older files.
pub(super) fn mcp(cx: &mut Cx<'_>, call: &str, item: &Value, frame: &Value) {
    if late(cx, call, item, frame) {
        return;
    }
    let asked = item.get("invocation").unwrap_or(item);
    let opening = Opening {
        name: text(asked, "tool").unwrap_or("unknown").to_owned(),
        kind: Some(ToolKind::Mcp),
        title: owned(asked, "server"),
        args: given(asked, "arguments"),
        ..Opening::default()
    };
    open(cx, call, opening);
    let result = item.get("result").filter(|result| !result.is_null());
    let (content, error) = match result {
        Some(result) if result.get("Err").is_some() => (None, owned(result, "Err")),
        Some(result) => (Some(result.get("Ok").unwrap_or(result)), None),
        None => (None, item.get("error").and_then(|e| owned(e, "message"))),
    };
    let flagged = content.is_some_and(|c| {
        ["is_error", "isError"]
            .iter()
            .any(|name| c.get(name).and_then(Value::as_bool) == Some(true))
    });
    let by_result = match (&error, content) {
        (Some(_), _) => Some(ToolStatus::Failed),
        (None, Some(_)) if flagged => Some(ToolStatus::Failed),
        (None, Some(_)) => Some(ToolStatus::Succeeded),
        (None, None) => None,
    };
    let Some(status) = status(item).or(by_result) else {
        return;
    };
    let status = if flagged { ToolStatus::Failed } else { status };
    let output = content.and_then(json);
    let duration_ms = millis(item);
    let outcome = Outcome { status, output, error, duration_ms, ..Outcome::default() };
    settle(cx, call, outcome);
}

/// An item that names a finished call and not how it went.
pub(super) fn finished(cx: &mut Cx<'_>, call: &str, opening: Opening) {
    open(cx, call, opening);
    if let Some(tool) = cx.thread.open.get_mut(call) {
        tool.over = true;
    }
}

/// A piece of output, in live streams.
pub(super) fn piece(cx: &mut Cx<'_>, call: &str, payload: &Value) {
    let Some(scope) = scope_of(cx, call) else {
        return;
    };
    let payload = ToolProgress {
        preview: owned(payload, "delta"),
        stream: None,
        offset: None,
        message: None,
        percent: None,
        output_ref: None,
    };
    cx.emit(scope, &payload);
}
