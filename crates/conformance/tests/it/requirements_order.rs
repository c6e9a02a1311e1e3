//! Order and pairing (R62 to R71), and what counts as a failure (R82 to R86): on whole streams, good and bad.

use std::collections::BTreeMap;

use conformance::{Options, Report, check_lines};
use serde_json::Value;

use crate::support::{check, events, files, kind, repo, scenario, scenarios, text, with_code};

fn broken(case: &str) -> Report {
    let path = repo(&format!("fixtures/invalid/{case}/events.jsonl"));
    check_lines(std::fs::read(path).unwrap().as_slice(), Options::default()).unwrap()
}

/// Takes the events away that close what opened, and looks for the finding.
#[track_caller]
fn unclosed(name: &str, closes: impl Fn(&str) -> bool, code: &str) {
    let mut events = scenario(name);
    events.retain(|event| !closes(kind(event)));
    let report = check(&events);
    assert!(!report.passed && !with_code(&report, code).is_empty(), "{report}");
}

// verifies: R62
#[test]
fn an_id_used_for_another_payload_is_found() {
    assert_eq!(with_code(&broken("SP0020-id-reused"), "duplicate_event_id").len(), 1);
}

// verifies: R63 H13
#[test]
fn every_tool_that_starts_is_closed() {
    let ends = ["turn.completed", "turn.failed", "turn.canceled"];
    let mut seen = 0;
    for (path, events) in scenarios() {
        for (at, start) in events.iter().enumerate().filter(|(_, e)| kind(e) == "tool.started") {
            seen += 1;
            let closed = events[at + 1..].iter().any(|event| {
                let own_end = ["tool.result", "tool.failed"].contains(&kind(event))
                    && text(event, "toolCallId") == text(start, "toolCallId");
                own_end
                    || (ends.contains(&kind(event))
                        && text(event, "turnId") == text(start, "turnId"))
            });
            assert!(closed, "{}: {start}", path.display());
        }
    }
    assert!(seen > 0);
    unclosed("tool-success", |kind| kind == "tool.result", "tool_unclosed_at_turn_end");
    unclosed("tool-failure", |kind| kind == "tool.failed", "tool_unclosed_at_turn_end");
}

// verifies: R64 R206
#[test]
fn every_action_that_is_asked_for_is_closed_and_every_answer_has_a_question() {
    let closing = ["action.resolved", "action.cancelled", "action.expired"];
    let mut seen = 0;
    for (path, events) in scenarios() {
        let mut open = BTreeMap::new();
        for event in &events {
            let id = text(event, "actionId").unwrap_or_default();
            if kind(event) == "action.required" {
                seen += 1;
                open.insert(id, event);
            } else if closing.contains(&kind(event)) {
                assert!(open.remove(id).is_some(), "{}: {event}", path.display());
            }
        }
        assert!(open.is_empty(), "{}: {open:?}", path.display());
    }
    assert!(seen > 0);
    unclosed("approval", |kind| kind == "action.resolved", "action_unresolved_at_turn_end");
    unclosed("approval", |kind| kind == "action.required", "action_resolved_without_request");
}

// verifies: R69
#[test]
fn events_with_nothing_but_a_thread_are_refused() {
    let report = broken("SP0010-thread-only");
    assert!(!report.passed);
    assert!(with_code(&report, "missing_scope_id").len() >= 5, "{report}");
}

// verifies: R70
#[test]
fn large_bodies_are_behind_refs() {
    for (path, events) in scenarios() {
        let large = events.iter().filter(|event| event["payload"].to_string().len() > 16_384);
        assert_eq!(large.count(), 0, "{}", path.display());
    }
    let mut events = scenario("tool-success");
    let at = events.iter().position(|event| kind(event) == "tool.result").unwrap();
    events[at]["payload"]["output"] = "a line of output\n".repeat(1200).into();
    assert_eq!(with_code(&check(&events), "large_payload_inline").len(), 1);
}

// verifies: R71
#[test]
fn a_large_body_has_one_ref_and_is_stored_once() {
    let events = scenario("tool-success");
    let outputs: Vec<_> = events
        .iter()
        .flat_map(|event| event["refs"].as_array().cloned().unwrap_or_default())
        .filter(|reference| text(reference, "kind") == Some("output"))
        .collect();
    assert!(outputs.len() > 1, "several events name it");
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]), "by one ref");
    let body = std::fs::read(repo("fixtures/native/tool-success/output.txt")).unwrap();
    let id = format!("blake3:{}", blake3::hash(&body));
    assert_eq!(text(&outputs[0], "id"), Some(id.as_str()), "which is the hash of the body");
    let report = broken("SP0072-sent-again");
    assert_eq!(with_code(&report, "large_body_repeated").len(), 1, "{report}");
}

// verifies: R82
#[test]
fn no_session_and_no_event_id_are_refused() {
    let report = broken("SP0001-no-session-no-event-id");
    let paths: Vec<_> =
        with_code(&report, "schema_mismatch").iter().map(|finding| finding.path.clone()).collect();
    assert_eq!(paths, ["sessionId", "eventId"], "{report}");
    assert!(!report.passed);
}

// verifies: R83
#[test]
fn each_event_that_lacks_its_own_id_is_found_once() {
    let report = broken("SP0010-own-id-missing");
    assert_eq!(with_code(&report, "missing_scope_id").len(), 4, "{report}");
}

// verifies: R84
#[test]
fn large_output_in_events_is_flagged() {
    for case in ["SP0070-inline", "SP0071-in-pieces"] {
        assert!(!with_code(&broken(case), "large_payload_inline").is_empty(), "{case}");
    }
}

// verifies: R86
#[test]
fn prose_without_a_typed_payload_is_flagged() {
    let report = broken("SP0003-prose");
    let found = with_code(&report, "schema_mismatch");
    assert_eq!(found.len(), 2, "{report}");
    assert!(found.iter().all(|finding| finding.path == "payload"), "{report}");
}

// verifies: R205
#[test]
fn every_turn_that_is_submitted_ends_once() {
    let ends =
        |event: &&Value| matches!(kind(event), "turn.completed" | "turn.failed" | "turn.canceled");
    for path in files("fixtures/native", "events.jsonl") {
        let events = events(&path);
        let submitted = events.iter().filter(|event| kind(event) == "turn.submitted").count();
        assert_eq!(events.iter().filter(ends).count(), submitted, "{}", path.display());
    }
    assert_eq!(with_code(&broken("SP0061-ended-twice"), "turn_terminal_repeated").len(), 1);
}
