//! What the adapter makes of recorded streams, and of the cases that no recording has.

use super::super::testing::{adapt, adapt_parts, read, spell, spell_drafts};
use super::super::{EndOfInput, Format};

fn recorded(name: &str) -> String {
    spell(&adapt(Format::AgUi, &read(name), EndOfInput::Closed))
}

/// What comes of a few events, without the members that every fact has.
fn told(events: &str) -> String {
    let batch = adapt(Format::AgUi, events.trim().as_bytes(), EndOfInput::Closed);
    let text = spell(&batch);
    let quiet = ["task.created", "task.updated", "evidence.changed", "turn.submitted", "usage."];
    text.lines()
        .filter(|line| !quiet.iter().any(|name| line.contains(name)))
        .map(|line| {
            let words = line.split(' ').filter(|word| {
                !["turn=", "task=", "run=", "step="].iter().any(|w| word.starts_with(w))
            });
            words.collect::<Vec<_>>().join(" ").trim_start().to_owned() + "\n"
        })
        .collect()
}

// verifies: R78 R79 R89
#[test]
fn text() {
    insta::assert_snapshot!(recorded("ag-ui/text.jsonl"));
}

#[test]
fn server_sent_events_give_the_same_facts() {
    // The file of lines begins with the input of the run, the other one does not.
    let sse = adapt(Format::AgUi, &read("ag-ui/text.sse"), EndOfInput::Closed);
    let lines = adapt(Format::AgUi, &read("ag-ui/text.jsonl"), EndOfInput::Closed);
    let payloads = |batch: &super::super::Batch| -> Vec<_> {
        let drafts = batch.drafts.iter().skip(1);
        drafts.map(|d| (d.draft.event_id.clone(), d.draft.payload.clone())).collect()
    };
    assert_eq!(sse.drafts.len(), lines.drafts.len());
    let same = payloads(&sse).iter().zip(payloads(&lines)).filter(|(a, b)| a.1 == b.1).count();
    assert!(same + 3 > payloads(&lines).len(), "{same}");
}

#[test]
fn tool_success() {
    insta::assert_snapshot!(recorded("ag-ui/tool-success.jsonl"));
}

// verifies: R91
#[test]
fn tool_failure_is_told_by_the_message_list_only() {
    insta::assert_snapshot!(recorded("ag-ui/tool-failure.jsonl"));
}

#[test]
fn tool_without_result() {
    insta::assert_snapshot!(recorded("ag-ui/tool-without-result.jsonl"));
}

// verifies: R92
#[test]
fn approval() {
    insta::assert_snapshot!(recorded("ag-ui/approval.jsonl"));
}

#[test]
fn custom_interrupt_leaves_the_turn_waiting() {
    insta::assert_snapshot!(recorded("ag-ui/custom-interrupt.jsonl"));
}

// verifies: H20 R211
#[test]
fn stream_cut() {
    insta::assert_snapshot!(recorded("ag-ui/stream-cut.jsonl"));
}

#[test]
fn run_error() {
    insta::assert_snapshot!(recorded("ag-ui/run-error.jsonl"));
}

// verifies: H22
#[test]
fn raw_events_are_counted_and_a_second_terminal_is_a_diagnostic() {
    insta::assert_snapshot!(recorded("ag-ui/raw-events.jsonl"));
}

#[test]
fn parallel_tools() {
    insta::assert_snapshot!(recorded("ag-ui/parallel-tools.jsonl"));
}

#[test]
fn subagent_error() {
    insta::assert_snapshot!(recorded("ag-ui/subagent-error.jsonl"));
}

// verifies: H40 R92
#[test]
fn two_inputs_of_one_thread_make_one_turn() {
    for (name, parts) in [
        ("subagent", ["subagent-approval.part1.jsonl", "subagent-approval.part2.jsonl"]),
        ("suspended", ["suspend-cancelled.part1.jsonl", "suspend-cancelled.part2.jsonl"]),
    ] {
        let inputs: Vec<_> = parts.iter().map(|part| read(&format!("ag-ui/{part}"))).collect();
        let [one, two] = [&inputs[0][..], &inputs[1][..]];
        let log = adapt_parts(Format::AgUi, &[one, two]);
        // Either part again, or both, adds nothing.
        assert_eq!(adapt_parts(Format::AgUi, &[one, two, one, two, two]), log, "{name}");
        insta::assert_snapshot!(name, spell_drafts(&log.iter().collect::<Vec<_>>()));
    }
}

