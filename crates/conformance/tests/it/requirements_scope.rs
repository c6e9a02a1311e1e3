//! Scope ids (R49 to R57): the fixtures carry them, and an event without one is found.

use serde_json::Value;

use crate::support::{check, kind, repo, scenarios, text, with_code};

/// Every event whose type begins with one of the words carries the ids; taking any of them away is found.
#[track_caller]
fn carries(words: &[&str], ids: &[&str]) {
    let mut seen = 0;
    for (path, events) in scenarios() {
        let applies = |event: &&Value| words.contains(&kind(event).split('.').next().unwrap());
        for event in events.iter().filter(applies) {
            seen += 1;
            for id in ids {
                assert!(text(event, id).is_some(), "{}: {event} lacks {id}", path.display());
                let mut damaged = event.clone();
                damaged.as_object_mut().unwrap().remove(*id);
                let report = check(&[damaged]);
                let found = with_code(&report, "missing_scope_id");
                assert_eq!(found.len(), 1, "{event} without {id}\n{report}");
                assert_eq!(found[0].path, *id);
            }
        }
    }
    assert!(seen > 0, "no fixture has {words:?}");
}

// verifies: R49
#[test]
fn thread() {
    carries(
        &[
            "turn",
            "model",
            "reasoning",
            "plan",
            "tool",
            "action",
            "permission",
            "sandbox",
            "context",
            "history",
            "messages",
        ],
        &["threadId"],
    );
}

// verifies: R50
#[test]
fn turn() {
    carries(&["turn", "model", "reasoning", "plan", "tool", "action"], &["threadId", "turnId"]);
}

// verifies: R51
#[test]
fn task() {
    carries(&["task"], &["taskId"]);
}

// verifies: R52
#[test]
fn task_attempt() {
    let attempts: Vec<_> = scenarios()
        .into_iter()
        .flat_map(|(_, events)| events)
        .filter(|event| {
            kind(event).starts_with("task.") && event["payload"].get("attempt").is_some()
        })
        .collect();
    assert!(!attempts.is_empty());
    for event in attempts {
        assert!(text(&event, "runId").or(text(&event, "attemptId")).is_some(), "{event}");
        let mut damaged = event.clone();
        damaged.as_object_mut().unwrap().remove("runId");
        damaged.as_object_mut().unwrap().remove("attemptId");
        let report = check(&[damaged.clone()]);
        assert_eq!(with_code(&report, "missing_scope_id").len(), 1, "{report}");
        damaged["attemptId"] = "attempt_1".into();
        assert!(check(&[damaged]).passed, "either of the two will do");
    }
}

// verifies: R53
#[test]
fn tool() {
    carries(&["tool"], &["threadId", "turnId", "stepId", "toolCallId"]);
}

// verifies: R54
#[test]
fn action() {
    carries(&["action"], &["threadId", "turnId", "actionId"]);
}

// verifies: R55
#[test]
fn artifact() {
    carries(&["artifact"], &["artifactId"]);
}

// verifies: R56
#[test]
fn evidence_carries_what_is_known() {
    carries(&["evidence"], &["evidenceId"]);
    for (path, events) in scenarios() {
        let Some(at) = events.iter().position(|event| kind(event).starts_with("evidence.")) else {
            continue;
        };
        assert!(text(&events[at], "threadId").is_some(), "{}", path.display());
        let mut damaged = events;
        damaged[at].as_object_mut().unwrap().remove("threadId");
        let report = check(&damaged);
        let found = with_code(&report, "missing_correlation");
        assert_eq!(found.len(), 1, "{report}");
        assert_eq!(found[0].severity, conformance::Severity::Degraded);
    }
}

// verifies: R57
#[test]
fn the_contracts_own_example_passes_as_it_stands() {
    let file = std::fs::read(repo("fixtures/native/minimal-example.json")).unwrap();
    let report =
        conformance::check_lines(file.as_slice(), conformance::Options::default()).unwrap();
    assert_eq!(report.counts.events, 1, "{report}");
    assert!(report.findings.is_empty(), "{report}");
}
