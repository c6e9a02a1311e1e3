//! Owns the node: what a thing in the graph is, where it stands, and what it used.
//!
//! Next: [`table`](super::table), which keeps the nodes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::table::Links;

macro_rules! kinds {
    ($( $(#[$doc:meta])* $variant:ident = $prefix:literal, $label:literal; )*) => {
        /// What a node stands for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum NodeKind { $( $(#[$doc])* $variant, )* }

        impl NodeKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// What the ids of this kind start with.
            #[must_use]
            pub const fn prefix(self) -> &'static str {
                match self { $( Self::$variant => $prefix, )* }
            }

            /// The kind in words, for people.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $( Self::$variant => $label, )* }
            }
        }
    };
}

kinds! {
    /// A conversation: the lane of the main agent.
    Thread = "thread", "thread";
    /// One input and everything done to answer it.
    Turn = "turn", "turn";
    /// One round of model call and tools. Derived: it exists when the source gives a `stepId`.
    Step = "step", "step";
    /// One call of a model, by `messageId`.
    ModelCall = "model", "model call";
    /// One tool call.
    ToolCall = "tool", "tool call";
    /// One request to a person.
    Action = "action", "approval";
    /// A sub-agent: a lane of its own.
    Subagent = "agent", "sub-agent";
    /// A unit of work that can outlive a turn.
    Task = "task", "task";
    /// One execution of a task.
    Run = "run", "run";
    /// One attempt of a run; a retry is a new one.
    Attempt = "attempt", "attempt";
    /// A background job.
    Job = "job", "job";
    /// A product.
    Artifact = "artifact", "artifact";
    /// A piece of evidence.
    Evidence = "evidence", "evidence";
    /// From here on the model sees a shorter history.
    Compaction = "compaction", "compaction";
    /// The conversation goes on from an earlier point.
    Rollback = "rollback", "rollback";
    /// The session branched off another one here.
    Fork = "fork", "fork";
    /// The source's stream broke off here.
    Interruption = "gap", "interruption";
    /// Holds what cannot be placed: its parent is not known.
    Unplaced = "unplaced", "unplaced";
    /// Stands for older nodes that are no longer kept one by one.
    Earlier = "earlier", "earlier";
}

/// Names a node, the same in every replay: `tool:call_7`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    kind: NodeKind,
    name: Arc<str>,
}

/// A [`NodeId`] that owns nothing, for looking up.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeRef<'a> {
    pub(super) kind: NodeKind,
    pub(super) name: &'a str,
}

impl hashbrown::Equivalent<NodeId> for NodeRef<'_> {
    fn equivalent(&self, id: &NodeId) -> bool {
        self.kind == id.kind && *self.name == *id.name
    }
}

impl NodeId {
    /// Names the node of a kind that stands for `name`.
    #[must_use]
    pub fn new(kind: NodeKind, name: &str) -> Self {
        Self { kind, name: name.into() }
    }

    /// What the node stands for.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        self.kind
    }

    /// The source's id of it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.prefix(), self.name)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text is not the id of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of a graph node: expected `kind:name`")]
pub struct NodeIdError(String);

impl FromStr for NodeId {
    type Err = NodeIdError;
    fn from_str(text: &str) -> Result<Self, NodeIdError> {
        let error = || NodeIdError(text.to_owned());
        let (prefix, name) = text.split_once(':').ok_or_else(error)?;
        let kind = NodeKind::ALL.iter().find(|k| k.prefix() == prefix).ok_or_else(error)?;
        Ok(Self::new(*kind, name))
    }
}

impl Serialize for NodeId {
    /// `kind:name`; in a binary form the two apart.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return (self.kind, &*self.name).serialize(serializer);
        }
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let (kind, name) = Deserialize::deserialize(deserializer)?;
            return Ok(Self { kind, name });
        }
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Queued,
    /// Being done.
    Running,
    /// Waits for a person.
    Waiting,
    /// Cannot go on.
    Blocked,
    /// Ended as wanted; for an approval: granted.
    Succeeded,
    /// Ended in part as wanted.
    Partial,
    /// Ended with an error.
    Failed,
    /// Refused by a rule or a person.
    Denied,
    /// Took too long.
    TimedOut,
    /// Stopped on purpose.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// Cut off; nobody knows what it did.
    Interrupted,
    /// The source does not say.
    Unknown,
}

