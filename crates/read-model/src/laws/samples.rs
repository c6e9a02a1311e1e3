//! Owns the streams that the laws are tried on: every type of the catalog, in any order, with few ids, so that they meet.

use event_spine::event::CATALOG;
use event_spine::{
    EventDraft, EventId, EventType, JsonText, RecordedAt, RecordedEvent, Refs, RuntimeId,
    SCHEMA_VERSION, Scope, Timestamp,
};
use proptest::prelude::*;

/// Payloads for each type; the first one is enough for a view to show something.
pub(super) const SAMPLES: &[(&str, &[&str])] = &[
    (
        "turn.submitted",
        &[
            r#"{"text":"Fix it"}"#,
            r#"{"role":"system","parts":[{"kind":"text","text":"a"},{"kind":"image","uri":"x.png"}]}"#,
        ],
    ),
    ("turn.started", &[r#"{"model":"m"}"#]),
    (
        "turn.completed",
        &[
            r#"{"reason":"accepted"}"#,
            r#"{"usage":{"inputTokens":30,"outputTokens":5},"durationMs":9}"#,
        ],
    ),
    ("turn.failed", &[r#"{"failureCategory":"runtime_error","error":"no","recovery":"again"}"#]),
    ("turn.canceled", &[r#"{"reason":"user"}"#]),
    (
        "run.status",
        &[r#"{"phase":"plan"}"#, r#"{"phase":"failed"}"#, r#"{"phase":"retrying","attempt":2}"#],
    ),
    (
        "queue.changed",
        &[
            r#"{"change":"queued","itemId":"q1","position":1,"preview":"next"}"#,
            r#"{"change":"queued","itemId":"q2","position":0,"mode":"steer"}"#,
            r#"{"change":"started","itemId":"q1"}"#,
        ],
    ),
    ("model.requested", &[r#"{"model":"m","requestHash":"h1"}"#, r#"{"estimatedInputTokens":40}"#]),
    (
        "model.delta",
        &[
            r#"{"delta":"Hello "}"#,
            r#"{"delta":"wörld, how are you today?"}"#,
            r#"{"delta":"hm","role":"reasoning"}"#,
            r#"{"delta":"me","role":"user"}"#,
        ],
    ),
    (
        "model.completed",
        &[
            r#"{"text":"Hello world"}"#,
            r#"{"final":true}"#,
            r#"{"text":"Another","mode":"replace","usage":{"inputTokens":10,"outputTokens":4,"cachedInputTokens":2}}"#,
            r#"{"parts":[{"kind":"text","text":"Hello "}]}"#,
        ],
    ),
    (
        "model.failed",
        &[
            r#"{"failureCategory":"timeout"}"#,
            r#"{"failureCategory":"rate_limited","retryable":true,"partialText":"Hel"}"#,
        ],
    ),
    (
        "messages.snapshot",
        &[
            r#"{"messages":[{"role":"assistant","text":"x"}]}"#,
            r#"{"messages":[{"messageId":"m1","role":"assistant","text":"Hello wörld"},{"role":"tool","toolCallId":"c1","text":"out"},{"messageId":"m9","role":"assistant","toolCalls":[{"id":"c3","name":"read","arguments":"{}"}]}]}"#,
        ],
    ),
    ("reasoning.delta", &[r#"{"delta":"thinking "}"#]),
    ("reasoning.summary", &[r#"{"text":"I thought"}"#, r#"{"text":"","encrypted":true}"#]),
    (
        "plan.delta",
        &[
            r#"{"items":[{"text":"one"}]}"#,
            r#"{"items":[{"text":"two","status":"completed"}],"replace":true,"text":"Plan"}"#,
        ],
    ),
    ("plan.final", &[r#"{"items":[{"text":"one","status":"completed"}]}"#]),
    (
        "tool.started",
        &[
            r#"{"toolName":"read","args":{"path":"a.txt"}}"#,
            r#"{"toolName":"sh","toolKind":"command"}"#,
        ],
    ),
    (
        "tool.args",
        &[
            r#"{"state":"input-streaming","delta":"{\"a\":"}"#,
            r#"{"state":"input-available","args":{"a":1}}"#,
            r#"{"state":"input-invalid","raw":"{"}"#,
        ],
    ),
    ("tool.progress", &[r#"{"preview":"line\n"}"#, r#"{"message":"half","percent":50}"#]),
    (
        "tool.result",
        &[
            r#"{"status":"succeeded","output":"done"}"#,
            r#"{}"#,
            r#"{"status":"partial_succeeded","output":{"a":[1,2]},"durationMs":3}"#,
        ],
    ),
    (
        "tool.failed",
        &[
            r#"{"failureCategory":"timeout"}"#,
            r#"{"failureCategory":"x","status":"denied","error":"no"}"#,
        ],
    ),
    ("output.spilled", &[r#"{"outputRef":"blake3:1","sizeBytes":90000,"preview":"head"}"#]),
    ("output.truncated", &[r#"{"sizeBytes":5000}"#]),
    ("output.redacted", &[r#"{"target":"tool","method":"mask","reason":"token","count":2}"#]),
    ("output.expired", &[r#"{"outputRef":"blake3:1"}"#]),
    (
        "action.required",
        &[
            r#"{"actionType":"approval","title":"May I?"}"#,
            r#"{"actionType":"question","arguments":{"q":1},"choices":["a","b"],"responseSchema":{"type":"string"}}"#,
        ],
    ),
    (
        "action.resolved",
        &[r#"{"decision":"approve"}"#, r#"{"decision":"answer","response":{"a":1}}"#],
    ),
    ("action.cancelled", &[r#"{"reason":"turn over"}"#]),
    ("action.expired", &[r#"{"expiredAt":"2026-06-09T13:00:00Z"}"#]),
    ("permission.evaluated", &[r#"{"decision":"allow"}"#]),
    ("permission.denied", &[r#"{"reason":"rule"}"#]),
    ("sandbox.blocked", &[r#"{"reason":"network","operation":"network"}"#]),
    (
        "artifact.changed",
        &[r#"{"change":"created","title":"a.md","preview":"head"}"#, r#"{"change":"deleted"}"#],
    ),
    ("artifact.versioned", &[r#"{"versionId":"v1"}"#]),
    ("artifact.exported", &[r#"{"target":"out"}"#]),
    ("evidence.changed", &[r#"{"title":"source","status":"ready"}"#]),
    ("evidence.exported", &[r#"{"target":"pack"}"#]),
    ("review.verdict", &[r#"{"verdict":"approved"}"#]),
    ("task.created", &[r#"{"label":"t","dependsOn":["k2"]}"#]),
    ("task.updated", &[r#"{"status":"running"}"#, r#"{"status":"completed","summary":"ok"}"#]),
    (
        "subagent.started",
        &[
            r#"{"name":"helper"}"#,
            r#"{"parentSubagentId":"g2","parentToolCallId":"c1","handoff":true}"#,
        ],
    ),
    ("subagent.status", &[r#"{"status":"working"}"#]),
    (
        "subagent.completed",
        &[
            r#"{"summary":"found"}"#,
            r#"{"output":{"a":1},"usage":{"inputTokens":9,"outputTokens":1}}"#,
        ],
    ),
    ("subagent.failed", &[r#"{"failureCategory":"timeout"}"#]),
    ("job.queued", &[r#"{"jobId":"j1"}"#]),
    ("channel.message", &[r#"{"channelId":"ch","text":"hi"}"#]),
    ("context.attached", &[r#"{"kind":"skill","skillId":"s"}"#, r#"{"kind":"file","name":"a"}"#]),
    ("context.detached", &[r#"{"kind":"skill","skillId":"s"}"#]),
    ("context.missing", &[r#"{"kind":"skill","skillId":"z"}"#]),
    ("context.compaction.started", &[r#"{"trigger":"manual"}"#]),
    ("context.compaction.completed", &["{}"]),
    ("context.compaction.failed", &[r#"{"error":"no"}"#]),
    ("history.compacted", &[r#"{"summary":"all of it","firstKeptSequence":3}"#]),
    ("history.rollback.completed", &[r#"{"toSequence":4}"#]),
    (
        "snapshot.updated",
        &[
            r#"{"kind":"agent_state","state":{"n":1.50,"list":[]}}"#,
            r#"{"state":[1,2,3]}"#,
            r#"{"kind":"agent_state","state":null}"#,
        ],
    ),
    (
        "state.delta",
        &[
            r#"{"target":"agent_state","patch":[{"op":"add","path":"/list/-","value":12.0}]}"#,
            r#"{"target":"agent_state","patch":[{"op":"replace","path":"/nowhere","value":1}]}"#,
            r#"{"target":"agent_state","patch":[{"op":"copy","from":"","path":"/copy"}]}"#,
        ],
    ),
    ("stream.interrupted", &[r#"{"reason":"gone"}"#]),
    ("stream.repaired", &[r#"{"method":"replay"}"#, r#"{"lost":3}"#]),
    ("session.forked", &[r#"{"parentSessionId":"sess_0","parentSequence":4,"parentChain":"00"}"#]),
    ("runtime.warning", &[r#"{"code":"w","message":"hm","detail":{"a":1}}"#]),
    ("runtime.error", &[r#"{"code":"e","fatal":true}"#]),
    ("metrics.changed", &[r#"{"metric":"ttft","value":12.5,"unit":"ms"}"#]),
    (
        "budget.checked",
        &[
            r#"{"attemptSeq":1,"requestHash":"h1","action":"allow","reason":"fits","estimatedInputTokens":10,"promptBudget":100,"estimateSource":"local","estimateGatePolicy":"gateable"}"#,
        ],
    ),
    (
        "ledger.reconciled",
        &[
            r#"{"attemptSeq":1,"requestHash":"h1","inputTokens":11,"inputSource":"observed","outputTokens":3,"outputSource":"observed","hasUnknownUsage":false}"#,
            r#"{"attemptSeq":1,"requestHash":"h2","inputTokens":11,"inputSource":"estimated","outputTokens":0,"outputSource":"unknown","hasUnknownUsage":true}"#,
        ],
    ),
    (
        "usage.updated",
        &[
            r#"{"inputTokens":12,"outputTokens":3,"sessionInputTokens":12,"hasUnknownUsage":false,"model":"m"}"#,
            r#"{"sessionInputTokens":9,"hasUnknownUsage":false}"#,
            r#"{"inputTokens":5,"hasUnknownUsage":true}"#,
        ],
    ),
    ("progress.evaluated", &[r#"{"stalledProgressState":"healthy","shouldTerminate":false}"#]),
    ("rate_limit.hit", &[r#"{"provider":"p","retryAfterMs":10}"#]),
    ("vendor.something_else", &[r#"{"a":1}"#]),
    ("tool.result", &[r#"{"status":7}"#]),
];

#[test]
fn every_type_has_samples_that_can_be_read() {
    for row in CATALOG.iter() {
        let samples = SAMPLES.iter().find(|(name, _)| *name == row.name);
        let (_, payloads) = samples.unwrap_or_else(|| panic!("{} has no sample", row.name));
        for payload in *payloads {
            let (payload, _) = JsonText::parse(payload).unwrap();
            EventType::Known(row).decode(&payload).unwrap();
        }
    }
}

const IDS: &[(&str, &[&str])] = &[
    ("turnId", &["u1", "u2"]),
    ("stepId", &["s1", "s2"]),
    ("messageId", &["m1", "m2"]),
    ("partId", &["p1"]),
    ("toolCallId", &["c1", "c2"]),
    ("actionId", &["a1", "a2"]),
    ("artifactId", &["f1", "f2"]),
    ("evidenceId", &["e1"]),
    ("taskId", &["k1", "k2"]),
    ("runId", &["r1", "r2"]),
    ("subagentId", &["g1", "g2"]),
    ("parentTaskId", &["k9"]),
    ("threadId", &["t1", "t1", "t1", "t2"]),
];

/// A scope that the type allows: what it demands, and whatever else comes up.
fn scope(name: &str, picks: &[usize]) -> Scope {
    let event_type = EventType::named(name);
    let required = event_type.descriptor().map_or(&[][..], |row| row.scope.required());
    let mut scope = Scope::default();
    for ((wire, ids), pick) in IDS.iter().zip(picks) {
        let needed = required.iter().any(|group| group.contains(wire)) || *wire == "threadId";
        // Sub-agents and runs are rarer than the rest.
        let rare = ["subagentId", "runId", "partId"].contains(wire);
        if needed || pick % (if rare { 7 } else { 2 }) == 0 {
            scope.set(wire, ids[pick / 14 % ids.len()]).unwrap();
        }
    }
    scope
}

fn draft() -> impl Strategy<Value = EventDraft> {
    let pick = 0_usize..1_000_000;
    let picks = prop::collection::vec(0_usize..1000, IDS.len());
    (pick, 0_usize..100, picks, 0_i64..100).prop_map(|(row, sample, picks, time)| {
        let (name, payloads) = SAMPLES[row % SAMPLES.len()];
        let (payload, _) = JsonText::parse(payloads[sample % payloads.len()]).unwrap();
        let second = 1_781_006_400 + time;
        let timestamp = match time {
            0 => "some time".to_owned(),
            1 => "2031-01-01T00:00:00Z".to_owned(),
            _ => RecordedAt(second * 1_000_000).to_string(),
        };
        EventDraft {
            schema_version: SCHEMA_VERSION.into(),
            runtime_id: RuntimeId::parse("rt_test").unwrap(),
            event_id: EventId::parse("evt_0").unwrap(),
            timestamp: Timestamp::verbatim(timestamp),
            event_type: EventType::named(name),
            scope: scope(name, &picks),
            refs: Refs::NONE,
            payload,
            extra: None,
        }
    })
}

/// Streams of up to so many events.
pub(super) fn stream(most: usize) -> impl Strategy<Value = Vec<RecordedEvent>> {
    prop::collection::vec(draft(), 0..most).prop_map(|mut drafts| {
        for (at, draft) in drafts.iter_mut().enumerate() {
            draft.event_id = EventId::parse(format!("evt_{}", at + 1)).unwrap();
        }
        crate::testing::seal(drafts)
    })
}
