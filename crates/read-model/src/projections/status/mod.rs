//! Owns the view of what a session is doing now: running, waiting, blocked, done; since when, and for what.
//!
//! How the status is found, newest event first: a failure; else an open request to a person; else a block; else what
//! the turns say. A `model.completed` completes the session only where no turn is open, for sources that know no turns.

mod apply;
mod state;
#[cfg(test)]
mod tests;

use event_spine::RecordedEvent;
use event_spine::event::family::Event;

pub use state::{
    ActiveTurn, Block, Outcome, OutcomeKind, Phase, RunningTool, RuntimeStatus, Status,
    ThreadState, ThreadStatus, TurnCounts, Waiting,
};

use crate::limits::Limits;
use crate::projection::{Applied, Projection};

impl Projection for Status {
    const NAME: &'static str = "status";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Lifecycle(event) => state.lifecycle(recorded, event),
            Event::Message(event) => state.message(recorded, event),
            Event::Reasoning(_) => state.activity(recorded, Phase::Streaming),
            Event::Tool(event) => state.tool(recorded, event),
            Event::Policy(event) => state.policy(recorded, event),
            Event::Context(event) => state.context(recorded, event),
            Event::Diagnostics(event) => state.diagnostics(recorded, event),
            Event::Artifact(_) | Event::Evidence(_) | Event::Task(_) | Event::Unknown { .. } => {
                Applied::Unchanged
            }
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.threads.limit(limits);
        // These show what goes on now; what is over stands in other views.
        let only_open = Limits { items: 0, ..*limits };
        state.active_turns.limit(&only_open);
        state.waiting.limit(&only_open);
        state.tools.limit(&only_open);
    }
}
