//! Owns finding secrets in a text: each anchor is looked at where it stands.
//!
//! A first look at raw JSON says whether a payload has to be looked at at all.

use super::anchors::{self, Look};
use super::encoded::{alnum, beyond_a_word, dashed, dotted, has_digit, longest_run, run, token68};
use super::names::Promise;
use super::rules::{Check, MANY, TOKENS, TokenRule};
use super::{Edge, Found, Rules, named, names, shapes, values};

/// The rules of this crate.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinRules;

impl BuiltinRules {
    /// True when a member of this name would hold a secret, and its value is not plainly something else: too little to
    /// mask it, enough to say that there is a risk.
    #[must_use]
    pub fn risks(self, name: &str, value: &str) -> bool {
        names::promise(name).is_some_and(|promise| values::is_risk(promise, value))
    }
}

impl Rules for BuiltinRules {
    fn suspects(&self, json: &str) -> bool {
        anchors::any(json, |look, anchor, at| suspicious(json, look, anchor, at))
    }

    fn matters(&self, text: &str) -> bool {
        anchors::any(text, |_, _, _| true)
    }

    fn find(&self, text: &str, edge: Edge, found: &mut Vec<Found>) {
        let first = found.len();
        let mut finder = Finder { text, edge, found, known_until: 0, named_until: 0 };
        anchors::any(text, |look, anchor, at| {
            finder.look_at(look, anchor, at);
            false
        });
        merge(found, first);
    }

    fn by_name(&self, name: &str, value: &str) -> Option<&'static str> {
        let promise = names::promise(name)?;
        let secret = match shapes::is_authorization(name) {
            true => shapes::without_scheme(value),
            false => value,
        };
        let is_secret = match secret.len() == value.len() {
            true => values::is_secret(promise, value, values::Stand::Quoted),
            // A scheme before it says that it is one, however it looks.
            false => values::is_secret(Promise::Password, secret, values::Stand::Quoted),
        };
        is_secret.then(|| promise.rule())
    }
}

/// Looks at the anchors of one text.
struct Finder<'a> {
    text: &'a str,
    edge: Edge,
    found: &'a mut Vec<Found>,
    /// Where the last known token or shape ends. What begins inside of one is a part of it.
    known_until: usize,
    /// Where the last value that was found by its name ends.
    named_until: usize,
}

impl Finder<'_> {
    fn look_at(&mut self, look: Look, anchor: &str, at: usize) {
        let (text, edge, bytes) = (self.text, self.edge, self.text.as_bytes());
        // Looking inside of what is found already would take the square of a long run.
        let inside = match look {
            Look::Name | Look::Opaque => at < self.named_until,
            _ => at < self.known_until,
        };
        if inside {
            return;
        }
        let one = match look {
            Look::Token => token(bytes, edge, anchor, at),
            Look::Jwt => shapes::jwt(bytes, edge, at),
            Look::PrivateKey => shapes::private_key(text, edge, at),
            Look::Bearer => shapes::bearer(text, edge, at),
            Look::Basic => shapes::basic(text, edge, at),
            Look::Url => shapes::url_password(text, edge, at),
            Look::Telegram => shapes::telegram(bytes, edge, at),
            Look::AwsSecret => shapes::aws_secret(bytes, edge, at + anchor.len()),
            Look::Name | Look::Opaque => named::value(text, edge, at + anchor.len()),
            Look::Escape => None,
        };
        let Some(one) = one else { return };
        match look {
            Look::Name | Look::Opaque => self.named_until = one.end,
            _ if is_generic(one.rule) => {}
            _ => self.known_until = one.end,
        }
        self.found.push(one);
        if one.rule == "aws-access-key" {
            self.found.extend(shapes::aws_secret(bytes, edge, one.end));
        }
    }
}

/// The token that begins at an anchor.
fn token(bytes: &[u8], edge: Edge, anchor: &str, at: usize) -> Option<Found> {
    let begins = |rule: &&TokenRule| {
        let related = rule.prefix.starts_with(anchor) || anchor.starts_with(rule.prefix);
        let there = || bytes.get(at..at + rule.prefix.len()) == Some(rule.prefix.as_bytes());
        related && there()
    };
    TOKENS.iter().filter(begins).find_map(|rule| token_of(bytes, edge, rule, at))
}

