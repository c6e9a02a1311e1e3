//! Owns masking: secrets are replaced before anything is written, at this one place.
//!
//! A secret becomes `[masked:<rule>:<8 hex>]`. The hex digits are a hash of the secret under a key of the log, so equal
//! secrets have equal placeholders, in every session and after every restart, and nobody without the key can try
//! passwords against them. A piece that ends where a streamed text was cut carries a `+` (`[masked:<rule>:<8 hex>+]`):
//! what follows of it in the next piece is swallowed.
//!
//! Strings are decoded, masked and encoded again; numbers, order, unknown members and every string without a secret stay
//! byte for byte. Opaque reasoning (`signature`, `encrypted_content` …) is never edited: its member goes whole. A value
//! that masking fails on is withheld, and the event kept.
//!
//! The rules stand here rather than in a crate: the crates with such rules either mask hashes and ids, or are months old.
//!
//! Next: [`rules`], known tokens; [`names`], what a name says of its value; [`anchors`] and [`scan`], finding both; [`payload`], the JSON;
//! [`stream`], secrets that two deltas share.

mod anchors;
mod encoded;
mod named;
mod names;
mod payload;
mod rules;
mod scan;
mod shapes;
mod stream;
mod values;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::id::SessionId;
use crate::json::JsonText;
use crate::record::EventDraft;
use crate::refs::Refs;

use payload::{Opaque, rewrite};
use stream::{Piece, Streams, piece_member};

pub use scan::BuiltinRules;

/// What stands for a value that masking failed on.
pub const WITHHELD: &str = "[withheld: masking failed]";

/// The rule under which withheld values are counted.
pub const WITHHELD_RULE: &str = "withheld";

/// The rule under which dropped opaque reasoning is counted.
pub const OPAQUE_RULE: &str = "opaque-reasoning";

/// A secret that was found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// First byte of it.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// The rule that found it.
    pub rule: &'static str,
    /// True when it reaches the end of a text that goes on elsewhere, so that more of it may follow.
    pub open: bool,
}

/// How a text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// With its last character.
    Whole,
    /// It was cut and may go on: what may be the beginning of a secret counts as one.
    Cut,
}

/// Finds secrets. Replaceable, so that a host can bring its own rules.
pub trait Rules: Send + Sync {
    /// False only when no string of this JSON text has anything to replace. Asked first, for every event.
    fn suspects(&self, json: &str) -> bool;
    /// False only when nothing in `text` is a secret or can make one of what follows it. Asked for streamed texts.
    fn matters(&self, text: &str) -> bool {
        !text.is_empty()
    }
    /// Appends the secrets in a text, in order, none overlapping another.
    fn find(&self, text: &str, edge: Edge, found: &mut Vec<Found>);
    /// The rule by which the whole value of a member is a secret, judged by the member's name.
    fn by_name(&self, name: &str, value: &str) -> Option<&'static str>;
}

/// How often each rule replaced something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskCounts(Vec<(&'static str, usize)>);

impl MaskCounts {
    fn add(&mut self, rule: &'static str) {
        match self.0.iter_mut().find(|(name, _)| *name == rule) {
            Some((_, count)) => *count += 1,
            None => self.0.push((rule, 1)),
        }
    }

    /// Rules and counts, in the order in which they first matched.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.0.iter().copied()
    }

    /// All places together.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.iter().map(|(_, count)| count).sum()
    }
}

/// A draft without its secrets.
#[derive(Debug, Clone)]
pub struct Masked {
    /// The draft as it may be stored.
    pub draft: EventDraft,
    /// What was replaced.
    pub counts: MaskCounts,
}

/// Replaces secrets. A cheap handle; clones share the state of the streams.
#[derive(Clone)]
pub struct Masker {
    key: [u8; 32],
    rules: Arc<dyn Rules>,
    streams: Arc<Mutex<Streams>>,
    hashes: hashbrown::DefaultHashBuilder,
}

