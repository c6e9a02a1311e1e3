//! Owns sub-agents: who they are, who started them, where they stand. What cannot be placed is shown as unplaced,
//! never dropped and never given a parent that nobody named.

use event_spine::event::family::task as payload;
use event_spine::event::value::Usage;
use event_spine::{RecordedEvent, Scope, SubagentId};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::moment::{Elapsed, Moment};
use crate::projections::shared::readable;
use crate::text::Text;
use crate::window::{Row, Window};

/// The sub-agents of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subagents {
    /// True when there are any.
    pub has_subagents: bool,
    /// The sub-agents, each a thread of work of its own.
    pub threads: Window<Subagent>,
    /// Tool calls that started one.
    pub delegation_calls: Window<Delegation>,
    /// What they reported.
    pub activities: Window<AgentActivity>,
    /// Those that work, of the ones that are here.
    pub active_thread_ids: Vec<SubagentId>,
    /// Those that ended with a result.
    pub completed_thread_ids: Vec<SubagentId>,
    /// Those that ended without one.
    pub failed_thread_ids: Vec<SubagentId>,
}

/// Where a sub-agent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It works.
    Running,
    /// It ended with a result.
    Completed,
    /// It ended without one.
    Failed,
    /// Something happened in its name; nothing says that it began.
    Unknown,
}

/// Why a sub-agent has no place under the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unplaced {
    /// Nothing says that it began.
    NeverStarted,
    /// The sub-agent that is said to have started it was never seen.
    UnknownParent,
}

/// A sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subagent {
    /// Where it belongs; `subagentId` names it.
    pub scope: Scope,
    /// Where it stands.
    pub status: AgentStatus,
    /// Where it stands, in the source's words.
    pub native_status: Option<String>,
    /// What it last reported.
    pub message: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What it is there for.
    pub role: Option<String>,
    /// What it was asked.
    pub objective: Text,
    /// Model it uses.
    pub model: Option<String>,
    /// True when the conversation itself moved to it.
    pub handoff: bool,
    /// The sub-agent that started it; absent for the main agent.
    pub parent_subagent_id: Option<String>,
    /// The tool call that started it.
    pub parent_tool_call_id: Option<String>,
    /// Its own conversation.
    pub child_thread_id: Option<String>,
    /// Why it has no place under the others, if it has none.
    pub unplaced: Option<Unplaced>,
    /// What came out.
    pub summary: Text,
    /// Ref that holds a large result.
    pub output_ref: Option<String>,
    /// Tokens it used, as it states them; not part of its parent's.
    #[serde(with = "crate::checkpoint::as_json")]
    pub usage: Option<Usage>,
    /// Why it ended without a result.
    pub failure: Option<AgentFailure>,
    /// Events in its name.
    pub events: u64,
    /// Its first event.
    pub first: Moment,
    /// When it began.
    pub started: Option<Moment>,
    /// When it ended.
    pub ended: Option<Moment>,
    /// How long it worked.
    pub elapsed: Elapsed,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

/// Why a sub-agent ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFailure {
    /// Machine-readable category.
    pub category: String,
    /// The error as the source worded it.
    pub error: Option<String>,
    /// The source's own code.
    pub code: Option<String>,
}

/// A tool call that started a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delegation {
    /// The call.
    pub tool_call_id: String,
    /// The sub-agent.
    pub subagent_id: Option<SubagentId>,
    /// When.
    pub at: Moment,
}

/// Something a sub-agent reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentActivity {
    /// The sub-agent.
    pub subagent_id: Option<SubagentId>,
    /// Where it stands, in the source's words.
    pub status: String,
    /// More, for people.
    pub message: Option<String>,
    /// When.
    pub at: Moment,
}

impl Subagents {
    pub(super) fn limit(&mut self, limits: &Limits) {
        self.threads.limit(limits);
        self.delegation_calls.limit(limits);
        self.activities.limit(limits);
    }

    /// Counts an event in the name of its sub-agent, which appears with its first event.
    pub(super) fn see(&mut self, recorded: &RecordedEvent) -> bool {
        let id = &recorded.draft.scope.subagent_id;
        if id.is_none() {
            return false;
        }
        self.has_subagents = true;
        let place = match self.threads.place(id) {
            Some(place) => place,
            None => {
                let place = self.threads.push(Subagent::new(recorded));
                self.list();
                place
            }
        };
        self.threads.update_at(place, |agent| {
            agent.events += 1;
            agent.last_sequence = recorded.sequence;
        });
        true
    }

