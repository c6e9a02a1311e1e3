//! The families (R19 to R47): every type that the contract names is registered in its family with a payload schema, and
//! the stream of the scenario that asks for the family has it.

use std::collections::BTreeSet;

use event_spine::event::{CATALOG, Origin};

use crate::support::{kind, scenario};

#[track_caller]
fn check(family: &str, names: &[&str]) {
    let coverage = scenario("coverage");
    let seen: BTreeSet<_> = coverage.iter().map(kind).collect();
    for name in names {
        let row = CATALOG.iter().find(|row| row.name == *name);
        let row = row.unwrap_or_else(|| panic!("{name} is not registered"));
        assert_eq!(row.family.title(), family, "{name}");
        assert_eq!(row.origin, Origin::Contract, "{name}");
        let schema = (row.schema)();
        assert_eq!(schema.get("type").and_then(|t| t.as_str()), Some("object"), "{name}");
        assert!(seen.contains(name), "{name} is not in the coverage stream");
    }
    let registered =
        CATALOG.iter().filter(|r| r.family.title() == family && r.origin == Origin::Contract);
    assert_eq!(registered.count(), names.len(), "{family}: types of the contract");
}

// verifies: R19 R20
#[test]
fn lifecycle() {
    check(
        "Lifecycle",
        &["turn.submitted", "turn.started", "turn.completed", "turn.failed", "run.status"],
    );
}

// verifies: R22 R23
#[test]
fn message() {
    check(
        "Message",
        &["model.requested", "model.delta", "model.completed", "model.failed", "messages.snapshot"],
    );
}

// verifies: R25 R26
#[test]
fn reasoning_and_plan() {
    check(
        "Reasoning / Plan",
        &["reasoning.delta", "reasoning.summary", "plan.delta", "plan.final"],
    );
}

// verifies: R28 R29
#[test]
fn tool_and_process() {
    check(
        "Tool / Process",
        &[
            "tool.started",
            "tool.args",
            "tool.progress",
            "tool.result",
            "tool.failed",
            "output.spilled",
        ],
    );
}

// verifies: R31 R32
#[test]
fn human_and_policy() {
    check(
        "Human / Policy",
        &["action.required", "action.resolved", "permission.denied", "sandbox.blocked"],
    );
}

// verifies: R34 R35
#[test]
fn artifact() {
    check("Artifact", &["artifact.changed", "artifact.versioned", "artifact.exported"]);
}

// verifies: R37 R38
#[test]
fn evidence() {
    check("Evidence", &["evidence.changed", "evidence.exported", "review.verdict"]);
}

// verifies: R40 R41
#[test]
fn task_and_agent() {
    check(
        "Task / Agent",
        &["task.created", "task.updated", "subagent.started", "job.queued", "channel.message"],
    );
}

// verifies: R43 R44
#[test]
fn context_and_hydration() {
    check(
        "Context / Hydration",
        &["context.attached", "history.compacted", "snapshot.updated", "stream.repaired"],
    );
}

// verifies: R46 R47
#[test]
fn diagnostics() {
    check("Diagnostics", &["runtime.warning", "runtime.error", "metrics.changed"]);
}

#[test]
fn the_coverage_stream_has_every_type_of_the_catalog() {
    let coverage = scenario("coverage");
    let seen: BTreeSet<_> = coverage.iter().map(kind).collect();
    let missing: Vec<_> =
        CATALOG.iter().map(|row| row.name).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
