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
    /// Last event of the stretch.
    pub to: u64,
    /// What to ask for next: the stretch before this one; nothing at the beginning of the session.
    pub before: Option<u64>,
    /// The lists as the stretch alone gives them. A turn that began before it lacks its beginning; totals are those of
    /// the stretch.
    pub view: SessionView,
}

/// Folds the stretch of a session that ends before an event, usually the `before` of a window, and holds at least
/// `events` events if there are that many. It begins where a turn begins, if one does within reach.
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
    let to = before.saturating_sub(1);
    let from = begin(reader, session, to, events.clamp(1, LONGEST))?;
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
    for entry in reader.read(session, from..=to, ReadMode::Tolerant)? {
        match entry? {
            Entry::Event(event) => view.apply(&event),
            Entry::Gap(gap) => view.pass_over(&gap),
        };
    }
    Ok(Page {
        from,
        to,
        before: (from > 1).then_some(from),
        view,
    })
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
        || event_type
            .descriptor()
            .is_some_and(|row| row.pairing == Pairing::Opens(Entity::Turn))
}