impl Status {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Succeeded => "succeeded",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }

    /// True while something may still come.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Waiting | Self::Blocked)
    }

    /// True when it went wrong.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Tokens of one or more model calls. A number that is absent is not known; it is not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Tokens in, cached ones included.
    pub input: Option<u64>,
    /// Tokens out, reasoning included.
    pub output: Option<u64>,
    /// Tokens in that came from a cache; part of `input`.
    pub cached_input: Option<u64>,
    /// Tokens of reasoning; part of `output`.
    pub reasoning: Option<u64>,
    /// True when a part of the numbers was estimated, not observed.
    pub estimated: bool,
}

impl Tokens {
    /// True when neither side is known.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.input.is_none() && self.output.is_none()
    }

    /// Both together; what is not known stays out.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached_input: sum(self.cached_input, other.cached_input),
            reasoning: sum(self.reasoning, other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }

    /// The larger of two statements about the same work, number by number: a total never shrinks.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached_input: self.cached_input.max(other.cached_input),
            reasoning: self.reasoning.max(other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}

impl From<&event_spine::event::value::Usage> for Tokens {
    fn from(usage: &event_spine::event::value::Usage) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cached_input: usage.cached_input_tokens,
            reasoning: usage.reasoning_tokens,
            estimated: false,
        }
    }
}

/// How many things of each kind there are. Exact, also for what is folded away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Turns.
    pub turns: u64,
    /// Turns that failed.
    pub turns_failed: u64,
    /// Steps.
    pub steps: u64,
    /// Model calls.
    pub model_calls: u64,
    /// Model calls that failed.
    pub model_calls_failed: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed or took too long.
    pub tool_calls_failed: u64,
    /// Tool calls that were refused.
    pub tool_calls_denied: u64,
    /// Requests to a person.
    pub actions: u64,
    /// Requests that wait for an answer.
    pub actions_waiting: u64,
    /// Sub-agents.
    pub subagents: u64,
    /// Sub-agents that failed.
    pub subagents_failed: u64,
    /// Tasks.
    pub tasks: u64,
    /// Artifacts.
    pub artifacts: u64,
    /// Pieces of evidence.
    pub evidence: u64,
}

impl Counts {
    /// What one node adds.
    pub(super) fn of(kind: NodeKind, status: Status) -> Self {
        let mut counts = Self::default();
        let one_if = u64::from;
        match kind {
            NodeKind::Turn => {
                counts.turns = 1;
                counts.turns_failed = one_if(status.is_failure());
            }
            NodeKind::Step => counts.steps = 1,
            NodeKind::ModelCall => {
                counts.model_calls = 1;
                counts.model_calls_failed = one_if(status.is_failure());
            }
            NodeKind::ToolCall => {
                counts.tool_calls = 1;
                counts.tool_calls_failed = one_if(status.is_failure());
                counts.tool_calls_denied = one_if(status == Status::Denied);
            }
            NodeKind::Action => {
                counts.actions = 1;
                counts.actions_waiting = one_if(status == Status::Waiting);
            }
            NodeKind::Subagent => {
                counts.subagents = 1;
                counts.subagents_failed = one_if(status.is_failure());
            }
            NodeKind::Task => counts.tasks = 1,
            NodeKind::Artifact => counts.artifacts = 1,
            NodeKind::Evidence => counts.evidence = 1,
            NodeKind::Thread
            | NodeKind::Run
            | NodeKind::Attempt
            | NodeKind::Job
            | NodeKind::Compaction
            | NodeKind::Rollback
            | NodeKind::Fork
            | NodeKind::Interruption
            | NodeKind::Unplaced
            | NodeKind::Earlier => {}
        }
        counts
    }

    /// Adds another set of counts.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.turns_failed += other.turns_failed;
        self.steps += other.steps;
        self.model_calls += other.model_calls;
        self.model_calls_failed += other.model_calls_failed;
        self.tool_calls += other.tool_calls;
        self.tool_calls_failed += other.tool_calls_failed;
        self.tool_calls_denied += other.tool_calls_denied;
        self.actions += other.actions;
        self.actions_waiting += other.actions_waiting;
        self.subagents += other.subagents;
        self.subagents_failed += other.subagents_failed;
        self.tasks += other.tasks;
        self.artifacts += other.artifacts;
        self.evidence += other.evidence;
    }
}

