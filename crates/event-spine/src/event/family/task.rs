//! Owns the family «Task / Agent»: tasks, sub-agents, background jobs, handoff. Consumers: execution graph, team workbench.

use super::prelude::*;

/// A unit of work came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCreated {
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where it stands; `queued` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// What sort of work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Ids of tasks that must end first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Execution attempt, 1 first; needs `runId` or `attemptId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// A task moved on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskUpdated {
    /// Where it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// The source's own word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_status: Option<String>,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Execution attempt, 1 first; needs `runId` or `attemptId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Another agent began to work for this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentStarted {
    /// Name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is there for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// The sub-agent that started it, if not the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_subagent_id: Option<String>,
    /// The tool call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<String>,
    /// Its own conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_thread_id: Option<String>,
    /// True when the conversation itself moved to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handoff: bool,
    /// Model it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A sub-agent moved on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentStatus {
    /// Where it stands, in the source's words.
    pub status: String,
    /// More, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A sub-agent ended with a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentCompleted {
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The result, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<JsonText>,
    /// Id of the ref that holds a large result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_ref: Option<String>,
    /// Tokens it used; not contained in the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A sub-agent ended without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentFailed {
    /// Machine-readable category.
    pub failure_category: String,
    /// The error as the source worded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The source's own code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A background job waits for its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobQueued {
    /// The job.
    pub job_id: String,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Which queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// What woke it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A message between agents, or from outside. It is never the speech of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelMessage {
    /// The channel.
    pub channel_id: String,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `handoff`, `notification`, `peer` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

event_family! {
    /// Task / Agent events.
    TaskEvent of Task {
        TaskCreated(TaskCreated) = "task.created" {
            scope: Task, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        TaskUpdated(TaskUpdated) = "task.updated" {
            scope: Task, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        SubagentStarted(SubagentStarted) = "subagent.started" {
            scope: Subagent, durability: Barrier, pairing: Pairing::Opens(Entity::Subagent), origin: Contract,
            aliases: ["subagent.spawned"], neo_code: Some("subagent_started"),
        }
        SubagentStatus(SubagentStatus) = "subagent.status" {
            scope: Subagent, durability: Buffered, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        SubagentCompleted(SubagentCompleted) = "subagent.completed" {
            scope: Subagent, durability: Barrier, pairing: Pairing::Closes(Entity::Subagent), origin: Registered,
            aliases: [], neo_code: None,
        }
        SubagentFailed(SubagentFailed) = "subagent.failed" {
            scope: Subagent, durability: Barrier, pairing: Pairing::Closes(Entity::Subagent), origin: Registered,
            aliases: [], neo_code: None,
        }
        JobQueued(JobQueued) = "job.queued" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["job.created"], neo_code: None,
        }
        ChannelMessage(ChannelMessage) = "channel.message" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
    }
}
