//! Owns the values that payloads of several families share.
//!
//! A closed list reads a word that it does not have as `Unknown`: the fact stands, the word stays in the stored text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$vdoc:meta])* $variant:ident = $word:literal $(| $alias:literal)* ),* $(,)? } )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $( $(#[$vdoc])* #[serde(rename = $word $(, alias = $alias)*)] $variant, )*
            /// A word that is not in this list, or a state nobody knows.
            #[serde(rename = "unknown", other)]
            Unknown,
        }

        impl $name {
            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                    Self::Unknown => "unknown",
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    )* };
}

words! {
    /// Who speaks.
    Role {
        /// A person.
        User = "user",
        /// The agent.
        Assistant = "assistant",
        /// Instructions of the product.
        System = "system",
        /// Instructions of the developer.
        Developer = "developer",
        /// A tool's answer.
        Tool = "tool",
        /// Reasoning shown as a message of its own.
        Reasoning = "reasoning",
        /// Activity shown as a message of its own.
        Activity = "activity",
    }
    /// Where a number of tokens is from.
    UsageSource {
        /// The provider said so.
        Observed = "observed",
        /// We estimated it before sending.
        Estimated = "estimated",
    }
    /// How a final text relates to the streamed one.
    Reconciliation {
        /// Equal.
        Confirm = "confirm",
        /// Different in places.
        Correct = "correct",
        /// Another text altogether.
        Replace = "replace",
    }
    /// How far the arguments of a tool call are.
    ArgsState {
        /// They arrive in pieces.
        Streaming = "input-streaming",
        /// They are whole.
        Available = "input-available",
        /// They are whole and not what the tool can read.
        Invalid = "input-invalid",
    }
    /// What sort of tool it is.
    ToolKind {
        /// A function of the host program.
        Function = "function",
        /// A shell command.
        Command = "command",
        /// A change of files.
        FileChange = "file_change",
        /// A browser.
        Browser = "browser",
        /// A web search.
        WebSearch = "web_search",
        /// A tool of an MCP server.
        Mcp = "mcp",
        /// A step of a workflow.
        WorkflowStep = "workflow_step",
        /// Another agent.
        Agent = "agent",
    }
    /// What may happen if a call is made twice.
    ToolSafety {
        /// It changes nothing.
        Pure = "pure",
        /// Twice is as good as once.
        Idempotent = "idempotent",
        /// It must not be made twice.
        AtMostOnce = "at_most_once",
    }
    /// How a tool call ended.
    ToolStatus {
        /// As wanted.
        Succeeded = "succeeded",
        /// In part as wanted.
        PartialSucceeded = "partial_succeeded",
        /// With an error.
        Failed = "failed",
        /// A rule refused it.
        Denied = "denied",
        /// A person refused it.
        Rejected = "rejected",
        /// It was stopped.
        Cancelled = "cancelled" | "canceled",
        /// It took too long.
        TimedOut = "timed_out",
        /// It was cut off and nobody knows what it did.
        Interrupted = "interrupted",
    }
    /// Which part of an output is left.
    Truncation {
        /// All of it.
        None = "none",
        /// The beginning.
        Head = "head",
        /// The end.
        Tail = "tail",
        /// The middle.
        Middle = "middle",
        /// Beginning and end.
        HeadTail = "head_tail",
    }
    /// What happened to a queued input.
    QueueChange {
        /// It came in.
        Queued = "queued",
        /// It was moved up.
        Promoted = "promoted",
        /// It is being worked on.
        Started = "started",
        /// It was taken out.
        Removed = "removed",
        /// It was refused.
        Rejected = "rejected",
        /// It could not be worked on.
        Failed = "failed",
    }
    /// What a queued input is for.
    QueueMode {
        /// The next turn.
        Queue = "queue",
        /// Changing the running turn.
        Steer = "steer",
        /// A task of its own.
        NewTask = "new-task",
    }
    /// Where an item of a plan stands.
    PlanStatus {
        /// Not begun.
        Pending = "pending",
        /// Being worked on.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed" | "done",
        /// Given up.
        Cancelled = "cancelled" | "canceled",
        /// It cannot go on.
        Blocked = "blocked",
        /// It went wrong.
        Failed = "failed",
    }
    /// What happened to an artifact.
    ArtifactChange {
        /// It came to be.
        Created = "created" | "add",
        /// It changed.
        Updated = "updated" | "update",
        /// It went.
        Deleted = "deleted" | "delete",
        /// Making it failed.
        Failed = "failed",
    }
    /// Where a piece of evidence stands.
    EvidenceStatus {
        /// Being collected.
        Collecting = "collecting",
        /// Complete.
        Ready = "ready",
        /// In part there.
        Partial = "partial",
        /// Checked and found true.
        Verified = "verified",
        /// Doubted.
        Disputed = "disputed",
        /// Out of date.
        Stale = "stale",
        /// Found wrong.
        Invalid = "invalid",
    }
    /// A reviewer's judgement.
    Verdict {
        /// Good.
        Approved = "approved",
        /// Not good.
        Rejected = "rejected",
        /// Good after changes.
        NeedsChanges = "needs_changes",
        /// For somebody else to judge.
        Escalated = "escalated",
        /// Let pass on purpose.
        Waived = "waived",
        /// No judgement, a note.
        Informational = "informational",
    }
    /// Where a task stands.
    TaskStatus {
        /// Not handed in yet.
        Draft = "draft",
        /// Taken.
        Accepted = "accepted",
        /// Waits for its turn.
        Queued = "queued" | "pending",
        /// Gets ready.
        Preparing = "preparing",
        /// Being worked on.
        Running = "running" | "in_progress",
        /// Waits, without saying for what.
        Waiting = "waiting",
        /// Waits for an input.
        WaitingInput = "waiting_input",
        /// Waits for a permission.
        WaitingPermission = "waiting_permission",
        /// Waits for a resource.
        WaitingResource = "waiting_resource",
        /// Cannot go on.
        Blocked = "blocked",
        /// Stopped for now.
        Paused = "paused",
        /// Tried again.
        Retrying = "retrying",
        /// Being stopped.
        Cancelling = "cancelling",
        /// Stopped.
        Cancelled = "cancelled" | "canceled",
        /// Took too long.
        TimedOut = "timed_out",
        /// Ended with an error.
        Failed = "failed",
        /// Nobody knows where it is.
        Lost = "lost",
        /// Done.
        Completed = "completed",
        /// Put away.
        Archived = "archived",
        /// Possibly out of date.
        Stale = "stale",
    }
    /// What the budget answered.
    BudgetAction {
        /// Send it.
        Allow = "allow",
        /// Shorten the history first.
        Compact = "compact",
        /// Stop the run.
        Stop = "stop",
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContentPart {
    /// `text`, `image`, `file`, `audio`, `tool_call` … as the source says.
    pub kind: String,
    /// The text, for text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Media type, for what is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Where the content lies, for what is not inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Id of the ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_ref: Option<String>,
}

impl ContentPart {
    /// A part that is text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            kind: "text".into(),
            text: Some(text.into()),
            media_type: None,
            uri: None,
            content_ref: None,
        }
    }
}

/// Tokens of one model call, or of what the event is about. Numbers that are absent are not known; they are not zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens in, cached ones included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens out, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens in that came from a cache; part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens in that were written to a cache; part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of reasoning; part of `outputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Sum as the source gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}

/// A message inside `messages.snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotMessage {
    /// Id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Calls the message makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<SnapshotToolCall>,
    /// The call it answers, for tool messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The error it carries, for tool messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A tool call inside a [`SnapshotMessage`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotToolCall {
    /// Id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The argument text, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// Id of the item, where the source has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
}
