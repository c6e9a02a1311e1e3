//! Owns the two streams that a running Codex writes: the JSON lines of `codex exec --json`, and the notifications and requests of the
//! app server. Both say the same things as the events of a rollout, in other words; here they are put into those words.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::frame::{Kind, Line, list, owned, snake, text};

/// What `codex exec --json` calls its lines.
const EXEC: [&str; 8] = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "error",
];

/// What is remembered of a live stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    /// Tells apart the streams of `codex exec`, each of which numbers its items anew.
    pub(super) stream: String,
    /// Calls for which the server asked the client, by the number of the request.
    asked: HashMap<String, String>,
    /// Frames that manage the connection and say nothing of the work.
    pub(super) control: u64,
}

/// True when a value is surely a frame of a live stream.
pub(super) fn is_frame(value: &Value) -> bool {
    let exec = match text(value, "type") {
        Some("thread.started") => text(value, "thread_id").is_some(),
        Some("item.started" | "item.completed") => value.get("item").is_some_and(Value::is_object),
        _ => false,
    };
    let notice = text(value, "method").is_some_and(|method| {
        ["thread/", "turn/", "item/"].iter().any(|part| method.starts_with(part))
    });
    exec || (notice && value.get("params").is_some_and(Value::is_object))
}

/// The thread that a run of `codex exec` goes on in, when this is its first frame.
pub(super) fn exec_head(value: &Value) -> Option<&str> {
    let is_head = is_exec(value) && text(value, "type") == Some("thread.started");
    text(value, "thread_id").filter(|_| is_head)
}

/// True when a value can be a frame of `codex exec --json`, whose ids are local to one process.
pub(super) fn is_exec(value: &Value) -> bool {
    value.get("payload").is_none() && text(value, "type").is_some_and(|name| EXEC.contains(&name))
}

impl Live {
    pub(super) fn new(stream: &str) -> Self {
        Self { stream: stream.to_owned(), ..Self::default() }
    }

    /// Puts a frame into the words of a rollout; `None` when it is no frame of a live stream.
    pub(super) fn lines(&mut self, value: &Value) -> Option<Vec<Line>> {
        if is_exec(value) {
            return Some(self.exec(value));
        }
        if let Some(method) = text(value, "method") {
            let params = value.get("params").unwrap_or(&Value::Null);
            return Some(self.notice(method, value.get("id"), params, value));
        }
        let answers = value.get("result").or_else(|| value.get("error"));
        if value.get("id").is_some() && answers.is_some() {
            return Some(self.answer(value));
        }
        None
    }

    /// A line of `codex exec --json`.
    fn exec(&self, value: &Value) -> Vec<Line> {
        let name = text(value, "type").unwrap_or_default();
        match name {
            "thread.started" => {
                let head = json!({"id": value.get("thread_id"), "source": "exec"});
                vec![Line::of(Kind::SessionMeta, head)]
            }
            "turn.started" => vec![Line::event(json!({"type": "task_started"}))],
            "turn.completed" => {
                let usage = json!({"usage": value.get("usage")});
                let done = json!({"type": "task_complete"});
                vec![Line::of(Kind::TokenUsage, usage), Line::event(done)]
            }
            "turn.failed" => {
                vec![Line::event(json!({"type": "task_complete", "error": value.get("error")}))]
            }
            "error" => {
                vec![Line::event(json!({"type": "stream_error", "message": value.get("message")}))]
            }
            _ => {
                let given = value.get("item").unwrap_or(&Value::Null);
                match text(given, "type") {
                    Some("todo_list") => vec![Line::event(plan(given))],
                    Some("error") => {
                        vec![Line::event(
                            json!({"type": "warning", "message": given.get("message")}),
                        )]
                    }
                    _ => {
                        let kind = match name {
                            "item.completed" => "item_completed",
                            _ => "item_started",
                        };
                        vec![Line::event(json!({"type": kind, "item": self.own(item(given))}))]
                    }
                }
            }
        }
    }

