//! Owns what happens to bodies that are too large for the stream: they go to the blob store once, and the event keeps
//! head, tail, size and a ref that names the member they stood in.
//!
//! Text over the limit becomes `head … tail` in place, so a field that is text stays text. When the payload is still
//! over twice the limit, whole top-level members go, largest first, and what stays in their place is the first that
//! the event's type still reads: a text that says so, an empty array, an empty object, nothing. Bodies are put before
//! anything refers to them. The same input gives the same event and the same blobs.
//!
//! Next: [`plan`], what is taken out; [`stub`], what stays.

mod parts;
mod plan;
mod stub;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::blob::{BlobError, Blobs};
use crate::json::JsonText;
use crate::record::EventDraft;
use crate::refs::{Ref, RefKind, Refs, RefsError};

use plan::Plan;

/// The inline limit, in bytes of text, when nothing else is said.
pub(crate) const INLINE_LIMIT: usize = 8 * 1024;

/// The smallest limit that holds what stays behind.
const MIN_LIMIT: usize = 512;

/// A draft whose large bodies are in the blob store.
#[derive(Debug, Clone)]
pub(crate) struct Spilled {
    /// The draft as it may be stored.
    pub(crate) draft: EventDraft,
    /// How many bodies were taken out.
    pub(crate) bodies: usize,
}

/// Why a body cannot be taken out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SpillError {
    /// The blob store cannot take it.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The refs of the event cannot take one more.
    #[error("the refs cannot name what was taken out: {0}")]
    Refs(#[from] RefsError),
}

/// Takes bodies over `limit` bytes out of a draft. A draft without any comes back as it was.
///
/// # Errors
/// The blob store cannot take a body; nothing refers to those that it took.
pub(crate) fn spill(
    mut draft: EventDraft,
    blobs: &Blobs,
    limit: usize,
) -> Result<Spilled, SpillError> {
    let bodies = spill_all(std::slice::from_mut(&mut draft), blobs, limit)?;
    Ok(Spilled { draft, bodies })
}

/// [`spill`] for a batch, where it lies; gives how many bodies were taken out. All go to the blob store together,
/// which takes hardly longer than one.
///
/// # Errors
/// As [`spill`]. All drafts are then as they were.
pub(crate) fn spill_all(
    drafts: &mut [EventDraft],
    blobs: &Blobs,
    limit: usize,
) -> Result<usize, SpillError> {
    let limit = limit.max(MIN_LIMIT);
    if drafts.iter().all(|draft| fits(draft, limit)) {
        return Ok(0);
    }
    let mut bodies = 0;
    for (draft, changed) in changed(drafts, blobs, limit)? {
        bodies += changed.bodies;
        if let Some(draft) = drafts.get_mut(draft) {
            *draft = changed.draft;
        }
    }
    Ok(bodies)
}

/// True when nothing in a draft can be over the limit: decoded text is never longer than its escaped form.
fn fits(draft: &EventDraft, limit: usize) -> bool {
    let fits = |text: &JsonText| text.as_str().len() <= limit;
    fits(&draft.payload) && draft.extra.as_ref().is_none_or(fits)
}

/// Puts the bodies and gives each draft that has some, by its place, without them.
fn changed(
    drafts: &[EventDraft],
    blobs: &Blobs,
    limit: usize,
) -> Result<Vec<(usize, Spilled)>, SpillError> {
    let planned: Vec<_> = drafts.iter().map(|draft| Planned::of(draft, limit)).collect();
    let mut seen = HashSet::new();
    let mut named = Vec::new();
    for body in planned.iter().flatten().flat_map(Planned::bodies) {
        if seen.insert(body.id) {
            named.push((body.id, body.text.as_bytes()));
        }
    }
    blobs.put_named(&named)?;
    let each = drafts.iter().zip(&planned).enumerate();
    each.filter_map(|(at, (draft, planned))| {
        planned.as_ref().map(|p| p.spilled(draft).map(|spilled| (at, spilled)))
    })
    .collect()
}

