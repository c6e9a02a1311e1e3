//! Owns the family «Lifecycle»: turns, runs and the queue of inputs. Consumers: runtime status, process timeline, read model.

use super::prelude::*;

/// A person or a program handed in an input; it is stored before anything else happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnSubmitted {
    /// Who speaks; `user` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The input as plain text, when it is text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The input in parts, when it is more than text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContentPart>,
    /// Where it came from: `user`, `queue`, `steer`, `schedule`, `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Id of the ref that holds an input too large to inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_ref: Option<String>,
}

/// The runtime began to work on the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    /// Model the turn starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Provider of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The turn ended with what was asked for. Nothing of its execution follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCompleted {
    /// Why the turn ended, in the runtime's own words (a stop reason such as `accepted`, `budget_exceeded`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// More about the reason, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Verdict behind the reason: `completed`, `incomplete`, `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<String>,
    /// Wall time of the turn in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens of the whole turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// The turn ended without what was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnFailed {
    /// Machine-readable category, such as `rate_limited`, `context_budget_exceeded`, `runtime_error`, `incomplete`.
    pub failure_category: String,
    /// The error as the runtime worded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the turn ended, in the runtime's own words (a stop reason such as `accepted`, `budget_exceeded`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// More about the reason, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Verdict behind the reason: `completed`, `incomplete`, `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<String>,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// Tokens of the whole turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A person or a program stopped the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCanceled {
    /// Why the turn ended, in the runtime's own words (a stop reason such as `accepted`, `budget_exceeded`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// More about the reason, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Verdict behind the reason: `completed`, `incomplete`, `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<String>,
    /// Who stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canceled_by: Option<String>,
}

/// The state of the run changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// The phase that holds from here on, in the runtime's own words (`plan`, `execute`, `routing`, `retrying` …).
    pub phase: String,
    /// The phase that held before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How often this was tried, when it is a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// More, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The queue of inputs that wait for the running turn changed. Every change is one event; the queue is the
/// runtime's and survives a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueChanged {
    /// What happened to the item.
    pub change: QueueChange,
    /// The queued item.
    pub item_id: String,
    /// What the input is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<QueueMode>,
    /// Head of the input, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Place in the queue, 0 first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// The turn a steering input changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_turn_id: Option<String>,
    /// Why it was removed, refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

event_family! {
    /// Lifecycle events.
    LifecycleEvent of Lifecycle {
        TurnSubmitted(TurnSubmitted) = "turn.submitted" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("user_message"),
        }
        TurnStarted(TurnStarted) = "turn.started" {
            scope: Turn, durability: Barrier, pairing: Pairing::Opens(Entity::Turn), origin: Contract,
            aliases: [], neo_code: None,
        }
        TurnCompleted(TurnCompleted) = "turn.completed" {
            scope: Turn, durability: Barrier, pairing: Pairing::Closes(Entity::Turn), origin: Contract,
            aliases: [], neo_code: Some("stop_reason_decided"),
        }
        TurnFailed(TurnFailed) = "turn.failed" {
            scope: Turn, durability: Barrier, pairing: Pairing::Closes(Entity::Turn), origin: Contract,
            aliases: [], neo_code: Some("stop_reason_decided"),
        }
        TurnCanceled(TurnCanceled) = "turn.canceled" {
            scope: Turn, durability: Barrier, pairing: Pairing::Closes(Entity::Turn), origin: Registered,
            aliases: ["turn.cancelled"], neo_code: Some("stop_reason_decided"),
        }
        RunStatus(RunStatus) = "run.status" {
            scope: Turn, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("phase_changed"),
        }
        QueueChanged(QueueChanged) = "queue.changed" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
    }
}
