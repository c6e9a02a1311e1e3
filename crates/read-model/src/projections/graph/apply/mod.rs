//! Owns the fold: one event in, the graph changed. One file per family that the graph reads.

mod lifecycle;
mod message;
mod policy;
mod product;
mod session;
mod task;
mod tool;

use event_spine::RecordedEvent;
use event_spine::event::family::Event;

use super::preview;
use super::state::{Cx, ExecutionGraph, GraphLimits};
use crate::{Applied, Limits, Projection};

/// The execution graph as a projection.
#[derive(Debug, Clone, Copy)]
pub struct Graph;

impl Projection for Graph {
    const NAME: &'static str = "graph";
    const VERSION: u32 = 1;
    type State = ExecutionGraph;

    fn apply(state: &mut ExecutionGraph, recorded: &RecordedEvent, event: &Event) -> Applied {
        state.apply(recorded, event)
    }

    fn limit(state: &mut ExecutionGraph, limits: &Limits) {
        state.limits = GraphLimits::from(limits);
    }
}

impl ExecutionGraph {
    /// Folds one event in. An event at or before the last applied sequence changes nothing.
    pub fn apply(&mut self, recorded: &RecordedEvent, event: &Event) -> Applied {
        if recorded.sequence <= self.sequence {
            return Applied::Duplicate;
        }
        self.sequence = recorded.sequence;
        self.chain = Some(recorded.chain);
        if self.session_id.as_ref() != Some(&recorded.session_id) {
            self.session_id = Some(recorded.session_id.clone()); // after a fork the child's
        }
        let cx = Cx::new(recorded);
        let before = self.nodes.len();
        match event {
            Event::Lifecycle(event) => self.lifecycle(&cx, event),
            Event::Message(event) => self.message(&cx, event),
            Event::Tool(event) => self.tool(&cx, event),
            Event::Policy(event) => self.policy(&cx, event),
            Event::Artifact(event) => self.artifact(&cx, event),
            Event::Evidence(event) => self.evidence(&cx, event),
            Event::Task(event) => self.task(&cx, event),
            Event::Context(event) => self.context(&cx, event),
            Event::Diagnostics(event) => self.diagnostics_event(&cx, event),
            Event::Reasoning(_) => {} // the transcript's; it makes no node of its own
            Event::Unknown { .. } => self.unknown_events += 1,
        }
        if self.nodes.len() > before {
            self.fold();
        }
        Applied::Changed
    }
}

/// The text of a turn's or message's parts, on one line.
pub(super) fn parts_line(
    text: Option<&str>,
    parts: &[event_spine::event::value::ContentPart],
) -> Option<String> {
    let first = || parts.iter().find_map(|part| part.text.as_deref());
    preview::some_line(text.or_else(first), preview::PREVIEW)
}
