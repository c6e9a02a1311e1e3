//! Owns looking for secrets in a payload, with the rules by which the log masks what it writes. A name that promises a
//! secret is a risk even where the log would leave the value alone.

use event_spine::JsonText;
use event_spine::mask::{BuiltinRules, Edge, Rules};
use serde_json::{Map, Value};

/// A secret in a payload.
pub(crate) struct Secret {
    pub(crate) path: String,
    /// The rule that found it; nothing when only its name says that it may be one.
    pub(crate) rule: Option<&'static str>,
}

/// The secrets of a payload, one for each text that has any.
pub(crate) fn find(payload: &JsonText) -> Vec<Secret> {
    let mut found = Vec::new();
    if BuiltinRules.suspects(payload.as_str())
        && let Ok(value) = payload.read::<Value>()
    {
        walk(&value, "payload", "", &mut found);
    }
    found
}

/// Looks at a value that stands under `name`.
fn walk(value: &Value, path: &str, name: &str, found: &mut Vec<Secret>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                let name = if member == "value" { label(members) } else { member };
                walk(value, &format!("{path}.{member}"), name, found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk(item, &format!("{path}.{at}"), name, found);
            }
        }
        Value::String(text) => {
            let by_look = || {
                let mut places = Vec::new();
                BuiltinRules.find(text, Edge::Whole, &mut places);
                places.first().map(|place| place.rule)
            };
            let rule = BuiltinRules.by_name(name, text).or_else(by_look);
            if rule.is_some() || BuiltinRules.risks(name, text) {
                found.push(Secret { path: path.to_owned(), rule });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a `value` is called: `{"name": "API_KEY", "value": …}`.
fn label(members: &Map<String, Value>) -> &str {
    let text = |name| members.get(name).and_then(Value::as_str);
    text("name").or_else(|| text("key")).unwrap_or("value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(payload: &str, paths: &[&str]) {
        let (payload, _) = JsonText::parse(payload).unwrap();
        let found: Vec<_> = find(&payload).into_iter().map(|secret| secret.path).collect();
        assert_eq!(found, paths, "{payload}");
    }

    #[test]
    fn secrets_are_found_by_name_and_by_look() {
        check(
            r#"{"apiKey":"k7Gq2mXw9LrT4vNz","Authorization":"Basic bWU6aHVudGVyMg=="}"#,
            &["payload.apiKey", "payload.Authorization"],
        );
        check(
            r#"{"args":{"env":[{"ACCESS_TOKEN":"k7Gq2mXw9L"}]}}"#,
            &["payload.args.env.0.ACCESS_TOKEN"],
        );
        check(r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2x"}]}"#, &["payload.env.0.value"]);
        check(r#"{"output":"key AKIAABCDEFGHIJKLMNOP ok"}"#, &["payload.output"]);
        check(r#"{"output":["postgres://me:hunter2@db/x"]}"#, &["payload.output.0"]);
    }

    #[test]
    fn names_say_what_their_values_are() {
        for name in ["token", "secret", "password", "authorization", "apiKey", "client_secret"] {
            let payload = format!(r#"{{"{name}":"SECRET-CANARY"}}"#);
            check(&payload, &[&format!("payload.{name}")]);
        }
    }

    #[test]
    fn ordinary_values_and_placeholders_are_left_alone() {
        check(r#"{"inputTokens":5,"maxTokens":"7","apiKey":"[masked:named:01234567]"}"#, &[]);
        check(
            r#"{"commit":"9fceb02d0ae598e95dc970b74767f19372d61af8","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}"#,
            &[],
        );
        check(r#"{"token":null,"secret":true,"apiKey":"$API_KEY"}"#, &[]);
    }
}
