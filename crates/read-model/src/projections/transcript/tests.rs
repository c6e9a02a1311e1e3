//! Tests of the transcript: a part is written as `kind[state] text`, one a line.

use event_spine::event::value::Reconciliation;

use super::{Body, Part, PartState, Transcript};
use crate::Limits;
use crate::testing::{brief, events, fold, view};

const TURN: &str = "turn.submitted turn=u1 {\"text\":\"Hi\"}\nturn.started turn=u1\n";

fn transcript(lines: &str) -> Transcript {
    view(&(TURN.to_owned() + lines)).transcript
}

fn line(part: &Part) -> String {
    let state = match part.state {
        PartState::Final => String::new(),
        other => format!("[{}]", other.as_str()),
    };
    let text = match &part.body {
        Body::ToolCall(call) => {
            format!(
                "{} {}({}) -> {}",
                call.status,
                call.tool_name.as_deref().unwrap_or("?"),
                call.args,
                call.output
            )
        }
        Body::Action(action) => format!("{:?}", action.state),
        Body::Error(error) => error.category.clone(),
        Body::AgentTask(agent) | Body::AgentHandoff(agent) | Body::WorkerNotification(agent) => {
            format!("{} {}", agent.status.as_deref().unwrap_or("-"), agent.text)
        }
        Body::ContextEvent(context) => context.what.clone(),
        body => body.text().map(ToString::to_string).unwrap_or_default(),
    };
    let back = if part.rolled_back { " (rolled back)" } else { "" };
    format!("{}{state} {text}{back}", part.body.kind())
}

/// The parts after the input, a line each.
fn parts(lines: &str) -> Vec<String> {
    transcript(lines).parts.iter().skip(1).map(line).collect()
}

fn check(lines: &str, expected: &[&str]) {
    assert_eq!(parts(lines), expected, "{lines}");
}

#[test]
fn a_turn_with_reasoning_tool_and_answer() {
    insta::assert_snapshot!(brief(&view(
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
    ).transcript));
}

// verifies: R65 R66 H16
#[test]
fn confirm_same_part() {
    for completed in [r#"{"text":"Here you go"}"#, r#"{"mode":"confirm"}"#, "{}"] {
        let lines = format!(
            "model.delta turn=u1 message=m1 {{\"delta\":\"Here \"}}\n\
             model.delta turn=u1 message=m1 {{\"delta\":\"you go\"}}\n\
             model.completed turn=u1 message=m1 {completed}"
        );
        check(&lines, &["assistant_text Here you go"]);
        let transcript = transcript(&lines);
        assert_eq!(transcript.reconciled.confirmed, 1);
        assert_eq!(reconciliation(&transcript), Some(Reconciliation::Confirm));
    }
}

fn reconciliation(transcript: &Transcript) -> Option<Reconciliation> {
    let mut parts = transcript.parts.iter().rev();
    parts.find_map(|part| part.body.text_part()).and_then(|text| text.reconciliation)
}

// verifies: R67 H16
#[test]
fn correct_same_part() {
    let lines = r#"
        model.delta     turn=u1 message=m1 part=p1 {"delta":"Here "}
        model.delta     turn=u1 message=m1 part=p1 {"delta":"you go"}
        model.completed turn=u1 message=m1 part=p1 {"text":"Here you go!"}
    "#;
    check(lines, &["assistant_text Here you go!"]);
    let transcript = transcript(lines);
    assert_eq!(transcript.reconciled.corrected, 1);
    assert_eq!(reconciliation(&transcript), Some(Reconciliation::Correct));
}

// verifies: R68
#[test]
fn replace_same_part() {
    for stated in ["", r#","mode":"replace""#] {
        let lines = format!(
            "model.delta turn=u1 message=m1 {{\"delta\":\"No idea.\"}}\n\
             model.completed turn=u1 message=m1 {{\"text\":\"The answer is 42\"{stated}}}"
        );
        check(&lines, &["assistant_text The answer is 42"]);
        let transcript = transcript(&lines);
        assert_eq!(transcript.reconciled.replaced, 1);
        assert_eq!(reconciliation(&transcript), Some(Reconciliation::Replace));
    }
}

// verifies: H16
#[test]
fn words_that_really_repeat_stay_and_whole_messages_without_pieces_are_kept() {
    check(
        r#"
        model.delta     turn=u1 message=m1 {"delta":"very"}
        model.delta     turn=u1 message=m1 {"delta":" very"}
        model.delta     turn=u1 message=m1 {"delta":" lo"}
        model.delta     turn=u1 message=m1 {"delta":"lo"}
        model.completed turn=u1 message=m1
        model.completed turn=u1 message=m2 {"text":"very very lolo"}
        "#,
        &["assistant_text very very lolo", "assistant_text very very lolo"],
    );
}

