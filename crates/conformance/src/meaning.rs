//! Owns what events mean to the state and to the rules alike.

use event_spine::Event;
use event_spine::event::family::context::StreamInterrupted;
use event_spine::event::family::policy::ActionResolved;
use event_spine::event::family::tool::ToolProgress;
use event_spine::event::family::{LifecycleEvent, MessageEvent, ToolEvent};
use event_spine::event::value::ToolStatus;
use event_spine::event::{Entity, Family, Pairing};

use crate::subject::Subject;

/// True for the end of a turn.
pub(crate) fn ends_turn(subject: &Subject) -> bool {
    subject.pairing() == Pairing::Closes(Entity::Turn)
}

/// True for what says how a turn goes.
pub(crate) fn is_lifecycle(subject: &Subject) -> bool {
    let row = subject.event.draft.event_type.descriptor();
    row.is_some_and(|row| row.family == Family::Lifecycle)
}

/// True for an event that says its source broke off.
pub(crate) fn interrupts(subject: &Subject) -> bool {
    subject.is::<StreamInterrupted>()
}

/// True for what a turn's work consists of: model, reasoning, plan, tools, actions, policy.
pub(crate) fn is_execution(event: &Event) -> bool {
    match event {
        Event::Message(event) => match event {
            MessageEvent::ModelRequested(_)
            | MessageEvent::ModelDelta(_)
            | MessageEvent::ModelCompleted(_)
            | MessageEvent::ModelFailed(_) => true,
            MessageEvent::MessagesSnapshot(_) => false,
        },
        Event::Tool(event) => match event {
            ToolEvent::ToolStarted(_)
            | ToolEvent::ToolArgs(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::ToolResult(_)
            | ToolEvent::ToolFailed(_) => true,
            // Housekeeping of outputs may come at any time.
            ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_) => false,
        },
        Event::Lifecycle(event) => match event {
            LifecycleEvent::TurnStarted(_) => true,
            LifecycleEvent::TurnSubmitted(_)
            | LifecycleEvent::TurnCompleted(_)
            | LifecycleEvent::TurnFailed(_)
            | LifecycleEvent::TurnCanceled(_)
            | LifecycleEvent::RunStatus(_)
            | LifecycleEvent::QueueChanged(_) => false,
        },
        Event::Reasoning(_) | Event::Policy(_) => true,
        Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Task(_)
        | Event::Context(_)
        | Event::Diagnostics(_)
        | Event::Unknown { .. } => false,
    }
}

/// Bytes of tool output that a progress event carries itself.
pub(crate) fn inline_bytes(progress: &ToolProgress) -> u64 {
    progress.preview.as_ref().map_or(0, |text| text.len() as u64)
}

/// True when the answer says no.
pub(crate) fn refuses(resolved: &ActionResolved) -> bool {
    let no = |word: &str| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "reject"
                | "rejected"
                | "deny"
                | "denied"
                | "decline"
                | "declined"
                | "abort"
                | "cancel"
                | "no"
        )
    };
    no(&resolved.decision) || resolved.resolved_as.as_deref().is_some_and(no)
}

/// True for an end that is no success. What nobody knows is none either way.
pub(crate) fn is_failure(status: ToolStatus) -> bool {
    match status {
        ToolStatus::Failed
        | ToolStatus::Denied
        | ToolStatus::Rejected
        | ToolStatus::Cancelled
        | ToolStatus::TimedOut
        | ToolStatus::Interrupted => true,
        ToolStatus::Succeeded | ToolStatus::PartialSucceeded | ToolStatus::Unknown => false,
    }
}

/// True when a result claims success. A result without a status does: failures are `tool.failed`.
pub(crate) fn claims_success(status: Option<ToolStatus>) -> bool {
    status.is_none_or(|status| !is_failure(status) && status != ToolStatus::Unknown)
}
