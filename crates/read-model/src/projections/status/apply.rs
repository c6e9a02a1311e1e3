//! Owns what each event does to the status.

use event_spine::RecordedEvent;
use event_spine::event::family::lifecycle as payload;
use event_spine::event::family::{
    ContextEvent, DiagnosticsEvent, LifecycleEvent, MessageEvent, PolicyEvent, ToolEvent,
};

use super::state::{
    ActiveTurn, Block, Outcome, OutcomeKind, Phase, RunningTool, RuntimeStatus, Status,
    ThreadState, ThreadStatus, Waiting,
};
use crate::moment::{Elapsed, Moment};
use crate::projection::Applied;

impl Status {
    pub(super) fn lifecycle(
        &mut self,
        recorded: &RecordedEvent,
        event: &LifecycleEvent,
    ) -> Applied {
        match event {
            LifecycleEvent::TurnSubmitted(_) => self.submit(recorded),
            LifecycleEvent::TurnStarted(started) => self.start(recorded, started),
            LifecycleEvent::TurnCompleted(end) => {
                let outcome = Outcome {
                    reason: end.reason.clone(),
                    detail: end.detail.clone(),
                    ..Outcome::new(recorded, OutcomeKind::Completed)
                };
                self.end(recorded, outcome, end.duration_ms)
            }
            LifecycleEvent::TurnFailed(end) => {
                let outcome = Outcome {
                    reason: end.reason.clone(),
                    detail: end.detail.clone(),
                    failure_category: Some(end.failure_category.clone()),
                    error: end.error.clone(),
                    recovery: end.recovery.clone(),
                    ..Outcome::new(recorded, OutcomeKind::Failed)
                };
                self.end(recorded, outcome, None)
            }
            LifecycleEvent::TurnCanceled(end) => {
                let outcome = Outcome {
                    reason: end.reason.clone(),
                    detail: end.detail.clone(),
                    ..Outcome::new(recorded, OutcomeKind::Canceled)
                };
                self.end(recorded, outcome, None)
            }
            LifecycleEvent::RunStatus(status) => self.run_status(recorded, status),
            LifecycleEvent::QueueChanged(_) => Applied::Unchanged,
        }
    }

    fn submit(&mut self, recorded: &RecordedEvent) -> Applied {
        let turn = &recorded.draft.scope.turn_id;
        let steers = self.active_turns.place(turn).is_some();
        if !steers {
            self.active_turns.push(ActiveTurn::new(recorded));
            self.thread(recorded, |thread| {
                thread.turns += 1;
                thread.active_turn_id.clone_from(turn);
                thread.begun = false;
            });
            self.move_to(recorded, RuntimeStatus::Running, Phase::Submitted);
        }
        Applied::when(!steers)
    }

    fn start(&mut self, recorded: &RecordedEvent, started: &payload::TurnStarted) -> Applied {
        let turn = &recorded.draft.scope.turn_id;
        if self.active_turns.place(turn).is_none() {
            self.active_turns.push(ActiveTurn::new(recorded));
            self.thread(recorded, |thread| thread.turns += 1);
        }
        let begun_before = self.active_turns.update_at(self.active_turns.place(turn), |active| {
            active.model.clone_from(&started.model);
            active.provider.clone_from(&started.provider);
            active.title.clone_from(&started.title);
            let begun_before = active.started.is_some();
            active.started.get_or_insert_with(|| Moment::of(recorded));
            begun_before
        });
        if begun_before != Some(true) {
            self.turns.started += 1;
        }
        self.thread(recorded, |thread| {
            thread.active_turn_id.clone_from(turn);
            thread.begun = true;
        });
        self.move_to(recorded, RuntimeStatus::Running, Phase::Preparing)
    }

