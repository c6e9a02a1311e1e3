//! What spilling promises: bodies come back, types still read, cuts fall between characters, nothing is stored twice.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::blob::BlobId;
use crate::event::{CATALOG, EventDescriptor, EventType};
use crate::id::{EventId, RuntimeId};
use crate::json::Repairs;
use crate::scope::Scope;
use crate::time::Timestamp;

fn draft(event_type: &str, payload: &str) -> EventDraft {
    EventDraft {
        schema_version: "0.1".into(),
        runtime_id: RuntimeId::parse("rt_test").unwrap(),
        event_id: EventId::parse("evt_1").unwrap(),
        timestamp: Timestamp::verbatim("2026-06-09T10:00:00Z"),
        event_type: EventType::named(event_type),
        scope: Scope::default(),
        refs: Refs::NONE,
        payload: JsonText::parse(payload).unwrap().0,
        extra: None,
    }
}

fn spilled(draft: EventDraft, blobs: &Blobs) -> Spilled {
    let limit = INLINE_LIMIT;
    let spilled = spill(draft, blobs, limit).unwrap();
    let length = spilled.draft.payload.as_str().len();
    assert!(length <= 3 * limit, "{length} bytes stay");
    assert_eq!(spilled.draft.refs.to_vec().len(), spilled.bodies);
    let again = spill(spilled.draft.clone(), blobs, limit).unwrap();
    assert_eq!((again.bodies, &again.draft), (0, &spilled.draft));
    spilled
}

/// Puts every body back where it stood.
fn restored(draft: &EventDraft, blobs: &Blobs) -> Value {
    let mut payload: Value = draft.payload.read().unwrap();
    for one in draft.refs.to_vec() {
        let body = blobs.get(&one.id.parse::<BlobId>().unwrap()).unwrap();
        assert_eq!(one.size_bytes, Some(body.len() as u64));
        let body = String::from_utf8(body).unwrap();
        let body = match one.media_type.as_deref() {
            Some("application/json") => serde_json::from_str(&body).unwrap(),
            _ => Value::String(body),
        };
        let pointer = one.pointer.unwrap();
        match (payload.pointer_mut(&pointer), pointer.strip_prefix('/')) {
            (Some(place), _) => *place = body,
            (None, Some(name)) => payload[name] = body,
            (None, None) => payload = body,
        }
    }
    payload
}

#[test]
fn what_fits_is_not_touched() {
    let blobs = Blobs::in_memory();
    for payload in [r#"{"x":1.10}"#.to_owned(), json!({ "x": "y".repeat(8000) }).to_string()] {
        let before = draft("tool.result", &payload);
        let after = spill(before.clone(), &blobs, INLINE_LIMIT).unwrap();
        assert_eq!((after.bodies, after.draft), (0, before));
    }
}

// verifies: H37
#[test]
fn fifty_megabytes_without_a_line_break_leave_head_tail_size_and_hash() {
    let blobs = Blobs::in_memory();
    let output = format!("HEAD{}TAIL", "x".repeat(50_000_000));
    let payload = json!({ "status": "succeeded", "output": output, "exitCode": 0 }).to_string();
    let after = spilled(draft("tool.result", &payload), &blobs).draft;
    let left: Value = after.payload.read().unwrap();
    let left = left["output"].as_str().unwrap();
    let id = BlobId::of(output.as_bytes());
    assert!(left.starts_with("HEADxxx") && left.ends_with("xxxTAIL"));
    assert!(left.contains(&format!("\n…[50000008 bytes in {id}]…\n")), "{left}");
    let one = after.refs.to_vec().remove(0);
    assert_eq!(one.id, id.to_string());
    assert_eq!(one.pointer.as_deref(), Some("/output"));
    assert_eq!(one.owner.as_deref(), Some("tool"));
    assert_eq!(one.summary.as_deref(), Some("payload member /output, 50000008 bytes"));
    assert_eq!(blobs.get(&id).unwrap(), output.as_bytes());
}

// verifies: H37
#[test]
fn the_same_body_is_stored_once_however_often_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::local(dir.path()).unwrap();
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgo".repeat(200_000));
    for n in 0..13 {
        let payload = json!({ "state": { "turn": n, "shot": image }, "revision": "r" }).to_string();
        let after = spilled(draft("snapshot.updated", &payload), &blobs).draft;
        let one = after.refs.to_vec().remove(0);
        assert_eq!(one.media_type.as_deref(), Some("image/png"));
        assert_eq!(one.pointer.as_deref(), Some("/state/shot"));
    }
    let shards = std::fs::read_dir(dir.path()).unwrap();
    let files = shards.flat_map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap());
    assert_eq!(files.count(), 1);
}

