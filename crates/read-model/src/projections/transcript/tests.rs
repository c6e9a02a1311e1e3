//! Tests of the transcript.

use crate::testing::{brief, view};

fn check(lines: &str) -> String {
    brief(&view(lines).transcript)
}

#[test]
fn a_turn_with_reasoning_tool_and_answer() {
    insta::assert_snapshot!(check(
        r#"
        turn.submitted  turn=u1 {"text":"What is in a.txt?"}
        turn.started    turn=u1 {"model":"m"}
        model.requested turn=u1 step=s1 message=m1
        reasoning.delta turn=u1 step=s1 message=m1 {"delta":"I should "}
        reasoning.delta turn=u1 step=s1 message=m1 {"delta":"read it."}
        model.delta     turn=u1 step=s1 message=m1 {"delta":"Let me "}
        model.delta     turn=u1 step=s1 message=m1 {"delta":"look."}
        model.completed turn=u1 step=s1 message=m1 {"text":"Let me look.","finishReason":"tool_calls"}
        tool.args       turn=u1 step=s1 tool=c1 {"state":"input-streaming","toolName":"read","delta":"{\"path\":"}
        tool.args       turn=u1 step=s1 tool=c1 {"state":"input-available","delta":"\"a.txt\"}"}
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"read"}
        tool.result     turn=u1 step=s1 tool=c1 {"status":"succeeded","output":"hello"}
        model.delta     turn=u1 step=s2 message=m2 {"delta":"It says hello."}
        model.completed turn=u1 step=s2 message=m2 {"final":true}
        turn.completed  turn=u1
        "#
    ));
}
