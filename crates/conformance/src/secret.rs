//! Owns spotting secrets in a payload: by the name of a member, and by what a value looks like.
//!
//! Only what is a secret beyond doubt counts; the log masks more than that on its way in.

use std::sync::LazyLock;

use event_spine::JsonText;
use regex::{Regex, RegexSet};
use serde_json::Value;

/// What each pattern below finds.
const KINDS: [&str; 9] = [
    "a cloud access key",
    "a private key",
    "an API key",
    "a GitHub token",
    "a Slack token",
    "a Google API key",
    "a JSON web token",
    "a bearer token",
    "a connection string with its password",
];

static PATTERNS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSet::new([
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
        r"\bsk-[A-Za-z0-9_-]{20,}",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})",
        r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
        r"\bAIza[0-9A-Za-z_-]{35}",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        r"(?i)\bbearer +[A-Za-z0-9._~+/-]{16,}",
        r"\b[a-z][a-z0-9+.-]*://[^\s:/@]+:[^\s:/@]+@[^\s/]+",
    ])
    .ok()
});

/// A member whose name says that it holds a secret; a quick look over the whole text before the walk.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:token|secret|password|passwd|authorization|api[_-]?key|private[_-]?key|credential|cookie)s?"\s*:\s*""#,
    )
    .ok()
});

/// A secret in a payload.
pub(crate) struct Secret {
    pub(crate) path: String,
    pub(crate) what: String,
}

/// The secrets of a payload.
pub(crate) fn find(payload: &JsonText) -> Vec<Secret> {
    let text = payload.as_str();
    let suspicious = NAMED.as_ref().is_some_and(|named| named.is_match(text))
        || PATTERNS
            .as_ref()
            .is_some_and(|patterns| patterns.is_match(text));
    let mut found = Vec::new();
    if suspicious && let Ok(value) = payload.read::<Value>() {
        walk(&value, "payload", None, &mut found);
    }
    found
}

fn walk(value: &Value, path: &str, name: Option<&str>, found: &mut Vec<Secret>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                walk(member, &format!("{path}.{name}"), Some(name), found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &format!("{path}.{at}"), name, found);
            }
        }
        Value::String(text) if !is_placeholder(text) => {
            let what = match name {
                Some(name) if names_a_secret(name) => Some(format!("{name} has its value")),
                _ => looks_like(text).map(|kind| format!("this looks like {kind}")),
            };
            let path = path.to_owned();
            found.extend(what.map(|what| Secret { path, what }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn looks_like(text: &str) -> Option<&'static str> {
    let hit = PATTERNS.as_ref()?.matches(text).iter().next()?;
    KINDS.get(hit).copied()
}

/// True for `token`, `access_token`, `clientSecret`, `Authorization` …, not for `tokens` or `maxTokens`.
fn names_a_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    [
        "token",
        "secret",
        "password",
        "passwd",
        "authorization",
        "apikey",
        "privatekey",
        "credential",
        "credentials",
        "cookie",
        "secretkey",
        "accesskey",
    ]
    .iter()
    .any(|word| plain.ends_with(word))
}

/// True for what stands in for a secret, and for what only names where one is.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with(['[', '<', '«', '$', '%'])
        || text.starts_with("{{")
        || text
            .chars()
            .all(|c| matches!(c, '*' | 'x' | 'X' | '•' | '.' | '…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &str, paths: &[&str]) {
        let (payload, _) = JsonText::parse(payload).unwrap();
        let found: Vec<_> = find(&payload)
            .into_iter()
            .map(|secret| secret.path)
            .collect();
        assert_eq!(found, paths, "{payload}");
    }

    #[test]
    fn secrets_are_found_by_name_and_by_look() {
        check(
            r#"{"apiKey":"abc","Authorization":"Basic eA=="}"#,
            &["payload.apiKey", "payload.Authorization"],
        );
        check(
            r#"{"args":{"env":[{"ACCESS_TOKEN":"abc"}]}}"#,
            &["payload.args.env.0.ACCESS_TOKEN"],
        );
        check(
            r#"{"output":"key AKIAABCDEFGHIJKLMNOP ok"}"#,
            &["payload.output"],
        );
        check(
            r#"{"output":"postgres://me:hunter2@db/x"}"#,
            &["payload.output"],
        );
        check(
            r#"{"output":["-----BEGIN RSA PRIVATE KEY-----\nx"]}"#,
            &["payload.output.0"],
        );
    }

    #[test]
    fn ordinary_values_are_left_alone() {
        check(
            r#"{"inputTokens":5,"maxTokens":"7","token":"[masked]","password":"****"}"#,
            &[],
        );
        check(
            r#"{"commit":"9fceb02d0ae598e95dc970b74767f19372d61af8","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}"#,
            &[],
        );
        check(
            r#"{"token":null,"secret":true,"url":"https://example.org/a:b@c","apiKey":"$API_KEY"}"#,
            &[],
        );
    }
}
