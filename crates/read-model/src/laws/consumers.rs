//! The consumers that the contract names for each family: each changes when it is fed the family, and not when it is fed
//! everything else.

use event_spine::RecordedEvent;
use event_spine::event::{CATALOG, Family, Origin};
use serde_json::Value;

use super::samples::SAMPLES;
use crate::projections::graph::{NodeId, NodeKind};
use crate::testing::{drafts, fold, seal};
use crate::{Limits, SessionView};

/// What of a view a consumer shows.
type Consumer = (&'static str, fn(&SessionView) -> Value);

fn json<T: serde::Serialize>(view: &T) -> Value {
    serde_json::to_value(view).unwrap()
}

/// A line for the first sample of a type, with every id that any type wants.
fn line(name: &str) -> String {
    let (_, payloads) = SAMPLES.iter().find(|(sample, _)| *sample == name).unwrap();
    let ids = "turn=u1 step=s1 message=m1 tool=c1 action=a1 artifact=f1 evidence=e1 task=k1";
    let agent = if name.starts_with("subagent.") { " subagent=g1" } else { "" };
    format!("{name} {ids}{agent} {}\n", payloads[0])
}

/// Before anything is fed: a turn that runs, unless the turns themselves are fed.
fn base(family: Family) -> String {
    match family {
        Family::Lifecycle => String::new(),
        _ => line("turn.submitted") + &line("turn.started"),
    }
}

fn events(lines: &str) -> Vec<RecordedEvent> {
    seal(drafts(lines))
}

/// Entries of one family in the timeline.
fn entries(view: &SessionView, family: Family) -> Value {
    let of_family =
        |class: &str| CATALOG.iter().any(|row| row.name == class && row.family == family);
    let entries = view.timeline.entries.iter().filter(|entry| of_family(&entry.class));
    json(&entries.map(|entry| entry.title.clone()).collect::<Vec<_>>())
}

fn kinds(view: &SessionView, wanted: &[&str]) -> Value {
    let parts = view.transcript.parts.iter().filter(|part| wanted.contains(&part.body.kind()));
    json(&parts.collect::<Vec<_>>())
}

fn check(family: Family, consumers: &[Consumer]) {
    let rows =
        || CATALOG.iter().filter(|row| row.name != "turn.submitted" || family == Family::Lifecycle);
    let lines = |pick: &dyn Fn(Family) -> bool| -> String {
        rows().filter(|row| pick(row.family)).map(|row| line(row.name)).collect()
    };
    let fed = events(&(base(family) + &lines(&|f| f == family)));
    let withheld = events(&(base(family) + &lines(&|f| f != family && f != Family::Lifecycle)));
    let nothing = events(&base(family));
    let limits = Limits::default();
    let (fed, withheld) = (fold(&fed, limits), fold(&withheld, limits));
    let nothing = fold(&nothing, limits);
    for (name, consumer) in consumers {
        assert_ne!(consumer(&fed), consumer(&nothing), "{name} does not show {family}");
        assert_eq!(consumer(&withheld), consumer(&nothing), "{name} shows {family} without it");
    }
    // Each type that the contract names says something to one of them.
    for row in rows().filter(|row| row.family == family && row.origin == Origin::Contract) {
        let opened = match row.name {
            "tool.result" | "tool.failed" | "tool.progress" | "output.spilled" => {
                line("tool.started")
            }
            "turn.completed" | "turn.failed" | "run.status" => {
                line("turn.submitted") + &line("turn.started")
            }
            "turn.started" => line("turn.submitted"),
            "stream.repaired" => line("stream.interrupted"),
            "action.resolved" => line("action.required"),
            _ => String::new(),
        };
        let before = base(family) + &opened;
        let after = fold(&events(&(before.clone() + &line(row.name))), limits);
        let before = fold(&events(&before), limits);
        let noticed = consumers.iter().any(|(_, show)| show(&after) != show(&before));
        assert!(noticed, "no consumer of {family} shows {}", row.name);
    }
}

// verifies: R21
#[test]
fn consumers_lifecycle() {
    check(
        Family::Lifecycle,
        &[
            ("RuntimeStatus", |v| {
                json(&(&v.status.turns, &v.status.active_turns, &v.status.native_phase))
            }),
            ("ProcessTimeline", |v| entries(v, Family::Lifecycle)),
            ("read model", |v| json(&(&v.status.last_outcome, &v.queue, kinds(v, &["user_text"])))),
        ],
    );
}

// verifies: R24
#[test]
fn consumers_message() {
    check(
        Family::Message,
        &[
            ("UIMessageParts", |v| kinds(v, &["assistant_text"])),
            ("transcript", |v| json(&(&v.transcript.reconciled, entries(v, Family::Message)))),
        ],
    );
}

// verifies: R27
#[test]
fn consumers_reasoning_plan() {
    check(
        Family::Reasoning,
        &[
            ("ProcessTimeline", |v| entries(v, Family::Reasoning)),
            ("folded reasoning part", |v| kinds(v, &["reasoning", "plan"])),
        ],
    );
}

// verifies: R30
#[test]
fn consumers_tool_process() {
    check(
        Family::Tool,
        &[
            ("ToolGroup", |v| json(&v.tools)),
            ("ProcessTimeline", |v| entries(v, Family::Tool)),
            ("ExecutionGraph", |v| {
                let node = v.graph.node(&NodeId::new(NodeKind::ToolCall, "c1"));
                json(&node.map(|node| node.title.to_string()).filter(|title| !title.is_empty()))
            }),
        ],
    );
}

// verifies: R33
#[test]
fn consumers_human_policy() {
    check(
        Family::Policy,
        &[
            ("ActionRequired", |v| json(&v.actions)),
            ("RuntimeStatus", |v| json(&(v.status.waiting.total(), policy_block(v)))),
        ],
    );
}

/// What blocks it, unless that is a provider.
fn policy_block(view: &SessionView) -> Option<String> {
    let block = view.status.blocked_by.as_ref().map(|block| block.kind.clone());
    block.filter(|kind| kind != "rate_limit")
}

// verifies: R36
#[test]
fn consumers_artifact() {
    check(
        Family::Artifact,
        &[
            ("ArtifactRef", |v| kinds(v, &["artifact_ref"])),
            ("artifact workspace", |v| json(&v.artifacts)),
        ],
    );
}

// verifies: R39
#[test]
fn consumers_evidence() {
    check(
        Family::Evidence,
        &[
            ("EvidenceRef", |v| json(&(&v.evidence.items, kinds(v, &["evidence_ref"])))),
            ("review/replay lane", |v| json(&(&v.evidence.reviews, &v.evidence.exports))),
        ],
    );
}

// verifies: R42
#[test]
fn consumers_task_agent() {
    check(
        Family::Task,
        &[
            ("ExecutionGraph", |v| {
                let has = |kind, id| v.graph.node(&NodeId::new(kind, id)).is_some();
                json(&(has(NodeKind::Task, "k1"), has(NodeKind::Subagent, "g1")))
            }),
            ("Team Workbench", |v| json(&v.tasks)),
        ],
    );
}

// verifies: R45
#[test]
fn consumers_context_hydration() {
    check(
        Family::Context,
        &[
            ("hydration", |v| {
                let mut context = json(&v.context);
                context["hydration"]["eventCount"].take();
                context["hydration"]["repairing"].take();
                context
            }),
            ("diagnostics", |v| {
                let codes = v.diagnostics.entries.iter().map(|entry| entry.code.clone());
                let of_context = codes.filter(|code| {
                    [
                        "stream_interrupted",
                        "stream_repaired",
                        "context_missing",
                        "compaction_failed",
                    ]
                    .contains(&code.as_str())
                });
                json(&of_context.collect::<Vec<_>>())
            }),
        ],
    );
}

// verifies: R48
#[test]
fn consumers_diagnostics() {
    check(
        Family::Diagnostics,
        &[("Diagnostics surface", |v| {
            let counts = &v.diagnostics.counts;
            json(&(counts.warnings, counts.errors, &v.diagnostics.metrics, &v.diagnostics.progress))
        })],
    );
}
