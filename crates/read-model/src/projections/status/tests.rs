//! Tests of the status.

use super::{Phase, RuntimeStatus, Status, ThreadStatus};
use crate::testing::{brief, view};

fn status(lines: &str) -> Status {
    view(lines).status
}

fn check(lines: &str, runtime: RuntimeStatus, phase: Phase) {
    let status = status(lines);
    assert_eq!((status.runtime, status.phase), (runtime, phase), "{lines}");
}

const TURN: &str =
    "turn.submitted turn=u1 {\"text\":\"x\"}\nturn.started turn=u1 {\"model\":\"m\"}\n";

#[test]
fn a_waiting_turn() {
    insta::assert_snapshot!(brief(&status(
        r#"
        turn.submitted  turn=u1 {"text":"x"}
        turn.started    turn=u1 {"model":"m","provider":"p"}
        run.status      turn=u1 {"phase":"execute","title":"working"}
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"sh"}
        action.required turn=u1 action=a1 tool=c1 {"actionType":"tool_permission","title":"Run sh?"}
        "#
    )));
}

#[test]
fn the_newest_facts_decide() {
    use RuntimeStatus as R;
    check("", R::Idle, Phase::Idle);
    check("turn.submitted turn=u1", R::Running, Phase::Submitted);
    check(TURN, R::Running, Phase::Preparing);
    let then =
        |lines: &str, runtime: R, phase: Phase| check(&format!("{TURN} {lines}"), runtime, phase);
    then("model.requested turn=u1 message=m1", R::Running, Phase::WaitingProvider);
    then("model.delta turn=u1 message=m1 {\"delta\":\"x\"}", R::Running, Phase::Streaming);
    then("model.completed turn=u1 message=m1", R::Running, Phase::Preparing);
    then(
        "tool.started turn=u1 step=s1 tool=c1 {\"toolName\":\"sh\"}",
        R::Running,
        Phase::ToolRunning,
    );
    then("turn.completed turn=u1", R::Completed, Phase::Completed);
    then("turn.failed turn=u1 {\"failureCategory\":\"x\"}", R::Failed, Phase::Failed);
    then("turn.canceled turn=u1", R::Canceled, Phase::Canceled);
    then("runtime.error {\"code\":\"e\"}", R::Failed, Phase::Failed);
    then("runtime.warning {\"code\":\"e\"}", R::Running, Phase::Preparing);
    then("run.status turn=u1 {\"phase\":\"failed\"}", R::Failed, Phase::Failed);
    then("run.status turn=u1 {\"phase\":\"retrying\"}", R::Running, Phase::Retrying);
    then("context.compaction.started", R::Running, Phase::Compacting);
    then("sandbox.blocked turn=u1 tool=c1 {\"reason\":\"x\"}", R::Blocked, Phase::Preparing);
    then("rate_limit.hit {\"provider\":\"p\"}", R::Blocked, Phase::Preparing);
    then(
        "sandbox.blocked turn=u1 tool=c1 {\"reason\":\"x\"}\n model.delta turn=u1 {\"delta\":\"x\"}",
        R::Running,
        Phase::Streaming,
    );
    // A source that knows no turns.
    check("model.delta turn=u1 {\"delta\":\"x\"}", R::Running, Phase::Streaming);
    check("model.completed turn=u1 {\"text\":\"x\"}", R::Completed, Phase::Completed);
    // What comes after the last turn says nothing.
    then(
        "turn.completed turn=u1\n model.delta turn=u1 {\"delta\":\"x\"}",
        R::Completed,
        Phase::Completed,
    );
}

// verifies: R92
#[test]
fn it_waits_between_a_question_and_its_answer() {
    let asked =
        format!("{TURN} action.required turn=u1 action=a1 {{\"actionType\":\"approval\"}}\n");
    check(&asked, RuntimeStatus::Waiting, Phase::ActionRequired);
    let blocked = format!("{asked} sandbox.blocked turn=u1 tool=c1 {{\"reason\":\"x\"}}\n");
    check(&blocked, RuntimeStatus::Waiting, Phase::ActionRequired);
    let answered =
        format!("{asked} action.resolved turn=u1 action=a1 {{\"decision\":\"approve\"}}");
    check(&answered, RuntimeStatus::Running, Phase::Preparing);
    // A turn may end and leave its question open.
    check(
        &format!("{asked} turn.completed turn=u1"),
        RuntimeStatus::Waiting,
        Phase::ActionRequired,
    );
    let failed = format!("{asked} turn.failed turn=u1 {{\"failureCategory\":\"x\"}}");
    check(&failed, RuntimeStatus::Failed, Phase::Failed);
}

#[test]
fn the_first_end_of_a_turn_counts() {
    let status = status(&format!(
        "{TURN} turn.failed turn=u1 {{\"failureCategory\":\"x\"}}\n turn.completed turn=u1"
    ));
    assert_eq!(status.runtime, RuntimeStatus::Failed);
    assert_eq!((status.turns.failed, status.turns.completed), (1, 0));
}

#[test]
fn the_turn_of_a_sub_agent_does_not_end_the_main_one() {
    check(
        &format!(
            "{TURN} turn.started thread=t2 turn=u2 subagent=g1\n\
             turn.failed thread=t2 turn=u2 subagent=g1 {{\"failureCategory\":\"x\"}}"
        ),
        RuntimeStatus::Running,
        Phase::Preparing,
    );
}

#[test]
fn threads_stand_on_their_own() {
    let status = status(&format!(
        "turn.submitted thread=t0 turn=u0\n{TURN}\
         turn.started thread=t2 turn=u2\n turn.completed thread=t2 turn=u2\n\
         action.required thread=t3 turn=u3 action=a1 {{\"actionType\":\"question\"}}"
    ));
    let threads: Vec<_> = status
        .threads
        .iter()
        .map(|thread| (thread.thread_id.as_ref().unwrap().as_str(), thread.status))
        .collect();
    assert_eq!(
        threads,
        [
            ("t0", ThreadStatus::Queued),
            ("t1", ThreadStatus::Running),
            ("t2", ThreadStatus::Completed),
            ("t3", ThreadStatus::Waiting),
        ]
    );
}
