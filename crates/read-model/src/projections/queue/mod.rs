//! Owns the view of the inputs that wait: which, in which order, for what, and what became of them.

#[cfg(test)]
mod tests;

use event_spine::event::family::lifecycle::QueueChanged;
use event_spine::event::family::{Event, LifecycleEvent};
use event_spine::event::value::{QueueChange, QueueMode};
use event_spine::{RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::moment::Moment;
use crate::projection::{Applied, Projection};
use crate::projections::shared::keep_newer;
use crate::window::{Row, Window};

/// The queue of inputs of a session. It is the runtime's; every change of it is one event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queue {
    /// The inputs, in the order in which they came in. Those that wait are open.
    pub items: Window<QueueItem>,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueItem {
    /// The input.
    pub item_id: String,
    /// Where it belongs.
    pub scope: Scope,
    /// Where it stands: the last change.
    pub state: QueueChange,
    /// What it is for.
    pub mode: Option<QueueMode>,
    /// Head of the input, for people.
    pub preview: Option<String>,
    /// Place in the queue, 0 first, as last stated.
    pub position: Option<u32>,
    /// The turn that a steering input changes.
    pub target_turn_id: Option<String>,
    /// Why it was removed, refused, or failed.
    pub reason: Option<String>,
    /// Its first event.
    pub first: Moment,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

impl Projection for Queue {
    const NAME: &'static str = "queue";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Lifecycle(event) => match event {
                LifecycleEvent::QueueChanged(changed) => state.change(recorded, changed),
                LifecycleEvent::TurnSubmitted(_)
                | LifecycleEvent::TurnStarted(_)
                | LifecycleEvent::TurnCompleted(_)
                | LifecycleEvent::TurnFailed(_)
                | LifecycleEvent::TurnCanceled(_)
                | LifecycleEvent::RunStatus(_) => Applied::Unchanged,
            },
            Event::Message(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Task(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.items.limit(limits);
    }
}

impl Queue {
    /// The inputs that wait, by their place where one is stated, else in the order in which they came in.
    #[must_use]
    pub fn waiting(&self) -> Vec<&QueueItem> {
        let mut items: Vec<_> = self.items.open().collect();
        items.sort_by_key(|item| item.position.unwrap_or(u32::MAX));
        items
    }

    fn change(&mut self, recorded: &RecordedEvent, changed: &QueueChanged) -> Applied {
        let known = self.items.place(&changed.item_id);
        let place = known.unwrap_or_else(|| {
            self.items.push(QueueItem {
                item_id: changed.item_id.clone(),
                scope: recorded.draft.scope.clone(),
                state: changed.change,
                mode: None,
                preview: None,
                position: None,
                target_turn_id: None,
                reason: None,
                first: Moment::of(recorded),
                last_sequence: recorded.sequence,
            })
        });
        self.items.update_at(place, |item| {
            item.state = changed.change;
            item.last_sequence = recorded.sequence;
            item.mode = changed.mode.or(item.mode);
            item.position = changed.position.or(item.position);
            keep_newer(&mut item.preview, &changed.preview);
            keep_newer(&mut item.target_turn_id, &changed.target_turn_id);
            keep_newer(&mut item.reason, &changed.reason);
        });
        Applied::Changed
    }
}

impl Row for QueueItem {
    type Key<'a> = &'a str;

    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.item_id)
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        match self.state {
            QueueChange::Queued | QueueChange::Promoted => None,
            QueueChange::Started
            | QueueChange::Removed
            | QueueChange::Rejected
            | QueueChange::Failed
            | QueueChange::Unknown => Some(self.last_sequence),
        }
    }

    fn weight(&self) -> usize {
        self.preview.as_ref().map_or(0, String::len)
    }
}
