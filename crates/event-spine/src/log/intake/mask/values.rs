//! Owns whether a value under a name that promises a secret is one, or a word, a variable, an expression, an id.

use super::encoded::{beyond_a_word, has_digit, longest_run};
use super::names::Promise;

/// How a value stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// A JSON string of its own, or quoted.
    Quoted,
    /// `name=value`.
    Assigned,
    /// `name: value`, which prose also does.
    Said,
}

/// True when a value under a name that promises a secret is one.
pub(super) fn is_secret(promise: Promise, value: &str, stand: Stand) -> bool {
    if is_placeholder(value) || is_word(value) {
        return false;
    }
    let bytes = value.as_bytes();
    let spaced = bytes.iter().any(u8::is_ascii_whitespace);
    let code = stand != Stand::Quoted && is_code(value);
    match (promise, stand) {
        (Promise::Password, Stand::Quoted) => true,
        (Promise::Password, Stand::Assigned) => bytes.len() >= 4 && !code,
        (Promise::Password, Stand::Said) => {
            bytes.len() >= 6 && !code && bytes.iter().any(|b| !b.is_ascii_alphabetic())
        }
        (Promise::Secret, _) => {
            let in_capitals = stand == Stand::Quoted && is_in_capitals(bytes);
            let beyond_words = mixed(bytes) || in_capitals || longest_run(bytes) >= 20;
            bytes.len() >= 8 && !spaced && !code && beyond_words
        }
        (Promise::Token, _) => {
            let random = bytes.len() >= 12
                && longest_run(bytes) >= 8
                && has_digit(bytes)
                && bytes.iter().any(u8::is_ascii_alphabetic);
            random && !spaced && !code && !is_id(value)
        }
    }
}

/// True for any value that could be what its name promises.
pub(super) fn is_risk(promise: Promise, value: &str) -> bool {
    if is_placeholder(value) || is_word(value) {
        return false;
    }
    match promise {
        Promise::Password | Promise::Secret => true,
        // A piece of a text is called a token too.
        Promise::Token => value.len() >= 8 && !value.contains(' ') && !is_id(value),
    }
}

/// True when the beginning of a value, cut off there, is already too much of it.
pub(super) fn is_open_secret(promise: Promise, value: &str, stand: Stand) -> bool {
    let variable = value.starts_with(['$', '{', '<', '[', '%']);
    if value.is_empty() || variable || is_word(value) || is_variable_name(value) {
        return false;
    }
    let bytes = value.as_bytes();
    let beyond = beyond_a_word(bytes);
    match (promise, stand) {
        (Promise::Password, Stand::Quoted) => true,
        (Promise::Password, _) => (bytes.len() > 3 || beyond) && !value.contains('('),
        (Promise::Secret, _) => bytes.len() > 4 && beyond && !value.contains(['(', ' ']),
        (Promise::Token, _) => {
            bytes.len() > 6 && has_digit(bytes) && !is_id(value) && !value.contains(['(', ' '])
        }
    }
}

/// More than words joined by separators: a digit, letters of both cases, or a character that names do not have.
fn mixed(bytes: &[u8]) -> bool {
    has_digit(bytes)
        || (bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase))
        || bytes.iter().any(|b| b.is_ascii_punctuation() && !b"-_./:@".contains(b))
}

/// Capitals joined by dashes: names of variables have underscores, and words of prose are not written so.
fn is_in_capitals(bytes: &[u8]) -> bool {
    bytes.contains(&b'-') && bytes.iter().all(|b| b.is_ascii_uppercase() || *b == b'-')
}

/// What stands for a value instead of one: our own placeholders, variables, templates, stars.
fn is_placeholder(value: &str) -> bool {
    let wrapped = |open: &str, close: &str| value.starts_with(open) && value.ends_with(close);
    let variable = value.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c))
    });
    let first = value.bytes().next();
    value.is_empty()
        || variable
        || wrapped("<", ">")
        || wrapped("{", "}")
        || wrapped("[", "]")
        || wrapped("%", "%")
        || value.starts_with("{{")
        || value.contains("...")
        || value.contains('…')
        || value.contains("[masked:")
        || (value.len() >= 3 && value.bytes().all(|b| Some(b) == first))
        || is_variable_name(value)
}

/// `OPENAI_API_KEY`: the name of a variable, not its value.
fn is_variable_name(value: &str) -> bool {
    let shape = value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit());
    let says = ["KEY", "TOKEN", "SECRET", "PASS"].iter().any(|word| value.contains(word));
    shape && says && value.contains('_')
}

/// Words that stand behind such names without being secrets.
fn is_word(value: &str) -> bool {
    const WORDS: &str = "true false null none nil undefined string str text bytes number int any object \
        required optional missing invalid expired incorrect wrong empty unset set hidden \
        redacted masked password passwd passphrase secret token apikey api_key api-key \
        bearer basic is was are must should can not for and or the a in of to with from has \
        have will may if when field input prompt option value type default example self this \
        env yes no auth";
    let plain = value.trim_end_matches(['.', '!', '?', ':', ',', ';']);
    let your = value.get(..5).is_some_and(|head| {
        head.eq_ignore_ascii_case("your_") || head.eq_ignore_ascii_case("your-")
    });
    your || WORDS.split(' ').any(|word| plain.eq_ignore_ascii_case(word))
}

/// An expression rather than a value: a call, an index, a path of names.
fn is_code(value: &str) -> bool {
    if value.contains(['(', '[', '{', '<', '`']) {
        return true;
    }
    let names = value.split('.').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
    });
    names && (value.contains('.') || value.contains('_'))
}

/// An id that providers and runtimes put everywhere: UUID, or a short lower case prefix and a random part.
fn is_id(value: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "msg_",
        "resp_",
        "call_",
        "toolu_",
        "fc_",
        "rs_",
        "run_",
        "thread_",
        "step_",
        "file-",
        "sess_",
        "turn_",
        "evt_",
        "item_",
        "chatcmpl-",
        "req_",
    ];
    let bytes = value.as_bytes();
    let uuid = bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        });
    uuid || PREFIXES.iter().any(|prefix| value.starts_with(prefix))
}