    /// Gives an item an id that holds beyond its stream.
    fn own(&self, mut item: Value) -> Value {
        let id = text(&item, "id").filter(|id| id.starts_with("item_"));
        if let Some(id) = id.map(|id| event_spine::derived_id("item_", &[&self.stream, id]))
            && let Value::Object(members) = &mut item
        {
            members.insert("id".to_owned(), id.into());
        }
        item
    }

    /// What the client answered, or what the server answered to the client. Their numbers overlap, so the shape decides.
    fn answer(&mut self, value: &Value) -> Vec<Line> {
        let id = value.get("id").map(Value::to_string).unwrap_or_default();
        let result = value.get("result").unwrap_or(&Value::Null);
        if let (Some(decision), Some(call)) = (result.get("decision"), self.asked.remove(&id)) {
            let said = json!({"type": "approval_answer", "call_id": call, "decision": decision});
            return vec![Line::event(said)];
        }
        self.control += 1;
        Vec::new()
    }

    /// A question was answered. When the client's line is in the stream, it has said so already.
    fn closed(&mut self, params: &Value) -> Vec<Line> {
        let id = params.get("requestId").map(Value::to_string).unwrap_or_default();
        let Some(call) = self.asked.remove(&id) else {
            self.control += 1;
            return Vec::new();
        };
        vec![Line::event(json!({"type": "approval_closed", "call_id": call}))]
    }

    fn notice(
        &mut self,
        method: &str,
        id: Option<&Value>,
        params: &Value,
        all: &Value,
    ) -> Vec<Line> {
        let mut lines = match method {
            "thread/started" => vec![Line::of(Kind::SessionMeta, head(params))],
            "turn/started" => {
                let turn = params.get("turn").unwrap_or(&Value::Null);
                vec![Line::event(json!({
                    "type": "task_started",
                    "turn_id": turn.get("id"),
                    "root_turn_id": turn.get("rootTurnId"),
                }))]
            }
            "turn/completed" => vec![Line::event(turn_ended(params))],
            "item/started" => vec![Line::event(with_item("item_started", params))],
            "item/completed" => vec![Line::event(with_item("item_completed", params))],
            "item/agentMessage/delta" => delta("agent_message_content_delta", params),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                delta("reasoning_content_delta", params)
            }
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" => {
                delta("tool_output_delta", params)
            }
            "thread/tokenUsage/updated" => vec![Line::event(tokens(params))],
            "account/rateLimits/updated" => {
                vec![Line::event(json!({
                    "type": "token_count",
                    "rate_limits": lowered(params.get("rateLimits").unwrap_or(&Value::Null)),
                }))]
            }
            "turn/diff/updated" => vec![Line::event(json!({
                "type": "turn_diff",
                "unified_diff": params.get("diff"),
            }))],
            "turn/plan/updated" => vec![Line::event(json!({
                "type": "plan_update",
                "explanation": params.get("explanation"),
                "plan": params.get("plan"),
            }))],
            "error" => vec![Line::event(error(params))],
            "serverRequest/resolved" => self.closed(params),
            "configWarning" | "deprecationNotice" => vec![Line::event(json!({
                "type": "warning",
                "message": params.get("summary"),
            }))],
            _ if id.is_some() => self.request(method, id, params, all),
            _ if is_control(method) => {
                self.control += 1;
                Vec::new()
            }
            _ => vec![Line::of(Kind::Other(method.to_owned()), all.clone())],
        };
        let thread = owned(params, "threadId")
            .or_else(|| params.get("thread").and_then(|thread| owned(thread, "id")));
        for line in &mut lines {
            line.thread.clone_from(&thread);
        }
        lines
    }

    /// Something that the server asks of the client.
    fn request(
        &mut self,
        method: &str,
        id: Option<&Value>,
        params: &Value,
        all: &Value,
    ) -> Vec<Line> {
        let kind = match method {
            "item/commandExecution/requestApproval" | "execCommandApproval" => {
                "exec_approval_request"
            }
            "item/fileChange/requestApproval" | "applyPatchApproval" => {
                "apply_patch_approval_request"
            }
            "item/permissions/requestApproval" => "request_permissions",
            "item/tool/requestUserInput" => "request_user_input",
            "mcpServer/elicitation/request" => "elicitation_request",
            // The client asks of the server.
            "initialize" | "thread/start" | "thread/resume" | "turn/start" | "turn/interrupt" => {
                self.control += 1;
                return Vec::new();
            }
            _ => return vec![Line::of(Kind::Other(method.to_owned()), all.clone())],
        };
        let call = text(params, "itemId").or_else(|| text(params, "callId"));
        if let (Some(id), Some(call)) = (id, call) {
            self.asked.insert(id.to_string(), call.to_owned());
        }
        let mut asked = Map::new();
        asked.insert("type".to_owned(), kind.into());
        asked.insert("call_id".to_owned(), call.into());
        let kept =
            ["command", "cwd", "reason", "questions", "message", "grantRoot", "availableDecisions"];
        for name in kept {
            if let Some(value) = params.get(name).filter(|value| !value.is_null()) {
                asked.insert(snake(name), value.clone());
            }
        }
        vec![Line::event(Value::Object(asked))]
    }
}

