//! What the way in promises of secrets and large bodies, seen from outside: the bytes on disk, the facts, the receipt.

use std::path::Path;
use std::sync::Arc;

use event_spine::blob::BlobId;
use event_spine::mask::{Edge, Found, Rules, WITHHELD};
use event_spine::wire::WireEvent;
use event_spine::{AppendError, EventDraft, EventLog, Expected, ReadMode, Receipt, SessionId};
use serde_json::{Value, json};

use crate::common::{contents, options, options_with_seed, session};

fn draft(id: &str, event_type: &str, payload: &Value) -> EventDraft {
    let event = json!({
        "schemaVersion": "0.1", "runtimeId": "rt_test", "sessionId": "sess_1", "eventId": id,
        "timestamp": "2026-06-09T10:00:00Z", "type": event_type, "threadId": "th", "turnId": "tu", "stepId": "st",
        "toolCallId": "call_1", "messageId": "msg_1", "partId": "part_1", "payload": payload,
    });
    WireEvent::parse(&event.to_string()).unwrap().draft
}

fn append(log: &EventLog, drafts: &[EventDraft]) -> Result<Receipt, AppendError> {
    log.append(&session("sess_1"), Expected::Any, drafts.to_vec())
}

/// Types and payloads of a session, in order.
fn stored(log: &EventLog, session: &SessionId) -> Vec<(String, Value)> {
    let mut events = log.reader().read(session, .., ReadMode::Strict).unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        let payload = event.draft.payload.read().unwrap();
        all.push((event.draft.event_type.name().to_owned(), payload));
    }
    all
}

/// The canary of a test, made up at run time, so that no file of the repository has it.
fn canary(prefix: &str) -> String {
    let letters = "Zq7Xw2Kd9Rf4Tg6Yh1Uj8Im3Nb5Vc0LpSaOe";
    format!("{prefix}{letters}")
}

fn assert_nowhere(dir: &Path, secret: &str) {
    for (path, bytes) in contents(dir) {
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{secret} is in {}", path.display());
    }
}

// verifies: H39
#[test]
fn no_secret_reaches_the_disk_inline_or_in_a_blob() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    let (token, key) = (canary("ghp_"), canary(""));
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{key}{key}\n-----END PRIVATE KEY-----");
    let output = format!(
        "AWS_ACCESS_KEY_ID=AKIAQWERTYUIOPASDFGH\nAuthorization: Bearer {key}\n{pem}\npostgres://app:{key}@db/x\n\
         commit 9b9ea2c4f1e1d9a4a53a4c3b9a7f6e5d4c3b2a10\nrun 550e8400-e29b-41d4-a716-446655440000"
    );
    let large = format!("{}\n{token}\n{}", "x".repeat(50_000), "y".repeat(50_000));
    let receipt = append(
        &log,
        &[
            draft(
                "evt_1",
                "tool.result",
                &json!({ "output": output, "metadata": { "env": { "API_KEY": key } } }),
            ),
            draft("evt_2", "tool.result", &json!({ "output": large })),
        ],
    )
    .unwrap();
    assert_eq!((receipt.masked, receipt.spilled), (6, 1));
    let events = stored(&log, &session("sess_1"));
    let kept = events[0].1["output"].as_str().unwrap();
    assert!(kept.contains("9b9ea2c4f1e1d9a4a53a4c3b9a7f6e5d4c3b2a10"), "{kept}");
    assert!(kept.contains("550e8400-e29b-41d4-a716-446655440000"), "{kept}");
    drop(log);
    for secret in [&token, &key, "AKIAQWERTYUIOPASDFGH"] {
        assert_nowhere(dir.path(), secret);
    }
}

