//! Owns tool calls: arguments in pieces or chunks, the start, the result, and calls that never get one.

use event_spine::event::family::tool::{ToolArgs, ToolFailed, ToolResult, ToolStarted};
use event_spine::event::value::{ArgsState, ToolStatus};
use event_spine::{JsonText, Scope};

use super::super::recovery::{recovery, unanswered};
use super::cx::Cx;
use super::frame::{Message, RunInput, Wire};
use super::state::{Chunk, Text, Tool, message_id, tool_call_id};
use super::stated::{self, Asked, Held};
use super::text::close_chunks;

/// Name of a tool whose name the stream does not say.
const UNNAMED: &str = "unknown";

/// The id under which a call began. When a run resumes a call of a sub-agent, LangGraph's integration adds the agent to its id.
pub(super) fn same_call<'a>(cx: &mut Cx<'_>, wire: &Wire, id: &'a str) -> &'a str {
    let by_agent = wire.subagent_run_id.as_deref().and_then(|agent| {
        let began = id.strip_suffix(agent)?.strip_suffix("::")?;
        let open = cx.turn().and_then(|turn| turn.tools.get(began));
        let is_its = open.is_some_and(|tool| tool.owner.as_deref() == Some(agent));
        (is_its || cx.run.settled.contains(began)).then_some(began)
    });
    by_agent.unwrap_or(id)
}

/// The same for a call in the list of all messages, which does not say whose agent's it is.
pub(super) fn listed_call(cx: &mut Cx<'_>, id: &str) -> String {
    let began = id.split_once("::").map(|(began, _)| began).filter(|began| {
        cx.turn().is_some_and(|turn| turn.tools.contains_key(*began))
            || cx.run.settled.contains(*began)
    });
    began.unwrap_or(id).to_owned()
}

/// TOOL_CALL_START. A call that is open already is told again by a run that resumes it; it stays the same call.
pub(super) fn start(cx: &mut Cx<'_>, wire: &Wire, id: &str) {
    let owner = wire.subagent_run_id.as_deref();
    let name = wire.tool_call_name.as_deref().filter(|n| !n.is_empty());
    let known = cx.turn().and_then(|turn| turn.tools.get_mut(id));
    if let Some(tool) = known {
        tool.args = Text::default();
        if let Some(name) = name {
            name.clone_into(&mut tool.name);
        }
    } else {
        cx.run.model_speaks(owner);
        let message = wire.parent_message_id.clone();
        if let Some(message) = &message {
            stated::said(cx, message, owner, false);
        }
        open(cx, id, name.unwrap_or(UNNAMED), owner, message);
    }
    arrive(cx, id, None);
}

fn open(cx: &mut Cx<'_>, id: &str, name: &str, owner: Option<&str>, message: Option<String>) {
    let tool = Tool {
        name: name.to_owned(),
        owner: owner.map(str::to_owned),
        step: cx.run.step(&cx.thread.session, owner),
        message,
        args: Text::default(),
        started: false,
        pending: false,
        succeeded: false,
    };
    cx.run.asked_for.remove(id);
    if let Some(turn) = cx.turn() {
        turn.tools.insert(id.to_owned(), tool);
    }
}

fn arrive(cx: &mut Cx<'_>, id: &str, delta: Option<String>) {
    let Some((scope, tool)) = find(cx, id) else {
        return;
    };
    let payload = ToolArgs {
        tool_name: Some(tool.name),
        state: ArgsState::Streaming,
        delta,
        args: None,
        raw: None,
        args_ref: None,
    };
    cx.emit(scope, &payload);
}

/// An open call and where its events belong.
fn find(cx: &mut Cx<'_>, id: &str) -> Option<(Scope, Tool)> {
    let tool = cx.turn()?.tools.get(id)?.clone();
    Some((scope(cx, id, &tool), tool))
}

fn scope(cx: &Cx<'_>, id: &str, tool: &Tool) -> Scope {
    let mut scope = cx.scope(tool.owner.as_deref());
    scope.step_id = Some(tool.step.clone());
    scope.message_id = tool.message.as_deref().map(message_id);
    scope.tool_call_id = Some(tool_call_id(id));
    scope
}

/// TOOL_CALL_ARGS.
pub(super) fn args(cx: &mut Cx<'_>, wire: &Wire, id: &str, delta: String) {
    let known = cx.turn().is_some_and(|turn| turn.tools.contains_key(id));
    if !known {
        cx.warn("not_started", Some(format!("tool call {id}")), None);
        open(cx, id, UNNAMED, wire.subagent_run_id.as_deref(), None);
    }
    if let Some(tool) = cx.turn().and_then(|turn| turn.tools.get_mut(id)) {
        tool.args.add(&delta);
    }
    arrive(cx, id, Some(delta));
}