/// Notifications about the connection, the account and the like.
fn is_control(method: &str) -> bool {
    let parts = [
        "remoteControl/",
        "account/",
        "mcpServer/",
        "app/",
        "skills/",
        "thread/",
        "fuzzyFileSearch/",
        "windows/",
    ];
    parts.iter().any(|part| method.starts_with(part))
        || matches!(method, "initialized" | "sessionConfigured")
}

/// The head of a thread.
fn head(params: &Value) -> Value {
    let thread = params.get("thread").unwrap_or(&Value::Null);
    let mut head = lowered(thread);
    if let Value::Object(members) = &mut head {
        // What has no place in the head of a rollout, or changes while the thread goes on.
        for name in ["turns", "preview", "status", "path", "updated_at", "recency_at"] {
            members.shift_remove(name);
        }
    }
    head
}

/// Members with capitals in their names, as a rollout spells them. Only the names of the first level.
fn lowered(value: &Value) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let members = members.iter().map(|(name, value)| (snake(name), value.clone()));
    Value::Object(members.collect())
}

fn turn_ended(params: &Value) -> Value {
    let turn = params.get("turn").unwrap_or(&Value::Null);
    if text(turn, "status") == Some("interrupted") {
        return json!({"type": "turn_aborted", "turn_id": turn.get("id"), "reason": "interrupted"});
    }
    let error = turn
        .get("error")
        .filter(|error| !error.is_null())
        .map(|error| json!({"message": error.get("message"), "codex_error_info": info(error)}));
    json!({
        "type": "task_complete",
        "turn_id": turn.get("id"),
        "duration_ms": turn.get("durationMs"),
        "error": error,
    })
}

/// The code of an error, as a rollout spells it.
fn info(error: &Value) -> Value {
    match error.get("codexErrorInfo") {
        Some(Value::String(code)) => snake(code).into(),
        Some(Value::Object(tagged)) => {
            let tagged = tagged.iter().map(|(code, more)| (snake(code), lowered(more)));
            Value::Object(tagged.collect())
        }
        _ => Value::Null,
    }
}

fn error(params: &Value) -> Value {
    let error = params.get("error").unwrap_or(&Value::Null);
    let again = params.get("willRetry").and_then(Value::as_bool) == Some(true);
    json!({
        "type": if again { "stream_error" } else { "error" },
        "message": error.get("message"),
        "codex_error_info": info(error),
    })
}

fn tokens(params: &Value) -> Value {
    let usage = params.get("tokenUsage").unwrap_or(&Value::Null);
    let of = |name| usage.get(name).map(lowered);
    json!({
        "type": "token_count",
        "info": {"total_token_usage": of("total"), "last_token_usage": of("last")},
    })
}