// verifies: H38
#[test]
fn emoji_are_cut_between_and_never_through() {
    let blobs = Blobs::in_memory();
    let output = "👩‍🚀🦀".repeat(5_000);
    for limit in [512, 513, 1001, 4097, 8191, 8192] {
        let payload = json!({ "output": output }).to_string();
        let after = spill(draft("tool.result", &payload), &blobs, limit).unwrap().draft;
        let left: Value = after.payload.read().unwrap();
        let left = left["output"].as_str().unwrap();
        assert!(left.len() < limit, "{limit}: {}", left.len());
        assert!(!left.contains('\u{fffd}') && !after.payload.as_str().contains("\\ud"));
        assert_eq!(restored(&after, &blobs)["output"], output);
    }
}

// verifies: H38
#[test]
fn lone_surrogates_were_repaired_and_spill_as_what_they_became() {
    let blobs = Blobs::in_memory();
    let text = format!(
        r#"{{"output":"{}\ud83d","args":"\ude00{}"}}"#,
        "a".repeat(9_000),
        "b".repeat(9_000)
    );
    let (payload, repairs) = JsonText::parse(&text).unwrap();
    assert_eq!(repairs, Repairs { lone_surrogates: 2 });
    let after = spilled(draft("tool.result", payload.as_str()), &blobs).draft;
    let back = restored(&after, &blobs);
    assert_eq!(back["output"], format!("{}\u{fffd}", "a".repeat(9_000)));
    assert_eq!(back["args"], format!("\u{fffd}{}", "b".repeat(9_000)));
}

