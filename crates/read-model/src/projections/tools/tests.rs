//! Tests of the view of tool calls.

use super::{CallFlag, CallStatus, ToolCall, Tools};
use crate::honesty::{Absence, Known};
use crate::testing::{brief, view};

fn tools(lines: &str) -> Tools {
    view(lines).tools
}

fn call(lines: &str) -> ToolCall {
    tools(lines).calls.iter().last().unwrap().clone()
}

const STARTED: &str =
    "turn.started turn=u1\ntool.started turn=u1 step=s1 tool=c1 {\"toolName\":\"sh\"}\n";

#[test]
fn calls_of_every_shape() {
    insta::assert_snapshot!(brief(&tools(
        r#"
        turn.started    turn=u1
        tool.args       turn=u1 step=s1 tool=c1 {"state":"input-streaming","toolName":"sh","delta":"{\"cmd\":"}
        tool.args       turn=u1 step=s1 tool=c2 {"state":"input-streaming","toolName":"read","delta":"{\"path\":"}
        tool.args       turn=u1 step=s1 tool=c1 {"state":"input-available","delta":"\"ls\"}"}
        tool.args       turn=u1 step=s1 tool=c2 {"state":"input-available","delta":"\"a\"}","toolName":""}
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"sh","toolKind":"command","cwd":"/src","safety":"at_most_once"}
        tool.progress   turn=u1 step=s1 tool=c1 {"preview":"a.txt\n","stream":"stdout"}
        tool.progress   turn=u1 step=s1 tool=c1 {"message":"listing","percent":50}
        tool.progress   turn=u1 step=s1 tool=c1 {"preview":"b.txt\n"}
        tool.result     turn=u1 step=s1 tool=c1 {"status":"succeeded","exitCode":0}
        output.spilled  turn=u1 step=s1 tool=c1 {"outputRef":"blake3:1","sizeBytes":90000}
        tool.started    turn=u1 step=s1 tool=c2 {"toolName":"read"}
        tool.failed     turn=u1 step=s1 tool=c2 {"failureCategory":"execution_failed","error":"no such file","recovery":"create it","durationMs":3}
        output.expired  {"outputRef":"blake3:1"}
        "#
    )));
}

