//! Owns the one pass over a text that finds anchors: short texts that every secret has at or before it.
//!
//! It runs over every payload, so it is made for texts without any: each three bytes are hashed into a table of 16 KiB
//! that fits the first cache, and only a hit is compared. Each anchor is entered under the three of its bytes that other
//! text has least. (A general multi-pattern search over the same hundred anchors took eight times as long.)

use std::sync::LazyLock;

use super::rules::TOKENS;
use super::shapes;

/// What to look at where an anchor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Token,
    Jwt,
    PrivateKey,
    Bearer,
    Basic,
    Url,
    Telegram,
    AwsSecret,
    Name,
    /// A member that is dropped whole.
    Opaque,
    /// An escape that can hide an anchor from a look at raw JSON.
    Escape,
}

/// Anchors that are no prefix of a token, and which three bytes they are entered under.
const SHAPES: &[(&str, usize, Look)] = &[
    ("eyJ", 0, Look::Jwt),
    ("-----BEGIN", 5, Look::PrivateKey),
    ("earer ", 2, Look::Bearer),
    ("EARER ", 2, Look::Bearer),
    ("asic ", 1, Look::Basic),
    ("ASIC ", 1, Look::Basic),
    ("://", 0, Look::Url),
    (":AA", 0, Look::Telegram),
    (shapes::MASKED_AWS_KEY, 0, Look::AwsSecret),
    ("assw", 1, Look::Name),
    ("assW", 1, Look::Name),
    ("ASSW", 1, Look::Name),
    ("assphr", 2, Look::Name),
    ("ASSPHR", 2, Look::Name),
    ("asscode", 1, Look::Name),
    ("_pass", 0, Look::Name),
    ("-pass", 0, Look::Name),
    (".pass", 0, Look::Name),
    ("_PASS", 0, Look::Name),
    ("Pass", 0, Look::Name),
    ("pwd", 0, Look::Name),
    ("PWD", 0, Look::Name),
    ("ecret", 0, Look::Name),
    ("ECRET", 0, Look::Name),
    ("oken", 0, Look::Name),
    ("OKEN", 0, Look::Name),
    ("_key", 0, Look::Name),
    ("-key", 0, Look::Name),
    ("pikey", 0, Look::Name),
    ("sskey", 0, Look::Name),
    ("ekey", 0, Look::Name),
    ("gkey", 0, Look::Name),
    ("hkey", 0, Look::Name),
    ("nkey", 0, Look::Name),
    ("rkey", 0, Look::Name),
    ("tkey", 0, Look::Name),
    ("Key", 0, Look::Name),
    ("_KEY", 0, Look::Name),
    ("-KEY", 0, Look::Name),
    ("PIKEY", 0, Look::Name),
    ("edential", 0, Look::Name),
    ("EDENTIAL", 0, Look::Name),
    ("thoriz", 3, Look::Name),
    ("THORIZ", 3, Look::Name),
    ("gnature", 0, Look::Opaque),
    ("crypted", 0, Look::Opaque),
    ("dacted", 0, Look::Opaque),
    ("opaque", 1, Look::Opaque),
    ("\\u00", 0, Look::Escape),
    (":\\/", 0, Look::Escape),
];

/// A longer prefix is entered by its beginning.
const LONGEST: usize = 16;

/// How much of the end of a text can belong to an anchor that is cut off there, with what is looked at before it.
pub(super) const MARGIN: usize = 2 * LONGEST;

/// An anchor, entered under the three bytes at an offset.
#[derive(Debug, Clone, Copy)]
struct Entry {
    anchor: &'static str,
    offset: usize,
    look: Look,
}

struct Anchors {
    /// For the hash of three bytes: 0, or 1 and more for a group of entries.
    table: Box<[u8; SLOTS]>,
    groups: Vec<Vec<Entry>>,
}

const BITS: u32 = 14;
const SLOTS: usize = 1 << BITS;

/// Where three bytes, lowest first, are entered.
fn slot(three: u32) -> usize {
    ((three & 0x00FF_FFFF).wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

fn three(bytes: &[u8]) -> u32 {
    let low = bytes.iter().take(3).rev();
    low.fold(0, |three, byte| (three << 8) | u32::from(*byte))
}

static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let shapes =
        SHAPES.iter().map(|(anchor, offset, look)| Entry { anchor, offset: *offset, look: *look });
    let mut anchors = Anchors { table: Box::new([0; SLOTS]), groups: Vec::new() };
    let mut tokens: Vec<&'static str> = Vec::new();
    for rule in TOKENS {
        let prefix = rule.prefix.get(..LONGEST).unwrap_or(rule.prefix);
        if prefix.len() < 3 {
            tokens.extend(SHORT.iter().filter(|short| short.starts_with(prefix)));
        } else if !tokens.contains(&prefix) {
            tokens.push(prefix);
        }
    }
    // Of prefixes with a common beginning the shortest finds them all.
    let shortest = |token: &&&str| {
        !tokens.iter().any(|other| token.starts_with(other) && other.len() < token.len())
    };
    let tokens = tokens.iter().filter(shortest).map(|anchor| Entry {
        anchor,
        offset: rarest(anchor.as_bytes()),
        look: Look::Token,
    });
    for entry in shapes.chain(tokens) {
        anchors.enter(entry);
    }
    anchors
});