fn delta(kind: &str, params: &Value) -> Vec<Line> {
    let id = params.get("itemId");
    vec![Line::event(
        json!({"type": kind, "item_id": id, "call_id": id, "delta": params.get("delta")}),
    )]
}

fn with_item(kind: &str, params: &Value) -> Value {
    json!({
        "type": kind,
        "turn_id": params.get("turnId"),
        "item": params.get("item").map(item),
    })
}

/// An item, as a rollout spells it.
fn item(given: &Value) -> Value {
    let mut item = lowered(given);
    let kind = snake(text(given, "type").unwrap_or_default());
    let Value::Object(members) = &mut item else {
        return item;
    };
    if let Some(millis) = members.get("duration_ms").and_then(Value::as_u64) {
        members.insert("duration".to_owned(), millis.into());
    }
    let name = match kind.as_str() {
        "agent_message" => {
            let part = json!([{"type": "Text", "text": given.get("text")}]);
            members.insert("content".to_owned(), part);
            "AgentMessage"
        }
        "reasoning" => {
            let parts = match (given.get("summary"), given.get("text")) {
                (Some(parts), _) => parts.clone(),
                (None, Some(text)) => json!([text]),
                (None, None) => json!([]),
            };
            members.insert("summary_text".to_owned(), parts);
            "Reasoning"
        }
        "file_change" => {
            members.insert("changes".to_owned(), changes(given));
            "FileChange"
        }
        "collab_tool_call" | "collab_agent_tool_call" => {
            let states = given.get("agents_states").or_else(|| given.get("agentsStates"));
            members.insert("agents_states".to_owned(), states.map(agents).unwrap_or_default());
            "CollabAgentToolCall"
        }
        "user_message" => "UserMessage",
        "command_execution" => "CommandExecution",
        "mcp_tool_call" => "McpToolCall",
        "dynamic_tool_call" => "DynamicToolCall",
        "web_search" => "WebSearch",
        "image_view" => "ImageView",
        "image_generation" => "ImageGeneration",
        "context_compaction" => "ContextCompaction",
        "plan" => "Plan",
        _ => return item,
    };
    members.insert("type".to_owned(), name.into());
    item
}

/// Changed files: a list here, a map in a rollout.
fn changes(given: &Value) -> Value {
    let mut changes = Map::new();
    for change in list(given, "changes") {
        let kind = change.get("kind").unwrap_or(&Value::Null);
        let word = kind.as_str().or_else(|| text(kind, "type")).unwrap_or("unknown");
        let mut made = Map::new();
        made.insert("type".to_owned(), word.into());
        if let Some(diff) = change.get("diff") {
            let member = if word == "add" { "content" } else { "unified_diff" };
            made.insert(member.to_owned(), diff.clone());
        }
        if let Some(moved) = kind.get("move_path") {
            made.insert("move_path".to_owned(), moved.clone());
        }
        if let Some(path) = text(change, "path") {
            changes.insert(path.to_owned(), Value::Object(made));
        }
    }
    Value::Object(changes)
}

/// How agents stand: a state and a message here, one tagged word in a rollout.
fn agents(states: &Value) -> Value {
    let Value::Object(states) = states else {
        return Value::Null;
    };
    let one = |state: &Value| match (text(state, "status"), state.get("message")) {
        (Some(word), Some(message)) => {
            let mut tagged = Map::new();
            tagged.insert(snake(word), message.clone());
            Value::Object(tagged)
        }
        (Some(word), None) => snake(word).into(),
        (None, _) => state.clone(),
    };
    Value::Object(states.iter().map(|(id, state)| (id.clone(), one(state))).collect())
}

fn plan(given: &Value) -> Value {
    let steps: Vec<Value> = list(given, "items")
        .iter()
        .map(|step| {
            let done = step.get("completed").and_then(Value::as_bool) == Some(true);
            json!({"step": step.get("text"), "status": if done { "completed" } else { "pending" }})
        })
        .collect();
    json!({"type": "plan_update", "plan": steps})
}
