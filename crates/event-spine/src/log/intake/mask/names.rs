//! Owns what the name of a value says about it.
//!
//! Names are compared in lower case without separators, by how they end: `AWS_SECRET_ACCESS_KEY`, `secretAccessKey` and
//! `secret-access-key` are one.
//!
//! Next: [`values`](super::values), whether a value under such a name is a secret.

use super::encoded::alnum;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A password: any value that is not a word about passwords.
    Password,
    /// A key or secret of a service: a value that no word would be.
    Secret,
    /// A word with other meanings too (`token` of a text): a value that is random.
    Token,
}

impl Promise {
    /// Name of the rule in placeholders.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret | Self::Token => "credential",
        }
    }
}

const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passcode", "userpwd", "dbpwd"];

const SECRETS: &[&str] = &[
    "secret",
    "secretkey",
    "apikey",
    "accesskey",
    "accountkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "authkey",
    "consumerkey",
    "apitoken",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "idtoken",
    "bearertoken",
    "sessiontoken",
    "securitytoken",
    "authorization",
    "amzsignature",
    "googsignature",
];

const TOKENS: &[&str] = &["token", "credential", "credentials"];

/// Tokens that are no secret: places in a list, and pieces of a text.
const PLAIN_TOKENS: &[&str] = &[
    "page",
    "next",
    "prev",
    "previous",
    "continuation",
    "cancellation",
    "cancel",
    "sync",
    "resume",
    "cursor",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "stop",
    "special",
    "first",
    "last",
    "start",
    "end",
    "image",
    "max",
];

/// What a name promises of its value, if it does.
pub(super) fn promise(name: &str) -> Option<Promise> {
    let mut buffer = [0_u8; 64];
    let plain = plain(name, &mut buffer)?;
    let ends = |list: &[&str]| list.iter().any(|end| plain.ends_with(end));
    if ends(PASSWORDS) || is_pass(name) {
        Some(Promise::Password)
    } else if ends(SECRETS) {
        Some(Promise::Secret)
    } else if ends(TOKENS) {
        let before = plain.strip_suffix("token").unwrap_or("");
        let place = PLAIN_TOKENS.iter().any(|word| before.ends_with(word));
        (!place).then_some(Promise::Token)
    } else {
        None
    }
}

/// The end of a name, lower case, letters and digits only.
fn plain<'b>(name: &str, buffer: &'b mut [u8; 64]) -> Option<&'b str> {
    let tail = name.as_bytes();
    let tail = tail.get(tail.len().saturating_sub(64)..).unwrap_or_default();
    let mut len = 0;
    for (to, byte) in buffer.iter_mut().zip(tail.iter().filter(|b| alnum(**b))) {
        *to = byte.to_ascii_lowercase();
        len += 1;
    }
    std::str::from_utf8(buffer.get(..len)?).ok()
}

/// `DB_PASS`, `smtp-pass`, `dbPass`, `DB_PWD`: short words that need a separator before them.
fn is_pass(name: &str) -> bool {
    let Some(cut) = name.len().checked_sub(4) else {
        return false;
    };
    let (Some(head), Some(last)) = (name.get(..cut), name.get(cut..)) else {
        return false;
    };
    let before = head.bytes().last();
    match last {
        "pass" | "PASS" => matches!(before, Some(b'_' | b'-' | b'.')),
        "Pass" => before.is_some_and(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-'),
        "_pwd" | "_PWD" | "-pwd" => before.is_some_and(alnum),
        _ => false,
    }
}
