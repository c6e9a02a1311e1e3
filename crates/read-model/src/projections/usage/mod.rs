//! Owns the view of tokens: of each call, turn, sub-agent and model, and of the session.
//!
//! The same tokens are stated in several places, so there is one rule for what counts:
//!
//! 1. A *call* is opened by `model.requested`, or by the first event that states figures no known call can take.
//!    `model.completed`, `usage.updated` and `ledger.reconciled` state the figures of a call. They find it by
//!    `messageId`, else by `requestHash`, else by `stepId`, else it is the newest call of the turn that has no
//!    statement of their kind yet. So the three of them about one call are one figure.
//! 2. Of several statements about one call the observed one beats the estimate, the ledger beats `usage.updated`
//!    beats `model.completed`, and a repeated statement replaces the one before, unless it is smaller: then it is
//!    ignored and counted, since such counters only grow.
//! 3. A call without figures is *unknown*, never zero. Messages that no call is known for make their turn unknown
//!    when nothing else states a figure for it.
//! 4. A *turn* (or a sub-agent) counts as the sum of its calls if each is known. Else it counts as its own statement
//!    (`turn.completed`, `subagent.completed`), else as the calls in part. Never both.
//! 5. The *session* is the sum of its turns and its sub-agents. Running totals that the source states are compared
//!    with it and never added.
//!
//! Cached and written tokens are parts of the input, reasoning is part of the output; none is added to them.

mod apply;
mod figure;
mod state;
#[cfg(test)]
mod tests;

use event_spine::RecordedEvent;
use event_spine::event::family::{
    DiagnosticsEvent, Event, LifecycleEvent, MessageEvent, TaskEvent,
};

pub use figure::{Figure, Sum, Totals};
pub use state::{
    Account, AccountKey, BudgetCheck, Call, CallKey, CountedBy, SourceTotals, Statements, Usage,
    UsageNotes,
};

use crate::limits::Limits;
use crate::projection::{Applied, Projection};
use apply::{Kind, Stated};

impl Projection for Usage {
    const NAME: &'static str = "usage";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Message(event) => match event {
                MessageEvent::ModelRequested(requested) => state.request(recorded, requested),
                MessageEvent::ModelCompleted(completed) => state.complete(recorded, completed),
                MessageEvent::ModelFailed(_) => state.fail(recorded),
                MessageEvent::ModelDelta(_) | MessageEvent::MessagesSnapshot(_) => {
                    Applied::Unchanged
                }
            },
            Event::Diagnostics(event) => match event {
                DiagnosticsEvent::UsageUpdated(updated) => {
                    state.source_totals(recorded, updated);
                    let applied = state.state(recorded, Kind::Updated, &Stated::updated(updated));
                    state.compare_with_source(recorded);
                    applied
                }
                DiagnosticsEvent::LedgerReconciled(ledger) => {
                    state.state(recorded, Kind::Ledger, &Stated::ledger(ledger))
                }
                DiagnosticsEvent::BudgetChecked(checked) => state.budget(recorded, checked),
                DiagnosticsEvent::Warning(_)
                | DiagnosticsEvent::Fault(_)
                | DiagnosticsEvent::MetricsChanged(_)
                | DiagnosticsEvent::ProgressEvaluated(_)
                | DiagnosticsEvent::RateLimitHit(_) => Applied::Unchanged,
            },
            Event::Lifecycle(event) => match event {
                LifecycleEvent::TurnCompleted(end) => state.end_turn(recorded, end.usage.as_ref()),
                LifecycleEvent::TurnFailed(end) => state.end_turn(recorded, end.usage.as_ref()),
                LifecycleEvent::TurnCanceled(_) => state.end_turn(recorded, None),
                LifecycleEvent::TurnSubmitted(_)
                | LifecycleEvent::TurnStarted(_)
                | LifecycleEvent::RunStatus(_)
                | LifecycleEvent::QueueChanged(_) => Applied::Unchanged,
            },
            Event::Task(event) => match event {
                TaskEvent::SubagentCompleted(end) => state.end_agent(recorded, end.usage.as_ref()),
                TaskEvent::SubagentFailed(_) => state.end_agent(recorded, None),
                TaskEvent::TaskCreated(_)
                | TaskEvent::TaskUpdated(_)
                | TaskEvent::SubagentStarted(_)
                | TaskEvent::SubagentStatus(_)
                | TaskEvent::JobQueued(_)
                | TaskEvent::ChannelMessage(_) => Applied::Unchanged,
            },
            Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Context(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.calls.limit(limits);
        // An account is large, and an old turn's tokens are in the session's.
        state.accounts.limit(&Limits { items: limits.items / 4, ..*limits });
    }
}