/// What stands for a prefix of two letters: with the hex digit behind it.
const SHORT: &[&str] = &[
    "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc",
    "SKd", "SKe", "SKf",
];

/// Where the three bytes begin that other text has least.
fn rarest(anchor: &[u8]) -> usize {
    let rare = |byte: &u8| match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b'h' | b'l' | b' ' => 0,
        b'j' | b'q' | b'x' | b'z' | b'k' | b'w' | b'v' => 2,
        b'a'..=b'z' => 1,
        _ => 3,
    };
    let score = |at: &usize| -> i32 {
        let window = anchor.get(*at..*at + 3).unwrap_or_default();
        window.iter().map(rare).sum()
    };
    (0..anchor.len().saturating_sub(2)).max_by_key(score).unwrap_or(0)
}

impl Anchors {
    fn enter(&mut self, entry: Entry) {
        let key = entry.anchor.as_bytes();
        let key = slot(three(key.get(entry.offset..).unwrap_or_default()));
        let Some(group) = self.table.get_mut(key) else {
            return;
        };
        match usize::from(*group).checked_sub(1) {
            Some(at) => {
                if let Some(group) = self.groups.get_mut(at) {
                    group.push(entry);
                }
            }
            None => {
                self.groups.push(vec![entry]);
                *group = u8::try_from(self.groups.len()).unwrap_or(u8::MAX);
            }
        }
    }

    fn at(&self, three: u32) -> u8 {
        self.table.get(slot(three)).copied().unwrap_or(0)
    }
}

/// Calls `visit` with every anchor in `text` and where it begins, until it says stop; true when it did.
pub(super) fn any(text: &str, mut visit: impl FnMut(Look, &'static str, usize) -> bool) -> bool {
    let anchors = &*ANCHORS;
    let bytes = text.as_bytes();
    let mut hit = |group: u8, at: usize| {
        let group = anchors.groups.get(usize::from(group) - 1);
        group.into_iter().flatten().any(|entry| {
            let start = at.wrapping_sub(entry.offset);
            bytes.get(start..).is_some_and(|rest| rest.starts_with(entry.anchor.as_bytes()))
                && visit(entry.look, entry.anchor, start)
        })
    };
    let mut at = 0;
    while let Some(eight) = bytes.get(at..at + 8).and_then(|b| <[u8; 8]>::try_from(b).ok()) {
        let eight = u64::from_le_bytes(eight);
        let group = |shift: u32| anchors.at((eight >> (8 * shift)) as u32);
        // Six places at once, so that text without anchors costs one branch for six bytes.
        if group(0) | group(1) | group(2) | group(3) | group(4) | group(5) != 0 {
            for shift in 0..6 {
                let group = group(shift);
                if group != 0 && hit(group, at + shift as usize) {
                    return true;
                }
            }
        }
        at += 6;
    }
    while let Some(rest) = bytes.get(at..at + 3) {
        let group = anchors.at(three(rest));
        if group != 0 && hit(group, at) {
            return true;
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anchor_is_found_wherever_it_stands() {
        let anchors = &*ANCHORS;
        assert!(anchors.groups.len() < 255);
        let entries: Vec<Entry> = anchors.groups.iter().flatten().copied().collect();
        assert!(entries.len() > 100);
        for entry in entries {
            for (before, after) in [("", ""), ("x", ""), ("", "y"), ("größer", "🦀")] {
                let text = format!("{before}{}{after}", entry.anchor);
                let found =
                    any(&text, |_, anchor, at| anchor == entry.anchor && at == before.len());
                assert!(found, "{text}");
            }
        }
        for rule in TOKENS {
            let text = format!("{}0", rule.prefix);
            assert!(any(&text, |look, _, at| look == Look::Token && at == 0), "{text}");
        }
        assert!(!any("nothing to see", |_, _, _| true));
        assert!(!any("", |_, _, _| true) && !any("ab", |_, _, _| true));
    }
}
