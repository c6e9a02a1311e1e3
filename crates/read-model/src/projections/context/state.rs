//! Owns the state of the context view.

use event_spine::{RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use super::document::Document;
use crate::moment::{Elapsed, Moment};
use crate::text::Text;
use crate::window::{Row, Window};

/// What the model sees, and how complete this read model is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// How complete this read model is.
    pub hydration: Hydration,
    /// What was added to what the model sees; open while it is there.
    pub attached: Window<ContextItem>,
    /// What belongs to the context and could not be had.
    pub missing: Window<ContextItem>,
    /// Compactions of the history.
    pub compactions: Window<Compaction>,
    /// Where the newest compaction cut. What was open before it is still open in the other views.
    pub boundary: Option<Boundary>,
    /// Points to which the conversation went back.
    pub rollbacks: Window<Rollback>,
    /// Where this session branched off.
    pub fork: Option<ForkOrigin>,
    /// State that the source keeps by snapshots and patches.
    pub documents: Window<Document>,
    #[serde(skip)]
    pub(super) preview_bytes: usize,
    #[serde(skip)]
    pub(super) document_bytes: usize,
}

/// Whether a read model can be trusted to be complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HydrationStatus {
    /// Nothing happened yet.
    #[default]
    Idle,
    /// It is complete.
    Live,
    /// It may be out of date: something is missing.
    Stale,
    /// Something was missing, and a stated whole is standing in for it.
    Repairing,
    /// A stored fact cannot be read.
    Degraded,
}

/// How complete a read model is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hydration {
    /// In a word.
    pub status: HydrationStatus,
    /// Events so far.
    pub event_count: u64,
    /// Why it is not `live`, or what the last repair said.
    pub reason: Option<String>,
    /// When it last changed.
    pub since: Option<Moment>,
    /// True while the source's stream is broken off.
    pub interrupted: bool,
    /// True while a stated whole stands in for what is missing.
    pub repairing: bool,
    /// How many times the source's stream broke off.
    pub interruptions: u64,
    /// How many times it was repaired.
    pub repairs: u64,
    /// Events of the source that stay missing, by its last repair.
    pub lost_events: u64,
    /// Stretches of the log itself that cannot be read.
    pub log_gaps: u64,
    /// State documents to which a patch did not fit.
    pub stale_documents: u64,
    /// Facts of known types that cannot be read.
    pub unreadable: u64,
}

/// Something that was added to what the model sees, or was missing from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextItem {
    /// `skill`, `file`, `memory`, `rules`, `instructions`, `environment` …
    pub kind: String,
    /// What it is called.
    pub name: Option<String>,
    /// The skill, for `skill`.
    pub skill_id: Option<String>,
    /// Where it came from.
    pub source: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Ref that holds it.
    pub content_ref: Option<String>,
    /// Why it was taken out, or is missing.
    pub reason: Option<String>,
    /// When it was added, or found missing.
    pub first: Moment,
    /// When it was taken out.
    pub detached: Option<Moment>,
    /// True for one that is missing.
    pub is_missing: bool,
}

/// How a compaction went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionState {
    /// It runs.
    Running,
    /// The history is shorter now.
    Applied,
    /// It ended without changing anything.
    ChangedNothing,
    /// It did not work; the history is as it was.
    Failed,
}

/// A compaction of the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// Ties start and end together, where the source does.
    pub compaction_id: Option<String>,
    /// Where it belongs.
    pub scope: Scope,
    /// How it went.
    pub state: CompactionState,
    /// `manual`, `proactive`, `reactive`.
    pub trigger: Option<String>,
    /// Tokens before.
    pub before_tokens: Option<u64>,
    /// Tokens after.
    pub after_tokens: Option<u64>,
    /// Characters before.
    pub before_chars: Option<u64>,
    /// Characters after.
    pub after_chars: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed: Elapsed,
    /// Its first event.
    pub first: Moment,
    /// When it ended.
    pub ended: Option<Moment>,
}

/// Where a compaction cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Boundary {
    /// First event that the model still sees in full.
    pub first_kept_sequence: Option<u64>,
    /// Messages kept word for word.
    pub kept_messages: Option<u32>,
    /// What stands for the part that was taken out.
    pub summary: Option<Text>,
    /// Ref that holds a large summary.
    pub summary_ref: Option<String>,
    /// When.
    pub at: Moment,
}

/// The conversation went back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollback {
    /// Last event that still counts.
    pub to_sequence: Option<u64>,
    /// How many turns were undone.
    pub dropped_turns: Option<u32>,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Moment,
}

/// Where a session branched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkOrigin {
    /// The parent.
    pub parent_session_id: String,
    /// Last event that both share.
    pub parent_sequence: u64,
    /// Chain value of the parent there, in hex.
    pub parent_chain: String,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: Moment,
}

/// What an attached thing is found by: its kind and what it is called.
pub(super) fn item_key<'a>(kind: &'a str, name: Option<&'a str>) -> (&'a str, &'a str) {
    (kind, name.unwrap_or_default())
}

impl ContextItem {
    pub(super) fn new(
        recorded: &RecordedEvent,
        kind: &str,
        name: Option<&String>,
        skill_id: Option<&String>,
    ) -> Self {
        Self {
            kind: kind.to_owned(),
            name: name.cloned(),
            skill_id: skill_id.cloned(),
            source: None,
            size_bytes: None,
            content_ref: None,
            reason: None,
            first: Moment::of(recorded),
            detached: None,
            is_missing: matches!(recorded.draft.event_type.name(), "context.missing"),
        }
    }
}

impl Compaction {
    pub(super) fn new(
        recorded: &RecordedEvent,
        trigger: Option<&String>,
        id: Option<&String>,
    ) -> Self {
        Self {
            compaction_id: id.cloned(),
            scope: recorded.draft.scope.clone(),
            state: CompactionState::Running,
            trigger: trigger.cloned(),
            before_tokens: None,
            after_tokens: None,
            before_chars: None,
            after_chars: None,
            error: None,
            elapsed: Elapsed::OPEN,
            first: Moment::of(recorded),
            ended: None,
        }
    }
}

impl Row for ContextItem {
    type Key<'a> = (&'a str, &'a str);
    fn key(&self) -> Option<Self::Key<'_>> {
        let name = self.name.as_deref().or(self.skill_id.as_deref());
        (!self.is_missing).then(|| item_key(&self.kind, name))
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        match &self.detached {
            Some(detached) => Some(detached.sequence),
            None => self.is_missing.then_some(self.first.sequence),
        }
    }
}

impl Row for Compaction {
    type Key<'a> = ();
    fn key(&self) -> Option<()> {
        None
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        self.ended.as_ref().map(|ended| ended.sequence)
    }
}

impl Row for Rollback {
    type Key<'a> = ();
    fn key(&self) -> Option<()> {
        None
    }
    fn first(&self) -> u64 {
        self.at.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.at.sequence)
    }
}