/// TOOL_CALL_END: the arguments are whole, and the tool may run from here on.
pub(super) fn end(cx: &mut Cx<'_>, id: &str) {
    let Some((scope, tool)) = find(cx, id) else {
        cx.warn("not_open", Some(format!("tool call {id}")), None);
        return;
    };
    cx.emit(scope.clone(), &whole_args(&tool));
    if !tool.started {
        cx.emit(scope, &started(&tool));
    }
    mark_started(cx, id);
}

fn mark_started(cx: &mut Cx<'_>, id: &str) {
    if let Some(tool) = cx.turn().and_then(|turn| turn.tools.get_mut(id)) {
        tool.started = true;
    }
}

fn whole_args(tool: &Tool) -> ToolArgs {
    let text = &tool.args;
    let read = JsonText::parse(&text.text).ok().map(|(json, _)| json);
    let absent = text.text.trim().is_empty() && !text.over;
    ToolArgs {
        tool_name: Some(tool.name.clone()),
        state: if read.is_some() || absent { ArgsState::Available } else { ArgsState::Invalid },
        delta: None,
        raw: (read.is_none() && !absent && !text.over).then(|| text.text.clone()),
        args: read.filter(|_| !text.over),
        args_ref: None,
    }
}

fn started(tool: &Tool) -> ToolStarted {
    ToolStarted {
        tool_name: tool.name.clone(),
        tool_kind: None,
        title: None,
        args: None,
        args_ref: None,
        safety: None,
        native_tool_call_id: None,
        cwd: None,
    }
}

/// TOOL_CALL_CHUNK.
pub(super) fn chunk(cx: &mut Cx<'_>, wire: &Wire) {
    let owner = wire.subagent_run_id.as_deref();
    let open_now = match &cx.run.lane(owner).chunk {
        Some(Chunk::Tool(id)) => Some(id.clone()),
        Some(Chunk::Text(_) | Chunk::Reasoning(_)) | None => None,
    };
    let named = wire.tool_call_id.clone().filter(|id| !id.is_empty());
    let Some(id) = named.or_else(|| open_now.clone()) else {
        cx.warn("chunk_without_id", None, None);
        return;
    };
    if open_now.as_ref() != Some(&id) {
        close_chunks(cx, owner);
        start(cx, wire, &id);
        cx.run.lane(owner).chunk = Some(Chunk::Tool(id.clone()));
    }
    if let Some(delta) = wire.text_delta() {
        args(cx, wire, &id, delta);
    }
}

/// How a call ended.
pub(super) enum Ended {
    /// With a result.
    Result { status: ToolStatus, output: JsonText },
    /// With an error and what was printed.
    Failed { error: String, output: Option<JsonText> },
}

/// TOOL_CALL_RESULT. The protocol does not say whether it is a success; the state that a step ends with may.
pub(super) fn result(cx: &mut Cx<'_>, wire: &Wire, id: &str, content: &JsonText) {
    let owner = wire.subagent_run_id.as_deref();
    if cx.run.settled.contains(id) || cx.run.held.iter().any(|held| held.call == id) {
        cx.warn("second_result", Some(format!("tool call {id}")), None);
        return;
    }
    let (message, output) = (wire.message_id.as_deref(), content.clone());
    let (owner, succeeded) = begun(cx, id, owner);
    let in_step = cx.run.steps.iter().any(|step| step.owner == owner);
    if succeeded || !in_step {
        let status = if succeeded { ToolStatus::Succeeded } else { ToolStatus::Unknown };
        close(cx, id, None, message, Ended::Result { status, output });
        return;
    }
    let (call, message) = (id.to_owned(), message.map(str::to_owned));
    cx.run.held.push(Held { call, owner, message, output, moment: cx.moment() });
}

/// Opens a call that no event told of.
pub(super) fn open_asked(cx: &mut Cx<'_>, id: &str, asked: &Asked) {
    open(cx, id, &asked.name, None, None);
    let tool = cx.turn().and_then(|turn| turn.tools.get_mut(id));
    if let (Some(tool), Some(args)) = (tool, &asked.args) {
        tool.args.add(args.as_str());
    }
}

/// Puts arguments in the place of pieces that make no JSON.
pub(super) fn correct(cx: &mut Cx<'_>, id: &str, args: &JsonText) {
    let Some(tool) = cx.turn().and_then(|turn| turn.tools.get_mut(id)) else {
        return;
    };
    let told = &tool.args;
    if told.over || told.text.trim().is_empty() || JsonText::parse(&told.text).is_ok() {
        return;
    }
    tool.args = Text::default();
    tool.args.add(args.as_str());
    if let Some((scope, tool)) = find(cx, id) {
        cx.emit(scope, &whole_args(&tool));
    }
}