    /// Ends a turn. The first end of a turn counts; a second one changes nothing.
    fn end(
        &mut self,
        recorded: &RecordedEvent,
        mut outcome: Outcome,
        stated_ms: Option<u64>,
    ) -> Applied {
        let turn = &recorded.draft.scope.turn_id;
        let over = Some(recorded.sequence);
        let begun = self.active_turns.update_at(self.active_turns.place(turn), |active| {
            active.over = over;
            active.started.as_ref().unwrap_or(&active.first).timestamp.clone()
        });
        let ended_before =
            begun.is_none() && self.last_outcome.as_ref().is_some_and(|last| last.turn_id == *turn);
        if ended_before {
            return Applied::Unchanged;
        }
        outcome.elapsed = match begun {
            Some(begun) => Elapsed::stated_or_between(stated_ms, &begun, &recorded.draft.timestamp),
            None => Elapsed { ms: stated_ms.into(), clock_stepped_back: false },
        };
        self.tools.update_open(|tool| tool.turn_id == *turn, |tool| tool.over = over);
        let (kind, mood, phase) = (outcome.kind, outcome.kind.mood(), outcome.kind.phase());
        match kind {
            OutcomeKind::Completed => self.turns.completed += 1,
            OutcomeKind::Failed => self.turns.failed += 1,
            OutcomeKind::Canceled => self.turns.canceled += 1,
        }
        self.last_outcome = Some(outcome);
        self.attempt = None;
        self.thread(recorded, |thread| {
            thread.last_outcome = Some(kind);
            if thread.active_turn_id == *turn {
                thread.active_turn_id = None;
            }
        });
        // Another turn still runs: this was a sub-agent's, or another thread's.
        if self.active_turns.open_len() > 0 {
            return self.move_to(recorded, RuntimeStatus::Running, self.resting_phase());
        }
        self.move_to(recorded, mood, phase)
    }

    fn run_status(&mut self, recorded: &RecordedEvent, status: &payload::RunStatus) -> Applied {
        self.native_phase = Some(status.phase.clone());
        self.phase_title = status.title.clone().or_else(|| status.detail.clone());
        self.attempt = status.attempt;
        let running = self.active_turns.open_len() > 0;
        let (mood, phase) = match status.phase.as_str() {
            "failed" => (RuntimeStatus::Failed, Phase::Failed),
            "completed" if !running => (RuntimeStatus::Completed, Phase::Completed),
            "canceled" | "cancelled" if !running => (RuntimeStatus::Canceled, Phase::Canceled),
            "retrying" => (RuntimeStatus::Running, Phase::Retrying),
            "compacting" => (RuntimeStatus::Running, Phase::Compacting),
            "streaming" => (RuntimeStatus::Running, Phase::Streaming),
            "tool_running" => (RuntimeStatus::Running, Phase::ToolRunning),
            "waiting_provider" => (RuntimeStatus::Running, Phase::WaitingProvider),
            // A phase in words of the runtime's own: it works, as far as turns tell.
            _ if running || self.turns.is_empty() => (RuntimeStatus::Running, self.resting_phase()),
            _ => (self.mood, self.doing),
        };
        self.move_to(recorded, mood, phase);
        Applied::Changed
    }

    pub(super) fn message(&mut self, recorded: &RecordedEvent, event: &MessageEvent) -> Applied {
        match event {
            MessageEvent::ModelRequested(_) => self.activity(recorded, Phase::WaitingProvider),
            MessageEvent::ModelDelta(_) => self.activity(recorded, Phase::Streaming),
            MessageEvent::ModelCompleted(_) if self.active_turns.open_len() == 0 => {
                if self.turns.is_empty() {
                    self.move_to(recorded, RuntimeStatus::Completed, Phase::Completed)
                } else {
                    Applied::Unchanged
                }
            }
            MessageEvent::ModelCompleted(_) => self.activity(recorded, self.resting_phase()),
            MessageEvent::ModelFailed(_) if self.active_turns.open_len() == 0 => {
                if self.turns.is_empty() {
                    self.move_to(recorded, RuntimeStatus::Failed, Phase::Failed)
                } else {
                    Applied::Unchanged
                }
            }
            MessageEvent::ModelFailed(failed) if failed.retryable == Some(true) => {
                self.activity(recorded, Phase::Retrying)
            }
            MessageEvent::ModelFailed(_) => self.activity(recorded, self.resting_phase()),
            MessageEvent::MessagesSnapshot(_) => Applied::Unchanged,
        }
    }

