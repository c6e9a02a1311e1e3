//! Owns secrets that two or more pieces of a streamed text share.
//!
//! Each piece is stored as it comes, so nothing can be held back. A piece is looked at behind the end of what is stored
//! of its stream. What may be the beginning of a secret at the end of a piece counts as one as soon as it has more than
//! a stub: a quarter of the shortest secret of its kind and at most 8 characters (12, while they are all lower case
//! letters, since that is a word), 3 of a password without quotes, none of one in quotes. So the stored pieces
//! together never hold more of a secret than its prefix and a stub.
//!
//! What decides is the stored text alone: a piece that ends within a secret ends with an open placeholder, and what
//! follows of the secret is swallowed. So the same piece after the same stored text gives the same result.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashbrown::{DefaultHashBuilder, HashMap};

use super::anchors;
use super::encoded::{base64, dashed, dotted};
use super::payload::{Given, Opaque, rewrite};
use super::rules::TOKENS;
use super::{Edge, MaskCounts, Masker, named, shapes};
use crate::event::EventType;
use crate::id::SessionId;
use crate::json::JsonText;
use crate::json::strings::{Kind, Tokens, decode, raw};
use crate::record::EventDraft;
use crate::scope::Scope;

/// How much of a stream's end is kept. Names, separators, placeholders and stubs are shorter.
const TAIL: usize = 256;

/// What an open placeholder ends with.
const OPEN: &str = "+]";

/// How many streams are kept. One that is forgotten is looked at anew from its next piece on.
const STREAMS: usize = 4096;

/// A stream of pieces: what the pieces have in common, hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StreamKey(u64);

/// Types whose payload is a piece of a longer text, and the member that holds it.
const PIECES: &[(&str, &str)] = &[
    ("model.delta", "delta"),
    ("reasoning.delta", "delta"),
    ("tool.args", "delta"),
    ("tool.progress", "preview"),
    ("plan.delta", "text"),
];

/// The member that holds a piece of a streamed text. Types that nobody knows may have one too.
pub(super) fn piece_member(event_type: &EventType) -> Option<&'static str> {
    match event_type {
        EventType::Unknown(_) => Some("delta"),
        EventType::Known(row) => {
            PIECES.iter().find(|(name, _)| *name == row.name).map(|(_, member)| *member)
        }
    }
}

/// A piece of a streamed text, in its payload.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    event_type: &'a str,
    member: &'static str,
    text: Cow<'a, str>,
    /// The channel it belongs to, for types that have several.
    channel: Option<Cow<'a, str>>,
}

impl<'a> Piece<'a> {
    /// The piece in a payload, when it is one.
    pub(super) fn of(event_type: &'a EventType, json: &'a str) -> Option<Self> {
        let member = piece_member(event_type)?;
        let channel = (event_type.name() == "tool.progress").then(|| member_text(json, "stream"));
        Some(Self {
            event_type: event_type.name(),
            member,
            text: member_text(json, member)?,
            channel: channel.flatten(),
        })
    }

    /// The stream that it is a piece of.
    pub(super) fn stream(
        &self,
        hashes: &DefaultHashBuilder,
        session: &SessionId,
        scope: &Scope,
    ) -> StreamKey {
        let mut hasher = hashes.build_hasher();
        (session, self.event_type, &self.channel).hash(&mut hasher);
        (&scope.thread_id, &scope.turn_id, &scope.step_id).hash(&mut hasher);
        (&scope.message_id, &scope.part_id, &scope.tool_call_id).hash(&mut hasher);
        scope.subagent_id.hash(&mut hasher);
        StreamKey(hasher.finish())
    }
}