impl Masker {
    /// A masker with the rules of this crate. The key belongs to the log and stays with it: whoever has it can test
    /// guesses against placeholders.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self::with_rules(key, Arc::new(BuiltinRules))
    }

    /// A masker with other rules.
    #[must_use]
    pub fn with_rules(key: [u8; 32], rules: Arc<dyn Rules>) -> Self {
        Self {
            key,
            rules,
            streams: Arc::default(),
            hashes: hashbrown::DefaultHashBuilder::default(),
        }
    }

    /// Masks a fact of `session`. Facts of one session come in the order in which they are stored, since pieces of
    /// streamed text are looked at together with what was stored before them.
    #[must_use]
    pub fn mask(&self, session: &SessionId, mut draft: EventDraft) -> Masked {
        let counts = self.mask_in_place(session, &mut draft);
        Masked { draft, counts }
    }

    /// [`Masker::mask`] where the draft lies: nearly all drafts have nothing to mask, and moving them costs more than
    /// looking at them.
    pub(crate) fn mask_in_place(&self, session: &SessionId, draft: &mut EventDraft) -> MaskCounts {
        if piece_member(&draft.event_type).is_none() {
            return self.mask_after(draft, None).0;
        }
        // Shared, so that the piece can be borrowed from them.
        let (event_type, payload) = (draft.event_type.clone(), draft.payload.clone());
        let Some(piece) = Piece::of(&event_type, payload.as_str()) else {
            return self.mask_after(draft, None).0;
        };
        let stream = piece.stream(&self.hashes, session, &draft.scope);
        let lock = || self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let before = lock().take(stream);
        let (counts, end) = self.mask_after(draft, Some((&piece, before)));
        lock().set(stream, end);
        counts
    }

    /// Masks a text that is no fact, such as raw input on its way to the blob store.
    #[must_use]
    pub fn mask_text<'t>(&self, text: &'t str) -> (Cow<'t, str>, MaskCounts) {
        let mut counts = MaskCounts::default();
        let masked = self.guarded(&mut counts, |counts| self.text(text, Edge::Whole, counts));
        (masked.map_or(Cow::Borrowed(text), Cow::Owned), counts)
    }

    /// Masks a line of raw input: its JSON, with strings decoded, where it holds JSON (also behind `data:`), else as a
    /// text. Opaque reasoning stays as it is: nobody but its provider can read it.
    #[must_use]
    pub fn mask_line<'t>(&self, line: &'t str) -> (Cow<'t, str>, MaskCounts) {
        let begin = line.find(['{', '[']).filter(|begin| {
            let before = line.get(..*begin).unwrap_or_default().trim();
            before.is_empty() || before == "data:"
        });
        let Some((before, json)) = begin.and_then(|begin| line.split_at_checked(begin)) else {
            return self.mask_text(line);
        };
        let end = json.trim_end().len();
        let (json, after) = json.split_at(end);
        // Repaired where a string could not be decoded, so that every string is looked at.
        let Ok((whole, _)) = JsonText::parse(json) else {
            return self.mask_text(line);
        };
        let mut counts = MaskCounts::default();
        if !self.suspects(whole.as_str()) {
            return (Cow::Borrowed(line), counts);
        }
        match rewrite(self, whole.as_str(), None, Opaque::Stays, &mut counts) {
            Some(masked) => (Cow::Owned(format!("{before}{masked}{after}")), counts),
            None => (Cow::Borrowed(line), counts),
        }
    }

    /// Masks a draft. With a piece of streamed text, `after` has the end of what is stored before it; gives the new end.
    fn mask_after(
        &self,
        draft: &mut EventDraft,
        after: Option<(&Piece<'_>, String)>,
    ) -> (MaskCounts, String) {
        let mut counts = MaskCounts::default();
        let (payload, end) = match after {
            None => (self.json(&draft.payload, &mut counts), String::new()),
            Some((piece, before)) => {
                let json = draft.payload.as_str();
                self.streamed_payload(json, piece, before, &mut counts)
            }
        };
        if let Some(payload) = payload {
            draft.payload = payload;
        }
        if let Some(extra) = draft.extra.as_ref().and_then(|extra| self.json(extra, &mut counts)) {
            draft.extra = Some(extra);
        }
        if let Some(refs) = draft.refs.as_json().and_then(|refs| self.json(refs, &mut counts)) {
            // Names may have changed, so the canonical order is made anew.
            draft.refs = Refs::parse(&refs).unwrap_or(Refs::NONE);
        }
        (counts, end)
    }

    /// Masks a JSON text; nothing when it stays as it is.
    fn json(&self, json: &JsonText, counts: &mut MaskCounts) -> Option<JsonText> {
        if !self.suspects(json.as_str()) {
            return None;
        }
        rewrite(self, json.as_str(), None, Opaque::Goes, counts)
            .map(|text| JsonText::trusted(text.into()))
    }

    /// A rule set that fails to answer suspects everything: each value is then tried, and withheld if it fails too.
    fn suspects(&self, json: &str) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.rules.suspects(json))).unwrap_or(true)
    }

    /// Runs a masking step; when it panics the value is withheld.
    fn guarded(
        &self,
        counts: &mut MaskCounts,
        step: impl FnOnce(&mut MaskCounts) -> Option<String>,
    ) -> Option<String> {
        let mut own = MaskCounts::default();
        match catch_unwind(AssertUnwindSafe(|| step(&mut own))) {
            Ok(masked) => {
                for (rule, count) in own.iter() {
                    (0..count).for_each(|_| counts.add(rule));
                }
                masked
            }
            Err(_) => {
                counts.add(WITHHELD_RULE);
                Some(WITHHELD.to_owned())
            }
        }
    }

    /// Masks one text; nothing when it stays as it is.
    fn text(&self, text: &str, edge: Edge, counts: &mut MaskCounts) -> Option<String> {
        let mut found = Vec::new();
        self.rules.find(text, edge, &mut found);
        if found.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for one in &found {
            let secret = text.get(one.start..one.end).unwrap_or_default();
            out.push_str(text.get(from..one.start).unwrap_or_default());
            out.push_str(&self.placeholder(one.rule, secret, one.open));
            counts.add(one.rule);
            from = one.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Some(out)
    }

    /// What stands for a secret.
    fn placeholder(&self, rule: &str, secret: &str, open: bool) -> String {
        let hash = blake3::keyed_hash(&self.key, secret.as_bytes());
        let hex = hash.to_hex();
        let more = if open { "+" } else { "" };
        format!("[masked:{rule}:{}{more}]", hex.get(..8).unwrap_or_default())
    }
}

impl std::fmt::Debug for Masker {
    /// Never shows the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Masker")
    }
}