    pub(super) fn tool(&mut self, recorded: &RecordedEvent, event: &ToolEvent) -> Applied {
        let id = &recorded.draft.scope.tool_call_id;
        match event {
            ToolEvent::ToolStarted(started) => {
                if self.tools.place(id).is_none() {
                    self.tools.push(RunningTool {
                        tool_call_id: id.clone(),
                        tool_name: started.tool_name.clone(),
                        turn_id: recorded.draft.scope.turn_id.clone(),
                        since: Moment::of(recorded),
                        over: None,
                    });
                }
                self.activity(recorded, Phase::ToolRunning);
                Applied::Changed
            }
            ToolEvent::ToolArgs(_) if self.tools.open_len() == 0 => {
                self.activity(recorded, Phase::Streaming)
            }
            ToolEvent::ToolArgs(_) | ToolEvent::ToolProgress(_) => {
                self.activity(recorded, self.resting_phase())
            }
            ToolEvent::ToolResult(_) | ToolEvent::ToolFailed(_) => {
                let over = Some(recorded.sequence);
                let ended =
                    self.tools.update_at(self.tools.place(id), |tool| tool.over = over).is_some();
                let changed = self.activity(recorded, self.resting_phase());
                Applied::when(ended || changed == Applied::Changed)
            }
            ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_) => Applied::Unchanged,
        }
    }

    pub(super) fn policy(&mut self, recorded: &RecordedEvent, event: &PolicyEvent) -> Applied {
        let id = &recorded.draft.scope.action_id;
        match event {
            PolicyEvent::ActionRequired(required) => {
                if self.waiting.place(id).is_some() {
                    return Applied::Unchanged;
                }
                self.waiting.push(Waiting {
                    action_id: id.clone(),
                    action_type: required.action_type.clone(),
                    title: required.title.clone().or_else(|| required.tool_name.clone()),
                    thread_id: recorded.draft.scope.thread_id.clone(),
                    since: Moment::of(recorded),
                    over: None,
                });
                self.thread(recorded, |thread| thread.waiting += 1);
                let mood = match self.active_turns.open_len() {
                    0 => self.mood.after_a_question(),
                    _ => RuntimeStatus::Running,
                };
                self.move_to(recorded, mood, self.doing)
            }
            PolicyEvent::ActionResolved(_)
            | PolicyEvent::ActionCancelled(_)
            | PolicyEvent::ActionExpired(_) => {
                let over = Some(recorded.sequence);
                if self
                    .waiting
                    .update_at(self.waiting.place(id), |waiting| waiting.over = over)
                    .is_none()
                {
                    return Applied::Unchanged;
                }
                self.thread(recorded, |thread| thread.waiting = thread.waiting.saturating_sub(1));
                self.move_to(recorded, self.mood, self.doing)
            }
            PolicyEvent::PermissionDenied(denied) => {
                self.block(recorded, "permission", Some(denied.reason.clone()))
            }
            PolicyEvent::SandboxBlocked(blocked) => {
                self.block(recorded, "sandbox", Some(blocked.reason.clone()))
            }
            PolicyEvent::PermissionEvaluated(_) => Applied::Unchanged,
        }
    }

    pub(super) fn context(&mut self, recorded: &RecordedEvent, event: &ContextEvent) -> Applied {
        match event {
            ContextEvent::CompactionStarted(_) => self.activity(recorded, Phase::Compacting),
            ContextEvent::CompactionCompleted(_)
            | ContextEvent::CompactionFailed(_)
            | ContextEvent::HistoryCompacted(_) => {
                if self.doing == Phase::Compacting {
                    self.activity(recorded, self.resting_phase())
                } else {
                    Applied::Unchanged
                }
            }
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::ContextMissing(_)
            | ContextEvent::HistoryRolledBack(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_)
            | ContextEvent::StreamInterrupted(_)
            | ContextEvent::StreamRepaired(_)
            | ContextEvent::SessionForked(_) => Applied::Unchanged,
        }
    }

    pub(super) fn diagnostics(
        &mut self,
        recorded: &RecordedEvent,
        event: &DiagnosticsEvent,
    ) -> Applied {
        match event {
            DiagnosticsEvent::Fault(_) => {
                self.move_to(recorded, RuntimeStatus::Failed, Phase::Failed)
            }
            DiagnosticsEvent::RateLimitHit(hit) => {
                self.block(recorded, "rate_limit", hit.detail.clone())
            }
            DiagnosticsEvent::Warning(_)
            | DiagnosticsEvent::MetricsChanged(_)
            | DiagnosticsEvent::BudgetChecked(_)
            | DiagnosticsEvent::LedgerReconciled(_)
            | DiagnosticsEvent::UsageUpdated(_)
            | DiagnosticsEvent::ProgressEvaluated(_) => Applied::Unchanged,
        }
    }

    /// Work goes on: what failed or was blocked before is past. After the last turn ended, it says nothing.
    pub(super) fn activity(&mut self, recorded: &RecordedEvent, phase: Phase) -> Applied {
        if self.active_turns.open_len() == 0 && !self.turns.is_empty() {
            return Applied::Unchanged;
        }
        if self.mood == RuntimeStatus::Running && self.doing == phase && self.blocked_by.is_none() {
            return Applied::Unchanged;
        }
        self.move_to(recorded, RuntimeStatus::Running, phase)
    }

    fn block(&mut self, recorded: &RecordedEvent, kind: &str, reason: Option<String>) -> Applied {
        self.move_to(recorded, self.mood, self.doing);
        self.blocked_by = Some(Block {
            kind: kind.into(),
            reason,
            scope: recorded.draft.scope.clone(),
            at: Moment::of(recorded),
        });
        self.resolve(recorded);
        Applied::Changed
    }

    /// What a running turn does when nothing else is said.
    fn resting_phase(&self) -> Phase {
        if self.tools.open_len() > 0 { Phase::ToolRunning } else { Phase::Preparing }
    }

    fn move_to(&mut self, recorded: &RecordedEvent, mood: RuntimeStatus, phase: Phase) -> Applied {
        self.mood = mood;
        self.doing = phase;
        self.blocked_by = None;
        self.since = Some(Moment::of(recorded));
        self.resolve(recorded);
        Applied::Changed
    }

    fn resolve(&mut self, recorded: &RecordedEvent) {
        let waits = self.waiting.open_len() > 0;
        self.runtime = match self.mood {
            RuntimeStatus::Failed => RuntimeStatus::Failed,
            _ if waits => RuntimeStatus::Waiting,
            _ if self.blocked_by.is_some() => RuntimeStatus::Blocked,
            mood => mood,
        };
        self.phase = match self.runtime {
            RuntimeStatus::Waiting => Phase::ActionRequired,
            _ => self.doing,
        };
        let blocked = self.blocked_by.as_ref().map(|block| block.scope.thread_id.clone());
        self.thread(recorded, |thread| thread.resolve(blocked.as_ref() == Some(&thread.thread_id)));
    }

    /// Changes the thread of the event; a thread appears with the first event that says something about it.
    fn thread(&mut self, recorded: &RecordedEvent, change: impl FnOnce(&mut ThreadState)) {
        let id = &recorded.draft.scope.thread_id;
        if id.is_none() {
            return;
        }
        let known = self.threads.place(id);
        let place = known.unwrap_or_else(|| self.threads.push(ThreadState::new(recorded)));
        self.threads.update_at(place, |thread| {
            thread.last_sequence = recorded.sequence;
            change(thread);
        });
    }
}

