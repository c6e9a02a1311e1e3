//! Owns secrets that are known by their shape: JSON web tokens, private keys, authorization headers, passwords in URLs.

use super::encoded::{
    alnum, base64, beyond_a_word, dashed, dotted, has_digit, is_basic_credentials, run, token68,
};
use super::{Edge, Found};

/// What stands for an AWS key id: its secret often follows.
pub(super) const MASKED_AWS_KEY: &str = "[masked:aws-access-key:";

fn found(start: usize, end: usize, rule: &'static str, open: bool) -> Option<Found> {
    Some(Found { start, end, rule, open })
}

/// `eyJ….….…`
pub(super) fn jwt(bytes: &[u8], edge: Edge, at: usize) -> Option<Found> {
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    if before.is_some_and(|b| dotted(*b)) {
        return None;
    }
    let mut end = at;
    let mut parts = Vec::with_capacity(3);
    loop {
        let len = run(bytes, end, 16 * 1024, dashed);
        parts.push(len);
        end += len;
        if parts.len() == 5 || bytes.get(end) != Some(&b'.') {
            break;
        }
        end += 1;
    }
    let cut = edge == Edge::Cut && end == bytes.len();
    let whole = parts.len() >= 2
        && parts.first().is_some_and(|len| *len >= 12)
        && parts.get(1).is_some_and(|len| *len >= 8);
    if whole && !cut && bytes.get(end - 1) == Some(&b'.') {
        end -= 1;
    }
    (whole || (cut && end - at > 12)).then_some(Found { start: at, end, rule: "jwt", open: cut })
}

/// The longest private key that is looked at as one.
const LONGEST_KEY: usize = 64 * 1024;

/// `-----BEGIN … PRIVATE KEY-----` up to its end, or as far as the text goes on like one.
pub(super) fn private_key(text: &str, edge: Edge, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    let label = rest.get(..rest.floor_char_boundary(64))?;
    let label = label.strip_prefix("-----BEGIN ")?;
    let label = label.split("-----").next()?;
    if !label.contains("PRIVATE KEY") || label.contains('\n') {
        return None;
    }
    let body = at + "-----BEGIN ".len() + label.len() + "-----".len();
    if body > text.len() {
        return None; // the label itself is cut
    }
    let key = text.get(body..)?;
    let key = key.get(..key.floor_char_boundary(LONGEST_KEY))?;
    if let Some(end) = key.find("-----END ") {
        let close = key.get(end + 9..)?;
        let stop = close.find("-----").filter(|len| *len <= 40);
        let end = body + end + 9 + stop.map_or(close.len().min(40), |len| len + 5);
        return found(at, text.floor_char_boundary(end), "private-key", false);
    }
    let len = private_key_run(key);
    let open = edge == Edge::Cut && body + len == text.len();
    found(at, body + len, "private-key", open)
}

/// How far a text goes on like the inside of a private key: base64, header lines, the words of the closing line.
pub(super) fn private_key_run(text: &str) -> usize {
    let inside = |c: char| c.is_ascii_alphanumeric() || "+/=\n\r\t\\-:,".contains(c);
    let mut end = 0;
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let len = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        end += len;
        if let Some(close) = rest.get(..len).and_then(|run| run.find("KEY-----")) {
            return end - len + close + "KEY-----".len();
        }
        let rest = rest.get(len..).unwrap_or_default();
        let Some(after) = rest.strip_prefix(' ') else {
            return end;
        };
        let word = after.split(|c| !inside(c)).next().unwrap_or_default();
        let label = word.trim_end_matches('-');
        let capital = label.bytes().all(|b| !b.is_ascii_lowercase()) && !label.is_empty();
        if !(capital || word.len() >= 40) {
            return end;
        }
        end += 1;
    }
}

/// True when an authorization header begins shortly before.
fn in_authorization(text: &str, at: usize) -> bool {
    let from = text.ceil_char_boundary(at.saturating_sub(40));
    text.get(from..at).is_some_and(|before| before.to_ascii_lowercase().contains("authorization"))
}

/// The value behind `Bearer `, whose anchor begins with its second letter.
pub(super) fn bearer(text: &str, edge: Edge, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let word = at.checked_sub(1)?;
    if !matches!(bytes.get(word), Some(b'b' | b'B')) {
        return None;
    }
    let start = at + "earer ".len();
    let len = run(bytes, start, 16 * 1024, token68);
    let cut = edge == Edge::Cut && start + len == bytes.len();
    let mut value = text.get(start..start + len)?;
    if !cut {
        value = value.trim_end_matches('.');
    }
    let header = in_authorization(text, word);
    let variable = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let whole = !variable
        && ((value.len() >= 8 && has_digit(value.as_bytes()))
            || (header && value.len() >= 6)
            || (value.len() >= 20 && value.bytes().any(|b| b.is_ascii_uppercase())));
    let begun = cut && value.len() > 4 && beyond_a_word(value.as_bytes());
    (whole || begun).then_some(Found {
        start,
        end: start + value.len(),
        rule: "credential",
        open: cut,
    })
}

