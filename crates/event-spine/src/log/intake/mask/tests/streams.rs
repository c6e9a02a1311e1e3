//! A secret that is split over pieces, at every place where it can be split.

use super::super::encoded::{alnum, base64, dashed};
use super::super::rules::TOKENS;
use super::*;

/// What is stored of a text that comes in pieces.
fn stored(event_type: &str, pieces: &[&str]) -> String {
    let masker = masker();
    let member = if event_type == "tool.progress" { "preview" } else { "delta" };
    let mut out = String::new();
    for piece in pieces {
        let payload = serde_json::json!({ member: piece }).to_string();
        let masked = masker.mask(&session(), draft(event_type, &payload)).draft;
        let value: serde_json::Value = masked.payload.read().unwrap();
        out += value[member].as_str().unwrap();
    }
    out
}

/// The longest piece of `secret` that `text` has.
fn leaked(text: &str, secret: &str) -> usize {
    let longest = |from: usize| {
        (from..=secret.len())
            .rev()
            .find(|to| text.contains(&secret[from..*to]))
            .map_or(0, |to| to - from)
    };
    (0..secret.len()).map(longest).max().unwrap_or(0)
}

/// Splits `before + secret + after` at every place into two and at many into three; `bound` characters may stay;
/// one always does, since any text may have it.
fn check(before: &str, secret: &str, after: &str, bound: usize) {
    let bound = bound.max(1);
    let text = format!("{before}{secret}{after}");
    let last = text.len() - after.len();
    for first in before.len().saturating_sub(3)..=last {
        let two = stored("model.delta", &[&text[..first], &text[first..]]);
        let leak = leaked(&two, secret);
        assert!(leak <= bound, "{leak} characters of {secret} at {first}: {two}");
        assert!(two.starts_with(before), "{first}: {two}");
        assert!(two.ends_with(after), "{first}: {two}");
        for second in (first..=last).step_by(if secret.len() > 30 { 13 } else { 1 }) {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            let three = stored("model.delta", &pieces);
            let leak = leaked(&three, secret);
            assert!(leak <= bound, "{leak} of {secret} at {first}, {second}: {three}");
            assert!(three.ends_with(after), "{first}, {second}: {three}");
        }
    }
    let one_by_one: Vec<String> = text.chars().map(String::from).collect();
    let pieces: Vec<&str> = one_by_one.iter().map(String::as_str).collect();
    let all = stored("model.delta", &pieces);
    assert!(leaked(&all, secret) <= bound, "one by one: {all}");
    assert!(all.ends_with(after), "one by one: {all}");
}

// verifies: H39
#[test]
fn every_known_token_is_caught_wherever_it_is_split() {
    for rule in TOKENS {
        let body = made_up(rule.class, rule.min.max(20).min(rule.max));
        let token = format!("{}{body}", rule.prefix);
        check("the key is ", &token, " ok", rule.prefix.len() + rule.stub());
    }
}

// verifies: H39
#[test]
fn shapes_are_caught_wherever_they_are_split() {
    let key = made_up(base64, 40).replace('=', "a");
    let jwt =
        format!("eyJ{}.eyJ{}.{}", made_up(alnum, 20), made_up(alnum, 30), made_up(dashed, 43));
    check("id ", &jwt, " ok", 12);
    check("Authorization: Bearer ", &made_up(alnum, 30), "\nok", 5);
    check("postgres://app:", "hunter2x", "@db/x", 0);
    check("bot ", &format!("123456789:AA{}", made_up(dashed, 33)), " ok", 18);
    let pem = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{key}\n{key}\nAbc=\n-----END RSA PRIVATE KEY-----"
    );
    check("x\n", &pem, " ok", "-----BEGIN RSA PRIVATE KEY-----".len());
}

// verifies: H39
#[test]
fn named_values_are_caught_wherever_they_are_split() {
    let s = made_up(alnum, 32);
    check("{\"password\":\"", "hunter2", "\",\"n\":1}", 0);
    check("{\\\"password\\\":\\\"", "hunter2", "\\\"}", 0);
    check("password=", "hunter2-and-more", " ok", 3);
    check("Password: ", "hunter2-and-more", "\nok", 3);
    check("export API_KEY=", &s, "\nok", 4);
    check("{\"client_secret\": \"", &s, "\"}", 4);
    check("?access_token=", &s, "&b=1", 4);
    check("token=", &s, "\n", 6);
}

#[test]
fn text_without_secrets_streams_through() {
    let check = |pieces: &[&str]| assert_eq!(stored("model.delta", pieces), pieces.concat());
    check(&["use sk", "-lea", "rn for ", "the ta", "sk-list"]);
    check(&["password", ": ", "is ", "required"]);
    check(&["see https://", "example.com:", "8080", "/x"]);
    check(&["the token", " was", " parsed", ""]);
    check(&["gh", "p_", " is a prefix"]);
    check(&["größer 🦀", "🦀 als"]);
}

#[test]
fn streams_are_kept_apart() {
    let masker = masker();
    let piece = |message: &str, event_type: &str, payload: &str| {
        let mut draft = draft(event_type, payload);
        draft.scope.set("messageId", message).unwrap();
        masker.mask(&session(), draft).draft.payload.as_str().to_owned()
    };
    piece("a", "model.delta", r#"{"delta":"password="}"#);
    assert_eq!(piece("b", "model.delta", r#"{"delta":"hunter2 x"}"#), r#"{"delta":"hunter2 x"}"#);
    assert_eq!(
        piece("a", "reasoning.delta", r#"{"delta":"hunter2 x"}"#),
        r#"{"delta":"hunter2 x"}"#
    );
    assert!(piece("a", "model.delta", r#"{"delta":"hunter2 x"}"#).contains("[masked:password:"));
    piece("c", "tool.progress", r#"{"stream":"stdout","preview":"password="}"#);
    let other = r#"{"stream":"stderr","preview":"hunter2 x"}"#;
    assert_eq!(piece("c", "tool.progress", other), other);
}

#[test]
fn pieces_of_unknown_types_are_streams_too() {
    let token = format!("ghp_{}", made_up(alnum, 36));
    let out = stored("vendor.chunk", &["a ", &token[..20], &token[20..], " b"]);
    assert_eq!(brief(&out), "a [github-token] b");
}

#[test]
fn a_secret_within_one_piece_has_the_placeholder_of_a_whole_text() {
    let whole = masker().mask_text("password=hunter2 x").0.into_owned();
    assert_eq!(stored("model.delta", &["password=hunter2 x"]), whole);
    assert_eq!(stored("model.delta", &["password=", "hunter2 x"]), whole);
    assert_eq!(stored("tool.progress", &["pass", "word=hunter2 x"]), whole);
}

#[test]
fn the_state_of_streams_is_bounded() {
    let mut streams = stream::Streams::default();
    let hashes = hashbrown::DefaultHashBuilder::default();
    let key = |n: usize| {
        let mut draft = draft("model.delta", r#"{"delta":"x"}"#);
        draft.scope.set("messageId", &format!("m{n}")).unwrap();
        let piece = stream::Piece::of(&draft.event_type, draft.payload.as_str()).unwrap();
        piece.stream(&hashes, &session(), &draft.scope)
    };
    for n in 0..10_000 {
        streams.set(key(n), format!("tail {n}"));
    }
    assert!(streams.len() <= 4096);
    assert_eq!(streams.take(key(9_999)), "tail 9999");
    assert_eq!(streams.take(key(0)), "");
}
