//! Owns what a pack says about a session, beside the events themselves: its members, in the order of the file.
//!
//! Everything here follows from the events, so that whoever checks a pack can derive it again; the exceptions are
//! `createdAt`, `producer` and whether a body is `present`.
//!
//! Next: [`collect`](super::collect), which gathers it.

use std::collections::BTreeMap;

use event_spine::event::value::Verdict;
use event_spine::{ChainHash, EvidenceId, RecordedAt, SessionId};
use serde::{Deserialize, Serialize};

use crate::projections::graph::{Counts, Tokens};

/// Name of the format, in every pack.
pub const FORMAT: &str = "spine.evidence-pack";

/// Version of the format that this code writes and reads.
pub const FORMAT_VERSION: &str = "1";

macro_rules! words {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$vdoc:meta])* $variant:ident ),* $(,)? } )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $( $(#[$vdoc])* $variant, )* }
    )* };
}

words! {
    /// Where a pack stands.
    PackStatus {
        /// The hash chain holds over every event, nothing is missing.
        Verified,
        /// As `verified`, and a reviewer has judged.
        Reviewed,
        /// Something is missing; what is there holds.
        Partial,
        /// The hash chain does not hold.
        Invalid,
    }
    /// How much of a category is there.
    Coverage {
        /// All of it.
        Complete,
        /// A part of it; `missingFacts` says what is not there.
        Partial,
        /// It ought to be there and is not.
        Missing,
        /// The facts do not say.
        Unknown,
        /// It has no meaning for this session.
        NotApplicable,
        /// Nobody recorded it.
        NotCollected,
    }
    /// What became of a signal.
    SignalStatus {
        /// It is in the pack.
        Exported,
        /// It has no meaning for this session.
        NotApplicable,
        /// This version cannot carry it.
        Unsupported,
        /// It is in the pack, but some of it cannot be tied to what it is about.
        MissingCorrelation,
        /// It would have a meaning and nobody recorded it.
        NotRecorded,
    }
    /// How an approval ended.
    ApprovalOutcome {
        /// Nobody has answered yet.
        Open,
        /// It was granted, or the question answered.
        Granted,
        /// It was refused.
        Refused,
        /// It was withdrawn.
        Cancelled,
        /// Nobody answered in time.
        Expired,
        /// It was answered, and nobody recorded how.
        Unknown,
    }
    /// How a turn ended.
    TurnOutcome {
        /// It has not ended.
        Open,
        /// With what was asked for.
        Completed,
        /// Without it.
        Failed,
        /// Somebody stopped it.
        Canceled,
    }
}

/// Who wrote the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Producer {
    /// Program.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What the pack is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackScope {
    /// Always `session`.
    pub kind: String,
    /// The session.
    pub session_id: SessionId,
}

/// Ids that tie the pack to other systems, each once, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeCorrelation {
    /// The session.
    pub session_id: String,
    /// Sessions that recorded the events; more than one for a fork.
    pub recorded_by: Vec<String>,
    /// Runtimes.
    pub runtime_ids: Vec<String>,
    /// Threads.
    pub thread_ids: Vec<String>,
    /// Turns.
    pub turn_ids: Vec<String>,
    /// Tasks.
    pub task_ids: Vec<String>,
    /// Runs.
    pub run_ids: Vec<String>,
    /// Sub-agents.
    pub subagent_ids: Vec<String>,
    /// Distributed traces.
    pub trace_ids: Vec<String>,
}

/// A stretch of events that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// First missing sequence.
    pub from: u64,
    /// Last missing sequence.
    pub to: u64,
    /// Where and why, for people.
    pub reason: String,
}

/// Which events are in the pack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackRange {
    /// First sequence; always 1.
    pub from: u64,
    /// Last sequence; 0 for a session without events.
    pub to: u64,
    /// Events in the pack.
    pub events: u64,
    /// Stretches that could not be read.
    pub missing: Vec<Missing>,
    /// When the log took the first event.
    pub first_recorded_at: Option<RecordedAt>,
    /// When the log took the last event.
    pub last_recorded_at: Option<RecordedAt>,
}

/// The hash chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackChain {
    /// Always `blake3`.
    pub algorithm: String,
    /// Value before the first event.
    pub genesis: ChainHash,
    /// Value at the last event. Whoever knows this value from elsewhere knows that nothing was changed.
    pub head: ChainHash,
}

