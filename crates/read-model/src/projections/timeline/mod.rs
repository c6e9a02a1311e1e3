//! Owns the view of what happened: an entry for each event worth showing, runs of pieces as one entry.
//!
//! What an event opens or closes stands in its catalog row ([`Pairing`]); the timeline only follows it. An entry that
//! opens something stays open, and gets its end and its duration when the closing event comes, which has an entry too.

mod entry;
#[cfg(test)]
mod tests;
mod title;

use event_spine::event::family::{
    ContextEvent, DiagnosticsEvent, Event, LifecycleEvent, MessageEvent, PolicyEvent,
    ReasoningEvent, TaskEvent, ToolEvent,
};
use event_spine::event::{Entity, Pairing};
use event_spine::{RecordedEvent, TurnId};
use serde::{Deserialize, Serialize};

pub use entry::{Entry, EntryStatus};

use crate::limits::Limits;
use crate::moment::Elapsed;
use crate::projection::{Applied, Projection};
use crate::projections::shared::{TurnEnd, turn_end};
use crate::projections::tools::CallStatus;
use crate::window::{Place, Window};

/// What happened in a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// The entries, in the order of their first events.
    pub entries: Window<Entry>,
    /// Events so far, shown or not.
    pub events: u64,
    /// Sequence of the newest event that is no piece; pieces before it and after it are two entries.
    last_whole: u64,
}

impl Projection for Timeline {
    const NAME: &'static str = "timeline";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        state.events += 1;
        if is_piece(event) {
            state.piece(recorded, event);
        } else {
            state.whole(recorded, event);
        }
        Applied::Changed
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.entries.limit(limits);
    }
}

impl Timeline {
    fn piece(&mut self, recorded: &RecordedEvent, event: &Event) {
        let class = recorded.draft.event_type.name();
        // Pieces of one tool call belong together whatever comes between them.
        let since = if matches!(event, Event::Tool(_)) { 0 } else { self.last_whole };
        let same = |entry: &Entry| entry.takes_piece(class, &recorded.draft.scope, since);
        let place = match self.entries.last() {
            Some((place, last)) if same(last) => Some(place),
            _ => {
                let key = entry::Key::run(class, &recorded.draft.scope);
                self.entries.place(key).filter(|place| self.entries.at(*place).is_some_and(same))
            }
        };
        match place {
            Some(place) => {
                self.entries.update_at(place, |entry| {
                    entry.events += 1;
                    entry.last_sequence = recorded.sequence;
                });
            }
            None => {
                self.entries.push(Entry::piece(recorded, title::of(event)));
            }
        }
    }

    fn whole(&mut self, recorded: &RecordedEvent, event: &Event) {
        self.last_whole = recorded.sequence;
        let pairing = recorded.draft.event_type.descriptor().map_or(Pairing::None, |d| d.pairing);
        let status = status_of(event);
        let mut entry = Entry::whole(recorded, title::of(event), status);
        match pairing {
            Pairing::None => {}
            Pairing::Opens(entity) => {
                // While it is open, a second opening is an entry of its own that opens nothing.
                if self.opener(entity, recorded).is_none() {
                    entry.opens = Some(entity);
                    entry.status = EntryStatus::Open;
                }
            }
            Pairing::Closes(entity) => {
                if let Some(place) = self.opener(entity, recorded) {
                    let elapsed = self.close(place, recorded, status, stated_ms(event));
                    entry.elapsed = elapsed.unwrap_or(Elapsed::OPEN);
                }
            }
        }
        if let Some((end, turn)) = turn_end(recorded, event) {
            self.close_turn(recorded, end, turn);
        }
        match self.entries.last() {
            Some((place, last)) if last.repeats(&entry) => {
                self.entries.update_at(place, |last| {
                    last.events += 1;
                    last.last_sequence = recorded.sequence;
                });
            }
            _ => {
                self.entries.push(entry);
            }
        }
    }

