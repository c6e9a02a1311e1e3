//! Owns the family «Context / Hydration»: history, compaction, snapshots, repair. Consumers: hydration, diagnostics.

use super::prelude::*;

/// Something was added to what the model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextAttached {
    /// `skill`, `file`, `memory`, `rules`, `instructions`, `environment` …
    pub kind: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The skill, for `skill`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Id of the ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_ref: Option<String>,
}

/// Something was taken out of what the model sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextDetached {
    /// As in `context.attached`.
    pub kind: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The skill, for `skill`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that belongs to the context could not be had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMissing {
    /// As in `context.attached`.
    pub kind: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The skill, for `skill`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_id: Option<String>,
    /// Machine-readable reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The runtime began to shorten the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactionStarted {
    /// `manual`, `proactive`, `reactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Ties start and end together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_id: Option<String>,
}

/// A compaction ended without changing anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactionCompleted {
    /// `manual`, `proactive`, `reactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Ties start and end together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_id: Option<String>,
    /// Always false here: a compaction that changed something is `history.compacted`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub applied: bool,
}

/// A compaction did not work; the history is as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextCompactionFailed {
    /// `manual`, `proactive`, `reactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Ties start and end together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_id: Option<String>,
    /// What went wrong.
    pub error: String,
    /// True when trying again can help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
}

/// The model sees a shorter history from here on. The log keeps all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryCompacted {
    /// `manual`, `proactive`, `reactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Ties start and end together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_id: Option<String>,
    /// What stands for the part that was taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Id of the ref that holds a large summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_ref: Option<String>,
    /// Tokens before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_tokens: Option<u64>,
    /// Tokens after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_tokens: Option<u64>,
    /// Characters before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_chars: Option<u64>,
    /// Characters after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_chars: Option<u64>,
    /// Messages kept word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_messages: Option<u32>,
    /// First event that still counts in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_kept_sequence: Option<u64>,
}

/// The conversation goes on from an earlier point. The log keeps what was undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRollbackCompleted {
    /// Last event that still counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_sequence: Option<u64>,
    /// How many turns were undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_turns: Option<u32>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The source states its whole state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotUpdated {
    /// Which state: `agent_state`, `thread`, `world`, `checkpoint` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The state, as given, when it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JsonText>,
    /// Id of the ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_ref: Option<String>,
    /// The source's own revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// The source changes its state by a JSON Patch (RFC 6902).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDelta {
    /// The operations, as given.
    pub patch: JsonText,
    /// Which state or activity it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The stream of the source broke off. Until it is repaired, what follows from it may be out of date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamInterrupted {
    /// What broke.
    pub reason: String,
    /// The last number of the source that arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_source_sequence: Option<u64>,
    /// The number that should have followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_source_sequence: Option<u64>,
}

/// What was missing is here, or a snapshot stands in for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StreamRepaired {
    /// `replay`, `snapshot`, `tail_cut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// First event of the repaired range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_sequence: Option<u64>,
    /// Last event of the repaired range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_sequence: Option<u64>,
    /// Events that stay missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// More, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// This session branched off another one: its history up to the fork is the parent's, by reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionForked {
    /// The parent.
    pub parent_session_id: String,
    /// Last event that both share.
    pub parent_sequence: u64,
    /// Chain value of the parent at that event, in hex.
    pub parent_chain: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

event_family! {
    /// Context / Hydration events.
    ContextEvent of Context {
        ContextAttached(ContextAttached) = "context.attached" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["context.resolved"], neo_code: Some("skill_activated"),
        }
        ContextDetached(ContextDetached) = "context.detached" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: ["context.changed"], neo_code: Some("skill_deactivated"),
        }
        ContextMissing(ContextMissing) = "context.missing" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: ["context.failed"], neo_code: Some("skill_missing"),
        }
        CompactionStarted(ContextCompactionStarted) = "context.compaction.started" {
            scope: Thread, durability: Barrier, pairing: Pairing::Opens(Entity::Compaction), origin: Registered,
            aliases: [], neo_code: Some("compact_start"),
        }
        CompactionCompleted(ContextCompactionCompleted) = "context.compaction.completed" {
            scope: Thread, durability: Barrier, pairing: Pairing::Closes(Entity::Compaction), origin: Registered,
            aliases: [], neo_code: Some("compact_applied"),
        }
        CompactionFailed(ContextCompactionFailed) = "context.compaction.failed" {
            scope: Thread, durability: Barrier, pairing: Pairing::Closes(Entity::Compaction), origin: Registered,
            aliases: [], neo_code: Some("compact_error"),
        }
        HistoryCompacted(HistoryCompacted) = "history.compacted" {
            scope: Thread, durability: Barrier, pairing: Pairing::Closes(Entity::Compaction), origin: Contract,
            aliases: [], neo_code: Some("compact_applied"),
        }
        HistoryRolledBack(HistoryRollbackCompleted) = "history.rollback.completed" {
            scope: Thread, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        SnapshotUpdated(SnapshotUpdated) = "snapshot.updated" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        StateDelta(StateDelta) = "state.delta" {
            scope: Session, durability: Buffered, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        StreamInterrupted(StreamInterrupted) = "stream.interrupted" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
        StreamRepaired(StreamRepaired) = "stream.repaired" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["snapshot.repaired"], neo_code: None,
        }
        SessionForked(SessionForked) = "session.forked" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
    }
}