/// The value behind `Basic `.
pub(super) fn basic(text: &str, edge: Edge, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let word = at.checked_sub(1)?;
    if !matches!(bytes.get(word), Some(b'b' | b'B')) {
        return None;
    }
    let start = at + "asic ".len();
    let len = run(bytes, start, 4096, base64);
    let cut = edge == Edge::Cut && start + len == bytes.len();
    let value = bytes.get(start..start + len)?;
    let whole = len >= 8 && is_basic_credentials(value);
    let begun = cut && len > 4 && beyond_a_word(value);
    (whole || begun).then_some(Found { start, end: start + len, rule: "credential", open: cut })
}

/// True for what ends the part of a URL that can hold `user:password@`.
fn ends_authority(byte: u8) -> bool {
    byte <= b' ' || b"/?#\"'<>\\`|^{}".contains(&byte)
}

/// A first look: something before an `@`, or a cut text with more than a port behind a colon.
pub(super) fn may_have_user_info(bytes: &[u8], from: usize) -> bool {
    let rest = bytes.get(from..).unwrap_or_default();
    let stop = rest.iter().position(|b| ends_authority(*b));
    let authority = rest.get(..stop.unwrap_or(rest.len())).unwrap_or_default();
    authority.contains(&b'@')
        || authority
            .iter()
            .position(|b| *b == b':')
            .and_then(|colon| authority.get(colon + 1..))
            .is_some_and(|port| !port.iter().all(u8::is_ascii_digit))
}

/// The password in `scheme://user:password@host`, or a token in the user's place.
pub(super) fn url_password(text: &str, edge: Edge, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let from = at + "://".len();
    let scheme = at.checked_sub(1).and_then(|at| bytes.get(at));
    if !scheme.is_some_and(|b| alnum(*b)) {
        return None;
    }
    let rest = bytes.get(from..)?;
    let stop = rest.iter().take(1024).position(|b| ends_authority(*b));
    let len = stop.unwrap_or(rest.len().min(1024));
    let authority = text.get(from..from + len)?;
    if authority.contains("[masked:") {
        return None;
    }
    let authority = authority.as_bytes();
    let colon = authority.iter().position(|b| *b == b':');
    let Some(user_end) = authority.iter().rposition(|b| *b == b'@') else {
        let start = colon? + 1;
        let password = authority.get(start..)?;
        let port = password.iter().all(u8::is_ascii_digit);
        let cut = edge == Edge::Cut && from + len == bytes.len();
        return (cut && !port).then_some(Found {
            start: from + start,
            end: from + len,
            rule: "password",
            open: true,
        });
    };
    let (start, rule) = match colon {
        Some(colon) if colon < user_end => (colon + 1, "password"),
        _ => (0, "credential"),
    };
    let secret = text.get(from + start..from + user_end)?;
    let template = secret.starts_with(['$', '<', '[', '*', '%']);
    let token = secret.len() >= 20 && has_digit(secret.as_bytes());
    if secret.is_empty() || template || (rule == "credential" && !token) {
        return None;
    }
    found(from + start, from + user_end, rule, false)
}

/// `123456789:AA…`, the token of a Telegram bot.
pub(super) fn telegram(bytes: &[u8], edge: Edge, at: usize) -> Option<Found> {
    let before = bytes.get(..at)?.iter().rev();
    let digits = before.take(12).take_while(|b| b.is_ascii_digit()).count();
    let start = at - digits;
    let border = start.checked_sub(1).and_then(|at| bytes.get(at));
    if !(8..=10).contains(&digits) || border.is_some_and(|b| alnum(*b) && *b != b't') {
        return None; // the API puts `bot` before it in its URLs
    }
    let len = run(bytes, at + 1, 64, dashed);
    let end = at + 1 + len;
    let cut = edge == Edge::Cut && end == bytes.len();
    ((34..=40).contains(&len) || (cut && len > 8)).then_some(Found {
        start,
        end,
        rule: "telegram-token",
        open: cut && len < 40,
    })
}

/// The forty characters of an AWS secret in the neighbourhood of its key id.
pub(super) fn aws_secret(bytes: &[u8], edge: Edge, from: usize) -> Option<Found> {
    let class = |b: u8| base64(b) && b != b'=';
    let until = bytes.len().min(from + 200);
    let mut at = from;
    while at < until {
        let len = run(bytes, at, 64, class);
        let body = bytes.get(at..at + len).unwrap_or_default();
        let mixed = has_digit(body)
            && body.iter().any(u8::is_ascii_uppercase)
            && body.iter().any(u8::is_ascii_lowercase);
        let cut = edge == Edge::Cut && at + len == bytes.len();
        if mixed && (len == 40 || (cut && len > 12 && len < 40)) {
            return found(at, at + len, "aws-secret-key", cut && len < 40);
        }
        at += len.max(1);
    }
    None
}

/// A header value without the word for its scheme: `Token abc` is `abc`.
pub(super) fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, rest))
            if !scheme.is_empty() && scheme.bytes().all(|b| alnum(b) || b == b'-') =>
        {
            rest.trim_start()
        }
        _ => value,
    }
}

/// True for the names of headers whose values begin with a scheme.
pub(super) fn is_authorization(name: &str) -> bool {
    let end = name.len().saturating_sub("authorization".len());
    name.get(end..).is_some_and(|end| end.eq_ignore_ascii_case("authorization"))
}
