//! Owns the family «Message»: model text and final answers. Consumers: message parts, transcript.

use super::prelude::*;

/// A request went to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRequested {
    /// Provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Model asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Hash over model, system prompt, messages and tools as frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_hash: Option<String>,
    /// Budget attempt within the round, 1 first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_seq: Option<u32>,
    /// Model round within the turn, 0 first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Estimate made before sending, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_input_tokens: Option<u64>,
}

/// A piece of answer text. Deltas of one message part are concatenated in order of sequence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelDelta {
    /// The piece. May be empty.
    pub delta: String,
    /// Who speaks; `assistant` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
}

/// The model finished a message. It confirms, corrects or replaces the streamed text of the same message part; it
/// is never appended to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelCompleted {
    /// The whole text. Absent when the source does not repeat it: then it confirms what was streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How the text relates to the streamed one; found out by the reader when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Reconciliation>,
    /// Who speaks; `assistant` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// True for the answer that ends the turn.
    #[serde(rename = "final", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
    /// Why the model stopped: `stop`, `length`, `tool_calls`, `content_filter` …, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Tokens of this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The message in parts, when it is more than text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContentPart>,
}

/// A model call ended in an error, or its stream broke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelFailed {
    /// Machine-readable category: `auth_failed`, `rate_limited`, `context_too_long`, `server_error`, `timeout`,
    /// `network_error`, `stream_interrupted`, `refused` …
    pub failure_category: String,
    /// The error as the source worded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The provider's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// True when trying again can help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// What had been streamed, when the source repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_text: Option<String>,
}

/// The source states its whole message list. It may correct what was streamed; it never erases an open action or a
/// failed tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagesSnapshot {
    /// The messages, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<SnapshotMessage>,
    /// Why it was sent: `reconcile`, `compaction`, `attach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MessagesSnapshot {
    /// The newest message of a person that says something, with its place in the list: the input that the messages
    /// after it answer.
    #[must_use]
    pub fn question(&self) -> Option<(usize, &SnapshotMessage)> {
        let asks = |message: &SnapshotMessage| {
            message.role == Role::User && message.text.as_deref().is_some_and(|text| !text.is_empty())
        };
        self.messages.iter().enumerate().rev().find(|(_, message)| asks(message))
    }
}

event_family! {
    /// Message events.
    MessageEvent of Message {
        ModelRequested(ModelRequested) = "model.requested" {
            scope: Turn, durability: Barrier, pairing: Pairing::Opens(Entity::ModelCall), origin: Contract,
            aliases: [], neo_code: Some("budget_checked"),
        }
        ModelDelta(ModelDelta) = "model.delta" {
            scope: Turn, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("agent_chunk"),
        }
        ModelCompleted(ModelCompleted) = "model.completed" {
            scope: Turn, durability: Barrier, pairing: Pairing::Closes(Entity::ModelCall), origin: Contract,
            aliases: [], neo_code: Some("agent_done"),
        }
        ModelFailed(ModelFailed) = "model.failed" {
            scope: Turn, durability: Barrier, pairing: Pairing::Closes(Entity::ModelCall), origin: Contract,
            aliases: [], neo_code: None,
        }
        MessagesSnapshot(MessagesSnapshot) = "messages.snapshot" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
    }
}
