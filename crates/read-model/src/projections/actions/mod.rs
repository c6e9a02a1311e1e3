//! Owns the view of what waits for a person, what was answered, and what rules decided without asking.

mod action;
mod decision;
#[cfg(test)]
mod tests;

use event_spine::event::family::{Event, PolicyEvent};
use event_spine::{ActionId, RecordedEvent};
use serde::{Deserialize, Serialize};

pub use action::{Action, ActionState, Resolution};
pub use decision::{PolicyDecision, PolicyDecisionKind};

use crate::limits::Limits;
use crate::projection::{Applied, Projection};
use crate::window::Window;

/// Requests to people, and decisions of rules.
///
/// An action waits until the runtime says that it is over: resolved, cancelled or expired. Nothing else closes it, not
/// the end of its turn, not a time that has passed; and a second answer changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actions {
    /// The actions, in the order in which they were asked.
    pub actions: Window<Action>,
    /// What rules and sandboxes decided.
    pub decisions: Window<PolicyDecision>,
    #[serde(skip)]
    preview_bytes: usize,
}

impl Projection for Actions {
    const NAME: &'static str = "actions";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Policy(event) => state.policy(recorded, event),
            Event::Lifecycle(_)
            | Event::Message(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Task(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.actions.limit(limits);
        state.decisions.limit(limits);
        state.preview_bytes = limits.preview_bytes;
    }
}

impl Actions {
    /// The actions that wait for an answer, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Action> {
        self.actions.open()
    }

    /// The newest action with this id, if it is still in the window.
    #[must_use]
    pub fn action(&self, id: &ActionId) -> Option<&Action> {
        self.actions.at(self.actions.place(&Some(id.clone()))?)
    }

    fn policy(&mut self, recorded: &RecordedEvent, event: &PolicyEvent) -> Applied {
        if let Some(decision) = PolicyDecision::of(recorded, event) {
            self.decisions.push(decision);
            return Applied::Changed;
        }
        let id = &recorded.draft.scope.action_id;
        if id.is_none() {
            return Applied::Unchanged;
        }
        let asks = matches!(event, PolicyEvent::ActionRequired(_));
        let place = match self.actions.place(id) {
            // The id came back after its action was over: another action.
            Some(place) if !(asks && self.is_over(place)) => place,
            _ => self.actions.push(Action::new(recorded)),
        };
        let limit = self.preview_bytes;
        self.actions.update_at(place, |action| action.fold(recorded, event, limit));
        Applied::Changed
    }

    fn is_over(&self, place: crate::window::Place) -> bool {
        self.actions.at(place).is_some_and(|action| action.state != ActionState::Pending)
    }
}