/// What is kept of nodes that are no longer kept one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Folded {
    /// How many there were.
    pub counts: Counts,
    /// What they used together, without sub-agents.
    pub tokens: Tokens,
    /// What sub-agents among them used.
    pub agent_tokens: Tokens,
    /// Model calls among them that did not say what they used.
    pub calls_without_usage: u64,
}

/// How two nodes hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// From the whole to its part.
    Contains,
    /// From one to what came after it in the same lane.
    Next,
    /// From what asked for something to what was done.
    Causes,
    /// From a task to a task that must end first.
    DependsOn,
    /// From the call or turn that started an agent to the agent.
    Spawned,
    /// From the agent that gave the conversation away to the one that took it.
    Handoff,
    /// From an approval to the tool call that it lets through or stops.
    Gates,
    /// From a tool call to what it made.
    Produced,
    /// From something made earlier to the tool call that used it.
    Consumed,
    /// From one agent to another that it sent a message to.
    Message,
}

impl EdgeKind {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Next => "next",
            Self::Causes => "causes",
            Self::DependsOn => "depends_on",
            Self::Spawned => "spawned",
            Self::Handoff => "handoff",
            Self::Gates => "gates",
            Self::Produced => "produced",
            Self::Consumed => "consumed",
            Self::Message => "message",
        }
    }
}

/// An edge, as kept at the node it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Incoming {
    pub(super) kind: EdgeKind,
    pub(super) from: NodeId,
    pub(super) status: Option<Status>,
    pub(super) sequence: u64,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// Where it starts.
    pub from: NodeId,
    /// Where it points.
    pub to: NodeId,
    /// How the two hang together.
    pub kind: EdgeKind,
    /// Where the relation itself stands, for those that can be open: an approval, a dependency, a started agent.
    pub status: Option<Status>,
    /// The event that tied them.
    pub sequence: u64,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub id: NodeId,
    /// Where it stands, as its own events say. For what a reader should be shown see [`Derived`](super::Derived).
    pub status: Status,
    /// Short title for people.
    pub title: String,
    /// Head of what went in: the question, the arguments, the objective.
    pub input: Option<String>,
    /// Head of what came out: the answer, the result, the error.
    pub output: Option<String>,
    /// The model, for model calls, turns and sub-agents.
    pub model: Option<String>,
    /// Who decided, for approvals.
    pub decided_by: Option<String>,
    /// The whole that it is a part of.
    pub parent: Option<NodeId>,
    /// The thread or sub-agent whose lane it stands in.
    pub lane: Option<NodeId>,
    /// The turn of a main lane under which it stands.
    pub band: Option<NodeId>,
    /// First event that is about it.
    pub first_sequence: u64,
    /// The event that ended it, or the last that changed it.
    pub last_sequence: u64,
    /// When it began, in microseconds since 1970 UTC.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Tokens that its own events state: of this model call alone.
    pub own_tokens: Option<Tokens>,
    /// Tokens that its source states for it as a whole (a turn, a sub-agent). Never added to those of its parts.
    pub reported_tokens: Option<Tokens>,
    /// Machine-readable category of what went wrong.
    pub failure_category: Option<String>,
    /// Ids of the refs that hold its outputs, newest last.
    pub refs: Vec<String>,
    /// How often it was changed, for artifacts and evidence.
    pub revisions: u32,
    /// True once an event ended it.
    pub settled: bool,
    /// What was folded into it.
    pub folded: Option<Box<Folded>>,
    /// True for a turn whose parts are folded into it.
    pub collapsed: bool,
    pub(super) incoming: Vec<Incoming>,
    pub(super) tail: Option<NodeId>,
    pub(super) links: Links,
}

impl Node {
    /// A node of which nothing is known yet.
    pub(super) fn blank(id: NodeId, title: impl Into<String>, sequence: u64) -> Self {
        Self {
            status: Status::Running,
            title: title.into(),
            input: None,
            output: None,
            model: None,
            decided_by: None,
            parent: None,
            lane: None,
            band: None,
            first_sequence: sequence,
            last_sequence: sequence,
            started_at: 0,
            ended_at: None,
            duration_ms: None,
            own_tokens: None,
            reported_tokens: None,
            failure_category: None,
            refs: Vec::new(),
            revisions: 0,
            settled: false,
            folded: None,
            collapsed: false,
            incoming: Vec::new(),
            tail: None,
            links: Links::default(),
            id,
        }
    }

    /// What the node stands for.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        self.id.kind
    }
}
