//! Owns what a session is about in a line: its first input and where it comes from, read from its first events only.

use event_spine::event::family::{Event, LifecycleEvent, MessageEvent};
use event_spine::event::value::Role;
use event_spine::{LogReader, ReadMode, RecordedAt, SessionId};

use crate::failure::Failure;

/// So many events are looked at for the first input.
const LOOK_AT: u64 = 200;

/// What a session is about.
#[derive(Debug, Default)]
pub(crate) struct Brief {
    /// Head of the first input.
    pub(crate) title: Option<String>,
    /// The foreign system that it was recorded from, else the runtime that produced it.
    pub(crate) source: Option<String>,
    /// When it began, by the producer's clock.
    pub(crate) started: Option<RecordedAt>,
}

/// Reads it.
pub(crate) fn of(reader: &LogReader, session: &SessionId) -> Result<Brief, Failure> {
    let mut brief = Brief::default();
    let mut events = reader.read(session, 1..=LOOK_AT, ReadMode::Tolerant)?;
    while let Some(event) = events.next_event()? {
        if brief.source.is_none() {
            let origin = event.draft.refs.to_vec().into_iter().find_map(|r| r.origin);
            brief.source =
                Some(origin.map_or_else(|| event.draft.runtime_id.to_string(), |o| o.system));
        }
        brief.started = brief.started.or_else(|| event.draft.timestamp.micros().map(RecordedAt));
        brief.title = match event.event() {
            Event::Lifecycle(LifecycleEvent::TurnSubmitted(input))
                if matches!(input.role, None | Some(Role::User)) =>
            {
                let parts = input.parts.into_iter().filter_map(|part| part.text);
                input.text.or_else(|| parts.reduce(|all, part| format!("{all} {part}")))
            }
            // Some sources tell the input in a list of all messages only.
            Event::Message(MessageEvent::MessagesSnapshot(list)) => {
                list.question().and_then(|(_, message)| message.text.clone())
            }
            _ => None, // not an input
        };
        if brief.title.is_some() {
            break;
        }
    }
    Ok(brief)
}
