//! Owns small readings of events that several projections need.

use std::borrow::Cow;

use event_spine::event::family::{Event, LifecycleEvent};
use event_spine::{JsonText, RecordedEvent, Ref, TurnId};

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    Completed,
    Failed,
    Canceled,
}

/// The end of a turn, if the event is one.
pub(crate) fn turn_end<'a>(
    recorded: &'a RecordedEvent,
    event: &Event,
) -> Option<(TurnEnd, &'a TurnId)> {
    let Event::Lifecycle(event) = event else {
        return None;
    };
    let end = match event {
        LifecycleEvent::TurnCompleted(_) => TurnEnd::Completed,
        LifecycleEvent::TurnFailed(_) => TurnEnd::Failed,
        LifecycleEvent::TurnCanceled(_) => TurnEnd::Canceled,
        LifecycleEvent::TurnSubmitted(_)
        | LifecycleEvent::TurnStarted(_)
        | LifecycleEvent::RunStatus(_)
        | LifecycleEvent::QueueChanged(_) => return None,
    };
    Some((end, recorded.draft.scope.turn_id.as_ref()?))
}

/// A JSON value as text for people: a string as what it says, anything else as JSON.
pub(crate) fn readable(json: &JsonText) -> Cow<'_, str> {
    let text = json.as_str();
    if text.starts_with('"')
        && let Ok(string) = json.read::<String>()
    {
        return string.into();
    }
    text.into()
}

/// The refs to what was too large to stay in the payload; each names the member it stood in.
pub(crate) fn spilled_all(recorded: &RecordedEvent) -> Vec<Ref> {
    // Adapted events carry a ref to their input each; only spilled ones have a pointer.
    match recorded.draft.refs.as_json() {
        Some(refs) if refs.as_str().contains("\"pointer\"") => {
            let refs = recorded.draft.refs.to_vec();
            refs.into_iter().filter(|r| r.pointer.is_some()).collect()
        }
        _ => Vec::new(),
    }
}

/// The ref to the whole of a payload member that was too large to stay in the event.
pub(crate) fn spilled(recorded: &RecordedEvent, pointer: &str) -> Option<Ref> {
    spilled_all(recorded).into_iter().find(|r| r.pointer.as_deref() == Some(pointer))
}

/// The first ref to something at or below a payload member that was too large to stay in the event.
pub(crate) fn spilled_under(recorded: &RecordedEvent, pointer: &str) -> Option<Ref> {
    let below = |at: &str| {
        at.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    spilled_all(recorded).into_iter().find(|r| r.pointer.as_deref().is_some_and(below))
}

/// The first `max` bytes of a text's first line, for titles.
pub(crate) fn headline(text: &str, max: usize) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let end = (0..=max.min(line.len())).rev().find(|at| line.is_char_boundary(*at));
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Takes what is stated; what is not stated again stays.
pub(crate) fn keep_newer(kept: &mut Option<String>, stated: &Option<String>) {
    if stated.is_some() {
        kept.clone_from(stated);
    }
}
