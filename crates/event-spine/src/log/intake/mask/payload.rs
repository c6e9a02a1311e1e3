//! Owns masking a JSON text: which strings are looked at and how, which members go whole.

use std::borrow::Cow;

use super::encoded::alnum;
use super::shapes::{is_authorization, without_scheme};
use super::{Edge, MaskCounts, Masker, OPAQUE_RULE};
use crate::json::strings::{Edits, Kind, Token, Tokens, decode, encode, raw};

/// A value that has been masked already, for the top-level member of this name.
pub(super) struct Given<'a> {
    pub(super) member: &'a str,
    /// Nothing when it stays as it is.
    pub(super) value: Option<&'a str>,
}

/// What becomes of reasoning in a form that only its provider reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opaque {
    /// Its member goes whole: a fact is for reading.
    Goes,
    /// It stays byte for byte: raw input is what its source sent.
    Stays,
}

/// Masks every string of `json`; nothing when all of it stays as it is.
pub(super) fn rewrite(
    masker: &Masker,
    json: &str,
    given: Option<Given<'_>>,
    opaque: Opaque,
    counts: &mut MaskCounts,
) -> Option<String> {
    let mut walk = Rewrite {
        masker,
        json,
        given,
        opaque,
        counts,
        edits: Edits::default(),
        levels: Vec::new(),
        has_redacted: memchr::memmem::find(json.as_bytes(), b"redacted_thinking").is_some(),
    };
    let mut tokens = Tokens::new(json);
    while let Some(token) = tokens.next() {
        walk.step(&token, &mut tokens);
    }
    (!walk.edits.is_empty()).then(|| walk.edits.apply(json))
}

/// One open array or object.
#[derive(Default)]
struct Level<'a> {
    /// Name of the member that the walk is in.
    name: Cow<'a, str>,
    /// What the member `name` or `key` of the object says: the name of its member `value`.
    label: Cow<'a, str>,
    /// True for a block of reasoning that is opaque as a whole.
    redacted: bool,
}

struct Rewrite<'a, 'm> {
    masker: &'m Masker,
    json: &'a str,
    given: Option<Given<'m>>,
    opaque: Opaque,
    counts: &'m mut MaskCounts,
    edits: Edits,
    levels: Vec<Level<'a>>,
    has_redacted: bool,
}

impl<'a> Rewrite<'a, '_> {
    fn step(&mut self, token: &Token, tokens: &mut Tokens<'a>) {
        match token.kind {
            Kind::ObjectStart => self.levels.push(Level {
                redacted: self.has_redacted && is_redacted(self.json, tokens.clone()),
                ..Level::default()
            }),
            Kind::ArrayStart => self.levels.push(Level::default()),
            Kind::ObjectEnd | Kind::ArrayEnd => {
                self.levels.pop();
            }
            Kind::Name => self.name(token, tokens),
            Kind::Text => self.value(token),
            Kind::Bare => {}
        }
    }

    fn name(&mut self, token: &Token, tokens: &mut Tokens<'a>) {
        let name = decode(self.json, token).unwrap_or_default();
        let redacted = self.levels.last().is_some_and(|level| level.redacted);
        let next = tokens.clone().next();
        if let Some(value) = next.filter(|next| next.kind == Kind::Text)
            && (is_opaque_name(&name) || (redacted && name == "data"))
            && is_opaque(raw(self.json, &value))
        {
            tokens.next();
            if self.opaque == Opaque::Stays {
                return;
            }
            self.edits.remove_member(self.json, token, value.end);
            self.counts.add(OPAQUE_RULE);
            return;
        }
        let masker = self.masker;
        let masked = masker.guarded(self.counts, |counts| masker.text(&name, Edge::Whole, counts));
        if let Some(masked) = masked {
            self.edits.replace(token.range(), encode(&masked));
        }
        if let Some(level) = self.levels.last_mut() {
            level.name = name;
        }
    }

    fn value(&mut self, token: &Token) {
        if let Some(given) = &self.given
            && self.levels.len() == 1
            && self.levels.last().is_some_and(|level| level.name == given.member)
        {
            if let Some(value) = given.value {
                self.edits.replace(token.range(), encode(value));
            }
            return;
        }
        let Some(text) = decode(self.json, token) else {
            return;
        };
        let (name, label) = match self.levels.last() {
            Some(level) => (level.name.clone(), level.label.clone()),
            None => Default::default(),
        };
        if is_opaque_name(&name) && is_opaque_text(raw(self.json, token)) {
            return; // too short to be dropped, and still not to be edited
        }
        let name_of_value = if name == "value" { &label } else { &name };
        let masker = self.masker;
        let masked =
            masker.guarded(self.counts, |counts| masker.value(name_of_value, &text, counts));
        if let Some(masked) = masked {
            self.edits.replace(token.range(), encode(&masked));
        }
        if let Some(level) = self.levels.last_mut()
            && matches!(level.name.as_ref(), "name" | "key")
        {
            level.label = text;
        }
    }
}

impl Masker {
    /// Masks the value of a member; nothing when it stays as it is.
    fn value(&self, name: &str, value: &str, counts: &mut MaskCounts) -> Option<String> {
        if let Some(rule) = self.rules.by_name(name, value) {
            let secret = match is_authorization(name) {
                true => without_scheme(value),
                false => value,
            };
            let scheme = value.strip_suffix(secret).unwrap_or_default();
            counts.add(rule);
            return Some(format!("{scheme}{}", self.placeholder(rule, secret, false)));
        }
        // Whoever made a preview may have cut it anywhere.
        let edge = match name {
            "preview" => Edge::Cut,
            _ => Edge::Whole,
        };
        self.text(value, edge, counts)
    }
}

/// Members that hold reasoning in a form only its provider reads. Names without separators, in lower case.
const OPAQUE: &[&str] = &[
    "signature",
    "thoughtsignature",
    "encryptedcontent",
    "encryptedvalue",
    "encryptedreasoning",
    "reasoningencryptedcontent",
    "reasoningopaque",
    "redacteddata",
    "redactedcontent",
];

fn is_opaque_name(name: &str) -> bool {
    let letters = || name.bytes().filter(|b| alnum(*b)).map(|b| b.to_ascii_lowercase());
    name.len() <= 32 && OPAQUE.iter().any(|opaque| letters().eq(opaque.bytes()))
}

/// True for what such a member holds when it is worth dropping: one long word of base64.
fn is_opaque(raw: &str) -> bool {
    raw.len() >= 16 && is_opaque_text(raw)
}

fn is_opaque_text(raw: &str) -> bool {
    raw.bytes().all(|b| alnum(b) || b"+/=_-.\\".contains(&b))
}

/// True when the object whose inside `tokens` walks says that it is redacted reasoning.
fn is_redacted(json: &str, tokens: Tokens<'_>) -> bool {
    let mut depth = 0_usize;
    let mut is_type = false;
    for token in tokens {
        match token.kind {
            Kind::ObjectStart | Kind::ArrayStart => depth += 1,
            Kind::ObjectEnd | Kind::ArrayEnd if depth == 0 => return false,
            Kind::ObjectEnd | Kind::ArrayEnd => depth -= 1,
            Kind::Name if depth == 0 => is_type = raw(json, &token) == "type",
            Kind::Text if depth == 0 && is_type => return raw(json, &token) == "redacted_thinking",
            Kind::Name | Kind::Text | Kind::Bare => {}
        }
    }
    false
}
