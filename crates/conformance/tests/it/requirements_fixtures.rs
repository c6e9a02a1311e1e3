//! The six streams that the contract asks of every provider (R89 to R94), and two more, as far as a stream alone shows.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{check, kind, scenario, scenarios, text};

fn kinds(events: &[Value]) -> BTreeSet<&str> {
    events.iter().map(kind).collect()
}

fn has_ref(event: &Value, wanted: &str) -> bool {
    let refs = event["refs"].as_array().map(Vec::as_slice).unwrap_or_default();
    refs.iter().any(|reference| text(reference, "kind") == Some(wanted))
}

fn place(events: &[Value], wanted: &str) -> usize {
    events.iter().position(|event| kind(event) == wanted).unwrap_or_else(|| panic!("no {wanted}"))
}

// verifies: R89
#[test]
fn text_has_deltas_and_one_final() {
    let events = scenario("text");
    let count = |wanted| events.iter().filter(|event| kind(event) == wanted).count();
    assert!(count("model.delta") >= 2);
    assert_eq!(count("model.completed"), 1);
    let streamed: String =
        events.iter().filter_map(|event| event["payload"]["delta"].as_str()).collect();
    let last = &events[place(&events, "model.completed")];
    assert_eq!(last["payload"]["text"], streamed, "the final text confirms what was streamed");
}

// verifies: R90
#[test]
fn tool_success_has_arguments_progress_result_and_an_output_ref() {
    let events = scenario("tool-success");
    assert!(kinds(&events).is_superset(&["tool.args", "tool.progress", "tool.result"].into()));
    assert!(has_ref(&events[place(&events, "tool.result")], "output"));
    assert!(has_ref(&events[place(&events, "output.spilled")], "output"));
}

// verifies: R91
#[test]
fn tool_failure_has_a_category_and_a_recovery() {
    let events = scenario("tool-failure");
    let payload = &events[place(&events, "tool.failed")]["payload"];
    assert!(payload["failureCategory"].is_string() && payload["recovery"].is_string(), "{payload}");
}

// verifies: R93
#[test]
fn artifact_evidence_has_both() {
    let events = scenario("artifact-evidence");
    assert!(kinds(&events).is_superset(&["artifact.changed", "evidence.exported"].into()));
    assert!(has_ref(&events[place(&events, "artifact.changed")], "artifact"));
}

// verifies: R211
#[test]
fn a_stream_that_is_lost_closes_the_model_call_and_then_the_turn() {
    let events = scenario("stream-lost");
    assert!(place(&events, "turn.failed") > place(&events, "model.failed"));
    assert!(place(&events, "model.failed") > place(&events, "stream.interrupted"));
}

#[test]
fn an_approval_is_asked_before_it_is_answered() {
    let events = scenario("approval");
    assert!(place(&events, "action.required") < place(&events, "action.resolved"));
}

#[test]
fn a_broken_stream_is_repaired_after_it_broke() {
    let events = scenario("stream-recovery");
    assert!(place(&events, "stream.interrupted") < place(&events, "stream.repaired"));
}

// verifies: R2
#[test]
fn no_rule_finds_anything_in_any_of_them() {
    for (path, events) in scenarios() {
        let report = check(&events);
        assert!(report.findings.is_empty(), "{}\n{report}", path.display());
        assert_eq!(report.level, conformance::Level::RuntimeCompatible);
    }
}
