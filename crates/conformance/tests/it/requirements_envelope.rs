//! The envelope (R10 to R18): the fixtures keep it, and an event that does not is found.

use serde_json::{Value, json};

use crate::support::{check, kind, scenario, scenarios, text};

/// The member holds for every event of every fixture; without it, and with a wrong value, an event is found.
#[track_caller]
fn member(name: &str, holds: impl Fn(&Value) -> bool, wrong: &[Value]) {
    for (path, events) in scenarios() {
        assert!(!events.is_empty() && events.iter().all(&holds), "{}", path.display());
    }
    let mut damaged = scenario("text");
    damaged[3].as_object_mut().unwrap().remove(name);
    found(&damaged, name);
    for value in wrong {
        let mut damaged = scenario("text");
        damaged[3][name] = value.clone();
        found(&damaged, name);
    }
}

#[track_caller]
fn found(events: &[Value], path: &str) {
    let report = check(events);
    let at_fault = |f: &conformance::Finding| {
        f.line == Some(4) && f.code == "schema_mismatch" && f.path.starts_with(path)
    };
    assert!(!report.passed && report.findings.iter().any(at_fault), "{path}\n{report}");
}

fn is_text(name: &'static str) -> impl Fn(&Value) -> bool {
    move |event| text(event, name).is_some_and(|text| !text.is_empty())
}

// verifies: R10
#[test]
fn schema_version_is_a_text() {
    member("schemaVersion", is_text("schemaVersion"), &[json!(""), json!(1), json!(null)]);
}

// verifies: R11
#[test]
fn runtime_id_is_a_text() {
    member("runtimeId", is_text("runtimeId"), &[json!(""), json!(["rt"])]);
}

// verifies: R12
#[test]
fn session_id_is_a_text() {
    member("sessionId", is_text("sessionId"), &[json!(""), json!({"id": "s"})]);
}

// verifies: R13
#[test]
fn event_id_is_a_text_and_unique() {
    member("eventId", is_text("eventId"), &[json!(""), json!(7)]);
    for (path, events) in scenarios() {
        let mut ids: Vec<_> = events.iter().filter_map(|event| text(event, "eventId")).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), events.len(), "{}", path.display());
    }
}

// verifies: R14
#[test]
fn timestamp_is_rfc_3339() {
    let shape = regex::Regex::new(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)$").unwrap();
    member(
        "timestamp",
        |event| text(event, "timestamp").is_some_and(|time| shape.is_match(time)),
        &[json!(1_780_000_000), json!("")],
    );
    // A time in another form costs the time, not the event.
    let mut events = scenario("text");
    events[3]["timestamp"] = json!("Tue Jun 9 10:00:00 2026");
    let report = check(&events);
    assert!(report.passed, "{report}");
    assert_eq!(report.findings[0].code, "timestamp_not_rfc3339", "{report}");
}

// verifies: R15 R58
#[test]
fn sequence_is_a_number_that_grows() {
    member("sequence", |event| event["sequence"].is_u64(), &[json!("4"), json!(0), json!(1.5)]);
    for (path, events) in scenarios() {
        let grows =
            events.windows(2).all(|w| w[0]["sequence"].as_u64() < w[1]["sequence"].as_u64());
        assert!(grows, "{}", path.display());
    }
    for wrong in [3, 1] {
        let mut events = scenario("text");
        events[3]["sequence"] = json!(wrong);
        let report = check(&events);
        assert_eq!(report.findings[0].code, "sequence_not_increasing", "{report}");
    }
}

// verifies: R16
#[test]
fn type_is_a_known_class() {
    let shape = regex::Regex::new(r"^[a-z_]+(\.[a-z_]+)+$").unwrap();
    member("type", |event| shape.is_match(kind(event)), &[json!(""), json!(4)]);
    let mut events = scenario("text");
    events[3]["type"] = json!("model.pondered");
    let report = check(&events);
    assert_eq!(report.findings[0].code, "unknown_event_type", "{report}");
}

// verifies: R17
#[test]
fn payload_is_an_object_of_its_type() {
    member(
        "payload",
        |event| event["payload"].is_object(),
        &[json!("prose"), json!([1]), json!(null)],
    );
    let mut events = scenario("tool-failure");
    let failed = events.iter().position(|event| kind(event) == "tool.failed").unwrap();
    events[failed]["payload"] = json!({"error": 404});
    let report = check(&events);
    assert_eq!(report.findings[0].path, "payload.failureCategory", "{report}");
}

// verifies: R18
#[test]
fn refs_are_optional_and_of_a_known_kind() {
    let kinds = ["artifact", "evidence", "output", "raw", "diagnostic", "trace"];
    let mut seen = 0;
    for (path, events) in scenarios() {
        for refs in events.iter().filter_map(|event| event.get("refs")) {
            let all_known = refs.as_array().unwrap().iter().all(|r| kinds.contains(&kind_of(r)));
            assert!(all_known, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 0);
    let mut events = scenario("text");
    events[3]["refs"] = json!([{"kind": "receipt", "id": "r1"}]);
    found(&events, "refs");
}

fn kind_of(reference: &Value) -> &str {
    text(reference, "kind").unwrap_or_default()
}