// verifies: H39
#[test]
fn what_was_masked_is_a_fact_behind_the_event_and_the_receipt_counts_it() {
    let log = EventLog::in_memory(options());
    let payload = json!({ "output": "password=hunter2 x://u:hunter2@h", "metadata": { "signature": "EqQBCkYIARgCIkDr0d" } });
    let receipt = append(
        &log,
        &[
            draft("evt_1", "tool.started", &json!({ "toolName": "sh" })),
            draft("evt_2", "tool.result", &payload),
            draft("evt_3", "turn.completed", &json!({})),
        ],
    )
    .unwrap();
    assert_eq!(receipt.sequences, [1, 2, 5]);
    assert_eq!((receipt.masked, receipt.appended), (3, 3));
    let events = stored(&log, &session("sess_1"));
    let facts: Vec<_> =
        events.iter().filter(|(name, _)| name == "output.redacted").map(|(_, fact)| fact).collect();
    assert_eq!(
        facts,
        [
            &json!({ "target": "evt_2", "method": "mask", "reason": "password", "count": 2 }),
            &json!({ "target": "evt_2", "method": "remove", "reason": "opaque-reasoning", "count": 1 }),
        ]
    );
    assert_eq!(events[1].1["metadata"], json!({}));
}

// verifies: H39
#[test]
fn a_key_that_two_deltas_share_is_caught_and_its_stub_is_harmless() {
    let token = canary("sk-proj-");
    for split in 1..token.len() {
        let dir = tempfile::tempdir().unwrap();
        let mut drafts = Vec::new();
        for (n, piece) in [&format!("use {}", &token[..split]), &format!("{} now", &token[split..])]
            .iter()
            .enumerate()
        {
            drafts.push(draft(&format!("evt_{n}"), "model.delta", &json!({ "delta": piece })));
        }
        let log = EventLog::open(dir.path(), options()).unwrap();
        append(&log, &drafts[..1]).unwrap();
        append(&log, &drafts[1..]).unwrap();
        let deltas = stored(&log, &session("sess_1"));
        let text: String = deltas.iter().filter_map(|(_, p)| p["delta"].as_str()).collect();
        assert!(text.starts_with("use ") && text.ends_with("] now"), "{split}: {text}");
        assert!(!text.contains(&token[..14]), "{split}: {text}");
        drop(log);
        assert_nowhere(dir.path(), &token[14..22]);
    }
}

// verifies: H06 H39
#[test]
fn events_that_were_masked_or_spilled_are_known_again() {
    let dir = tempfile::tempdir().unwrap();
    let token = canary("ghp_");
    let drafts = [
        draft("evt_1", "tool.result", &json!({ "output": "password=hunter2" })),
        draft(
            "evt_2",
            "tool.result",
            &json!({ "output": format!("{token}{}", "\n long".repeat(9_000)) }),
        ),
        draft("evt_3", "model.delta", &json!({ "delta": format!("the key {}", &token[..10]) })),
        draft("evt_4", "model.delta", &json!({ "delta": &token[10..30] })),
        draft("evt_5", "model.delta", &json!({ "delta": format!("{} and more", &token[30..]) })),
        draft("evt_6", "model.delta", &json!({ "delta": " text" })),
    ];
    let log = EventLog::open(dir.path(), options()).unwrap();
    let first = append(&log, &drafts).unwrap();
    let again = |log: &EventLog| {
        let head = log.reader().head(&session("sess_1")).unwrap();
        for one in &drafts {
            let receipt = append(log, std::slice::from_ref(one)).unwrap();
            assert_eq!((receipt.appended, receipt.duplicates), (0, 1), "{}", one.event_id);
        }
        assert_eq!(append(log, &drafts).unwrap().sequences, first.sequences);
        assert_eq!(log.reader().head(&session("sess_1")).unwrap(), head);
    };
    again(&log);
    drop(log);
    let log = EventLog::open(dir.path(), options_with_seed(2)).unwrap();
    again(&log);
    for (id, event_type, payload) in [
        ("evt_1", "tool.result", json!({ "output": "password=hunter3" })),
        (
            "evt_2",
            "tool.result",
            json!({ "output": format!("{token}{}", "\n Long".repeat(9_000)) }),
        ),
        ("evt_4", "model.delta", json!({ "delta": format!("{} ", &token[10..30]) })),
        ("evt_6", "model.delta", json!({ "delta": "more text" })),
    ] {
        let error = append(&log, &[draft(id, event_type, &payload)]).unwrap_err();
        assert!(matches!(error, AppendError::Conflict { .. }), "{id}: {error}");
    }
}

