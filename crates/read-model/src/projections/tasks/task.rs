//! Owns one task, its attempts, and what hangs together with what.

use event_spine::event::family::task as payload;
use event_spine::event::value::TaskStatus;
use event_spine::{AttemptId, RecordedEvent, RunId, Scope, TaskId};
use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::projections::shared::keep_newer;
use crate::window::Row;

/// Attempts that a view holds of one task; the newest ones.
const KEPT_ATTEMPTS: usize = 20;

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Where it belongs; `taskId` names it, `parentTaskId` its parent.
    pub scope: Scope,
    /// Where it stands.
    pub status: TaskStatus,
    /// The source's own word for it.
    pub native_status: Option<String>,
    /// Short title for people.
    pub label: Option<String>,
    /// What it is for.
    pub objective: Option<String>,
    /// What sort of work it is.
    pub kind: Option<String>,
    /// Tasks that must end first.
    pub depends_on: Vec<String>,
    /// What was reached.
    pub progress: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// What came out.
    pub summary: Option<String>,
    /// Its attempts, oldest first; the newest ones. Each stays as it ended.
    pub attempts: Vec<Attempt>,
    /// How many attempts there were.
    pub attempt_count: u64,
    /// True when its creation was never seen.
    pub never_created: bool,
    /// Its first event.
    pub first: Moment,
    /// Its newest event.
    pub last: Moment,
}

/// One execution of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// 1 first, where the source counts.
    pub number: Option<u32>,
    /// The run.
    pub run_id: Option<RunId>,
    /// The attempt.
    pub attempt_id: Option<AttemptId>,
    /// Where it stands.
    pub status: TaskStatus,
    /// What went wrong.
    pub error: Option<String>,
    /// What came out.
    pub summary: Option<String>,
    /// Its first event.
    pub first: Moment,
    /// Its newest event.
    pub last: Moment,
}

/// What sort of connection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A task belongs to a task.
    Parent,
    /// A task waits for a task.
    DependsOn,
    /// A task or sub-agent started a sub-agent.
    Spawns,
    /// A tool call started a sub-agent.
    Delegates,
    /// A sub-agent works in a thread of its own.
    Thread,
}

/// A connection that an event states; none is ever guessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// What sort.
    pub kind: EdgeKind,
    /// From this id.
    pub from: String,
    /// To this id.
    pub to: String,
    /// When it was stated first.
    pub at: Moment,
}

impl Task {
    pub(super) fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            status: TaskStatus::Unknown,
            native_status: None,
            label: None,
            objective: None,
            kind: None,
            depends_on: Vec::new(),
            progress: None,
            error: None,
            summary: None,
            attempts: Vec::new(),
            attempt_count: 0,
            never_created: true,
            first: Moment::of(recorded),
            last: Moment::of(recorded),
        }
    }

    pub(super) fn create(&mut self, recorded: &RecordedEvent, created: &payload::TaskCreated) {
        self.never_created = false;
        self.last = Moment::of(recorded);
        self.status = created.status.unwrap_or(TaskStatus::Queued);
        keep_newer(&mut self.label, &created.label);
        keep_newer(&mut self.objective, &created.objective);
        keep_newer(&mut self.kind, &created.kind);
        self.depends_on.clone_from(&created.depends_on);
        let status = self.status;
        if let Some(attempt) = self.attempt(recorded, created.attempt) {
            attempt.status = status;
        }
    }

    pub(super) fn update(&mut self, recorded: &RecordedEvent, updated: &payload::TaskUpdated) {
        self.last = Moment::of(recorded);
        self.status = updated.status.unwrap_or(self.status);
        if let Some(attempt) = self.attempt(recorded, updated.attempt) {
            attempt.last = Moment::of(recorded);
            attempt.status = updated.status.unwrap_or(attempt.status);
            keep_newer(&mut attempt.error, &updated.error);
            keep_newer(&mut attempt.summary, &updated.summary);
        }
        keep_newer(&mut self.native_status, &updated.native_status);
        keep_newer(&mut self.label, &updated.label);
        keep_newer(&mut self.progress, &updated.progress);
        keep_newer(&mut self.error, &updated.error);
        keep_newer(&mut self.summary, &updated.summary);
    }

    /// The attempt that the event is about: the newest one unless the event names another; another one is new.
    fn attempt(&mut self, recorded: &RecordedEvent, number: Option<u32>) -> Option<&mut Attempt> {
        let scope = &recorded.draft.scope;
        let named = number.is_some() || scope.run_id.is_some() || scope.attempt_id.is_some();
        let same = |attempt: &Attempt| {
            let agrees = number.is_none_or(|n| attempt.number.is_none_or(|known| known == n));
            agrees
                && scope
                    .attempt_id
                    .as_ref()
                    .is_none_or(|id| attempt.attempt_id.as_ref() == Some(id))
                && scope.run_id.as_ref().is_none_or(|id| attempt.run_id.as_ref() == Some(id))
        };
        // An event about an attempt that is over and done with may still come after a newer one began.
        if let Some(at) = self.attempts.iter().rposition(same) {
            let attempt = self.attempts.get_mut(at)?;
            attempt.number = attempt.number.or(number);
            return Some(attempt);
        }
        if !named {
            return None;
        }
        if self.attempts.len() == KEPT_ATTEMPTS {
            self.attempts.remove(0);
        }
        self.attempt_count += 1;
        // What the attempt before came to stays with it.
        (self.error, self.summary) = (None, None);
        self.attempts.push(Attempt {
            number,
            run_id: scope.run_id.clone(),
            attempt_id: scope.attempt_id.clone(),
            status: TaskStatus::Unknown,
            error: None,
            summary: None,
            first: Moment::of(recorded),
            last: Moment::of(recorded),
        });
        self.attempts.last_mut()
    }
}

/// True when a task in this state is over.
const fn is_over(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Cancelled
        | TaskStatus::TimedOut
        | TaskStatus::Failed
        | TaskStatus::Lost
        | TaskStatus::Completed
        | TaskStatus::Archived => true,
        TaskStatus::Draft
        | TaskStatus::Accepted
        | TaskStatus::Queued
        | TaskStatus::Preparing
        | TaskStatus::Running
        | TaskStatus::Waiting
        | TaskStatus::WaitingInput
        | TaskStatus::WaitingPermission
        | TaskStatus::WaitingResource
        | TaskStatus::Blocked
        | TaskStatus::Paused
        | TaskStatus::Retrying
        | TaskStatus::Cancelling
        | TaskStatus::Stale
        | TaskStatus::Unknown => false,
    }
}

impl Row for Task {
    type Key<'a> = &'a Option<TaskId>;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.task_id)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        is_over(self.status).then_some(self.last.sequence)
    }
}

impl Row for Edge {
    type Key<'a> = (EdgeKind, &'a str, &'a str);
    fn key(&self) -> Option<Self::Key<'_>> {
        Some((self.kind, &self.from, &self.to))
    }
    fn first(&self) -> u64 {
        self.at.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.at.sequence)
    }
}
