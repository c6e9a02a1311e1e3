//! Owns the state of the status view.

use event_spine::{ActionId, Scope, ThreadId, ToolCallId, TurnId};
use serde::{Deserialize, Serialize};

use crate::moment::{Elapsed, Moment};
use crate::window::{Row, Window};

macro_rules! words {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$vdoc:meta])* $variant:ident = $word:literal, )* } )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $( $(#[$vdoc])* #[serde(rename = $word)] $variant, )* }

        impl $name {
            /// The word in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word, )* }
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
    /// What the session is doing.
    RuntimeStatus {
        /// Nothing happened yet.
        Idle = "idle",
        /// It works.
        Running = "running",
        /// It waits for a person.
        Waiting = "waiting",
        /// It cannot go on as it wanted: a rule, a sandbox or a provider stopped it.
        Blocked = "blocked",
        /// The last thing it was asked is done.
        Completed = "completed",
        /// The last thing it was asked failed.
        Failed = "failed",
        /// The last thing it was asked was stopped.
        Canceled = "canceled",
    }
    /// Where a thread stands.
    ThreadStatus {
        /// Nothing was asked yet.
        Idle = "idle",
        /// An input is in, and no turn has begun.
        Queued = "queued",
        /// A turn runs.
        Running = "running",
        /// A turn waits for a person.
        Waiting = "waiting",
        /// A turn cannot go on as it wanted.
        Blocked = "blocked",
        /// The last turn is done.
        Completed = "completed",
        /// The last turn failed.
        Failed = "failed",
        /// The last turn was stopped.
        Canceled = "canceled",
    }
    /// What a person would see of the work at a glance.
    Phase {
        /// Nothing yet.
        Idle = "idle",
        /// An input is in.
        Submitted = "submitted",
        /// A turn began; nothing has been asked of a model yet.
        Preparing = "preparing",
        /// A model was asked and has not answered yet.
        WaitingProvider = "waiting_provider",
        /// A model answers.
        Streaming = "streaming",
        /// A tool runs.
        ToolRunning = "tool_running",
        /// A person is asked.
        ActionRequired = "action_required",
        /// The history is being shortened.
        Compacting = "compacting",
        /// Something failed and is tried again.
        Retrying = "retrying",
        /// Done.
        Completed = "completed",
        /// Failed.
        Failed = "failed",
        /// Stopped.
        Canceled = "canceled",
    }
    /// How a turn ended.
    OutcomeKind {
        /// With what was asked for.
        Completed = "completed",
        /// Without it.
        Failed = "failed",
        /// It was stopped.
        Canceled = "canceled",
    }
}

/// What a session is doing now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// In a word.
    pub runtime: RuntimeStatus,
    /// The phase, as far as the facts tell.
    pub phase: Phase,
    /// The phase in the runtime's own words, from its last `run.status`.
    pub native_phase: Option<String>,
    /// More about the phase, for people, from the last `run.status`.
    pub phase_title: Option<String>,
    /// How often this was tried, when it is a retry.
    pub attempt: Option<u32>,
    /// Turns that run: the main one, and those of other threads and sub-agents.
    pub active_turns: Window<ActiveTurn>,
    /// How the last turn ended.
    pub last_outcome: Option<Outcome>,
    /// What it waits for.
    pub waiting: Window<Waiting>,
    /// What blocks it.
    pub blocked_by: Option<Block>,
    /// Tools that run now.
    pub tools: Window<RunningTool>,
    /// Threads: those that run and the newest others.
    pub threads: Window<ThreadState>,
    /// Turns that ended, in each way.
    pub turns: TurnCounts,
    /// The newest event that said something about the status.
    pub since: Option<Moment>,
    /// What the turns alone would say: the status when nothing waits or blocks.
    pub(super) mood: RuntimeStatus,
    /// The phase when nothing waits.
    pub(super) doing: Phase,
}

/// How many turns ended in each way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnCounts {
    /// Turns that began.
    pub started: u64,
    /// Turns that ended with what was asked for.
    pub completed: u64,
    /// Turns that ended without it.
    pub failed: u64,
    /// Turns that were stopped.
    pub canceled: u64,
}

