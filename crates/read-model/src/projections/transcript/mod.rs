//! Owns the transcript: the parts of the conversation as a person reads them, in event order.
//!
//! Streamed text and its final form are one part: pieces are appended to it, and the final text confirms, corrects or
//! replaces it, and is never appended. Text, reasoning, tools and everything else are parts of their own and never
//! run into each other.
//!
//! Next: [`state`], what is served; `apply`, which event goes where; `text`, how text streams and becomes final;
//! `snapshot`, how a whole message list is reconciled.

mod apply;
mod snapshot;
pub mod state;
#[cfg(test)]
mod tests;
mod text;

use event_spine::RecordedEvent;
use event_spine::event::family::Event;

pub use state::{
    ArtifactPart, Attachment, Body, ContextPart, ErrorPart, EvidencePart, MessagePart, Part,
    PartState, PlanPart, ReasoningPart, Reconciled, TextPart, Transcript,
};

use crate::limits::Limits;
use crate::projection::{Applied, Projection};

impl Projection for Transcript {
    const NAME: &'static str = "transcript";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        match event {
            Event::Lifecycle(event) => state.lifecycle(recorded, event),
            Event::Message(event) => state.message(recorded, event),
            Event::Reasoning(event) => state.reasoning(recorded, event),
            Event::Tool(event) => state.tool(recorded, event),
            Event::Policy(event) => state.policy(recorded, event),
            Event::Artifact(event) => state.artifact(recorded, event),
            Event::Evidence(event) => state.evidence(recorded, event),
            Event::Task(event) => state.task(recorded, event),
            Event::Context(event) => state.context(recorded, event),
            // Warnings, errors and measurements are never part of a conversation.
            Event::Diagnostics(_) | Event::Unknown { .. } => Applied::Unchanged,
        }
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.parts.limit(limits);
        state.text_bytes = limits.text_bytes;
        state.preview_bytes = limits.preview_bytes;
    }
}
