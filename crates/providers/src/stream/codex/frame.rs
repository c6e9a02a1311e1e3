//! Owns Codex's own shapes: the lines of a rollout file, of all versions, and how their members are read.
//!
//! Members come and go between versions, so payloads are read member by member; what is absent is absent.

use event_spine::JsonText;
use serde_json::Value;

/// A line of a rollout file.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) timestamp: Option<String>,
    /// The thread it names; a live stream can have several.
    pub(super) thread: Option<String>,
    /// Without a frame around it, as in the oldest files.
    pub(super) bare: bool,
    /// Place in the file, as newer versions write it.
    pub(super) ordinal: Option<u64>,
    pub(super) payload: Value,
}

/// What a line records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// The head of the file.
    SessionMeta,
    /// What a turn works with.
    TurnContext,
    /// What went to the model or came from it.
    ResponseItem,
    /// What the user interface was told.
    EventMsg,
    /// The history was replaced by a shorter one.
    Compacted,
    /// What the model is told of its surroundings.
    WorldState,
    /// Tokens of one model call.
    TokenUsage,
    /// A message between agents.
    AgentMessage,
    /// A kind that is not known here.
    Other(String),
}

/// Kinds of response items that stand without a frame around them in the oldest files.
const BARE_ITEMS: [&str; 7] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "local_shell_call",
    "custom_tool_call",
    "custom_tool_call_output",
];

impl Line {
    /// Reads a line; `None` when it is JSON and no line of a rollout.
    pub(super) fn read(value: Value) -> Option<Self> {
        let timestamp = text(&value, "timestamp").map(str::to_owned);
        let ordinal = value.get("ordinal").and_then(Value::as_u64);
        let name = text(&value, "type").map(str::to_owned);
        if let (Some(name), Some(payload)) = (&name, value.get("payload")) {
            return Some(Self { timestamp, ordinal, ..Self::of(kind(name), payload.clone()) });
        }
        let kind = match name.as_deref() {
            Some(name) if BARE_ITEMS.contains(&name) => Kind::ResponseItem,
            None if is_bare_meta(&value) => Kind::SessionMeta,
            None if value.get("record_type").is_some() => Kind::Other("record_type".to_owned()),
            _ => return None,
        };
        Some(Self { bare: true, timestamp, ordinal, ..Self::of(kind, value) })
    }

    /// A line of a kind.
    pub(super) fn of(kind: Kind, payload: Value) -> Self {
        Self { kind, timestamp: None, thread: None, bare: false, ordinal: None, payload }
    }

    /// An event.
    pub(super) fn event(payload: Value) -> Self {
        Self::of(Kind::EventMsg, payload)
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "session_meta" => Kind::SessionMeta,
        "turn_context" => Kind::TurnContext,
        "response_item" => Kind::ResponseItem,
        "event_msg" => Kind::EventMsg,
        "compacted" => Kind::Compacted,
        "world_state" => Kind::WorldState,
        "token_usage_record" => Kind::TokenUsage,
        "inter_agent_communication" => Kind::AgentMessage,
        _ => Kind::Other(name.to_owned()),
    }
}

fn is_bare_meta(value: &Value) -> bool {
    text(value, "id").is_some() && text(value, "timestamp").is_some()
}

/// True when a value is surely a line of a rollout.
pub(super) fn is_line(value: &Value) -> bool {
    let framed = text(value, "type").is_some_and(|name| !matches!(kind(name), Kind::Other(_)))
        && value.get("payload").is_some_and(Value::is_object)
        && text(value, "timestamp").is_some();
    let bare = text(value, "type").is_none()
        && is_bare_meta(value)
        && (value.get("instructions").is_some() || value.get("git").is_some());
    framed || bare
}

/// A member that is text.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A member that is text, owned.
pub(super) fn owned(value: &Value, name: &str) -> Option<String> {
    text(value, name).map(str::to_owned)
}

/// A member that is a whole number.
pub(super) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// A member that is a list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A value as it stands.
pub(super) fn json(value: &Value) -> Option<JsonText> {
    JsonText::from_value(value).ok()
}

/// A value as it stands, unless it is absent or null.
pub(super) fn given(value: &Value, name: &str) -> Option<JsonText> {
    value.get(name).filter(|v| !v.is_null()).and_then(json)
}

/// A duration, however it is written, in milliseconds.
pub(super) fn millis(value: &Value) -> Option<u64> {
    let duration = value.get("duration")?;
    if let Some(secs) = number(duration, "secs") {
        let nanos = number(duration, "nanos").unwrap_or(0);
        return Some(secs.saturating_mul(1000).saturating_add(nanos / 1_000_000));
    }
    duration.as_u64()
}

/// The text of a message: its text parts, one a line.
pub(super) fn message_text(payload: &Value) -> String {
    let texts: Vec<&str> =
        list(payload, "content").iter().filter_map(|part| text(part, "text")).collect();
    texts.join("\n")
}

/// A command as a person would type it.
pub(super) fn command_line(value: &Value) -> Option<String> {
    match value.get("command")? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // The shell that runs a line is no part of it.
                [_, "-lc" | "-c", line] => Some((*line).to_owned()),
                _ => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// The element that encloses a whole text, such as `environment_context`.
pub(super) fn enclosing_tag(text: &str) -> Option<&str> {
    let (tag, rest) = text.trim().strip_prefix('<')?.split_once('>')?;
    let name = tag.split_whitespace().next()?;
    let well_formed = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let ends = rest.ends_with(&format!("</{name}>"));
    (well_formed && ends).then_some(name)
}

/// The word for a state, whether written with or without capitals.
pub(super) fn snake(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    for c in word.chars() {
        if c.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
