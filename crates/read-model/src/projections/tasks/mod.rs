//! Owns the view of work beside the conversation: tasks with their attempts, sub-agents, background jobs, and the
//! messages between agents.
//!
//! Next: [`task`], [`subagent`], the rows; this file says which event goes to which.

mod subagent;
mod task;
#[cfg(test)]
mod tests;

use event_spine::event::family::task::{ChannelMessage, JobQueued};
use event_spine::event::family::{Event, TaskEvent};
use event_spine::{RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

pub use subagent::{
    AgentActivity, AgentFailure, AgentStatus, Delegation, Subagent, Subagents, Unplaced,
};
pub use task::{Attempt, Edge, EdgeKind, Task};

use crate::limits::Limits;
use crate::moment::Moment;
use crate::projection::{Applied, Projection};
use crate::text::Text;
use crate::window::{Row, Window};

/// Work beside the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tasks {
    /// The tasks, in the order in which they appeared.
    pub tasks: Window<Task>,
    /// What hangs together with what.
    pub edges: Window<Edge>,
    /// Sub-agents. The block is there for a solo run too.
    pub subagents: Subagents,
    /// Background jobs that were queued.
    pub jobs: Window<Job>,
    /// Messages between agents or from outside.
    pub messages: Window<AgentMessage>,
    #[serde(skip)]
    preview_bytes: usize,
}

/// A background job that was queued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The job.
    pub job_id: String,
    /// Where it belongs.
    pub scope: Scope,
    /// Short title for people.
    pub title: Option<String>,
    /// Which queue.
    pub queue: Option<String>,
    /// What woke it.
    pub reason: Option<String>,
    /// How many times it was queued.
    pub times: u64,
    /// When first.
    pub first: Moment,
    /// When last.
    pub last: Moment,
}

/// A message between agents, or from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMessage {
    /// The channel.
    pub channel_id: String,
    /// Where it belongs.
    pub scope: Scope,
    /// Who sent it.
    pub from: Option<String>,
    /// Who is meant.
    pub to: Option<String>,
    /// What it says.
    pub text: Text,
    /// `handoff`, `notification`, `peer` …
    pub kind: Option<String>,
    /// When.
    pub at: Moment,
}

impl Projection for Tasks {
    const NAME: &'static str = "tasks";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        let seen = state.subagents.see(recorded);
        let changed = match event {
            Event::Task(event) => state.task(recorded, event),
            Event::Lifecycle(_)
            | Event::Message(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        };
        Applied::when(seen || changed == Applied::Changed)
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.tasks.limit(limits);
        state.edges.limit(limits);
        state.subagents.limit(limits);
        state.jobs.limit(limits);
        state.messages.limit(limits);
        state.preview_bytes = limits.preview_bytes;
    }
}

impl Tasks {
    fn task(&mut self, recorded: &RecordedEvent, event: &TaskEvent) -> Applied {
        let scope = &recorded.draft.scope;
        match event {
            TaskEvent::TaskCreated(created) => {
                self.change_task(recorded, |task| task.create(recorded, created));
                if let Some(task) = &scope.task_id {
                    for on in &created.depends_on {
                        self.edge(recorded, EdgeKind::DependsOn, task.as_str(), on);
                    }
                    if let Some(parent) = &scope.parent_task_id {
                        self.edge(recorded, EdgeKind::Parent, parent.as_str(), task.as_str());
                    }
                }
            }
            TaskEvent::TaskUpdated(updated) => {
                self.change_task(recorded, |task| task.update(recorded, updated));
            }
            TaskEvent::SubagentStarted(started) => {
                self.subagents.start(recorded, started, self.preview_bytes);
                if let Some(agent) = &scope.subagent_id {
                    let agent = agent.as_str();
                    let parents = [
                        (EdgeKind::Delegates, started.parent_tool_call_id.as_deref()),
                        (EdgeKind::Spawns, started.parent_subagent_id.as_deref()),
                        (EdgeKind::Spawns, scope.parent_task_id.as_ref().map(AsRef::as_ref)),
                    ];
                    for (kind, parent) in parents {
                        if let Some(parent) = parent {
                            self.edge(recorded, kind, parent, agent);
                        }
                    }
                    if let Some(thread) = &started.child_thread_id {
                        self.edge(recorded, EdgeKind::Thread, agent, thread);
                    }
                }
            }
            TaskEvent::SubagentStatus(status) => self.subagents.status(recorded, status),
            TaskEvent::SubagentCompleted(completed) => {
                self.subagents.complete(recorded, completed, self.preview_bytes);
            }
            TaskEvent::SubagentFailed(failed) => self.subagents.fail(recorded, failed),
            TaskEvent::JobQueued(job) => self.queued(recorded, job),
            TaskEvent::ChannelMessage(message) => self.said(recorded, message),
        }
        Applied::Changed
    }

    fn queued(&mut self, recorded: &RecordedEvent, job: &JobQueued) {
        let known = self.jobs.place(&job.job_id);
        let place = known.unwrap_or_else(|| {
            self.jobs.push(Job {
                job_id: job.job_id.clone(),
                scope: recorded.draft.scope.clone(),
                title: None,
                queue: None,
                reason: None,
                times: 0,
                first: Moment::of(recorded),
                last: Moment::of(recorded),
            })
        });
        self.jobs.update_at(place, |row| {
            row.times += 1;
            row.title.clone_from(&job.title);
            row.queue.clone_from(&job.queue);
            row.reason.clone_from(&job.reason);
            row.last = Moment::of(recorded);
        });
    }

    fn said(&mut self, recorded: &RecordedEvent, message: &ChannelMessage) {
        self.messages.push(AgentMessage {
            channel_id: message.channel_id.clone(),
            scope: recorded.draft.scope.clone(),
            from: message.from.clone(),
            to: message.to.clone(),
            text: Text::new(message.text.as_deref().unwrap_or_default(), self.preview_bytes),
            kind: message.kind.clone(),
            at: Moment::of(recorded),
        });
    }

    /// Changes the task of the event; one that was never created appears with its first update.
    fn change_task(&mut self, recorded: &RecordedEvent, change: impl FnOnce(&mut Task)) {
        let id = &recorded.draft.scope.task_id;
        if id.is_none() {
            return;
        }
        let known = self.tasks.place(id);
        let place = known.unwrap_or_else(|| self.tasks.push(Task::new(recorded)));
        self.tasks.update_at(place, change);
    }

    fn edge(&mut self, recorded: &RecordedEvent, kind: EdgeKind, from: &str, to: &str) {
        let edge = Edge { kind, from: from.into(), to: to.into(), at: Moment::of(recorded) };
        let known = edge.key().and_then(|key| self.edges.place(key));
        if known.is_none() {
            self.edges.push(edge);
        }
    }
}

impl Row for Job {
    type Key<'a> = &'a str;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.job_id)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.last.sequence)
    }
}

impl Row for AgentMessage {
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
    fn weight(&self) -> usize {
        self.text.kept_bytes()
    }
}