/// What a line of [`spell`] says of a call: its kind, its name and its status.
fn calls(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|l| l.contains("tool.result") || l.contains("tool.failed"));
    lines
        .map(|line| {
            let (head, payload) = line.split_once(" {").unwrap();
            let payload: serde_json::Value =
                serde_json::from_str(&format!("{{{payload}")).unwrap_or_default();
            let call = head.split(' ').find_map(|word| word.strip_prefix("toolCall="));
            let word = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", call.unwrap_or_default(), word("toolName"), word("status"))
        })
        .collect()
}

/// The integration joins the arguments of calls that the model asks for at once, and tells nothing of a call that fails; the
/// state of the agent has all of it.
// verifies: R91
#[test]
fn what_the_events_leave_out_the_state_tells() {
    let batch = adapt(Format::AgUi, &read("ag-ui/parallel-joined.jsonl"), EndOfInput::Closed);
    let text = spell(&batch);
    assert_eq!(
        calls(&text),
        [
            "call_p1 get_weather succeeded",
            "call_p2 get_weather succeeded",
            "call_p3 flaky_lookup failed"
        ]
    );
    let args = |call: &str| -> Option<String> {
        let mut told = batch.drafts.iter().map(|made| &made.draft).filter(|draft| {
            draft.event_type.name() == "tool.args" && draft.scope.get("toolCallId") == Some(call)
        });
        let payload = told.next_back()?.payload.read::<serde_json::Value>().ok()?;
        Some(format!("{} {}", payload["state"].as_str()?, payload["args"]))
    };
    let told: Vec<_> = ["call_p1", "call_p2", "call_p3"].into_iter().filter_map(args).collect();
    assert_eq!(
        told,
        [
            r#"input-available {"city":"Paris"}"#,
            r#"input-available {"city":"Tokyo"}"#,
            r#"input-available {"key":"beta"}"#
        ]
    );
}