// verifies: H39
#[test]
fn equal_secrets_have_equal_placeholders_across_sessions_and_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for n in 0..3 {
        let log = EventLog::open(dir.path(), options_with_seed(n)).unwrap();
        let s = session(&format!("sess_{n}"));
        let one = draft("evt_1", "tool.result", &json!({ "output": "password=hunter2" }));
        log.append(&s, Expected::Empty, vec![one]).unwrap();
        seen.push(stored(&log, &s)[0].1["output"].clone());
    }
    assert!(seen.iter().all(|text| *text == seen[0]), "{seen:?}");
    let dir = tempfile::tempdir().unwrap();
    let other = EventLog::open(dir.path(), options_with_seed(9)).unwrap();
    append(&other, &[draft("evt_1", "tool.result", &json!({ "output": "password=hunter2" }))])
        .unwrap();
    assert_ne!(stored(&other, &session("sess_1"))[0].1["output"], seen[0]);
}

struct Fails;

impl Rules for Fails {
    fn suspects(&self, json: &str) -> bool {
        json.contains("boom")
    }
    fn find(&self, text: &str, _: Edge, _: &mut Vec<Found>) {
        assert!(!text.contains("boom"), "cannot look at this");
    }
    fn by_name(&self, _: &str, _: &str) -> Option<&'static str> {
        None
    }
}

// verifies: H39
#[test]
fn when_masking_fails_the_value_is_withheld_and_batch_and_event_are_kept() {
    let mut options = options();
    options.rules = Arc::new(Fails);
    let log = EventLog::in_memory(options);
    let receipt = append(
        &log,
        &[
            draft("evt_1", "tool.result", &json!({ "output": "fine" })),
            draft("evt_2", "tool.result", &json!({ "output": "boom", "toolName": "sh" })),
        ],
    )
    .unwrap();
    assert_eq!((receipt.appended, receipt.masked), (2, 1));
    let events = stored(&log, &session("sess_1"));
    assert_eq!(events[1].1, json!({ "output": WITHHELD, "toolName": "sh" }));
    assert_eq!(events[2].1["method"], "withhold");
}

// verifies: H37
#[test]
fn an_image_is_stored_once_over_ten_compactions_and_three_forks() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgoAAAANSUhEUg".repeat(20_000));
    for n in 0..10 {
        let payload =
            json!({ "messages": [{ "role": "user", "text": image }], "reason": "compaction" });
        append(&log, &[draft(&format!("evt_{n}"), "messages.snapshot", &payload)]).unwrap();
    }
    for n in 0..3 {
        let child = session(&format!("child_{n}"));
        let runtime = draft("x", "turn.completed", &json!({})).runtime_id;
        log.fork(&session("sess_1"), 10, &child, &runtime, None).unwrap();
        let payload = json!({ "text": image });
        log.append(
            &child,
            Expected::Any,
            vec![draft(&format!("c{n}"), "model.completed", &payload)],
        )
        .unwrap();
    }
    let blobs = contents(&dir.path().join("blobs"));
    assert_eq!(blobs.len(), 1);
    let id = BlobId::of(image.as_bytes());
    assert_eq!(log.blobs().get(&id).unwrap(), image.as_bytes());
    for (_, payload) in stored(&log, &session("child_0")) {
        assert!(payload.to_string().len() < 4_096, "the event has head and tail only");
    }
}

// verifies: H36
#[test]
fn signed_reasoning_survives_masking_byte_for_byte_or_not_at_all() {
    let log = EventLog::in_memory(options());
    let signature = format!("EqQBCkYI{}==", canary("").repeat(8));
    let thinking =
        json!({ "type": "thinking", "thinking": "the password=hunter2", "signature": signature });
    let payload = json!({ "messages": [], "history": [thinking, { "type": "redacted_thinking", "data": signature }] });
    append(&log, &[draft("evt_1", "messages.snapshot", &payload)]).unwrap();
    let history = &stored(&log, &session("sess_1"))[0].1["history"];
    assert_eq!(history[0].get("signature"), None);
    assert_eq!(history[1], json!({ "type": "redacted_thinking" }));
}