/// What recomputing the chain found when the pack was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainResult {
    /// True when every value was recomputed and found right.
    pub intact: bool,
    /// Events whose chain value was recomputed and found right.
    pub verified_events: u64,
    /// The first event that is not right, if one is not.
    pub first_bad_sequence: Option<u64>,
    /// What is wrong there.
    pub fault: Option<String>,
}

/// How much of one category is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    /// How much.
    pub status: Coverage,
    /// What is not there, one sentence each.
    pub missing_facts: Vec<String>,
}

/// How much of each category is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completeness {
    /// What the runtime did.
    pub runtime: Category,
    /// Traces.
    pub telemetry: Category,
    /// Sources that were used.
    pub sources: Category,
    /// Claims and what supports them.
    pub claims: Category,
    /// Products.
    pub artifacts: Category,
    /// Checks and reviews.
    pub verification: Category,
    /// What was masked.
    pub privacy: Category,
    /// What a replay needs.
    pub replay: Category,
}

/// What became of one signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// Which.
    pub signal: String,
    /// What became of it.
    pub status: SignalStatus,
    /// Event types that carry it.
    pub source: String,
    /// More, for people.
    pub detail: String,
}

/// A gap that is proven: a fact that ought to be there and is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownGap {
    /// Machine-readable code: `events_unreadable`, `stream_interrupted`, `outcome_unknown`, `body_missing`,
    /// `usage_not_stated`, `payload_undecodable`.
    pub code: String,
    /// Where it shows: the first event, or the event after which it is.
    pub sequence: u64,
    /// One sentence, for people.
    pub detail: String,
}

/// Something that was taken out before it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Redaction {
    /// The event that says so.
    pub sequence: u64,
    /// What it was taken from.
    pub target: String,
    /// `mask`, `withhold`, `remove`.
    pub method: String,
    /// Why: the rule that matched.
    pub reason: String,
    /// How many places.
    pub count: u64,
}

/// Totals of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// How many of each.
    pub counts: Counts,
    /// Tokens; absent when nobody said.
    pub tokens: Option<Tokens>,
    /// Model calls that did not say what they used; above 0 the tokens are a lower bound.
    pub calls_without_usage: u64,
    /// Events of each type.
    pub events_by_type: BTreeMap<String, u64>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnEntry {
    /// The turn.
    pub turn_id: String,
    /// First event of it.
    pub first_sequence: u64,
    /// Last event of it.
    pub last_sequence: u64,
    /// Producer's time of the first event, as given.
    pub started_at: String,
    /// Producer's time of the last event, as given.
    pub last_event_at: String,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Category of the failure, or the reason of the end.
    pub reason: Option<String>,
    /// Tool calls in it.
    pub tool_calls: u64,
}

/// A boundary of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoundaryEntry {
    /// The event.
    pub sequence: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What it says, in a few words.
    pub detail: String,
}

/// The course of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// Turns in the order in which they began.
    pub turns: Vec<TurnEntry>,
    /// Boundaries of the history: compaction, rollback, fork, broken streams.
    pub boundaries: Vec<BoundaryEntry>,
}

/// How the calls of one tool ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolTally {
    /// Calls.
    pub calls: u64,
    /// As wanted, whole or in part.
    pub succeeded: u64,
    /// With an error, or too late.
    pub failed: u64,
    /// Refused by a rule or a person.
    pub denied: u64,
    /// Stopped.
    pub cancelled: u64,
    /// Cut off; nobody knows what they did.
    pub interrupted: u64,
    /// Returned, and the source does not say how.
    pub unknown: u64,
    /// Not ended.
    pub open: u64,
}

/// A tool call that did not end as wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolFailure {
    /// The event.
    pub sequence: u64,
    /// The call.
    pub tool_call_id: Option<String>,
    /// The tool.
    pub tool_name: Option<String>,
    /// Category.
    pub failure_category: String,
    /// The error, its head.
    pub error: Option<String>,
}

/// What the tools did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSummary {
    /// By tool.
    pub by_tool: BTreeMap<String, ToolTally>,
    /// Calls that did not end as wanted, in order.
    pub failures: Vec<ToolFailure>,
}

