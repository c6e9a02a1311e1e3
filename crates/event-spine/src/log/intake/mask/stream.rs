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

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::encoded::{base64, dashed, dotted};
use super::payload::{Given, rewrite};
use super::rules::TOKENS;
use super::{Edge, MaskCounts, Masker, named, shapes};
use crate::event::EventType;
use crate::id::SessionId;
use crate::json::JsonText;
use crate::json::strings::{Kind, Tokens, decode, raw};
use crate::record::EventDraft;

/// How much of a stream's end is kept. Names, separators, placeholders and stubs are shorter.
const TAIL: usize = 256;

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

/// The member of a draft that holds a piece of a streamed text. Types that nobody knows may have one too.
fn piece_member(event_type: &EventType) -> Option<&'static str> {
    match event_type {
        EventType::Unknown(_) => Some("delta"),
        EventType::Known(row) => PIECES
            .iter()
            .find(|(name, _)| *name == row.name)
            .map(|(_, member)| *member),
    }
}

/// The stream that a draft is a piece of.
pub(super) fn streamed(session: &SessionId, draft: &EventDraft) -> Option<StreamKey> {
    let member = piece_member(&draft.event_type)?;
    let json = draft.payload.as_str();
    member_text(json, member)?;
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    draft.event_type.name().hash(&mut hasher);
    let scope = &draft.scope;
    (
        &scope.thread_id,
        &scope.turn_id,
        &scope.step_id,
        &scope.subagent_id,
    )
        .hash(&mut hasher);
    (&scope.message_id, &scope.part_id, &scope.tool_call_id).hash(&mut hasher);
    if draft.event_type.name() == "tool.progress" {
        member_text(json, "stream").hash(&mut hasher); // standard output and standard error are two
    }
    Some(StreamKey(hasher.finish()))
}

/// The text of a top-level member.
fn member_text<'a>(json: &'a str, member: &str) -> Option<std::borrow::Cow<'a, str>> {
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
    /// The end of a stream; it is given back by [`Streams::set`].
    pub(super) fn tail(&mut self, stream: StreamKey) -> String {
        self.tails
            .remove(&stream)
            .map(|(tail, _)| tail)
            .unwrap_or_default()
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

/// The end of `before` and `piece` together.
fn end_of(mut before: String, piece: &str) -> String {
    if piece.len() >= TAIL {
        before.clear();
    }
    let piece = piece.get(piece.ceil_char_boundary(piece.len().saturating_sub(TAIL))..);
    before.push_str(piece.unwrap_or_default());
    let cut = before.ceil_char_boundary(before.len().saturating_sub(TAIL));
    before.drain(..cut);
    before
}

impl Masker {
    /// Masks the payload of a piece that comes behind `before`. Gives the payload, if it changes, and the new end.
    pub(super) fn streamed_payload(
        &self,
        draft: &EventDraft,
        before: &str,
        counts: &mut MaskCounts,
    ) -> (Option<JsonText>, Option<String>) {
        let json = draft.payload.as_str();
        let piece = piece_member(&draft.event_type)
            .and_then(|member| Some((member, member_text(json, member)?)));
        let Some((member, piece)) = piece else {
            return (self.json(&draft.payload, counts), None);
        };
        let masked = self.guarded(counts, |counts| self.piece(before, &piece, counts));
        let end = end_of(before.to_owned(), masked.as_deref().unwrap_or(&piece));
        if masked.is_none() && !self.suspects(json) {
            return (None, Some(end));
        }
        let given = Given {
            member,
            value: masked.as_deref(),
        };
        let payload = rewrite(self, json, Some(given), counts);
        (
            payload.map(|text| JsonText::trusted(text.into())),
            Some(end),
        )
    }

    /// Masks a piece behind the end of what is stored before it; nothing when it stays as it is.
    fn piece(&self, before: &str, piece: &str, counts: &mut MaskCounts) -> Option<String> {
        if let Some(open) = open_placeholder(before) {
            let swallowed = open.swallows(piece);
            let escape = named::lost_escape(open.lead, piece);
            if swallowed > 0 || escape {
                if swallowed > 0 {
                    counts.add(open.rule_name());
                }
                let rest = piece.get(swallowed..).unwrap_or_default();
                let rest = self
                    .text(rest, Edge::Cut, counts)
                    .unwrap_or_else(|| rest.to_owned());
                return Some(if escape { format!("\\{rest}") } else { rest });
            }
        }
        let both = format!("{before}{piece}");
        let border = before.len();
        let mut found = Vec::new();
        self.rules.find(&both, Edge::Cut, &mut found);
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
        mut same: impl FnMut(&EventDraft) -> bool,
    ) -> bool {
        if same(&self.mask_after(draft.clone(), None).0.draft) {
            return true;
        }
        let Some(stream) = streamed(session, draft) else {
            return false;
        };
        let alone = self.mask_after(draft.clone(), Some("")).0;
        if same(&alone.draft) {
            return true; // the stream was new, or had been forgotten
        }
        let mut pieces = Vec::new();
        let mut len = 0;
        for event in earlier() {
            if streamed(session, &event) != Some(stream) {
                continue;
            }
            let member = piece_member(&event.event_type).unwrap_or_default();
            let text = member_text(event.payload.as_str(), member).unwrap_or_default();
            len += text.len();
            pieces.push(text.into_owned());
            if len >= TAIL {
                break;
            }
        }
        let before = pieces
            .iter()
            .rev()
            .fold(String::new(), |end, piece| end_of(end, piece));
        same(&self.mask_after(draft.clone(), Some(&before)).0.draft)
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
    let inside = before.strip_suffix("+]")?;
    let (lead, inside) = inside.rsplit_once("[masked:")?;
    let (rule, hash) = inside.rsplit_once(':')?;
    (hash.len() == 8 && !rule.is_empty()).then_some(Open { rule, lead })
}

impl Open<'_> {
    /// The rule as a name that lives long enough to be counted under.
    fn rule_name(&self) -> &'static str {
        let known = [
            "password",
            "credential",
            "jwt",
            "private-key",
            "telegram-token",
            "aws-secret-key",
        ];
        let tokens = TOKENS.iter().map(|rule| rule.name);
        known
            .into_iter()
            .chain(tokens)
            .find(|name| *name == self.rule)
            .unwrap_or("credential")
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