// verifies: R65
#[test]
fn late_pieces_are_not_added_and_a_new_request_begins_anew() {
    let lines = r#"
        model.delta     turn=u1 message=m1 {"delta":"one"}
        model.completed turn=u1 message=m1 {"text":"one"}
        model.delta     turn=u1 message=m1 {"delta":"one"}
    "#;
    check(lines, &["assistant_text one"]);
    assert_eq!(transcript(lines).reconciled.late_pieces, 1);
    let again = r#"
        model.delta     turn=u1 message=m1 {"delta":"one"}
        model.completed turn=u1 message=m1 {"text":"one"}
        model.requested turn=u1 message=m1
        model.delta     turn=u1 message=m1 {"delta":"two"}
    "#;
    check(again, &["assistant_text one", "assistant_text[streaming] two"]);
}

#[test]
fn parts_of_one_message_are_told_apart_and_confirmed_together() {
    let parts = r#"
        model.delta     turn=u1 message=m1 part=p1 {"delta":"one "}
        model.delta     turn=u1 message=m1 part=p2 {"delta":"two"}
        model.delta     turn=u1 message=m1 part=p1 {"delta":"more "}
    "#;
    check(
        &format!("{parts} model.completed turn=u1 message=m1 {{\"text\":\"one more two\"}}"),
        &["assistant_text one more ", "assistant_text two"],
    );
    check(
        &format!("{parts} model.completed turn=u1 message=m1 {{\"text\":\"another\"}}"),
        &["assistant_text another", "assistant_text[superseded] two"],
    );
}

#[test]
fn pieces_without_ids_keep_their_place_among_tools() {
    check(
        r#"
        reasoning.delta turn=u1 {"delta":"first"}
        model.delta     turn=u1 {"delta":"a"}
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"read"}
        tool.result     turn=u1 step=s1 tool=c1 {"status":"succeeded"}
        reasoning.delta turn=u1 {"delta":"second"}
        model.delta     turn=u1 {"delta":"b"}
        model.completed turn=u1 {"text":"b!"}
        turn.completed  turn=u1
        "#,
        &[
            "reasoning first",
            "assistant_text a",
            "tool_call succeeded read() -> ",
            "reasoning second",
            "assistant_text b!",
        ],
    );
}

#[test]
fn roles_reasoning_and_plan_never_run_into_the_answer() {
    check(
        r#"
        model.delta       turn=u1 message=m1 {"delta":"answer"}
        model.delta       turn=u1 message=m1 {"delta":"thought","role":"reasoning"}
        model.delta       turn=u1 message=m1 {"delta":"busy","role":"activity"}
        plan.delta        turn=u1 message=m1 {"items":[{"text":"one"}],"text":"plan"}
        model.delta       turn=u1 message=m1 {"delta":"!"}
        reasoning.summary turn=u1 message=m1 {"text":"short","encrypted":true}
        runtime.warning   turn=u1 {"code":"w","message":"never here"}
        "#,
        &[
            "assistant_text[streaming] answer!",
            "reasoning short",
            "other_text[streaming] busy",
            "plan[streaming] plan",
        ],
    );
}

#[test]
fn plans_change_item_by_item() {
    let plan = |lines: &str| -> Vec<String> {
        let transcript = transcript(lines);
        let part = transcript.parts.iter().last().unwrap();
        let Body::Plan(plan) = &part.body else { panic!("{part:?}") };
        let status = |item: &event_spine::event::value::PlanItem| {
            item.status.map_or("-", |status| status.as_str())
        };
        plan.items.iter().map(|item| format!("{} {}", item.text, status(item))).collect()
    };
    let two = r#"plan.delta turn=u1 {"items":[{"text":"one","id":"1"},{"text":"two"}]}"#;
    let change = r#"
        plan.delta turn=u1 {"items":[{"text":"One","id":"1","status":"completed"},{"text":"two","status":"in_progress"}]}"#;
    assert_eq!(plan(two), ["one -", "two -"]);
    assert_eq!(plan(&format!("{two}\n{change}")), ["One completed", "two in_progress"]);
    let whole = r#"
        plan.final turn=u1 {"items":[{"text":"three","status":"completed"}]}"#;
    assert_eq!(plan(&format!("{two}\n{change}\n{whole}")), ["three completed"]);
}

