//! Owns steps one to three of the way in: validate, mask, spill.
//!
//! What masking did is a fact of its own: each event that lost something is followed by an `output.redacted` for each
//! rule that matched in it.

pub mod mask;
pub(crate) mod spill;
mod validate;

use crate::blob::Blobs;
use crate::error::AppendError;
use crate::event::EventPayload;
use crate::event::family::diagnostics::RuntimeWarning;
use crate::event::family::tool::OutputRedacted;
use crate::id::{EventId, SessionId};
use crate::log::read::LogReader;
use crate::record::EventDraft;
use crate::store::ReadMode;

pub use mask::Masker;
pub use validate::validate;

use mask::{MaskCounts, OPAQUE_RULE, WITHHELD_RULE};

/// Drafts as they will be stored.
pub(crate) struct Prepared {
    /// The drafts, with what the log adds between them.
    pub(crate) drafts: Vec<EventDraft>,
    /// For each draft given, its place in `drafts`.
    pub(crate) fresh_at: Vec<usize>,
    pub(crate) masked: usize,
    pub(crate) spilled: usize,
}

/// Masks and spills.
pub(crate) fn prepare(
    session: &SessionId,
    masker: &Masker,
    blobs: &Blobs,
    inline_limit: usize,
    mut drafts: Vec<EventDraft>,
) -> Result<Prepared, AppendError> {
    let counts: Vec<_> =
        drafts.iter_mut().map(|draft| masker.mask_in_place(session, draft)).collect();
    let spilled = spill::spill_all(&mut drafts, blobs, inline_limit).map_err(blob_error)?;
    let masked = counts.iter().map(MaskCounts::total).sum();
    if masked == 0 {
        // Nothing is said of any of them, so all stay where they are.
        let fresh_at = (0..drafts.len()).collect();
        return Ok(Prepared { drafts, fresh_at, masked, spilled });
    }
    let mut prepared = Prepared {
        drafts: Vec::with_capacity(drafts.len() + masked),
        fresh_at: Vec::with_capacity(drafts.len()),
        masked,
        spilled,
    };
    for (draft, counts) in drafts.into_iter().zip(counts) {
        prepared.fresh_at.push(prepared.drafts.len());
        let about = redactions(session, &draft, &counts);
        prepared.drafts.push(draft);
        prepared.drafts.extend(about);
    }
    Ok(prepared)
}

fn blob_error(error: spill::SpillError) -> AppendError {
    AppendError::Blob { detail: error.to_string() }
}

/// What is said of a draft that lost something.
fn redactions(session: &SessionId, draft: &EventDraft, counts: &MaskCounts) -> Vec<EventDraft> {
    let one = |(rule, count): (&'static str, usize)| {
        let method = match rule {
            WITHHELD_RULE => "withhold",
            OPAQUE_RULE => "remove",
            _ => "mask",
        };
        // `output.redacted` belongs to a thread; what stands outside of one says it as a warning.
        match draft.scope.thread_id {
            Some(_) => about(
                session,
                draft,
                rule,
                &OutputRedacted {
                    target: draft.event_id.to_string(),
                    method: method.to_owned(),
                    reason: rule.to_owned(),
                    count: count as u64,
                },
            ),
            None => about(
                session,
                draft,
                rule,
                &RuntimeWarning {
                    code: "output_redacted".to_owned(),
                    message: Some(format!(
                        "{method} by rule {rule} in {count} places of event {}",
                        draft.event_id
                    )),
                    detail: None,
                },
            ),
        }
    };
    counts.iter().filter_map(one).collect()
}

/// A fact about another one: in its place, at its time, under an id that follows from it.
fn about<P: EventPayload>(
    session: &SessionId,
    draft: &EventDraft,
    rule: &str,
    payload: &P,
) -> Option<EventDraft> {
    let id = [session.as_str(), draft.event_id.as_str(), rule];
    let (runtime, at) = (draft.runtime_id.clone(), draft.timestamp.clone());
    let scope = draft.scope.clone();
    EventDraft::new(runtime, EventId::derived(&id), at, scope, payload).ok()
}

/// True when what is stored at `sequence` states the fact that `draft` states: masked and spilled, it would be the
/// same. A piece of streamed text is masked behind what was stored before it, so that is looked at when it matters.
pub(crate) fn same_fact(
    reader: &LogReader,
    stored: (&SessionId, u64, &EventDraft),
    draft: &EventDraft,
    masker: &Masker,
    blobs: &Blobs,
    inline_limit: usize,
) -> Result<bool, AppendError> {
    let (session, sequence, stored) = stored;
    if stored.same_content(draft) {
        return Ok(true); // what is stored would be masked and spilled into itself
    }
    let mut failure = None;
    let same = masker.gives(
        session,
        draft,
        || earlier(reader, session, sequence),
        |masked| match spill::spill(masked, blobs, inline_limit) {
            Ok(spilled) => stored.same_content(&spilled.draft),
            Err(error) => {
                failure.get_or_insert(error);
                false
            }
        },
    );
    match failure {
        Some(error) if !same => Err(blob_error(error)),
        _ => Ok(same),
    }
}

/// The drafts before an event, from the newest back, as far as the pieces of one text can lie apart. What cannot be
/// read is passed over.
fn earlier<'r>(
    reader: &'r LogReader,
    session: &'r SessionId,
    sequence: u64,
) -> impl Iterator<Item = EventDraft> + 'r {
    const STEP: u64 = 256;
    let ends = (0..64).map(move |step| sequence.saturating_sub(step * STEP));
    ends.take_while(|end| *end > 1).flat_map(move |end| {
        let from = end.saturating_sub(STEP).max(1);
        let mut events = reader.read(session, from..end, ReadMode::Tolerant).ok();
        let mut drafts = Vec::new();
        while let Some(Ok(Some(event))) = events.as_mut().map(|events| events.next_event()) {
            drafts.push(event.draft);
        }
        drafts.into_iter().rev()
    })
}
