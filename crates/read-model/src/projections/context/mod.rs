//! Owns the view of what the model sees and how complete this read model is: attached context, compactions, the
//! source's own state documents, and the hydration status.
//!
//! Hydration: `idle` before the first event; `live` while nothing is missing; `stale` once the source's stream broke
//! off, a patch did not fit, or events are missing for good; `repairing` while a stated whole stands in for what is
//! missing; `live` again after `stream.repaired`; `degraded` when a stored fact cannot be read.
//!
//! Next: [`document`], how patches are applied.

mod document;
mod state;
#[cfg(test)]
mod tests;

use event_spine::event::family::context as payload;
use event_spine::event::family::{ContextEvent, Event, MessageEvent};
use event_spine::{Gap, RecordedEvent};

pub use document::Document;
pub use state::{
    Boundary, Compaction, CompactionState, Context, ContextItem, ForkOrigin, Hydration,
    HydrationStatus, Rollback,
};

use crate::limits::Limits;
use crate::moment::{Elapsed, Moment};
use crate::projection::{Applied, Projection};
use crate::text::Text;
use crate::window::Row;

impl Projection for Context {
    const NAME: &'static str = "context";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        state.hydration.event_count += 1;
        match event {
            Event::Context(event) => state.context(recorded, event),
            Event::Message(event) => match event {
                MessageEvent::MessagesSnapshot(_) => state.whole_is_stated(),
                MessageEvent::ModelRequested(_)
                | MessageEvent::ModelDelta(_)
                | MessageEvent::ModelCompleted(_)
                | MessageEvent::ModelFailed(_) => {}
            },
            Event::Unknown { .. } => {
                // A type that nobody knows is kept whole; one that is known and cannot be read is a fact that is missing.
                if recorded.draft.event_type.descriptor().is_some() {
                    state.hydration.unreadable += 1;
                }
            }
            Event::Lifecycle(_)
            | Event::Reasoning(_)
            | Event::Tool(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Task(_)
            | Event::Diagnostics(_) => {}
        }
        state.resolve();
        Applied::Changed // the count of events is part of the view
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.attached.limit(limits);
        state.missing.limit(limits);
        state.compactions.limit(limits);
        state.rollbacks.limit(limits);
        state.documents.limit(limits);
        state.preview_bytes = limits.preview_bytes;
        state.document_bytes = limits.document_bytes;
    }
}

impl Context {
    /// Events of the log itself are missing for good.
    pub(crate) fn pass_over(&mut self, gap: &Gap) {
        self.hydration.log_gaps += 1;
        self.hydration.reason = Some(gap.reason.clone());
        self.resolve();
    }

    fn context(&mut self, recorded: &RecordedEvent, event: &ContextEvent) {
        match event {
            ContextEvent::ContextAttached(e) => self.attach(recorded, e),
            ContextEvent::ContextDetached(e) => {
                let key = state::item_key(&e.kind, e.name.as_deref().or(e.skill_id.as_deref()));
                self.attached.update_at(self.attached.place(key), |item| {
                    item.detached = Some(Moment::of(recorded));
                    item.reason.clone_from(&e.reason);
                });
            }
            ContextEvent::ContextMissing(e) => {
                self.missing.push(ContextItem {
                    reason: e.reason.clone().or_else(|| e.code.clone()),
                    ..ContextItem::new(recorded, &e.kind, e.name.as_ref(), e.skill_id.as_ref())
                });
            }
            ContextEvent::CompactionStarted(e) => {
                let compaction =
                    Compaction::new(recorded, e.trigger.as_ref(), e.compaction_id.as_ref());
                self.compactions.push(compaction);
            }
            ContextEvent::CompactionCompleted(e) => {
                let (trigger, id) = (e.trigger.as_ref(), e.compaction_id.as_ref());
                self.end_compaction(recorded, trigger, id, |compaction| {
                    compaction.state = CompactionState::ChangedNothing;
                });
            }
            ContextEvent::CompactionFailed(e) => {
                let (trigger, id) = (e.trigger.as_ref(), e.compaction_id.as_ref());
                self.end_compaction(recorded, trigger, id, |compaction| {
                    compaction.state = CompactionState::Failed;
                    compaction.error = Some(e.error.clone());
                });
            }
            ContextEvent::HistoryCompacted(e) => self.compacted(recorded, e),
            ContextEvent::HistoryRolledBack(e) => {
                self.rollbacks.push(Rollback {
                    to_sequence: e.to_sequence,
                    dropped_turns: e.dropped_turns,
                    reason: e.reason.clone(),
                    at: Moment::of(recorded),
                });
            }
            ContextEvent::SnapshotUpdated(e) => {
                self.whole_is_stated();
                let limit = self.document_bytes;
                self.document(recorded, e.kind.as_deref(), |document| {
                    document.state_whole(recorded, e, limit);
                });
            }
            ContextEvent::StateDelta(e) => {
                let limit = self.document_bytes;
                self.document(recorded, e.target.as_deref(), |document| {
                    document.patch(recorded, &e.patch, limit);
                });
            }
            ContextEvent::StreamInterrupted(e) => self.interrupted(recorded, e),
            ContextEvent::StreamRepaired(e) => self.repaired(recorded, e),
            ContextEvent::SessionForked(e) => {
                self.fork = Some(ForkOrigin {
                    parent_session_id: e.parent_session_id.clone(),
                    parent_sequence: e.parent_sequence,
                    parent_chain: e.parent_chain.clone(),
                    reason: e.reason.clone(),
                    at: Moment::of(recorded),
                });
            }
        }
    }