/// True when a token can begin at `at`: what stands before is no part of a longer word.
fn at_border(bytes: &[u8], at: usize, prefix: &str) -> bool {
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    before.is_none_or(|b| !alnum(*b) && (prefix.len() > 3 || !b"_-+".contains(b)))
}

/// True when what stands before `at` in raw JSON may be the end of an escape: the `n` of a line break is no letter.
fn behind_escape(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(at.saturating_sub(6)..at).unwrap_or_default();
    before.contains(&b'\\')
}

fn token_of(bytes: &[u8], edge: Edge, rule: &TokenRule, at: usize) -> Option<Found> {
    if !at_border(bytes, at, rule.prefix) {
        return None;
    }
    let from = at + rule.prefix.len();
    let len = run(bytes, from, rule.max + 1, rule.class);
    let cut = edge == Edge::Cut && from + len == bytes.len();
    let mut body = bytes.get(from..from + len).unwrap_or_default();
    while !cut && body.last() == Some(&b'.') {
        body = body.split_last().map_or(body, |(_, rest)| rest);
    }
    let next = bytes.get(from + len);
    let fixed = rule.max < MANY;
    if fixed && (len > rule.max || next.is_some_and(|b| alnum(*b))) {
        return None;
    }
    let random = rule.check == Check::None || (has_digit(body) && longest_run(body) >= 16);
    let whole = body.len() >= rule.min && random;
    let begun = cut && body.len() > rule.stub() && beyond_a_word(body);
    (whole || begun).then_some(Found {
        start: at,
        end: from + body.len(),
        rule: rule.name,
        open: cut && len < rule.max,
    })
}

/// True for the rules that know a secret by its surroundings only.
fn is_generic(rule: &str) -> bool {
    matches!(rule, "password" | "credential")
}

/// Makes the finds from `first` on ordered and free of overlaps. Where two meet they become one; a known token gives
/// the name when it is the whole of it.
fn merge(found: &mut Vec<Found>, first: usize) {
    let mut all = found.split_off(first);
    all.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end), is_generic(f.rule)));
    for one in all {
        match found.get_mut(first..).and_then(<[Found]>::last_mut) {
            Some(last) if one.start < last.end => {
                if one.end > last.end {
                    last.end = one.end;
                    last.open = one.open;
                } else if one.end == last.end {
                    last.open |= one.open;
                }
            }
            _ => found.push(one),
        }
    }
}

/// A first look at raw JSON. May say yes for nothing, never no for something.
fn suspicious(json: &str, look: Look, anchor: &str, at: usize) -> bool {
    let bytes = json.as_bytes();
    let behind = at + anchor.len();
    let ends = |at: usize| bytes.get(at).is_none_or(|b| matches!(b, b'"' | b'\\'));
    match look {
        Look::Token => TOKENS.iter().any(|rule| {
            let from = at + rule.prefix.len();
            bytes.get(at..from) == Some(rule.prefix.as_bytes())
                && (at_border(bytes, at, rule.prefix) || behind_escape(bytes, at))
                && {
                    let len = run(bytes, from, rule.min, rule.class);
                    len >= rule.min || (len > rule.stub() && ends(from + len))
                }
        }),
        Look::Jwt => {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            if before.is_some_and(|b| dotted(*b)) && !behind_escape(bytes, at) {
                return false;
            }
            let len = run(bytes, at, 4096, dashed);
            len >= 12 && (bytes.get(at + len) == Some(&b'.') || ends(at + len))
        }
        Look::Bearer | Look::Basic => {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            matches!(before, Some(b'b' | b'B')) && run(bytes, behind, 5, token68) == 5
        }
        Look::Url => shapes::may_have_user_info(bytes, behind),
        Look::Telegram => at > 0 && bytes.get(at - 1).is_some_and(u8::is_ascii_digit),
        Look::Name => named::suspicious(json, behind),
        Look::Opaque => {
            let end = behind + run(bytes, behind, 64, alnum);
            bytes.get(end..end + 3) == Some(b"\":\"")
                || named::suspicious(json, behind)
                || bytes.get(end..end + 2) == Some(b"_t")
        }
        // Below 0x20 there is nothing to hide: `\u001b` begins every terminal colour.
        Look::Escape => anchor != "\\u00" || !matches!(bytes.get(behind), Some(b'0' | b'1')),
        Look::PrivateKey | Look::AwsSecret => true,
    }
}