/// The text of a top-level member.
fn member_text<'a>(json: &'a str, member: &str) -> Option<Cow<'a, str>> {
    let mut depth = 0_usize;
    let mut here = false;
    for token in Tokens::new(json) {
        match token.kind {
            Kind::ObjectStart | Kind::ArrayStart => depth += 1,
            Kind::ObjectEnd | Kind::ArrayEnd => depth = depth.saturating_sub(1),
            Kind::Name => here = depth == 1 && raw(json, &token) == member,
            Kind::Text if here && depth == 1 => return decode(json, &token),
            Kind::Text | Kind::Bare => {}
        }
    }
    None
}

/// The ends of the streams, as stored.
#[derive(Default)]
pub(super) struct Streams {
    tails: HashMap<StreamKey, (String, u64)>,
    uses: u64,
}

impl Streams {
    /// The end of a stream, until [`Streams::set`] gives it back.
    pub(super) fn take(&mut self, stream: StreamKey) -> String {
        let kept = self.tails.get_mut(&stream);
        kept.map(|(tail, _)| std::mem::take(tail)).unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.tails.len()
    }

    pub(super) fn set(&mut self, stream: StreamKey, tail: String) {
        if self.tails.len() >= STREAMS {
            let mut uses: Vec<u64> = self.tails.values().map(|(_, used)| *used).collect();
            uses.sort_unstable();
            let oldest = uses.get(STREAMS / 4).copied().unwrap_or(u64::MAX);
            self.tails.retain(|_, (_, used)| *used >= oldest);
        }
        self.uses += 1;
        self.tails.insert(stream, (tail, self.uses));
    }
}

/// Cuts a text to at most its last `most` bytes.
fn keep_last(text: &mut String, most: usize) {
    let cut = text.ceil_char_boundary(text.len().saturating_sub(most));
    text.drain(..cut);
}

impl Masker {
    /// Masks the payload of a piece that comes behind `before`. Gives the payload, if it changes, and the new end.
    pub(super) fn streamed_payload(
        &self,
        json: &str,
        piece: &Piece<'_>,
        before: String,
        counts: &mut MaskCounts,
    ) -> (Option<JsonText>, String) {
        let text = piece.text.as_ref();
        let border = before.len();
        let mut both = before;
        both.push_str(text);
        let mut masked = None;
        if self.matters(&both, border) {
            masked = self.guarded(counts, |counts| self.piece(&both, border, counts));
            if let Some(masked) = &masked {
                both.truncate(border);
                both.push_str(masked);
            }
            keep_last(&mut both, TAIL);
        } else {
            // A few characters, for an anchor that is cut off.
            keep_last(&mut both, anchors::MARGIN);
        }
        if masked.is_none() && !self.suspects(json) {
            return (None, both);
        }
        let given = Given { member: piece.member, value: masked.as_deref() };
        let payload = rewrite(self, json, Some(given), Opaque::Goes, counts);
        (payload.map(|text| JsonText::trusted(text.into())), both)
    }

    /// False when neither the text itself nor what it may begin has to be looked at.
    fn matters(&self, both: &str, border: usize) -> bool {
        let open = both.get(..border).is_some_and(|before| before.ends_with(OPEN));
        let rules = AssertUnwindSafe(|| self.rules.matters(both));
        open || catch_unwind(rules).unwrap_or(true)
    }

    /// Masks the piece that begins at `border`, behind the end of what is stored before it; nothing when it stays as it is.
    fn piece(&self, both: &str, border: usize, counts: &mut MaskCounts) -> Option<String> {
        let (before, piece) = both.split_at_checked(border)?;
        if let Some(open) = open_placeholder(before) {
            let swallowed = open.swallows(piece);
            let escape = named::lost_escape(open.lead, piece);
            if swallowed > 0 || escape {
                if swallowed > 0 {
                    counts.add(open.rule_name());
                }
                let rest = piece.get(swallowed..).unwrap_or_default();
                let rest = self.text(rest, Edge::Cut, counts).unwrap_or_else(|| rest.to_owned());
                return Some(if escape { format!("\\{rest}") } else { rest });
            }
        }
        let mut found = Vec::new();
        self.rules.find(both, Edge::Cut, &mut found);
        found.retain(|one| one.end > border);
        if found.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(piece.len() + 32);
        let mut from = border;
        for one in &found {
            let secret = both.get(one.start..one.end).unwrap_or_default();
            out.push_str(both.get(from..one.start).unwrap_or_default());
            out.push_str(&self.placeholder(one.rule, secret, one.open));
            counts.add(one.rule);
            from = one.end;
        }
        out.push_str(both.get(from..).unwrap_or_default());
        Some(out)
    }