#[test]
fn a_failed_call_gives_way_to_the_next_try() {
    let failed = r#"
        model.requested turn=u1 message=m1
        model.delta     turn=u1 message=m1 {"delta":"The ans"}
        model.failed    turn=u1 message=m1 {"failureCategory":"stream_interrupted","retryable":true}
    "#;
    check(failed, &["assistant_text[interrupted] The ans", "error stream_interrupted"]);
    check(
        &format!(
            "{failed}
            model.requested turn=u1 message=m2
            model.delta     turn=u1 message=m2 {{\"delta\":\"The answer is 42\"}}
            model.completed turn=u1 message=m2"
        ),
        &[
            "assistant_text[superseded] The ans",
            "error stream_interrupted",
            "assistant_text The answer is 42",
        ],
    );
    check(
        r#"model.failed turn=u1 message=m1 {"failureCategory":"timeout","partialText":"Hal"}"#,
        &["assistant_text[interrupted] Hal", "error timeout"],
    );
}

// verifies: R63 H13
#[test]
fn the_end_of_a_turn_closes_text_and_tools_but_no_question() {
    let open = r#"
        model.delta     turn=u1 message=m1 {"delta":"I am"}
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"sh"}
        action.required turn=u1 action=a1 {"actionType":"approval"}
        subagent.started turn=u1 subagent=g1 {"objective":"look"}
    "#;
    let after = |text: &str| {
        [
            text.to_owned(),
            "tool_call interrupted sh() -> ".to_owned(),
            "action[streaming] Pending".to_owned(),
            "agent_task[streaming] running look".to_owned(),
        ]
    };
    assert_eq!(parts(&format!("{open} turn.completed turn=u1")), after("assistant_text I am"));
    assert_eq!(
        parts(&format!("{open} turn.canceled turn=u1")),
        after("assistant_text[interrupted] I am")
    );
    let failed = parts(&format!("{open} turn.failed turn=u1 {{\"failureCategory\":\"x\"}}"));
    assert_eq!(failed.last().unwrap(), "error x");
}

#[test]
fn each_sub_agent_has_its_own_text() {
    check(
        r#"
        subagent.started turn=u1 subagent=g1 {"objective":"A"}
        subagent.started turn=u1 subagent=g2 {"objective":"B","handoff":true}
        model.delta      turn=u1 subagent=g1 {"delta":"a1 "}
        model.delta      turn=u1 subagent=g2 {"delta":"b1 "}
        model.delta      turn=u1 {"delta":"main"}
        model.delta      turn=u1 subagent=g1 {"delta":"a2"}
        model.delta      turn=u1 subagent=g2 {"delta":"b2"}
        subagent.completed subagent=g2 {"summary":"done"}
        channel.message  {"channelId":"ch","text":"psst","kind":"peer"}
        "#,
        &[
            "agent_task[streaming] running A",
            "agent_handoff completed B",
            "assistant_text[streaming] a1 a2",
            "assistant_text[streaming] b1 b2",
            "assistant_text[streaming] main",
            "worker_notification peer psst",
        ],
    );
}

// verifies: H16
#[test]
fn a_message_list_corrects_and_adds_and_never_takes_away() {
    let seen = r#"
        model.delta     turn=u1 message=m1 {"delta":"Helo"}
        model.completed turn=u1 message=m1
        tool.started    turn=u1 step=s1 tool=c1 {"toolName":"read"}
        tool.failed     turn=u1 step=s1 tool=c1 {"failureCategory":"timeout"}
        tool.started    turn=u1 step=s1 tool=c2 {"toolName":"read"}
        action.required turn=u1 action=a1 {"actionType":"approval"}
    "#;
    let before = [
        "assistant_text Helo",
        "tool_call timed_out read() -> ",
        "tool_call[streaming] running read() -> ",
        "action[streaming] Pending",
    ];
    check(&format!("{seen} messages.snapshot {{\"messages\":[]}}"), &before);
    check(
        &format!("{seen} messages.snapshot {}", r#"{"messages":[
            {"messageId":"m1","role":"assistant","text":"Hello"},
            {"role":"tool","toolCallId":"c1","text":"fine"},
            {"role":"tool","toolCallId":"c2","text":"out"},
            {"messageId":"m7","role":"assistant","text":"New","toolCalls":[{"id":"c7","name":"sh","arguments":"{}"}]},
            {"role":"assistant","text":"could be any"}]}"#.replace('\n', " ")),
        &[
            "assistant_text Hello",
            "tool_call timed_out read() -> ",
            "tool_call unknown read() -> out",
            "action[streaming] Pending",
            "assistant_text New",
            "tool_call[streaming] input_available sh({}) -> ",
        ],
    );
}

#[test]
fn a_message_list_lags_behind_a_text_that_streams() {
    check(
        r#"
        model.delta       turn=u1 message=m1 {"delta":"Hello wor"}
        messages.snapshot {"messages":[{"messageId":"m1","role":"assistant","text":"Hello"}]}
        model.delta       turn=u1 message=m1 {"delta":"ld"}
        "#,
        &["assistant_text[streaming] Hello world"],
    );
}

