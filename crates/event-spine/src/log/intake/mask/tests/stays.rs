//! Rows of what looks like a secret and is none, and of what is never edited.

use super::*;

fn check(text: &str) {
    let (masked, counts) = masker().mask_text(text);
    assert_eq!(masked, text);
    assert_eq!(counts.total(), 0);
    let payload = serde_json::json!({ "output": text, "preview": format!("{text} ") }).to_string();
    assert_eq!(masked_payload(&payload), payload);
}

// verifies: H39
#[test]
fn hashes_ids_paths_and_prose_stay() {
    for text in [
        "commit 9b9ea2c4f1e1d9a4a53a4c3b9a7f6e5d4c3b2a10",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "550e8400-e29b-41d4-a716-446655440000",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "evt_01J9ZQ4T8Q5W3Y6R7E8D9C0B1A",
        "call_AbC123dEf456GhI789jKl012",
        "toolu_01A09q90qw90lq917835lq9",
        "msg_68a1b2c3d4e5f60718293a4b5c6d7e8f",
        "resp_0123456789abcdef0123456789abcdef0123456789abcdef",
        "chatcmpl-9xYzAbCdEfGhIjKlMnOpQrStUv",
        "/usr/lib/python3.12/site-packages/sklearn/utils/_token.py",
        "/home/me/.config/tokens/2024-01-01/key.json",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "https://user@example.com/path:8080/a@b",
        "http://localhost:8080/password/reset?next=/home",
        "https://example.com/a/b@v1.2.3",
        "git@github.com:rust-lang/rust.git",
        "mail me: me@example.com",
        "use sk-learn-style-pipelines-everywhere-you-can",
        "the task-management-and-planning-module",
        "risk-adjusted-return-over-time-1234567890",
        "The password is required.",
        "Password: must be at least 8 characters",
        "Enter password:",
        "password=${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "password: <your password>",
        "PASSWORD=********",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "api_key=OPENAI_API_KEY",
        "const token = parseToken(input);",
        "token = self.tokens.next_token",
        "secret: my-app-secret",
        "the secret: it was never there",
        "max_tokens=4096, input_tokens: 12345678901234",
        "next_page_token=CAUQAA1234567890abcdef",
        "{\"token\":\"Hello\",\"logprob\":-0.1}",
        "Basic authentication and Bearer tokens",
        "Bearer authentication is used",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "PWD=/home/me/project-2024",
        "public_key=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SaG6UOoqKLsabgH5",
        "primary_key=id12345678",
        "cache-key: node-modules-abc123def456",
        "-----BEGIN CERTIFICATE-----\nMIIB8jCCAVugAwIBAgIJAK\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQ\n-----END PUBLIC KEY-----",
        "eyJhbGciOiJIUzI1NiJ9",
        "SKILL SKU SK1234",
        "at 10:AA or 12:30",
        "npm_config_registry=x npm_lifecycle_event=y",
        "hf_model_name and xai-library and r8_x",
        "[masked:password:0123abcd] stays",
        "passwords.txt, tokenizer.json, secrets.yaml, keyboard",
        "\u{1b}[31mError\u{1b}[0m: token expected",
    ] {
        check(text);
    }
}

/// Nothing closes these quotes, so they are none. Where a text is cut one may be, and is taken for one.
#[test]
fn apostrophes_begin_no_value() {
    for text in ["the password 'tis of thee", "no password \"here"] {
        assert_eq!(masker().mask_text(text).0, text);
    }
}

// verifies: H39
#[test]
fn payloads_without_secrets_come_back_as_they_are() {
    for payload in [
        r#"{"delta":"hello"}"#,
        r#"{"inputTokens":1234,"outputTokens":56,"hasUnknownUsage":false}"#,
        r#"{"id":9007199254740993,"x":1.10,"y":1e400,"x":2,"\u0041":"\u00e9\ud83d\ude00\/"}"#,
        r#"{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string"}},"required":["password"]}"#,
        r#"{"token":null,"secret":false,"apiKey":12345678901234567890,"password":[]}"#,
        r#"{"apiKey":"OPENAI_API_KEY","secret":"my-app-secret-name","authorization":"none-needed"}"#,
        r#"{"decision":"approve","authorization":"approved","actionType":"credential"}"#,
        r#"{"toolCallId":"call_AbC123dEf456GhI789jKl012","requestHash":"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9"}"#,
        r#"{"signature":"fn main() -> Result<(), Error>"}"#,
    ] {
        assert_eq!(masked_payload(payload), payload);
    }
}