/// What is taken out of one draft, and what its texts are then.
struct Planned<'a> {
    payload: Plan<'a>,
    beside: Option<Plan<'a>>,
}

impl<'a> Planned<'a> {
    /// Nothing when nothing has to go.
    fn of(draft: &'a EventDraft, limit: usize) -> Option<Self> {
        if fits(draft, limit) {
            return None;
        }
        let planned = Self {
            payload: Plan::of_payload(&draft.event_type, &draft.payload, limit),
            beside: draft.extra.as_ref().map(|text| Plan::of_members_beside(text, limit)),
        };
        let any = planned.bodies().next().is_some();
        any.then_some(planned)
    }

    fn bodies(&self) -> impl Iterator<Item = &Body<'a>> {
        let beside = self.beside.iter().flat_map(|plan| &plan.bodies);
        self.payload.bodies.iter().chain(beside)
    }

    fn spilled(&self, draft: &EventDraft) -> Result<Spilled, SpillError> {
        let owner = owner(draft.event_type.name());
        let refs = self.bodies().map(|body| Ref { owner: owner.clone(), ..body.reference() });
        let (text, beside) = (self.payload.text.clone(), self.beside.as_ref());
        let extra = beside.and_then(|plan| plan.text.clone());
        Ok(Spilled {
            draft: EventDraft {
                refs: with_all(&draft.refs, refs)?,
                payload: text.unwrap_or_else(|| draft.payload.clone()),
                extra: extra.or_else(|| draft.extra.clone()),
                ..draft.clone()
            },
            bodies: self.bodies().count(),
        })
    }
}

/// Who the bodies belong to, from the first word of the type.
fn owner(event_type: &str) -> Option<String> {
    let owner = match event_type.split('.').next()? {
        "tool" | "output" => "tool",
        "model" | "messages" | "reasoning" => "model",
        "artifact" => "artifact",
        "evidence" => "evidence",
        _ => return None,
    };
    Some(owner.to_owned())
}

fn with_all(refs: &Refs, more: impl Iterator<Item = Ref>) -> Result<Refs, RefsError> {
    let shape = |e: serde_json::Error| RefsError::Shape { detail: e.to_string() };
    let mut list: Vec<serde_json::Value> = match refs.as_json() {
        Some(text) => text.read().map_err(shape)?,
        None => Vec::new(),
    };
    for one in more {
        list.push(serde_json::to_value(one).map_err(shape)?);
    }
    let text =
        JsonText::from_value(&list).map_err(|e| RefsError::Shape { detail: e.to_string() })?;
    Refs::parse(&text)
}

/// What a plan takes out.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    /// Its name in the blob store.
    pub(crate) id: crate::blob::BlobId,
    /// Its bytes.
    pub(crate) text: std::borrow::Cow<'a, str>,
    /// Where it stood (RFC 6901), in the payload or beside it.
    pub(crate) pointer: String,
    /// True when it stood in the payload.
    pub(crate) in_payload: bool,
    /// True when it is JSON and was no string.
    pub(crate) json: bool,
}

impl Body<'_> {
    fn reference(&self) -> Ref {
        let media_type = match (self.json, stub::data_url_type(&self.text)) {
            (true, _) => "application/json",
            (false, Some(media_type)) => media_type,
            (false, None) => "text/plain; charset=utf-8",
        };
        let place = match (self.in_payload, self.pointer.as_str()) {
            (true, "") => "the payload".to_owned(),
            (true, pointer) => format!("payload member {pointer}"),
            (false, pointer) => format!("member {pointer} beside the payload"),
        };
        Ref {
            summary: Some(format!("{place}, {} bytes", self.text.len())),
            media_type: Some(media_type.to_owned()),
            size_bytes: Some(self.text.len() as u64),
            pointer: self.in_payload.then(|| self.pointer.clone()),
            ..Ref::new(RefKind::Output, self.id.to_string())
        }
    }
}