#[test]
fn a_message_list_does_not_bring_back_what_the_window_dropped() {
    let mut lines = String::new();
    let mut list = Vec::new();
    for at in 0..6 {
        lines.push_str(&format!("model.completed turn=u1 message=m{at} {{\"text\":\"{at}\"}}\n"));
        list.push(format!(r#"{{"messageId":"m{at}","role":"assistant","text":"{at}"}}"#));
    }
    lines.push_str(&format!("messages.snapshot {{\"messages\":[{}]}}", list.join(",")));
    let limits = Limits { items: 3, ..Limits::default() };
    let transcript = fold(&events(&lines), limits).transcript;
    let texts: Vec<_> = transcript.parts.iter().map(line).collect();
    assert_eq!(texts, ["assistant_text 3", "assistant_text 4", "assistant_text 5"]);
    assert_eq!((transcript.parts.total(), transcript.parts.dropped()), (6, 3));
    assert_eq!(transcript.parts.before(), Some(4));
}

#[test]
fn a_rollback_marks_what_it_undid() {
    check(
        r#"
        model.completed turn=u1 message=m1 {"text":"stays"}
        model.completed turn=u1 message=m2 {"text":"goes"}
        history.rollback.completed {"toSequence":3}
        "#,
        &["assistant_text stays", "assistant_text goes (rolled back)", "context_event rolled_back"],
    );
}

#[test]
fn long_texts_keep_their_ends_and_are_still_compared() {
    let limits = Limits { text_bytes: 32, ..Limits::default() };
    let long = "0123456789".repeat(20);
    let run = |last: &str| {
        let mut lines = TURN.to_owned();
        for piece in long.as_bytes().chunks(7) {
            let piece = std::str::from_utf8(piece).unwrap();
            lines.push_str(&format!("model.delta turn=u1 message=m1 {{\"delta\":\"{piece}\"}}\n"));
        }
        lines
            .push_str(&format!("model.completed turn=u1 message=m1 {{\"text\":\"{long}{last}\"}}"));
        fold(&events(&lines), limits).transcript
    };
    let same = run("");
    assert_eq!(reconciliation(&same), Some(Reconciliation::Confirm));
    let part = same.parts.iter().last().unwrap();
    let text = part.body.text().unwrap();
    assert_eq!((text.len(), text.head()), (200, "0123456789012345"));
    assert!(text.tail().ends_with("789"));
    assert_eq!(reconciliation(&run("!")), Some(Reconciliation::Correct));
}

#[test]
fn a_final_text_that_was_too_large_for_the_event_confirms_by_its_size() {
    let lines = |size: usize| {
        format!(
            r#"
            model.delta     turn=u1 message=m1 {{"delta":"0123456789"}}
            model.completed turn=u1 message=m1 {{"text":"0 ... 9"}} refs=[{{"kind":"output","id":"blake3:1","pointer":"/text","sizeBytes":{size}}}]
            "#
        )
    };
    check(&lines(10), &["assistant_text 0123456789"]);
    assert_eq!(reconciliation(&transcript(&lines(10))), Some(Reconciliation::Confirm));
    check(&lines(11), &["assistant_text 0 ... 9"]);
    // A piece that was too large cannot be compared with anything.
    let piece = r#"
        model.delta     turn=u1 message=m1 {"delta":"0 ... 9"} refs=[{"kind":"output","id":"blake3:1","pointer":"/delta","sizeBytes":90000}]
        model.completed turn=u1 message=m1 {"text":"0123456789"}
    "#;
    check(piece, &["assistant_text 0123456789"]);
    assert_eq!(reconciliation(&transcript(piece)), Some(Reconciliation::Unknown));
}

#[test]
fn an_input_that_only_the_message_list_tells_stands_where_it_was_put_in() {
    let told = r#"
        turn.submitted    turn=u1 {}
        tool.started      turn=u1 step=s1 tool=c1 {"toolName":"weather"}
        tool.result       turn=u1 step=s1 tool=c1 {"status":"succeeded"}
        messages.snapshot turn=u1 {"messages":[{"messageId":"h0","role":"user","text":"Earlier?"},{"messageId":"h1","role":"user","text":"Weather?"}]}
    "#;
    let once = view(told);
    let lines =
        |view: &crate::SessionView| view.transcript.parts.iter().map(line).collect::<Vec<_>>();
    let expected =
        ["user_text Weather?", "tool_call succeeded weather() -> ", "user_text Earlier?"];
    assert_eq!(lines(&once), expected);
    let turn = once.graph.node(&"turn:u1".parse().unwrap()).unwrap();
    assert_eq!(turn.input.as_deref(), Some("Weather?"));
    let snapshot = told.lines().rfind(|line| line.contains("snapshot")).unwrap();
    assert_eq!(lines(&view(&format!("{told}\n{snapshot}"))), expected, "told twice, shown once");
}