    pub(super) fn start(
        &mut self,
        recorded: &RecordedEvent,
        started: &payload::SubagentStarted,
        limit: usize,
    ) {
        let id = &recorded.draft.scope.subagent_id;
        let parent_is_known = started.parent_subagent_id.as_deref().is_none_or(|parent| {
            SubagentId::parse(parent).is_ok_and(|parent| {
                self.threads.get(&Some(parent)).is_some_and(|agent| agent.started.is_some())
            })
        });
        self.threads.update_at(self.threads.place(id), |agent| {
            agent.name.clone_from(&started.name);
            agent.role.clone_from(&started.role);
            agent.objective.set(started.objective.as_deref().unwrap_or_default(), limit);
            agent.model.clone_from(&started.model);
            agent.handoff = started.handoff;
            agent.parent_subagent_id.clone_from(&started.parent_subagent_id);
            agent.parent_tool_call_id.clone_from(&started.parent_tool_call_id);
            agent.child_thread_id.clone_from(&started.child_thread_id);
            agent.unplaced = (!parent_is_known).then_some(Unplaced::UnknownParent);
            agent.started.get_or_insert_with(|| Moment::of(recorded));
            if agent.ended.is_none() {
                agent.status = AgentStatus::Running;
            }
        });
        // Those that named this one as their parent before it was known have their place now.
        if let Some(id) = id {
            self.threads.update_all(
                |agent| {
                    agent.unplaced == Some(Unplaced::UnknownParent)
                        && agent.parent_subagent_id.as_deref() == Some(id.as_str())
                },
                |agent| agent.unplaced = None,
            );
        }
        if let Some(call) = &started.parent_tool_call_id {
            self.delegation_calls.push(Delegation {
                tool_call_id: call.clone(),
                subagent_id: id.clone(),
                at: Moment::of(recorded),
            });
        }
        self.list();
    }

    pub(super) fn status(&mut self, recorded: &RecordedEvent, status: &payload::SubagentStatus) {
        let id = &recorded.draft.scope.subagent_id;
        self.threads.update_at(self.threads.place(id), |agent| {
            agent.native_status = Some(status.status.clone());
            agent.message.clone_from(&status.message);
        });
        self.activities.push(AgentActivity {
            subagent_id: id.clone(),
            status: status.status.clone(),
            message: status.message.clone(),
            at: Moment::of(recorded),
        });
    }

    pub(super) fn complete(
        &mut self,
        recorded: &RecordedEvent,
        completed: &payload::SubagentCompleted,
        limit: usize,
    ) {
        self.end(recorded, AgentStatus::Completed, |agent| {
            match (&completed.summary, &completed.output) {
                (Some(summary), _) => agent.summary.set(summary, limit),
                (None, Some(output)) => agent.summary.set(&readable(output), limit),
                (None, None) => {}
            }
            agent.output_ref.clone_from(&completed.output_ref);
            agent.usage.clone_from(&completed.usage);
        });
    }

    pub(super) fn fail(&mut self, recorded: &RecordedEvent, failed: &payload::SubagentFailed) {
        self.end(recorded, AgentStatus::Failed, |agent| {
            agent.failure = Some(AgentFailure {
                category: failed.failure_category.clone(),
                error: failed.error.clone(),
                code: failed.code.clone(),
            });
        });
    }

    /// Ends a sub-agent. It is found by its own id; its first end counts.
    fn end(
        &mut self,
        recorded: &RecordedEvent,
        status: AgentStatus,
        change: impl FnOnce(&mut Subagent),
    ) {
        self.threads.update_at(self.threads.place(&recorded.draft.scope.subagent_id), |agent| {
            if agent.ended.is_some() {
                return;
            }
            agent.status = status;
            agent.ended = Some(Moment::of(recorded));
            if let Some(started) = &agent.started {
                agent.elapsed = Elapsed::between(&started.timestamp, &recorded.draft.timestamp);
            }
            change(agent);
        });
        self.list();
    }

    fn list(&mut self) {
        let threads = &self.threads;
        let of = |status: AgentStatus| {
            let agents = threads.iter().filter(move |agent| agent.status == status);
            agents.filter_map(|agent| agent.scope.subagent_id.clone()).collect::<Vec<_>>()
        };
        self.active_thread_ids = of(AgentStatus::Running);
        self.completed_thread_ids = of(AgentStatus::Completed);
        self.failed_thread_ids = of(AgentStatus::Failed);
    }

    /// The sub-agents that have no place under the others.
    pub fn unplaced(&self) -> impl Iterator<Item = &Subagent> {
        self.threads.iter().filter(|agent| agent.unplaced.is_some())
    }
}

impl Subagent {
    fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            status: AgentStatus::Unknown,
            native_status: None,
            message: None,
            name: None,
            role: None,
            objective: Text::default(),
            model: None,
            handoff: false,
            parent_subagent_id: None,
            parent_tool_call_id: None,
            child_thread_id: None,
            unplaced: Some(Unplaced::NeverStarted),
            summary: Text::default(),
            output_ref: None,
            usage: None,
            failure: None,
            events: 0,
            first: Moment::of(recorded),
            started: None,
            ended: None,
            elapsed: Elapsed::OPEN,
            last_sequence: recorded.sequence,
        }
    }
}

impl Row for Subagent {
    type Key<'a> = &'a Option<SubagentId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.subagent_id)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        self.ended.as_ref().map(|ended| ended.sequence)
    }
    fn weight(&self) -> usize {
        self.objective.kept_bytes() + self.summary.kept_bytes()
    }
}

impl Row for Delegation {
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

impl Row for AgentActivity {
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
