//! Owns the family «Tool / Process»: tools, commands, browsers, files, workflow steps. Consumers: tool groups, process timeline, execution graph.

use super::prelude::*;

/// A tool call began to run. It ends with `tool.result`, `tool.failed` or the end of its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolStarted {
    /// Name of the tool.
    pub tool_name: String,
    /// What sort of tool it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The arguments, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<JsonText>,
    /// Id of the ref that holds arguments too large to inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_ref: Option<String>,
    /// What may happen if the call is made twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety: Option<ToolSafety>,
    /// The id the source uses, when ours differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_tool_call_id: Option<String>,
    /// Working directory of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// The arguments of a tool call arrive, in pieces or whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolArgs {
    /// Name of the tool, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// How far the arguments are.
    pub state: ArgsState,
    /// A piece of the argument text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// The whole arguments, when they are JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<JsonText>,
    /// The whole argument text, when it is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Id of the ref that holds arguments too large to inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args_ref: Option<String>,
}

/// A running tool has something to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgress {
    /// A piece of output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// `stdout`, `stderr` or another channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Byte offset of the piece in the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What it is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How far it is, 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Id of the ref that holds the output so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_ref: Option<String>,
}

/// A tool call succeeded, as far as its source says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// How it ended; `succeeded` only when the source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// The output, as given, when it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<JsonText>,
    /// Head of the output, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Id of the ref that holds the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_ref: Option<String>,
    /// True when the inline output is not all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Exit status of a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How long it ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The source's own facts about the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
}

/// A tool call ended without its result: it failed, was denied, cancelled, cut off, or its outcome is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolFailed {
    /// Machine-readable category: `execution_failed`, `timeout`, `permission_denied`, `invalid_arguments`,
    /// `unknown_tool`, `cancelled`, `interrupted` …
    pub failure_category: String,
    /// The error as the source worded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// What it had printed, when it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<JsonText>,
    /// Head of the output, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Id of the ref that holds the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_ref: Option<String>,
    /// True when the inline output is not all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Exit status of a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How long it ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// True when trying again can help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// Name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The source's own facts about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonText>,
}

/// An output was too large to inline; it lies in the blob store, once, and this names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputSpilled {
    /// Id of the ref that holds it.
    pub output_ref: String,
    /// What it is the output of: `tool`, `process`, `model`, `hook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Whole size in bytes.
    pub size_bytes: u64,
    /// Head of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// What the preview shows of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
}

/// The source cut an output and the rest is gone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputTruncated {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Bytes that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_bytes: Option<u64>,
    /// Whole size in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Which end is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
}

/// Something was taken out of an output before it was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputRedacted {
    /// What it was taken from.
    pub target: String,
    /// `mask`, `withhold`, `remove`.
    pub method: String,
    /// Why: the rule that matched.
    pub reason: String,
    /// How many places.
    pub count: u64,
}

/// A stored output was deleted on purpose; its digest stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputExpired {
    /// Id of the ref.
    pub output_ref: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

event_family! {
    /// Tool / Process events.
    ToolEvent of Tool {
        ToolStarted(ToolStarted) = "tool.started" {
            scope: Tool, durability: Barrier, pairing: Pairing::Opens(Entity::ToolCall), origin: Contract,
            aliases: [], neo_code: Some("tool_start"),
        }
        ToolArgs(ToolArgs) = "tool.args" {
            scope: Tool, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("tool_call_thinking"),
        }
        ToolProgress(ToolProgress) = "tool.progress" {
            scope: Tool, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("tool_chunk"),
        }
        ToolResult(ToolResult) = "tool.result" {
            scope: Tool, durability: Barrier, pairing: Pairing::Closes(Entity::ToolCall), origin: Contract,
            aliases: [], neo_code: Some("tool_result"),
        }
        ToolFailed(ToolFailed) = "tool.failed" {
            scope: Tool, durability: Barrier, pairing: Pairing::Closes(Entity::ToolCall), origin: Contract,
            aliases: [], neo_code: Some("tool_result"),
        }
        OutputSpilled(OutputSpilled) = "output.spilled" {
            scope: Tool, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        OutputTruncated(OutputTruncated) = "output.truncated" {
            scope: Tool, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        OutputRedacted(OutputRedacted) = "output.redacted" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        OutputExpired(OutputExpired) = "output.expired" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
    }
}
