//! Owns the view of tool calls: each call once, from its first argument byte to its end.

mod call;
#[cfg(test)]
mod tests;

use event_spine::event::family::{Event, ToolEvent};
use event_spine::{RecordedEvent, ToolCallId};
use serde::{Deserialize, Serialize};

pub use call::{CallFlag, CallStatus, Failure, Progress, ToolCall};
pub(crate) use call::{
    can_be_first as call_can_begin_with, concerns_a_call as call_is_concerned_by,
};

use super::shared::turn_end;
use crate::limits::Limits;
use crate::projection::{Applied, Projection};
use crate::window::Window;

/// Tool calls of a session.
///
/// A call is found by its `toolCallId`. It stays open until its result, its failure, or the end of its turn, which
/// closes it as interrupted: whether it did its work is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tools {
    /// The calls, in the order of their first events.
    pub calls: Window<ToolCall>,
    /// How many calls ended in each way.
    pub ended: Ended,
    #[serde(skip)]
    preview_bytes: usize,
}

/// How many calls ended in each way, over the whole session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// The source says that they succeeded, in whole or in part.
    pub succeeded: u64,
    /// They failed, were denied, rejected, cancelled, or took too long.
    pub failed: u64,
    /// They were cut off, and nobody knows what they did.
    pub interrupted: u64,
    /// They returned, and the source does not say how.
    pub unknown: u64,
}

impl Ended {
    fn slot(&mut self, status: CallStatus) -> Option<&mut u64> {
        match status {
            CallStatus::InputStreaming
            | CallStatus::InputAvailable
            | CallStatus::InputInvalid
            | CallStatus::Running => None,
            CallStatus::Succeeded | CallStatus::PartialSucceeded => Some(&mut self.succeeded),
            CallStatus::Failed
            | CallStatus::Denied
            | CallStatus::Rejected
            | CallStatus::Cancelled
            | CallStatus::TimedOut => Some(&mut self.failed),
            CallStatus::Interrupted => Some(&mut self.interrupted),
            CallStatus::Unknown => Some(&mut self.unknown),
        }
    }

    fn moved(&mut self, from: CallStatus, to: CallStatus) {
        if let Some(count) = self.slot(from) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = self.slot(to) {
            *count += 1;
        }
    }
}

impl Projection for Tools {
    const NAME: &'static str = "tools";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Tool(event) => state.tool(recorded, event),
            Event::Lifecycle(_) => match turn_end(recorded, event) {
                Some((_, turn)) => {
                    let of_turn = |call: &ToolCall| call.scope.turn_id.as_ref() == Some(turn);
                    let closed = state.calls.update_open(of_turn, |call| call.interrupt(recorded));
                    state.ended.interrupted += closed as u64;
                    Applied::when(closed > 0)
                }
                None => Applied::Unchanged,
            },
            Event::Message(_)
            | Event::Reasoning(_)
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
        state.calls.limit(limits);
        state.preview_bytes = limits.preview_bytes;
    }
}

impl Tools {
    fn tool(&mut self, recorded: &RecordedEvent, event: &ToolEvent) -> Applied {
        let id = &recorded.draft.scope.tool_call_id;
        if id.is_none() || !call::concerns_a_call(event) {
            return self.without_call(event);
        }
        let place = match self.calls.place(id) {
            // The id came back after its call had ended: another call.
            Some(place) if !self.begins_another(place, event) => place,
            Some(_) => self.calls.push(ToolCall::new(recorded)),
            None if call::can_be_first(event) => self.calls.push(ToolCall::new(recorded)),
            None => return Applied::Unchanged,
        };
        let limit = self.preview_bytes;
        let moved = self.calls.update_at(place, |call| {
            let from = call.status;
            call.fold(recorded, event, limit);
            (from, call.status)
        });
        if let Some((from, to)) = moved.filter(|(from, to)| from != to) {
            self.ended.moved(from, to);
        }
        Applied::Changed
    }

    fn begins_another(&self, place: crate::window::Place, event: &ToolEvent) -> bool {
        matches!(event, ToolEvent::ToolStarted(_) | ToolEvent::ToolArgs(_))
            && self.calls.at(place).is_some_and(|call| call.status.is_end())
    }

    /// An output that expires is named by its ref alone.
    fn without_call(&mut self, event: &ToolEvent) -> Applied {
        match event {
            ToolEvent::OutputExpired(expired) => {
                let of_ref =
                    |call: &ToolCall| call.output_ref.as_ref() == Some(&expired.output_ref);
                let found = self.calls.update_all(of_ref, |call| call.output_expired = true);
                Applied::when(found > 0)
            }
            ToolEvent::ToolStarted(_)
            | ToolEvent::ToolArgs(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::ToolResult(_)
            | ToolEvent::ToolFailed(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_) => Applied::Unchanged,
        }
    }

    /// The newest call with this id, if it is still in the window.
    #[must_use]
    pub fn call(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.calls.at(self.calls.place(&Some(id.clone()))?)
    }
}