// verifies: H36
#[test]
fn opaque_reasoning_is_byte_equal_or_gone_whole() {
    let sig =
        "EqQBCkYIARgCIkDr0d+KvLkSx/AKIAABCDEFGHIJKLMNOP/ghp_0123456789abcdefghijklmnopqrstuvwxyz==";
    let check = |payload: &str, expected: &str| {
        let payload = payload.replace("SIG", sig);
        assert_eq!(masked_payload(&payload), expected, "{payload}");
    };
    check(
        r#"{"parts":[{"type":"thinking","thinking":"so","signature":"SIG"},{"type":"redacted_thinking","data":"SIG"},{"type":"text","text":"x"}]}"#,
        r#"{"parts":[{"type":"thinking","thinking":"so"},{"type":"redacted_thinking"},{"type":"text","text":"x"}]}"#,
    );
    check(
        r#"{"data":"SIG","type":"redacted_thinking","n":1}"#,
        r#"{"type":"redacted_thinking","n":1}"#,
    );
    check(
        r#"{"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"SIG"}}"#,
        r#"{"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
    );
    check(r#"{"encryptedContent":"SIG","a":1}"#, r#"{"a":1}"#);
    check(r#"{"a":1,"thoughtSignature":"SIG"}"#, r#"{"a":1}"#);
    check(r#"{"a":1,"thought_signature":"SIG","encryptedValue":"SIG"}"#, r#"{"a":1}"#);
    check(r#"{"reasoning_opaque":"SIG"}"#, "{}");
    check(
        r#"{"metadata":{"anthropic":{"redactedData":"SIG"}}}"#,
        r#"{"metadata":{"anthropic":{}}}"#,
    );
    // Too short to be worth dropping, and still not to be edited.
    check(r#"{"signature":"sk-ant-1"}"#, r#"{"signature":"sk-ant-1"}"#);
    // No opaque reasoning: masked like any text.
    assert_eq!(
        brief(&masked_payload(r#"{"signature":"login(password='hunter2')"}"#)),
        r#"{"signature":"login(password='[password]')"}"#
    );
}

struct Panicking;

impl Rules for Panicking {
    fn suspects(&self, json: &str) -> bool {
        assert!(!json.contains("kaboom"), "cannot look at this");
        json.contains("boom")
    }
    fn find(&self, text: &str, _: Edge, _: &mut Vec<Found>) {
        assert!(!text.contains("boom"), "cannot look at this");
    }
    fn by_name(&self, name: &str, _: &str) -> Option<&'static str> {
        assert_ne!(name, "bomb", "cannot look at this");
        None
    }
}

// verifies: H39
#[test]
fn a_value_that_masking_fails_on_is_withheld_and_the_event_kept() {
    let masker = Masker::with_rules([7; 32], Arc::new(Panicking));
    let check = |event_type: &str, payload: &str, expected: &str, withheld: usize| {
        let masked = masker.mask(&session(), draft(event_type, payload));
        let expected = expected.replace("WITHHELD", WITHHELD);
        assert_eq!(masked.draft.payload.as_str(), expected, "{payload}");
        let counts: Vec<_> = masked.counts.iter().collect();
        let wanted: &[_] = &[(WITHHELD_RULE, withheld)];
        assert_eq!(counts, &wanted[..usize::from(withheld > 0)], "{payload}");
    };
    check(
        "tool.result",
        r#"{"a":"boom","b":"fine","n":[1.0,"boom"]}"#,
        r#"{"a":"WITHHELD","b":"fine","n":[1.0,"WITHHELD"]}"#,
        2,
    );
    check("tool.result", r#"{"a":"kaboom"}"#, r#"{"a":"WITHHELD"}"#, 1);
    check("tool.result", r#"{"bomb":"boom","b":"x"}"#, r#"{"bomb":"WITHHELD","b":"x"}"#, 1);
    check("tool.result", r#"{"boom":1}"#, r#"{"WITHHELD":1}"#, 1);
    check("model.delta", r#"{"delta":"boom"}"#, r#"{"delta":"WITHHELD"}"#, 1);
    check("model.delta", r#"{"delta":"fine"}"#, r#"{"delta":"fine"}"#, 0);
    let (text, counts) = masker.mask_text("boom");
    assert_eq!((text.as_ref(), counts.total()), (WITHHELD, 1));
}