// verifies: H13
#[test]
fn success_is_only_what_the_source_calls_success() {
    let check = |end: &str, expected: CallStatus| {
        let call = call(&format!("{STARTED} {end}"));
        assert_eq!(call.status, expected, "{end}");
        assert!(call.status.is_end());
    };
    check(r#"tool.result turn=u1 step=s1 tool=c1 {"status":"succeeded"}"#, CallStatus::Succeeded);
    check("tool.result turn=u1 step=s1 tool=c1 {}", CallStatus::Unknown);
    check(
        r#"tool.result turn=u1 step=s1 tool=c1 {"exitCode":0,"output":"ok"}"#,
        CallStatus::Unknown,
    );
    check(r#"tool.result turn=u1 step=s1 tool=c1 {"status":"splendid"}"#, CallStatus::Unknown);
    check("turn.completed turn=u1 {}", CallStatus::Interrupted);
    for (category, status) in [
        ("timeout", CallStatus::TimedOut),
        ("permission_denied", CallStatus::Denied),
        ("approval_rejected", CallStatus::Rejected),
        ("cancelled", CallStatus::Cancelled),
        ("interrupted", CallStatus::Interrupted),
        ("something", CallStatus::Failed),
    ] {
        check(
            &format!("tool.failed turn=u1 step=s1 tool=c1 {{\"failureCategory\":\"{category}\"}}"),
            status,
        );
    }
    // A failure is no success, whatever it says of itself.
    check(
        r#"tool.failed turn=u1 step=s1 tool=c1 {"failureCategory":"x","status":"succeeded"}"#,
        CallStatus::Failed,
    );
}

// verifies: R63 H13
#[test]
fn the_end_of_a_turn_interrupts_its_calls_and_a_result_that_comes_late_counts() {
    let ended = format!("{STARTED} turn.failed turn=u1 {{\"failureCategory\":\"x\"}}\n");
    let interrupted = call(&ended);
    assert_eq!(interrupted.status, CallStatus::Interrupted);
    assert_eq!(interrupted.failure.unwrap().category, "interrupted");
    assert_eq!(tools(&ended).ended.interrupted, 1);

    let late = format!(
        "{ended} tool.result turn=u1 step=s1 tool=c1 {{\"status\":\"succeeded\",\"output\":\"x\"}}"
    );
    let call = call(&late);
    assert_eq!(
        (call.status, call.flags.as_slice()),
        (CallStatus::Succeeded, &[CallFlag::LateResult][..])
    );
    let ended = tools(&late).ended;
    assert_eq!((ended.interrupted, ended.succeeded), (0, 1));
    // Calls of other turns go on.
    let other = format!("{STARTED} turn.completed turn=u2");
    assert_eq!(tools(&other).calls.open_len(), 1);
}

#[test]
fn what_does_not_pair_is_kept_and_flagged() {
    let check = |lines: &str, status: CallStatus, flags: &[CallFlag], calls: usize| {
        let tools = tools(lines);
        let call = tools.calls.iter().last().unwrap();
        assert_eq!((call.status, call.flags.as_slice()), (status, flags), "{lines}");
        assert_eq!(tools.calls.len(), calls, "{lines}");
    };
    let result = r#"tool.result turn=u1 step=s1 tool=c1 {"status":"succeeded","output":"1"}"#;
    check(result, CallStatus::Succeeded, &[CallFlag::ResultWithoutStart], 1);
    check(
        &format!(
            "{STARTED} {result}\n tool.failed turn=u1 step=s1 tool=c1 {{\"failureCategory\":\"x\"}}"
        ),
        CallStatus::Succeeded,
        &[CallFlag::RepeatedResult],
        1,
    );
    check(
        &format!("{STARTED} tool.started turn=u1 step=s1 tool=c1 {{\"toolName\":\"sh\"}}"),
        CallStatus::Running,
        &[CallFlag::RepeatedStart],
        1,
    );
    check(
        &format!(
            "{STARTED} {result}\n tool.progress turn=u1 step=s1 tool=c1 {{\"preview\":\"more\"}}"
        ),
        CallStatus::Succeeded,
        &[CallFlag::ProgressAfterEnd],
        1,
    );
    // An id that comes back after its call had ended is another call.
    check(&format!("{STARTED} {result}\n {STARTED}"), CallStatus::Running, &[], 2);
}

// verifies: H43
#[test]
fn durations_are_stated_or_measured_and_never_negative() {
    let check = |lines: &str, ms: Known<u64>, stepped: bool| {
        let elapsed = call(lines).elapsed;
        assert_eq!((elapsed.ms, elapsed.clock_stepped_back), (ms, stepped), "{lines}");
    };
    let start = "tool.started turn=u1 step=s1 tool=c1 {\"toolName\":\"sh\"} @300\n";
    check(start, Known::Not(Absence::NotApplicable), false);
    check(&format!("{start} tool.result turn=u1 step=s1 tool=c1 @302"), Known::Is(2000), false);
    check(&format!("{start} tool.result turn=u1 step=s1 tool=c1 @1"), Known::UNKNOWN, true);
    check(&format!("{start} tool.result turn=u1 step=s1 tool=c1 @noon"), Known::UNKNOWN, false);
    check(
        &format!("{start} tool.result turn=u1 step=s1 tool=c1 {{\"durationMs\":7}} @1"),
        Known::Is(7),
        true,
    );
    check("tool.result turn=u1 step=s1 tool=c1", Known::UNKNOWN, false);
}

#[test]
fn an_output_that_was_too_large_for_the_event_is_named_by_its_ref() {
    let call = call(
        r#"
        tool.started turn=u1 step=s1 tool=c1 {"toolName":"read"}
        tool.result  turn=u1 step=s1 tool=c1 {"output":{"text":"head ... tail"}} refs=[{"kind":"output","id":"blake3:7","pointer":"/output/text","sizeBytes":90000}]
        "#,
    );
    assert_eq!(call.output_ref.as_deref(), Some("blake3:7"));
    assert_eq!(call.output_bytes, Some(90_000));
}