/// The status comes behind the result; a part of the stream that ends between the two leaves it unknown for good.
#[test]
fn a_result_waits_for_its_status_to_the_end_of_its_step() {
    let result = r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"STEP_STARTED","stepName":"tools"}
{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f"}
{"type":"TOOL_CALL_END","toolCallId":"c1"}
{"type":"TOOL_CALL_RESULT","messageId":"m1","toolCallId":"c1","content":"boom"}
"#;
    let state = |status: &str| {
        format!(
            r#"{{"type":"STATE_SNAPSHOT","snapshot":{{"messages":[{{"type":"tool","tool_call_id":"c1","name":"f","content":"boom","status":"{status}"}}]}}}}
"#
        )
    };
    let rest = r#"{"type":"STEP_FINISHED","stepName":"tools"}
{"type":"TOOL_CALL_RESULT","messageId":"m1","toolCallId":"c1","content":"boom"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#;
    let told_with = |state: &str| told(&format!("{result}{state}{rest}"));
    for (state, expected) in [
        (state("success"), "c1 f succeeded"),
        (state("error"), "c1 f failed"),
        (state("odd"), "c1 f unknown"),
        (String::new(), "c1 f unknown"),
    ] {
        let text = told_with(&state);
        assert_eq!(calls(&text), [expected], "{text}");
        assert!(text.contains("second_result"), "{text}");
        let at = |part: &str| text.find(part);
        assert!(at("\"boom\"") < at("step_finished"), "{text}");
    }
    let part = format!("{}\n", result.trim());
    let whole = format!("{}{}{rest}", part, state("error"));
    let log = adapt_parts(Format::AgUi, &[part.as_bytes(), whole.as_bytes(), whole.as_bytes()]);
    let ends = log.iter().filter(|d| ["tool.result", "tool.failed"].contains(&d.event_type.name()));
    assert_eq!(ends.count(), 1);
}

/// A call of a sub-agent that a person allowed is the call that asked.
#[test]
fn a_resumed_call_of_a_sub_agent_is_the_same_call() {
    let parts = ["subagent-approval.part1.jsonl", "subagent-approval.part2.jsonl"];
    let inputs: Vec<_> = parts.iter().map(|part| read(&format!("ag-ui/{part}"))).collect();
    let log = adapt_parts(Format::AgUi, &[&inputs[0], &inputs[1]]);
    let text = spell_drafts(&log.iter().collect::<Vec<_>>());
    assert_eq!(calls(&text), ["call_mock0342a delete_file unknown", "call_mock0340a task unknown"]);
    let last = log.iter().rfind(|draft| draft.event_type.name() == "messages.snapshot").unwrap();
    let listed = last.payload.as_str();
    assert!(listed.contains(r#""toolCallId":"call_mock0342a""#), "{listed}");
    assert!(!listed.contains(r#""id":"call_mock0342a::"#), "{listed}");
}

/// Tokens of several models are told of several messages.

#[test]
fn tokens_of_each_model_have_a_message_of_their_own() {
    for (name, parts) in [
        ("two models", vec!["two-models.jsonl"]),
        ("two runs", vec!["subagent-approval.part1.jsonl", "subagent-approval.part2.jsonl"]),
    ] {
        let inputs: Vec<_> = parts.iter().map(|part| read(&format!("ag-ui/{part}"))).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let log = adapt_parts(Format::AgUi, &inputs);
        let told = log.iter().filter(|draft| draft.event_type.name() == "usage.updated");
        let messages: Vec<_> = told.map(|draft| draft.scope.message_id.clone().unwrap()).collect();
        let distinct: std::collections::HashSet<_> = messages.iter().collect();
        assert_eq!((messages.len(), distinct.len()), (2 * parts.len(), 2 * parts.len()), "{name}");
    }
}

// verifies: R94
#[test]
fn a_message_list_repairs_what_an_earlier_run_lost() {
    let again = r#"{"type":"RUN_STARTED","threadId":"thread-cut","runId":"run-12"}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m1","role":"user","content":"Hello."},{"id":"a1","role":"assistant","content":"This sentence will be cut off before it ends."}]}
{"type":"RUN_FINISHED","threadId":"thread-cut","runId":"run-12"}
"#;
    let log = adapt_parts(Format::AgUi, &[&read("ag-ui/stream-cut.jsonl"), again.as_bytes()]);
    let names: Vec<_> = log.iter().map(|d| d.event_type.name()).collect();
    let broken = names.iter().position(|n| *n == "stream.interrupted").unwrap();
    let repaired = names.iter().position(|n| *n == "stream.repaired").unwrap();
    assert!(broken < repaired);
}

// verifies: H22
#[test]
fn runs_of_one_stream_have_their_own_ends() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
{"type":"RUN_STARTED","threadId":"t","runId":"r2"}
{"type":"RUN_ERROR","message":"boom","code":"rate_limited"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}
{"type":"RUN_STARTED","threadId":"t","runId":"r3"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r3","outcome":{"type":"cancelled"}}
{"type":"RUN_STARTED","threadId":"t","runId":"r4"}
{"type":"RUN_STARTED","threadId":"other","runId":"r1"}
{"type":"RUN_FINISHED","threadId":"other","runId":"r1","outcome":{"type":"shrugged"}}
"#
    ));
}

// verifies: H14 H15
#[test]
fn a_reconnect_that_replays_the_run_adds_nothing_twice() {
    let begin = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hel"}
"#;
    let end = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"lo"}
{"type":"TEXT_MESSAGE_END","messageId":"m1"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#;
    let ids = |text: &str| -> Vec<_> {
        let batch = adapt(Format::AgUi, text.as_bytes(), EndOfInput::Closed);
        batch.drafts.into_iter().map(|d| (d.draft.event_id, d.draft.payload)).collect()
    };
    let straight = ids(&format!("{begin}{end}"));
    assert_eq!(ids(&format!("{begin}{begin}{end}")), straight);
    assert_eq!(ids(&format!("{begin}{begin}{end}{begin}{end}")), straight);
}

#[test]
fn chunks_belong_to_their_lane() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"a"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"s1","delta":"x","subagentRunId":"sub"}
{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"c1","toolCallName":"f","delta":"{\"n\":","subagentRunId":"sub"}
{"type":"RAW","event":{}}
{"type":"TOOL_CALL_CHUNK","delta":"9007199254740993}","subagentRunId":"sub"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","delta":"c"}
{"type":"REASONING_MESSAGE_CHUNK","messageId":"q","delta":"hm","subagentRunId":"sub"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#
    ));
}

// verifies: H17
#[test]
fn interleaved_calls_keep_their_own_arguments() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1","timestamp":1767225600000}
{"type":"TOOL_CALL_START","toolCallId":"A","toolCallName":"f"}
{"type":"TOOL_CALL_START","toolCallId":"B","toolCallName":"g"}
{"type":"TOOL_CALL_ARGS","toolCallId":"A","delta":"{\"q\":"}
{"type":"TOOL_CALL_ARGS","toolCallId":"B","delta":"{\"q\":"}
{"type":"TOOL_CALL_ARGS","toolCallId":"A","delta":"\"x\"}"}
{"type":"TOOL_CALL_ARGS","toolCallId":"B","delta":"\"y\""}
{"type":"TOOL_CALL_END","toolCallId":"B"}
{"type":"TOOL_CALL_END","toolCallId":"A"}
{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"B","content":[{"type":"text","text":"no"}]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"success","pendingToolCallIds":["A"]}}
{"threadId":"t","runId":"r2","messages":[{"id":"r2","role":"tool","toolCallId":"A","content":"yes"}]}
{"type":"RUN_STARTED","threadId":"t","runId":"r2"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r2","result":{"n":1.10}}
"#
    ));
}