/// A turn that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveTurn {
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// Its thread.
    pub thread_id: Option<ThreadId>,
    /// Model it started with.
    pub model: Option<String>,
    /// Provider of the model.
    pub provider: Option<String>,
    /// Short title for people.
    pub title: Option<String>,
    /// Its first event: its input, or its beginning.
    pub first: Moment,
    /// When the runtime began to work on it.
    pub started: Option<Moment>,
    #[serde(skip)]
    pub(super) over: Option<u64>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// How.
    pub kind: OutcomeKind,
    /// Why, in the runtime's own words.
    pub reason: Option<String>,
    /// More about the reason, for people.
    pub detail: Option<String>,
    /// Machine-readable category of a failure.
    pub failure_category: Option<String>,
    /// The error as the runtime worded it.
    pub error: Option<String>,
    /// What a person can do about it.
    pub recovery: Option<String>,
    /// How long the turn took.
    pub elapsed: Elapsed,
    /// When.
    pub at: Moment,
}

/// Something it waits for: an open request to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The action.
    pub action_id: Option<ActionId>,
    /// What sort of request it is.
    pub action_type: String,
    /// Short title for people, or the tool that wants to run.
    pub title: Option<String>,
    /// Its thread.
    pub thread_id: Option<ThreadId>,
    /// Since when.
    pub since: Moment,
    /// Sequence at which it was over, for the moment before it leaves the list.
    #[serde(skip)]
    pub(super) over: Option<u64>,
}

/// A tool that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningTool {
    /// The call.
    pub tool_call_id: Option<ToolCallId>,
    /// Name of the tool.
    pub tool_name: String,
    /// Its turn.
    pub turn_id: Option<TurnId>,
    /// Since when.
    pub since: Moment,
    #[serde(skip)]
    pub(super) over: Option<u64>,
}

/// What blocks it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// `permission`, `sandbox`, `rate_limit`.
    pub kind: String,
    /// Why.
    pub reason: Option<String>,
    /// Where.
    pub scope: Scope,
    /// When.
    pub at: Moment,
}

/// One thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadState {
    /// The thread.
    pub thread_id: Option<ThreadId>,
    /// Where it stands.
    pub status: ThreadStatus,
    /// The turn that runs in it, or was asked for.
    pub active_turn_id: Option<TurnId>,
    /// True once the runtime has begun to work on that turn.
    pub begun: bool,
    /// How its last turn ended.
    pub last_outcome: Option<OutcomeKind>,
    /// Requests to a person that are open in it.
    pub waiting: u32,
    /// Turns that were asked for in it.
    pub turns: u64,
    /// Its first event.
    pub first_sequence: u64,
    /// The newest event that changed this.
    pub last_sequence: u64,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            runtime: RuntimeStatus::Idle,
            phase: Phase::Idle,
            native_phase: None,
            phase_title: None,
            attempt: None,
            active_turns: Window::default(),
            last_outcome: None,
            waiting: Window::default(),
            blocked_by: None,
            tools: Window::default(),
            threads: Window::default(),
            turns: TurnCounts::default(),
            since: None,
            mood: RuntimeStatus::Idle,
            doing: Phase::Idle,
        }
    }
}

impl Status {
    /// The turn that runs; the newest one where several do.
    #[must_use]
    pub fn active_turn(&self) -> Option<&ActiveTurn> {
        self.active_turns.open().next_back()
    }
}

impl Row for ActiveTurn {
    type Key<'a> = &'a Option<TurnId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.turn_id)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        self.over
    }
}

impl Row for Waiting {
    type Key<'a> = &'a Option<ActionId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.action_id)
    }
    fn first(&self) -> u64 {
        self.since.sequence
    }
    fn settled(&self) -> Option<u64> {
        self.over
    }
}

impl Row for RunningTool {
    type Key<'a> = &'a Option<ToolCallId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.tool_call_id)
    }
    fn first(&self) -> u64 {
        self.since.sequence
    }
    fn settled(&self) -> Option<u64> {
        self.over
    }
}

impl Row for ThreadState {
    type Key<'a> = &'a Option<ThreadId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.thread_id)
    }
    fn first(&self) -> u64 {
        self.first_sequence
    }
    fn settled(&self) -> Option<u64> {
        (self.active_turn_id.is_none() && self.waiting == 0).then_some(self.last_sequence)
    }
}