    fn interrupted(&mut self, recorded: &RecordedEvent, e: &payload::StreamInterrupted) {
        self.hydration.interrupted = true;
        self.hydration.repairing = false;
        self.hydration.interruptions += 1;
        self.hydration.reason = Some(e.reason.clone());
        self.hydration.since = Some(Moment::of(recorded));
    }

    fn repaired(&mut self, recorded: &RecordedEvent, e: &payload::StreamRepaired) {
        self.hydration.interrupted = false;
        self.hydration.repairing = false;
        self.hydration.repairs += 1;
        self.hydration.lost_events = e.lost.unwrap_or(0);
        self.hydration.reason.clone_from(&e.detail);
        self.hydration.since = Some(Moment::of(recorded));
    }

    fn attach(&mut self, recorded: &RecordedEvent, attached: &payload::ContextAttached) {
        let item = ContextItem {
            source: attached.source.clone(),
            size_bytes: attached.size_bytes,
            content_ref: attached.content_ref.clone(),
            ..ContextItem::new(
                recorded,
                &attached.kind,
                attached.name.as_ref(),
                attached.skill_id.as_ref(),
            )
        };
        let known = item.key().and_then(|key| self.attached.place(key));
        match known {
            // Attached again: the newest content counts.
            Some(place) if self.attached.at(place).is_some_and(|i| i.detached.is_none()) => {
                self.attached.update_at(place, |known| {
                    *known = ContextItem { first: known.first.clone(), ..item };
                });
            }
            _ => {
                self.attached.push(item);
            }
        }
    }

    fn compacted(&mut self, recorded: &RecordedEvent, e: &payload::HistoryCompacted) {
        let limit = self.preview_bytes;
        let summary = e.summary.as_deref().map(|text| Text::new(text, limit));
        self.end_compaction(recorded, e.trigger.as_ref(), e.compaction_id.as_ref(), |compaction| {
            compaction.state = CompactionState::Applied;
            compaction.before_tokens = e.before_tokens;
            compaction.after_tokens = e.after_tokens;
            compaction.before_chars = e.before_chars;
            compaction.after_chars = e.after_chars;
        });
        self.boundary = Some(Boundary {
            first_kept_sequence: e.first_kept_sequence,
            kept_messages: e.kept_messages,
            summary,
            summary_ref: e.summary_ref.clone(),
            at: Moment::of(recorded),
        });
    }

    /// Ends the compaction that runs in the thread; one whose beginning was never seen appears with its end.
    fn end_compaction(
        &mut self,
        recorded: &RecordedEvent,
        trigger: Option<&String>,
        id: Option<&String>,
        end: impl FnOnce(&mut Compaction),
    ) {
        let thread = &recorded.draft.scope.thread_id;
        let of_thread = self.compactions.open_places().rev().find(|(_, compaction)| {
            compaction.scope.thread_id == *thread
                && (id.is_none()
                    || compaction.compaction_id.is_none()
                    || compaction.compaction_id.as_ref() == id)
        });
        let place = match of_thread {
            Some((place, _)) => place,
            None => self.compactions.push(Compaction::new(recorded, trigger, id)),
        };
        self.compactions.update_at(place, |compaction| {
            if compaction.first.sequence != recorded.sequence {
                let (start, end) = (&compaction.first.timestamp, &recorded.draft.timestamp);
                compaction.elapsed = Elapsed::between(start, end);
            }
            compaction.ended = Some(Moment::of(recorded));
            end(compaction);
        });
    }

    /// The source states a whole: while something is missing, that begins the repair.
    fn whole_is_stated(&mut self) {
        self.hydration.repairing = self.hydration.interrupted;
    }

    fn document(
        &mut self,
        recorded: &RecordedEvent,
        kind: Option<&str>,
        change: impl FnOnce(&mut Document),
    ) {
        let document = Document::new(recorded, kind);
        let known = self.documents.place(&document.name);
        let place = known.unwrap_or_else(|| self.documents.push(document));
        let stale = |document: &Document| u64::from(document.stale);
        let moved = self.documents.update_at(place, |document| {
            let before = stale(document);
            change(document);
            (before, stale(document), document.failure.clone())
        });
        if let Some((before, after, failure)) = moved {
            let hydration = &mut self.hydration;
            hydration.stale_documents = (hydration.stale_documents + after).saturating_sub(before);
            if after > before {
                hydration.reason = failure;
                hydration.since = Some(Moment::of(recorded));
            }
        }
    }

    fn resolve(&mut self) {
        let h = &mut self.hydration;
        h.status = match () {
            () if h.interrupted && h.repairing => HydrationStatus::Repairing,
            () if h.interrupted || h.lost_events > 0 || h.log_gaps > 0 || h.stale_documents > 0 => {
                HydrationStatus::Stale
            }
            () if h.unreadable > 0 => HydrationStatus::Degraded,
            () => HydrationStatus::Live,
        };
    }
}
