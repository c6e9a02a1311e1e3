//! Owns what turns do to the graph.

use event_spine::event::family::LifecycleEvent;

use super::parts_line;
use crate::projections::graph::node::{Node, NodeId, NodeKind, Status, Tokens};
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn lifecycle(&mut self, cx: &Cx<'_>, event: &LifecycleEvent) {
        match event {
            LifecycleEvent::TurnSubmitted(e) => self.with_turn(cx, |turn| {
                turn.input = parts_line(e.text.as_deref(), &e.parts).or(turn.input.take());
                if turn.last_sequence == turn.first_sequence && !turn.settled {
                    turn.status = Status::Queued;
                }
            }),
            LifecycleEvent::TurnStarted(e) => self.with_turn(cx, |turn| {
                turn.title = e.title.clone().unwrap_or_default();
                turn.model = e.model.clone();
                if !turn.settled {
                    turn.status = Status::Running;
                }
            }),
            LifecycleEvent::TurnCompleted(e) => {
                let status = match e.terminal_status.as_deref() {
                    Some("failed") => Status::Failed,
                    Some("incomplete") => Status::Partial,
                    _ => Status::Succeeded,
                };
                self.end_turn(cx, status, e.duration_ms, |turn| {
                    turn.reported_tokens = e.usage.as_ref().map(Tokens::from);
                    note_reason(turn, e.reason.as_deref(), e.detail.as_deref());
                });
            }
            LifecycleEvent::TurnFailed(e) => self.end_turn(cx, Status::Failed, None, |turn| {
                turn.failure_category = Some(preview::line(&e.failure_category, preview::TITLE));
                turn.reported_tokens = e.usage.as_ref().map(Tokens::from);
                let error = e.error.as_deref().or(e.detail.as_deref()).or(e.reason.as_deref());
                turn.output = preview::some_line(error, preview::PREVIEW).or(turn.output.take());
            }),
            LifecycleEvent::TurnCanceled(e) => self.end_turn(cx, Status::Cancelled, None, |turn| {
                note_reason(turn, e.reason.as_deref(), e.detail.as_deref());
            }),
            // The phase inside a turn is the status view's; the queue is the queue view's.
            LifecycleEvent::RunStatus(_) => self.with_turn(cx, |_| {}),
            LifecycleEvent::QueueChanged(_) => {}
        }
    }

    /// Finds the turn of an event, in the lane of the event, and changes it.
    fn with_turn(&mut self, cx: &Cx<'_>, change: impl FnOnce(&mut Node)) {
        let _ = self.place_in_turn(cx); // brings the turn into being
        let Some(id) = turn_id(cx) else {
            return;
        };
        if let Some(turn) = self.nodes.get_mut(&id) {
            change(turn);
            turn.last_sequence = cx.sequence;
        }
    }

    /// Keeps the input of the turn of an event, when the turn has none.
    pub(super) fn learn_input(&mut self, cx: &Cx<'_>, text: Option<&str>) {
        let turn = turn_id(cx).and_then(|id| self.nodes.get_mut(&id));
        if let Some(turn) = turn.filter(|turn| turn.input.is_none()) {
            turn.input = preview::some_line(text, preview::PREVIEW);
        }
    }

    fn end_turn(
        &mut self,
        cx: &Cx<'_>,
        status: Status,
        duration_ms: Option<u64>,
        change: impl FnOnce(&mut Node),
    ) {
        self.with_turn(cx, change);
        let Some(id) = turn_id(cx) else {
            return;
        };
        let Some(turn) = self.nodes.get(&id) else {
            return;
        };
        let lane = turn.lane.clone();
        self.settle(cx, &id, status, duration_ms);
        if let Some(lane) = lane {
            self.interrupt(cx, &lane, Some(&id));
        }
    }
}

fn turn_id(cx: &Cx<'_>) -> Option<NodeId> {
    cx.scope().turn_id.as_ref().map(|turn| NodeId::new(NodeKind::Turn, turn.as_str()))
}

/// Keeps why a turn ended, unless the answer itself is known.
fn note_reason(turn: &mut Node, reason: Option<&str>, detail: Option<&str>) {
    if turn.output.is_none() {
        turn.output = preview::some_line(detail.or(reason), preview::PREVIEW);
    }
}