    /// True when masking `draft` gives `stored`: by itself, or behind what `earlier` says was stored of its stream.
    /// `earlier` gives drafts of the session from the newest back; it is asked only when it matters.
    pub(crate) fn gives<I: Iterator<Item = EventDraft>>(
        &self,
        session: &SessionId,
        draft: &EventDraft,
        earlier: impl FnOnce() -> I,
        mut same: impl FnMut(EventDraft) -> bool,
    ) -> bool {
        let mut masked = |after: Option<(&Piece<'_>, String)>| {
            let mut draft = draft.clone();
            self.mask_after(&mut draft, after);
            same(draft)
        };
        if masked(None) {
            return true;
        }
        let Some(piece) = Piece::of(&draft.event_type, draft.payload.as_str()) else {
            return false;
        };
        if masked(Some((&piece, String::new()))) {
            return true; // the stream was new, or had been forgotten
        }
        let stream = piece.stream(&self.hashes, session, &draft.scope);
        let mut pieces = Vec::new();
        let mut len = 0;
        for event in earlier() {
            let piece = Piece::of(&event.event_type, event.payload.as_str());
            let Some(piece) =
                piece.filter(|p| p.stream(&self.hashes, session, &event.scope) == stream)
            else {
                continue;
            };
            len += piece.text.len();
            pieces.push(piece.text.into_owned());
            if len >= TAIL {
                break;
            }
        }
        pieces.reverse();
        let mut before = pieces.concat();
        keep_last(&mut before, TAIL);
        masked(Some((&piece, before)))
    }
}

/// A placeholder whose secret goes on behind it.
#[derive(Debug, Clone, Copy)]
struct Open<'a> {
    rule: &'a str,
    /// What stands before the placeholder.
    lead: &'a str,
}

/// The open placeholder that `before` ends with.
fn open_placeholder(before: &str) -> Option<Open<'_>> {
    let inside = before.strip_suffix(OPEN)?;
    let (lead, inside) = inside.rsplit_once("[masked:")?;
    let (rule, hash) = inside.rsplit_once(':')?;
    (hash.len() == 8 && !rule.is_empty()).then_some(Open { rule, lead })
}

impl Open<'_> {
    /// The rule as a name that lives long enough to be counted under.
    fn rule_name(&self) -> &'static str {
        let known =
            ["password", "credential", "jwt", "private-key", "telegram-token", "aws-secret-key"];
        let tokens = TOKENS.iter().map(|rule| rule.name);
        known.into_iter().chain(tokens).find(|name| *name == self.rule).unwrap_or("credential")
    }

    /// How many bytes of `piece` still belong to the secret.
    fn swallows(&self, piece: &str) -> usize {
        let of = |class: &dyn Fn(u8) -> bool| piece.bytes().take_while(|b| class(*b)).count();
        match self.rule {
            "private-key" => shapes::private_key_run(piece),
            "jwt" => of(&dotted),
            "telegram-token" => of(&dashed),
            "aws-secret-key" => of(&base64),
            "password" | "credential" => named::rest_len(self.lead, piece),
            rule => {
                let rows = || TOKENS.iter().filter(|row| row.name == rule);
                match rows().next() {
                    Some(_) => of(&|b| rows().any(|row| (row.class)(b))),
                    None => named::rest_len(self.lead, piece),
                }
            }
        }
    }
}