/// Who was asked for what, and who allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The request.
    pub action_id: String,
    /// `tool_permission`, `question` …
    pub action_type: Option<String>,
    /// The tool that wanted to run.
    pub tool_name: Option<String>,
    /// The call.
    pub tool_call_id: Option<String>,
    /// Hash of the arguments that the answer is bound to.
    pub arguments_hash: Option<String>,
    /// The event that asked; absent when none did.
    pub requested_sequence: Option<u64>,
    /// Producer's time of the request, as given.
    pub requested_at: Option<String>,
    /// The event that answered.
    pub decided_sequence: Option<u64>,
    /// Producer's time of the answer, as given.
    pub decided_at: Option<String>,
    /// How it ended.
    pub outcome: ApprovalOutcome,
    /// What was decided, in the runtime's word.
    pub decision: Option<String>,
    /// `human`, `rule`, `session_memory` …
    pub source: Option<String>,
    /// Which person or rule.
    pub decided_by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// A rule or the sandbox refused, without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The event.
    pub sequence: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The call.
    pub tool_call_id: Option<String>,
    /// The rule.
    pub rule_id: Option<String>,
    /// Why.
    pub reason: String,
}

/// A product, or a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductEntry {
    /// Its id.
    pub id: String,
    /// Title for people.
    pub title: Option<String>,
    /// What it is.
    pub kind: Option<String>,
    /// What happened last, or where it stands.
    pub state: String,
    /// What it supports, for evidence.
    pub claim: Option<String>,
    /// Where it lies.
    pub location: Option<String>,
    /// Id of the ref that holds it.
    pub read_ref: Option<String>,
    /// First event about it.
    pub first_sequence: u64,
    /// Last event about it.
    pub last_sequence: u64,
    /// The call that made its last version.
    pub tool_call_id: Option<String>,
}

/// A reviewer's judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// The event.
    pub sequence: u64,
    /// What was judged.
    pub evidence_id: Option<String>,
    /// The judgement.
    pub verdict: Verdict,
    /// Who.
    pub reviewer: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// A body that lies outside the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Body {
    /// `blake3:` and the hash in hex: whoever has the body can check it.
    pub id: String,
    /// `output` or `raw`.
    pub kind: String,
    /// Media type.
    pub media_type: Option<String>,
    /// Size in bytes, as the event says.
    pub size_bytes: Option<u64>,
    /// First event that names it.
    pub first_sequence: u64,
    /// True when the log had it when the pack was written.
    pub present: bool,
}

/// Everything that a pack says beside the events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidencePack {
    /// Always [`FORMAT`].
    pub format: String,
    /// Version of the format.
    pub schema_version: String,
    /// Derived from session, range and chain head: the same evidence has the same id.
    pub evidence_pack_id: EvidenceId,
    /// Where it stands.
    pub status: PackStatus,
    /// When it was written.
    pub created_at: RecordedAt,
    /// Who wrote it.
    pub producer: Producer,
    /// What it is about.
    pub scope: PackScope,
    /// Ids that tie it to other systems.
    pub runtime_correlation: RuntimeCorrelation,
    /// Which events are in it.
    pub range: PackRange,
    /// The hash chain.
    pub chain: PackChain,
    /// What recomputing the chain found.
    pub verification: ChainResult,
    /// How much of each category is there.
    pub completeness: Completeness,
    /// What became of each signal.
    pub signal_coverage: Vec<Signal>,
    /// Gaps that are proven.
    pub known_gaps: Vec<KnownGap>,
    /// What was taken out before it was stored.
    pub redactions: Vec<Redaction>,
    /// Totals.
    pub summary: Summary,
    /// The course of the session.
    pub timeline: Timeline,
    /// What the tools did.
    pub tools: ToolSummary,
    /// Who was asked, and who allowed it.
    pub approvals: Vec<Approval>,
    /// What rules refused.
    pub refusals: Vec<Refusal>,
    /// Products.
    pub artifacts: Vec<ProductEntry>,
    /// Pieces of evidence.
    pub evidence: Vec<ProductEntry>,
    /// Judgements.
    pub reviews: Vec<Review>,
    /// Bodies outside the pack.
    pub bodies: Vec<Body>,
}