impl super::state::TurnCounts {
    fn is_empty(&self) -> bool {
        self.started + self.completed + self.failed + self.canceled == 0
    }
}

impl RuntimeStatus {
    /// A question that comes after a failure is the newer fact.
    const fn after_a_question(self) -> Self {
        match self {
            Self::Failed => Self::Running,
            other => other,
        }
    }
}

impl OutcomeKind {
    const fn mood(self) -> RuntimeStatus {
        match self {
            Self::Completed => RuntimeStatus::Completed,
            Self::Failed => RuntimeStatus::Failed,
            Self::Canceled => RuntimeStatus::Canceled,
        }
    }

    const fn phase(self) -> Phase {
        match self {
            Self::Completed => Phase::Completed,
            Self::Failed => Phase::Failed,
            Self::Canceled => Phase::Canceled,
        }
    }
}

impl Outcome {
    fn new(recorded: &RecordedEvent, kind: OutcomeKind) -> Self {
        Self {
            turn_id: recorded.draft.scope.turn_id.clone(),
            kind,
            reason: None,
            detail: None,
            failure_category: None,
            error: None,
            recovery: None,
            elapsed: Elapsed::OPEN,
            at: Moment::of(recorded),
        }
    }
}

impl ActiveTurn {
    fn new(recorded: &RecordedEvent) -> Self {
        Self {
            turn_id: recorded.draft.scope.turn_id.clone(),
            thread_id: recorded.draft.scope.thread_id.clone(),
            model: None,
            provider: None,
            title: None,
            first: Moment::of(recorded),
            started: None,
            over: None,
        }
    }
}

impl ThreadState {
    fn new(recorded: &RecordedEvent) -> Self {
        Self {
            thread_id: recorded.draft.scope.thread_id.clone(),
            status: ThreadStatus::Idle,
            active_turn_id: None,
            begun: false,
            last_outcome: None,
            waiting: 0,
            turns: 0,
            first_sequence: recorded.sequence,
            last_sequence: recorded.sequence,
        }
    }

    fn resolve(&mut self, blocked: bool) {
        self.status = match (&self.active_turn_id, self.last_outcome) {
            _ if self.waiting > 0 => ThreadStatus::Waiting,
            _ if blocked => ThreadStatus::Blocked,
            (Some(_), _) if self.begun => ThreadStatus::Running,
            (Some(_), _) => ThreadStatus::Queued,
            (None, Some(OutcomeKind::Completed)) => ThreadStatus::Completed,
            (None, Some(OutcomeKind::Failed)) => ThreadStatus::Failed,
            (None, Some(OutcomeKind::Canceled)) => ThreadStatus::Canceled,
            (None, None) => ThreadStatus::Idle,
        };
    }
}
