//! Tests of the view of actions.

use super::{ActionState, Actions};
use crate::testing::{brief, view};

fn actions(lines: &str) -> Actions {
    view(lines).actions
}

const ASKED: &str = "action.required turn=u1 action=a1 {\"actionType\":\"approval\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}\n";

#[test]
fn requests_answers_and_decisions() {
    insta::assert_snapshot!(brief(&actions(
        r#"
        action.required      turn=u1 action=a1 tool=c1 {"actionType":"tool_permission","title":"Run sh?","toolName":"sh","arguments":{"cmd":"rm -r x"},"argumentsHash":"h","risk":"high","choices":["allow","deny"],"ruleId":"r1"}
        action.required      turn=u1 action=a2 {"actionType":"question","responseSchema":{"type":"string"}}
        action.resolved      turn=u1 action=a1 tool=c1 {"decision":"approve","resolvedAs":"approved","source":"human","decidedBy":"ann","rememberScope":"once"} @30
        action.cancelled     turn=u1 action=a2 {"reason":"turn over"}
        permission.evaluated turn=u1 tool=c2 {"decision":"allow","ruleId":"r2"}
        permission.denied    turn=u1 tool=c3 {"reason":"never","target":"/etc"}
        sandbox.blocked      turn=u1 tool=c4 {"reason":"no network","operation":"network","sandboxMode":"workspace_write"}
        "#
    )));
}

// verifies: R64
#[test]
fn only_the_runtime_closes_an_action() {
    let check = |lines: &str, state: ActionState, ignored: u32| {
        let actions = actions(&format!("{ASKED} {lines}"));
        let action = actions.actions.iter().last().unwrap();
        assert_eq!((action.state, action.ignored), (state, ignored), "{lines}");
        let pending = usize::from(state == ActionState::Pending);
        assert_eq!(actions.pending().count(), pending, "{lines}");
    };
    let approve = r#"action.resolved turn=u1 action=a1 {"decision":"approve"}"#;
    let deny = r#"action.resolved turn=u1 action=a1 {"decision":"deny"}"#;
    let expired = "action.expired turn=u1 action=a1";
    check("", ActionState::Pending, 0); // its time has passed, and nobody said that it expired
    check("turn.completed turn=u1", ActionState::Pending, 0);
    check(approve, ActionState::Resolved, 0);
    check("action.cancelled turn=u1 action=a1", ActionState::Cancelled, 0);
    check(expired, ActionState::Expired, 0);
    check(ASKED, ActionState::Pending, 1);
    check(&format!("{approve}\n{deny}\n{expired}"), ActionState::Resolved, 2);
    check(&format!("{expired}\n{approve}"), ActionState::Expired, 1);
}

#[test]
fn a_second_answer_changes_nothing() {
    let once = format!("{ASKED} action.resolved turn=u1 action=a1 {{\"decision\":\"approve\"}}\n");
    let twice = format!("{once} action.resolved turn=u1 action=a1 {{\"decision\":\"deny\"}}");
    let decision = |lines: &str| {
        let actions = actions(lines);
        let action = actions.actions.iter().last().unwrap();
        (action.resolution.clone(), action.closed.clone())
    };
    assert_eq!(decision(&once), decision(&twice));
}

#[test]
fn an_answer_without_a_question_is_kept_and_says_so() {
    let actions = actions(r#"action.resolved turn=u1 action=a1 {"decision":"approve"}"#);
    let action = actions.actions.iter().last().unwrap();
    assert!(action.never_asked);
    assert_eq!(action.state, ActionState::Resolved);
}

#[test]
fn an_id_that_comes_back_is_another_action() {
    let lines = format!("{ASKED} action.expired turn=u1 action=a1\n{ASKED}");
    let actions = actions(&lines);
    assert_eq!((actions.actions.len(), actions.pending().count()), (2, 1));
}