#[test]
fn everything_else_stays_as_it_was_written() {
    let blobs = Blobs::in_memory();
    let long = "y".repeat(10_000);
    let payload = format!(
        r#"{{"id":9007199254740993,"x":1.10,"y":1e400,"a/b~c":{{"k":["\u0041",{{"deep":"{long}"}}]}},"x":2}}"#
    );
    let after = spilled(draft("vendor.thing", &payload), &blobs).draft;
    let text = after.payload.as_str();
    let head = r#"{"id":9007199254740993,"x":1.10,"y":1e400,"a/b~c":{"k":["\u0041",{"deep":"yyy"#;
    assert!(text.starts_with(head) && text.ends_with(r#"yyy"}]},"x":2}"#), "{text}");
    let one = after.refs.to_vec().remove(0);
    assert_eq!(one.pointer.as_deref(), Some("/a~1b~0c/k/1/deep"));
    assert_eq!(one.owner, None);
}

#[test]
fn refs_that_were_there_stay_first() {
    let blobs = Blobs::in_memory();
    let mut with = draft("tool.result", &json!({ "output": "z".repeat(9_000) }).to_string());
    with.refs = Refs::from_list(&[Ref::new(RefKind::Raw, "raw-1")]).unwrap();
    let refs = spill(with, &blobs, INLINE_LIMIT).unwrap().draft.refs.to_vec();
    let kinds: Vec<_> = refs.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [RefKind::Raw, RefKind::Output]);
}

#[test]
fn members_beside_the_payload_spill_too() {
    let blobs = Blobs::in_memory();
    let mut with = draft("tool.result", "{}");
    with.extra = Some(JsonText::from_value(&json!({ "log": "z".repeat(9_000), "n": 1 })).unwrap());
    let after = spill(with, &blobs, INLINE_LIMIT).unwrap();
    assert_eq!(after.bodies, 1);
    assert!(after.draft.extra.unwrap().as_str().len() < 5_000);
    let one = after.draft.refs.to_vec().remove(0);
    assert_eq!(one.pointer, None);
    assert_eq!(one.summary.as_deref(), Some("member /log beside the payload, 9000 bytes"));
}

#[test]
fn many_small_parts_go_as_one_and_the_type_still_reads() {
    let blobs = Blobs::in_memory();
    let check = |event_type: &str, payload: Value, left: &[&str]| {
        let before = draft(event_type, &payload.to_string());
        before.event().unwrap();
        let after = spilled(before, &blobs).draft;
        after.event().unwrap();
        for part in left {
            assert!(after.payload.as_str().contains(part), "{}: {part}", after.payload);
        }
        assert_eq!(restored(&after, &blobs), payload);
    };
    let message = json!({ "role": "user", "text": "a message of no great length" });
    let messages = vec![message; 3_000];
    check("messages.snapshot", json!({ "messages": messages }), &[r#""messages":[]"#]);
    check(
        "turn.submitted",
        json!({ "text": "hi", "parts": vec![json!({ "kind": "text", "text": "x" }); 2_000] }),
        &[r#""text":"hi""#, r#""parts":[]"#],
    );
    check("snapshot.updated", json!({ "state": vec![1.5; 20_000] }), &[r#""state":"[1.5,"#]);
    check(
        "state.delta",
        json!({ "patch": vec![json!({ "op": "remove", "path": "/a" }); 2_000] }),
        &[r#""patch":"[{\"op"#],
    );
    check(
        "review.verdict",
        json!({ "verdict": "approved", "fixes": vec!["fix it"; 9_000] }),
        &[r#""fixes":[]"#],
    );
    let many: serde_json::Map<_, _> =
        (0..4_000).map(|n| (format!("member{n}"), json!(n))).collect();
    check("vendor.thing", Value::Object(many.clone()), &[]);
    let mut known = many;
    known.insert("toolName".into(), json!("write_file"));
    let before = draft("tool.started", &Value::Object(known.clone()).to_string());
    let after = spilled(before, &blobs).draft;
    assert_eq!(after.payload.as_str(), r#"{"toolName":"write_file"}"#);
    let one = after.refs.to_vec().remove(0);
    assert_eq!(
        (one.pointer.as_deref(), one.summary.unwrap().starts_with("the payload")),
        (Some(""), true)
    );
    let texts: serde_json::Map<_, _> =
        (0..20).map(|n| (format!("m{n}"), json!("t".repeat(7_000)))).collect();
    check("vendor.thing", Value::Object(texts), &["bytes in blake3:"]);
}

/// A value for a schema, with texts and lists as large as asked.
fn sample(root: &Value, schema: &Value, text: &str, items: usize) -> Value {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(path.trim_start_matches('#')).unwrap();
        return sample(root, target, text, items);
    }
    for one_of in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(one_of).and_then(|list| list.get(0)) {
            return sample(root, first, text, items);
        }
    }
    if let Some(word) = schema.get("const").or_else(|| schema.pointer("/enum/0")) {
        return word.clone();
    }
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind));
    match kind.and_then(Value::as_str) {
        Some("string") => json!(text),
        Some("boolean") => json!(true),
        Some("number" | "integer") => json!(7),
        Some("array") => {
            let item = sample(root, &schema["items"], &text[..text.len().min(40)], items.min(2));
            Value::Array(vec![item; items])
        }
        Some("object") => {
            let members = schema["properties"].as_object().cloned().unwrap_or_default();
            let members =
                members.iter().map(|(name, s)| (name.clone(), sample(root, s, text, items)));
            Value::Object(members.collect())
        }
        _ => json!({ "any": text, "list": vec![1.5; items] }),
    }
}

#[test]
fn every_type_of_the_catalog_still_reads_after_spilling() {
    let blobs = Blobs::in_memory();
    let check = |row: &'static EventDescriptor, text: &str, items: usize| {
        let schema = (row.schema)();
        let payload = sample(schema.as_value(), schema.as_value(), text, items);
        let before = draft(row.name, &payload.to_string());
        before.event().unwrap_or_else(|e| panic!("{}: {e}", row.name));
        let after = spill(before, &blobs, 1_000).unwrap().draft;
        after.event().unwrap_or_else(|e| panic!("{}: {e}: {}", row.name, after.payload));
        let left = after.payload.as_str().len();
        assert!(left < 12_000, "{}: {left} bytes stay", row.name);
        assert_eq!(restored(&after, &blobs), payload, "{}", row.name);
    };
    for row in CATALOG.iter() {
        check(row, &"t".repeat(2_000), 1);
        check(row, &"t".repeat(900), 200);
        check(row, "t", 400);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        ("\\PC{1,4}", 1_usize..900).prop_map(|(text, times)| Value::from(text.repeat(times))),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map("[a-z~/\"\\\\\u{e9}]{1,4}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_spilled_and_fetched_is_what_was(members in prop::collection::hash_map("[a-z]{1,3}", any_value(), 0..8)) {
        let payload = Value::Object(members.into_iter().collect());
        let blobs = Blobs::in_memory();
        let text = payload.to_string();
        let after = spill(draft("vendor.thing", &text), &blobs, 600).unwrap();
        prop_assert!(JsonText::parse(after.draft.payload.as_str()).is_ok());
        prop_assert_eq!(restored(&after.draft, &blobs), payload);
        let again = spill(draft("vendor.thing", &text), &blobs, 600).unwrap();
        prop_assert_eq!(again.draft, after.draft);
    }
}