    fn opener(&self, entity: Entity, recorded: &RecordedEvent) -> Option<Place> {
        let scope = &recorded.draft.scope;
        let find = |key: entry::Key<'_>| {
            self.entries
                .place(key)
                .filter(|place| self.entries.at(*place).is_some_and(Entry::is_open))
        };
        find(entry::Key::pair(entity, scope)?).or_else(|| match entity {
            // Some sources know the id of a message only when it is there.
            Entity::ModelCall => find(entry::Key::Model(scope.turn_id.as_ref(), None)),
            Entity::Turn
            | Entity::ToolCall
            | Entity::Action
            | Entity::Subagent
            | Entity::Compaction => None,
        })
    }

    fn close(
        &mut self,
        place: Place,
        recorded: &RecordedEvent,
        status: EntryStatus,
        stated: Option<u64>,
    ) -> Option<Elapsed> {
        self.entries.update_at(place, |opener| {
            let (start, end) = (&opener.first.timestamp, &recorded.draft.timestamp);
            opener.elapsed = Elapsed::stated_or_between(stated, start, end);
            opener.status = status;
            opener.closed_sequence = Some(recorded.sequence);
            opener.elapsed
        })
    }

    /// Model calls and tools that their turn leaves open are over, and nobody knows how they went.
    fn close_turn(&mut self, recorded: &RecordedEvent, _: TurnEnd, turn: &TurnId) {
        self.entries.update_open(
            |entry| {
                entry.scope.turn_id.as_ref() == Some(turn)
                    && matches!(entry.opens, Some(Entity::ToolCall | Entity::ModelCall))
            },
            |entry| {
                entry.status = EntryStatus::Interrupted;
                entry.closed_sequence = Some(recorded.sequence);
                entry.elapsed = Elapsed::between(&entry.first.timestamp, &recorded.draft.timestamp);
            },
        );
    }
}

/// True for the events that come in pieces.
fn is_piece(event: &Event) -> bool {
    match event {
        Event::Message(event) => matches!(event, MessageEvent::ModelDelta(_)),
        Event::Reasoning(event) => {
            matches!(event, ReasoningEvent::ReasoningDelta(_) | ReasoningEvent::PlanDelta(_))
        }
        Event::Tool(event) => {
            matches!(event, ToolEvent::ToolArgs(_) | ToolEvent::ToolProgress(_))
        }
        Event::Task(event) => matches!(event, TaskEvent::SubagentStatus(_)),
        Event::Context(event) => matches!(event, ContextEvent::StateDelta(_)),
        Event::Diagnostics(event) => matches!(event, DiagnosticsEvent::MetricsChanged(_)),
        Event::Lifecycle(_)
        | Event::Policy(_)
        | Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Unknown { .. } => false,
    }
}

/// How what the event reports went.
fn status_of(event: &Event) -> EntryStatus {
    match event {
        Event::Lifecycle(event) => match event {
            LifecycleEvent::TurnFailed(_) => EntryStatus::Failed,
            LifecycleEvent::TurnCanceled(_) => EntryStatus::Canceled,
            LifecycleEvent::TurnSubmitted(_)
            | LifecycleEvent::TurnStarted(_)
            | LifecycleEvent::TurnCompleted(_)
            | LifecycleEvent::RunStatus(_)
            | LifecycleEvent::QueueChanged(_) => EntryStatus::Done,
        },
        Event::Message(MessageEvent::ModelFailed(_)) => EntryStatus::Failed,
        Event::Tool(ToolEvent::ToolResult(result)) => {
            EntryStatus::of_call(CallStatus::of_result(result))
        }
        Event::Tool(ToolEvent::ToolFailed(failed)) => {
            EntryStatus::of_call(CallStatus::of_failure(failed))
        }
        Event::Policy(event) => match event {
            PolicyEvent::PermissionDenied(_) | PolicyEvent::SandboxBlocked(_) => {
                EntryStatus::Denied
            }
            PolicyEvent::ActionCancelled(_) | PolicyEvent::ActionExpired(_) => {
                EntryStatus::Canceled
            }
            PolicyEvent::ActionRequired(_)
            | PolicyEvent::ActionResolved(_)
            | PolicyEvent::PermissionEvaluated(_) => EntryStatus::Done,
        },
        Event::Task(TaskEvent::SubagentFailed(_)) => EntryStatus::Failed,
        Event::Context(ContextEvent::CompactionFailed(_) | ContextEvent::StreamInterrupted(_)) => {
            EntryStatus::Failed
        }
        Event::Diagnostics(DiagnosticsEvent::Fault(_)) => EntryStatus::Failed,
        Event::Message(_)
        | Event::Reasoning(_)
        | Event::Tool(_)
        | Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Task(_)
        | Event::Context(_)
        | Event::Diagnostics(_)
        | Event::Unknown { .. } => EntryStatus::Done,
    }
}

/// The duration that the event states itself.
fn stated_ms(event: &Event) -> Option<u64> {
    match event {
        Event::Tool(ToolEvent::ToolResult(result)) => result.duration_ms,
        Event::Tool(ToolEvent::ToolFailed(failed)) => failed.duration_ms,
        Event::Lifecycle(LifecycleEvent::TurnCompleted(completed)) => completed.duration_ms,
        Event::Lifecycle(_)
        | Event::Message(_)
        | Event::Reasoning(_)
        | Event::Tool(_)
        | Event::Policy(_)
        | Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Task(_)
        | Event::Context(_)
        | Event::Diagnostics(_)
        | Event::Unknown { .. } => None,
    }
}