#[test]
fn reasoning_in_all_its_forms() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"REASONING_START","messageId":"q"}
{"type":"REASONING_MESSAGE_START","messageId":"q","role":"reasoning"}
{"type":"REASONING_MESSAGE_CONTENT","messageId":"q","delta":"hm"}
{"type":"REASONING_MESSAGE_END","messageId":"q"}
{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"q","encryptedValue":"c2VjcmV0"}
{"type":"REASONING_END","messageId":"q"}
{"type":"THINKING_START","title":"old"}
{"type":"THINKING_TEXT_MESSAGE_START"}
{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"older"}
{"type":"THINKING_TEXT_MESSAGE_END"}
{"type":"THINKING_END"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#
    ));
}

// verifies: H23
#[test]
fn state_activities_and_what_has_no_place() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"STATE_SNAPSHOT","snapshot":{"a/b~c":1.10}}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/missing","value":1}]}
{"type":"ACTIVITY_SNAPSHOT","messageId":"act","activityType":"SEARCH","content":{"n":0},"replace":false}
{"type":"ACTIVITY_DELTA","messageId":"act","activityType":"SEARCH","patch":[{"op":"replace","path":"/n","value":1}]}
{"type":"CUSTOM","name":"mine","value":{"x":1}}
{"type":"META_EVENT","metaType":"thumbs_up"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":7,"delta":"x"}
{"no":"type"}
not json
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"half \ud83d"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#
    ));
}

// verifies: H27
#[test]
fn each_question_gets_its_own_answer() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f"}
{"type":"TOOL_CALL_END","toolCallId":"c1"}
{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"f"}
{"type":"TOOL_CALL_END","toolCallId":"c2"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"tool_call","toolCallId":"c1"},{"id":"i2","reason":"tool_call","toolCallId":"c2","expiresAt":"2026-02-01T00:00:00Z"},{"id":"i3","reason":"confirmation","message":"Sure?"}]}}
{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{"threadId":"t","runId":"r2","messages":[],"resume":[{"interruptId":"i2","status":"resolved","payload":{"approved":true,"editedArgs":{"x":2}}},{"interruptId":"i1","status":"resolved","payload":{"approved":false}},{"interruptId":"i3","status":"cancelled"}]}}
{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c2","content":"done"}
{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c1","content":"denied"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r2","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"input_required"}]}}
{"type":"RUN_STARTED","threadId":"t","runId":"r3"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r3"}
"#
    ));
}

#[test]
fn a_new_question_of_the_user_leaves_the_waiting_turn() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"input_required"}]}}
{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{"threadId":"t","runId":"r2","messages":[{"id":"u2","role":"user","content":"Never mind."}]}}
{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}
"#
    ));
}

// verifies: H40
#[test]
fn agents_have_their_own_lanes_and_end_in_any_order() {
    insta::assert_snapshot!(told(
        r#"
{"type":"RUN_STARTED","threadId":"t","runId":"r1"}
{"type":"SUBAGENT_STARTED","subagentRunId":"A","name":"a"}
{"type":"SUBAGENT_STARTED","subagentRunId":"B","name":"b"}
{"type":"SUBAGENT_STARTED","subagentRunId":"A1","name":"a1","parentSubagentRunId":"A"}
{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","subagentRunId":"A1"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"deep"}
{"type":"TEXT_MESSAGE_END","messageId":"m"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"B","result":"b done"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"A1","result":{"n":1}}
{"type":"SUBAGENT_ERROR","subagentRunId":"A","message":"a broke","code":"x"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"Z"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#
    ));
}

#[test]
fn a_stream_without_its_beginning_is_taken() {
    insta::assert_snapshot!(told(
        r#"
{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{}"}
{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c0","content":"late"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"tail"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}
"#
    ));
}

#[test]
fn what_stands_before_the_first_run_is_kept_in_it() {
    let text = "not json\n{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r1\"}\n";
    let batch = adapt(Format::AgUi, text.as_bytes(), EndOfInput::Closed);
    let first = &batch.drafts[0].session_id;
    assert!(batch.drafts.iter().all(|made| made.session_id == *first));
    assert!(spell(&batch).contains("malformed_frame"));
}