/// Makes sure that a call has begun; gives its agent, and whether it is known to have succeeded.
fn begun(cx: &mut Cx<'_>, id: &str, owner: Option<&str>) -> (Option<String>, bool) {
    if !cx.turn().is_some_and(|turn| turn.tools.contains_key(id)) {
        match cx.run.asked_for.remove(id) {
            Some(asked) => open_asked(cx, id, &asked),
            None => open(cx, id, UNNAMED, owner, None),
        }
    }
    let Some((scope, tool)) = find(cx, id) else {
        return (None, false);
    };
    if !tool.started {
        if !tool.args.text.is_empty() {
            cx.emit(scope.clone(), &whole_args(&tool));
        }
        cx.emit_synthetic(scope, &started(&tool));
        mark_started(cx, id);
    }
    (tool.owner, tool.succeeded)
}

/// Ends a call, which begins with it when nothing said so before.
pub(super) fn close(
    cx: &mut Cx<'_>,
    id: &str,
    owner: Option<&str>,
    message: Option<&str>,
    ended: Ended,
) {
    begun(cx, id, owner);
    let Some((mut scope, tool)) = find(cx, id) else {
        return;
    };
    if let Some(message) = message {
        scope.message_id = Some(message_id(message));
    }
    match ended {
        Ended::Result { status, output } => {
            let payload = ToolResult {
                status: Some(status),
                output: Some(output),
                preview: None,
                output_ref: None,
                truncated: false,
                exit_code: None,
                duration_ms: None,
                metadata: None,
                tool_name: Some(tool.name),
            };
            cx.emit(scope, &payload);
        }
        Ended::Failed { error, output } => {
            let mut payload = failed("execution_failed", ToolStatus::Failed, tool.name);
            payload.error = Some(error);
            payload.output = output;
            cx.emit(scope, &payload);
        }
    }
    if let Some(turn) = cx.turn() {
        turn.tools.remove(id);
    }
    cx.run.settled.insert(id.to_owned());
    cx.run.lane(tool.owner.as_deref()).after_result = true;
}

fn failed(category: &str, status: ToolStatus, tool_name: String) -> ToolFailed {
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

/// Calls that nobody will answer any more.
pub(super) fn fail_open(cx: &mut Cx<'_>, category: &str, status: ToolStatus) {
    let ids: Vec<String> =
        cx.turn().map(|turn| turn.tools.keys().cloned().collect()).unwrap_or_default();
    for id in ids {
        fail(cx, &id, category, status);
    }
}

/// Ends one open call without a result.
pub(super) fn fail(cx: &mut Cx<'_>, id: &str, category: &str, status: ToolStatus) {
    let Some((scope, tool)) = find(cx, id) else {
        return;
    };
    let mut category = category;
    if !tool.started {
        let mut args = whole_args(&tool);
        args.state = ArgsState::Invalid;
        cx.emit_synthetic(scope.clone(), &args);
        cx.emit_synthetic(scope.clone(), &started(&tool));
        category = "arguments_cut_off";
    }
    let mut payload = failed(category, status, tool.name);
    payload.error = Some(unanswered(category).to_owned());
    cx.emit_synthetic(scope, &payload);
    if let Some(turn) = cx.turn() {
        turn.tools.remove(id);
    }
}

/// The run ends and the turn waits: open calls wait with it.
pub(super) fn keep_waiting(cx: &mut Cx<'_>, pending: &[String]) {
    if pending.is_empty() {
        return;
    }
    let ids: Vec<String> =
        cx.turn().map(|turn| turn.tools.keys().cloned().collect()).unwrap_or_default();
    for id in ids {
        if !pending.contains(&id) {
            fail(cx, &id, "no_result", ToolStatus::Interrupted);
        } else if let Some(tool) = cx.turn().and_then(|turn| turn.tools.get_mut(&id)) {
            tool.pending = true;
        }
    }
}

/// Results that a client hands in with the input of the next run.
pub(super) fn results_in(cx: &mut Cx<'_>, input: Option<&RunInput>) {
    for message in input.map(|input| input.messages.as_slice()).unwrap_or_default() {
        told(cx, message);
    }
}

/// A tool message says how a call ended that is still open, or that a call failed of which no event told.
pub(super) fn told(cx: &mut Cx<'_>, message: &Message) {
    let (Some(id), "tool") = (message.tool_call_id.as_deref(), message.role.as_str()) else {
        return;
    };
    let tool = cx.turn().and_then(|turn| turn.tools.get(id));
    let (open, succeeded) = (tool.is_some(), tool.is_some_and(|tool| tool.succeeded));
    if !(open || message.error.is_some() && stated::open_failed(cx, id)) {
        return;
    }
    let content = message.content.clone();
    let ended = match &message.error {
        Some(error) => Ended::Failed { error: error.clone(), output: content },
        None => Ended::Result {
            status: if succeeded { ToolStatus::Succeeded } else { ToolStatus::Unknown },
            output: content.unwrap_or_else(JsonText::empty_object),
        },
    };
    close(cx, id, None, message.id.as_deref(), ended);
}
