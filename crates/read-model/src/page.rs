//! Owns older pages: what a window no longer holds is folded again from the log, one stretch at a time.

use event_spine::event::{Entity, EventType, Pairing};
use event_spine::{Entry, LogReader, ReadError, ReadMode, SessionId};

use crate::limits::Limits;
use crate::view::SessionView;

/// The longest stretch that is folded for a page, in events.
const LONGEST: u64 = 16_384;

/// A stretch of a session's history, folded by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// First event of the stretch.
    pub from: u64,
    /// Last event of the stretch. It lies behind the event that was asked for when that one is inside a turn: the
    /// turn is folded to its end, so that what began in it shows how it ended.
    pub to: u64,
    /// What to ask for next: the stretch before this one; nothing at the beginning of the session.
    pub before: Option<u64>,
    /// The lists as the stretch alone gives them; totals are those of the stretch. A row whose first event is at or
    /// behind the event that was asked for is in the caller's hands already.
    pub view: SessionView,
}

/// Folds the stretch of a session that lies before an event, usually the `before` of a window, and holds at least
/// `events` events if there are that many. It begins where a turn begins and ends where one ends, within reach.
///
/// # Errors
/// There is no such session, or a file cannot be read.
///
/// ```
/// # use event_spine::*;
/// # fn older(reader: &LogReader, session: &SessionId, view: &read_model::SessionView) -> Result<(), ReadError> {
/// if let Some(before) = view.transcript.parts.before() {
///     let page = read_model::page(reader, session, before, 500)?;
///     for part in page.view.transcript.parts.iter() {
///         println!("{}", part.body.kind());
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub fn page(
    reader: &LogReader,
    session: &SessionId,
    before: u64,
    events: u64,
) -> Result<Page, ReadError> {
    let last = before.saturating_sub(1);
    let from = begin(reader, session, last, events.clamp(1, LONGEST))?;
    let limits = Limits {
        items: 1_000_000,
        open_items: 1_000_000,
        list_bytes: 16 * 1024 * 1024,
        ..Limits::default()
    };
    let mut view = SessionView::with_limits(session.clone(), limits);
    view.at.sequence = from - 1;
    if let Some(chain) = reader.chain_at(session, from - 1)? {
        view.at.chain = chain;
    }
    for entry in reader.read(session, from..=last + LONGEST, ReadMode::Tolerant)? {
        // Turns that go on are followed to their end.
        if view.at.sequence >= last && view.status.active_turns.is_empty() {
            break;
        }
        match entry? {
            Entry::Event(event) => view.apply(&event),
            Entry::Gap(gap) => view.pass_over(&gap),
        };
    }
    Ok(Page { from, to: view.at.sequence, before: (from > 1).then_some(from), view })
}

/// Where the stretch begins: at the newest beginning of a turn that leaves enough events.
fn begin(reader: &LogReader, session: &SessionId, to: u64, events: u64) -> Result<u64, ReadError> {
    let latest = (to + 1).saturating_sub(events).max(1);
    let earliest = (to + 1).saturating_sub(LONGEST).max(1);
    let mut upper = latest;
    while upper > earliest {
        let lower = upper.saturating_sub(255).max(earliest);
        let (mut found, mut turn) = (None, None);
        for entry in reader.read(session, lower..=upper, ReadMode::Tolerant)? {
            // The first event of a turn is meant: its start may follow its input.
            if let Entry::Event(event) = entry?
                && begins_turn(event.event_type())
                && turn != Some(event.scope().turn_id.clone())
            {
                found = Some(event.sequence);
                turn = Some(event.scope().turn_id.clone());
            }
        }
        match found {
            Some(sequence) => return Ok(sequence),
            None => upper = lower - 1,
        }
    }
    Ok(if earliest == 1 { 1 } else { latest })
}

/// True for what a turn begins with: its input, or its start where the source has no input.
fn begins_turn(event_type: &EventType) -> bool {
    event_type.name() == "turn.submitted"
        || event_type.descriptor().is_some_and(|row| row.pairing == Pairing::Opens(Entity::Turn))
}
