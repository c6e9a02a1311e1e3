//! What the adapter makes of recorded rollouts, and of the versions that no recording has.

use super::super::testing::{adapt, adapt_parts, read, spell, spell_drafts};
use super::super::{EndOfInput, Format};

fn recorded(name: &str) -> String {
    spell(&adapt(Format::Codex, &read(&format!("codex/{name}")), EndOfInput::Closed))
}

/// What comes of a few lines of another version, without what surrounds it.
fn told(lines: &str) -> String {
    let batch = adapt(Format::Codex, lines.trim().as_bytes(), EndOfInput::Closed);
    let quiet = ["snapshot.updated", "evidence.changed"];
    spell(&batch)
        .lines()
        .filter(|line| !quiet.iter().any(|name| line.contains(name)))
        .map(|line| {
            let words = line
                .split(' ')
                .filter(|word| !word.starts_with("turn=") && !word.starts_with("step="));
            words.collect::<Vec<_>>().join(" ").trim_start().to_owned() + "\n"
        })
        .collect()
}

macro_rules! recordings {
    ($( $(#[$comment:meta])* $name:ident: $file:literal; )*) => { $(
        #[test]
        fn $name() {
            insta::assert_snapshot!(recorded($file));
        }
    )* };
}

recordings! {
    text: "text.jsonl";
    tool_success: "tool-success.jsonl";
    tool_failure: "tool-failure.jsonl";
    parallel_tools: "parallel.jsonl";
    reasoning: "reasoning-tool.jsonl";
    web_search: "web.jsonl";
    artifact_and_evidence: "artifact-evidence.jsonl";
    patch_denied: "approval-patch-denied.jsonl";
    command_denied_in_words_only: "approval-exec-denied.jsonl";
    turn_cancelled: "approval-exec-cancel.jsonl";
    outcome_behind_the_end_of_the_turn: "long.jsonl";
    stream_cut: "stream-cut.jsonl";
    rate_limited: "err429.jsonl";
    context_too_long: "err-ctx.jsonl";
    calls_inside_a_call: "code-mode-parallel.jsonl";
    two_turns: "two-turns.jsonl";
    approval_denied: "app-server.approval-exec-denied.jsonl";
    approval_cancelled: "app-server.approval-exec-cancel.jsonl";
    patch_approved_live: "app-server.approval-patch-approved.jsonl";
    cut_live: "app-server.cut.jsonl";
    tool_failure_of_exec: "exec.tool-fail.jsonl";
    subagent_of_exec: "exec.subagent.jsonl";
    retries_of_exec: "exec.err429-retried.jsonl";
}

// verifies: R92
#[test]
fn approval() {
    insta::assert_snapshot!(recorded("approval.jsonl"));
}

fn sum(log: &[event_spine::EventDraft], member: &str) -> u64 {
    let usage = log.iter().filter(|d| d.event_type.name() == "usage.updated");
    let of = |d: &event_spine::EventDraft| d.payload.read::<serde_json::Value>().unwrap();
    usage.filter_map(|d| of(d)[member].as_u64()).sum()
}

fn turns(log: &[event_spine::EventDraft]) -> usize {
    log.iter().filter(|d| d.event_type.name() == "turn.submitted").count()
}

/// Each run of a thread is a turn of its own, whichever way it comes, and however often.
// verifies: H25 H37
#[test]
fn runs_of_exec_in_one_thread() {
    let one = &read("codex/exec.resume.turn1.jsonl")[..];
    let two = &read("codex/exec.resume.turn2.jsonl")[..];
    let log = adapt_parts(Format::Codex, &[one, two]);
    assert_eq!(turns(&log), 2);
    assert_eq!((sum(&log, "inputTokens"), sum(&log, "outputTokens")), (3600, 150));
    let ends = log.iter().filter(|d| d.event_type.name() == "turn.completed");
    assert_eq!(ends.count(), 2);
    assert_eq!(adapt_parts(Format::Codex, &[one, two, one, two, two]), log);
    // Both in one file, and both in one file after the first.
    let both = [one, two].concat();
    let ids = |log: &[event_spine::EventDraft]| -> Vec<_> {
        log.iter().map(|d| (d.event_id.clone(), d.payload.clone())).collect()
    };
    assert_eq!(ids(&adapt_parts(Format::Codex, &[&both])), ids(&log));
    assert_eq!(ids(&adapt_parts(Format::Codex, &[one, &both, two])), ids(&log));
    // A part of a run says nothing new; the whole run after a part of it goes on in its turn.
    for lines in 1..7 {
        let cut: usize = two.split_inclusive(|b| *b == b'\n').take(lines).map(<[u8]>::len).sum();
        assert_eq!(adapt_parts(Format::Codex, &[one, two, &two[..cut]]), log, "{lines}");
        let grown = adapt_parts(Format::Codex, &[one, &two[..cut], two]);
        assert_eq!(turns(&grown), 2, "{lines}");
        assert_eq!(sum(&grown, "inputTokens"), 3600, "{lines}");
    }
    // The wrong way round: the earlier run is part of what the later one told.
    let back = adapt_parts(Format::Codex, &[two, one]);
    assert_eq!((turns(&back), sum(&back, "inputTokens")), (2, 3600));
    assert_eq!(adapt_parts(Format::Codex, &[two, one, one, two]), back);
}

/// Two forms of one run are two tellings of it.
// verifies: H25
#[test]
fn forms_of_one_thread_are_sessions_of_their_own() {
    let session = |name: &str| {
        let batch = adapt(Format::Codex, &read(&format!("codex/{name}")), EndOfInput::Closed);
        batch.drafts[0].session_id.as_str().to_owned()
    };
    let of = |thread: &str| {
        [thread.to_owned(), format!("{thread}.exec"), format!("{thread}.app-server")]
    };
    let [rollout, exec, _] = of(&session("tool-success.jsonl"));
    assert_eq!((rollout, session("exec.tool-ok.jsonl")), (session("tool-success.jsonl"), exec));
    let [_, _, server] = of(&session("artifact-evidence.jsonl"));
    assert_eq!(session("app-server.approval-patch-approved.jsonl"), server);
}

/// An error that the end of its turn repeats is that end; others are facts of their own.
#[test]
fn an_error_is_told_once() {
    let error = r#"{"method":"error","params":{"threadId":"t","turnId":"u","willRetry":false,"error":{"message":"boom","codexErrorInfo":"other"}}}"#;
    let end = r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"failed","error":{"message":"WHAT","codexErrorInfo":"other"}}}}"#;
    let begin = r#"{"method":"thread/started","params":{"thread":{"id":"t"}}}
{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}}}"#;
    let count = |text: &str| text.lines().filter(|line| line.contains("runtime.error")).count();
    let told_of = |last: &str| told(&format!("{begin}\n{error}\n{last}\n"));
    assert_eq!(count(&told_of(&end.replace("WHAT", "boom"))), 0);
    assert_eq!(count(&told_of(&end.replace("WHAT", "bang"))), 1);
    assert_eq!(count(&told_of("")), 1);
    for name in ["exec.err429-retried", "app-server.cut"] {
        let text = recorded(&format!("{name}.jsonl"));
        let kinds = ["runtime.error", "runtime.warning"];
        let last = text.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind)));
        let again =
            last.filter(|line| line.contains("retry limit, last") && !line.contains("Reconn"));
        assert_eq!(again.count(), 0, "{text}");
    }
}

fn payload_of(name: &str, kind: &str) -> serde_json::Value {
    let batch = adapt(Format::Codex, &read(&format!("codex/{name}.jsonl")), EndOfInput::Closed);
    let made = batch.drafts.iter().find(|d| d.draft.event_type.name() == kind);
    made.unwrap_or_else(|| panic!("{name} has no {kind}")).draft.payload.read().unwrap()
}

/// A rollout has no item for a call that was refused; Codex's own words in the place of its output say so.
// verifies: H13
#[test]
fn refusals_of_rollouts() {
    for (name, status, category) in [
        ("approval-exec-denied", "rejected", "permission_denied"),
        ("approval-patch-denied", "rejected", "permission_denied"),
        ("approval-exec-cancel", "cancelled", "cancelled"),
        ("escalate-refused", "denied", "permission_denied"),
    ] {
        let payload = payload_of(name, "tool.failed");
        assert_eq!(payload["status"], status, "{name}");
        assert_eq!(payload["failureCategory"], category, "{name}");
    }
    // The output of a command is never read.
    let word = |output: &str| super::output::refused(&output.into());
    assert_eq!(word("Chunk ID: 1\nWall time: 0.1 seconds\nOutput:\naborted by user"), None);
    assert_eq!(word("the log says: aborted by user"), None);
    assert_eq!(word(r#"Rejected(\"rejected by user\")"#), None);
}

/// The preview of an output is what a person reads; the output itself stays whole.
#[test]
fn previews_are_what_a_person_reads() {
    for (name, preview) in [("long", "1\n2\n3\n"), ("code-mode-tool-ok", "a.txt\nb.txt\ndone\n")] {
        let batch = adapt(Format::Codex, &read(&format!("codex/{name}.jsonl")), EndOfInput::Closed);
        let told: Vec<serde_json::Value> = batch
            .drafts
            .iter()
            .filter(|d| d.draft.event_type.name() == "tool.result")
            .filter_map(|d| d.draft.payload.read().ok())
            .collect();
        let with = told.iter().find(|payload| payload.get("preview").is_some());
        let with = with.unwrap_or_else(|| panic!("{name}: {told:?}"));
        assert_eq!(with["preview"], preview, "{name}");
        assert_ne!(with["output"], preview, "{name}");
    }
    let of = |content: serde_json::Value| super::output::preview(&content);
    assert_eq!(of("plain\nOutput:\nx".into()), None);
    assert_eq!(of("Output:\nx".into()), None);
    assert_eq!(of("Wall time: 1 seconds\nOutput:\n".into()), Some(String::new()));
    assert_eq!(of(serde_json::json!([{"type": "input_image"}])), None);
}

/// What a patch changes is in its item, also while it waits for an answer.
#[test]
fn a_live_patch_names_its_files() {
    let name = "app-server.approval-patch-approved";
    let files = "/workspace/a.txt, /workspace/hello.txt";
    assert_eq!(payload_of(name, "tool.started")["title"], files);
    for kind in ["tool.args", "action.required"] {
        let payload = payload_of(name, kind);
        let args = payload.get("args").or_else(|| payload.get("arguments")).unwrap();
        assert!(args["changes"].get("/workspace/hello.txt").is_some(), "{kind}: {payload}");
    }
    let batch = adapt(Format::Codex, &read(&format!("codex/{name}.jsonl")), EndOfInput::Closed);
    let made = batch.drafts.iter().filter(|d| d.draft.event_type.name() == "artifact.changed");
    for artifact in made {
        let payload: serde_json::Value = artifact.draft.payload.read().unwrap();
        assert!(payload.get("path").or_else(|| payload.get("title")).is_some(), "{payload}");
    }
}

/// The server's lines alone: the decision follows from what the call then did, its time from when the question was closed.
// verifies: R92
#[test]
fn answers_that_the_server_alone_tells() {
    for (name, decision, wait) in [
        ("exec-denied", "reject", 1),
        ("exec-cancel", "reject", 1),
        ("exec-approved", "approve", 0),
        ("patch-denied", "reject", 0),
    ] {
        let input = read(&format!("codex/app-server.server-only-{name}.jsonl"));
        let batch = adapt(Format::Codex, &input, EndOfInput::Closed);
        let of = |kind: &str| {
            let made = batch.drafts.iter().find(|d| d.draft.event_type.name() == kind);
            made.map(|d| d.draft.clone()).unwrap()
        };
        let (asked, answered) = (of("action.required"), of("action.resolved"));
        let payload: serde_json::Value = answered.payload.read().unwrap();
        assert_eq!(payload["decision"], decision, "{name}");
        assert_eq!(payload["synthetic"], true, "{name}");
        let waited = answered.timestamp.micros().unwrap() - asked.timestamp.micros().unwrap();
        assert_eq!(waited / 1000, wait, "{name}");
    }
}

/// A call that failed, and does not say that it ran, tells no answer; nor does a question that was closed and left.
#[test]
fn an_answer_that_nothing_tells_is_unknown() {
    let asked = r#"
{"method":"thread/started","params":{"thread":{"id":"t"}},"emittedAtMs":1000}
{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u"}},"emittedAtMs":1001}
{"method":"item/started","params":{"threadId":"t","item":{"type":"commandExecution","id":"c","command":"ls","status":"inProgress"}},"emittedAtMs":1002}
{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"t","itemId":"c","command":"ls"}}
{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0},"emittedAtMs":1003}
"#;
    let failed = r#"{"method":"item/completed","params":{"threadId":"t","item":{"type":"commandExecution","id":"c","command":"ls","status":"failed","exitCode":null}},"emittedAtMs":1009}
"#;
    let left = r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"interrupted"}},"emittedAtMs":1009}
"#;
    for end in [failed, left] {
        let text = told(&format!("{asked}{end}"));
        assert!(text.contains(r#""decision":"unknown""#), "{text}");
        assert!(!text.contains("approved") && !text.contains("action.cancelled"), "{text}");
    }
}

// verifies: H13
#[test]
fn command_without_an_end() {
    insta::assert_snapshot!(recorded("exec.long.jsonl"));
}

/// Every recording: one turn terminal a task, one result a call, each answer once.
// verifies: R63 R80 R205 H13 H16
#[test]
fn every_recording_is_told_once_and_whole() {
    let mut checked = 0;
    for file in std::fs::read_dir(super::super::testing::fixtures().join("codex")).unwrap() {
        let path = file.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if !text.starts_with("{\"timestamp\"") {
            continue; // not a rollout
        }
        let name = path.display();
        let batch = adapt(Format::Codex, text.as_bytes(), EndOfInput::Closed);
        assert_eq!(batch.faults, [], "{name}");
        assert_eq!(batch.known, 0, "{name}");
        let count = |kinds: &[&str]| {
            let made = batch.drafts.iter();
            made.filter(|d| kinds.contains(&d.draft.event_type.name())).count()
        };
        let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        let tasks = lines("\"type\":\"task_started\"");
        assert_eq!(count(&["turn.submitted"]), tasks, "{name}");
        let ends = ["turn.completed", "turn.failed", "turn.canceled"];
        assert_eq!(count(&ends), tasks, "{name}");
        assert_eq!(count(&["model.completed"]), lines("\"type\":\"AgentMessage\""), "{name}");
        let calls = count(&["tool.started"]);
        assert_eq!(count(&["tool.result", "tool.failed"]), calls, "{name}");
        let user = lines("\"type\":\"UserMessage\"");
        let said = batch.drafts.iter().filter(|d| {
            d.draft.event_type.name() == "turn.submitted"
                && !d.draft.payload.as_str().contains("synthetic")
        });
        assert_eq!(said.count(), user, "{name}");
        let tokens = lines("\"type\":\"token_usage_record\"");
        assert_eq!(count(&["usage.updated"]), tokens, "{name}");
        let unknown =
            batch.drafts.iter().filter(|d| d.draft.payload.as_str().contains("unknown_frame"));
        assert_eq!(unknown.count(), 0, "{name}");
        assert!(!spell(&batch).contains("bW9jay1lbmNyeXB0ZWQ"), "{name}: encrypted value kept");
        checked += 1;
    }
    assert_eq!(checked, 32);
}

// verifies: H25 H37
#[test]
fn a_resumed_file_that_has_grown_adds_what_is_new() {
    let part = read("codex/resume.part1.jsonl");
    let whole = read("codex/resume.whole.jsonl");
    let log = adapt_parts(Format::Codex, &[&part, &whole, &whole]);
    let alone = adapt_parts(Format::Codex, &[&whole]);
    let payloads = |log: &[event_spine::EventDraft]| -> Vec<_> {
        log.iter().map(|d| (d.event_id.clone(), d.payload.clone())).collect()
    };
    assert_eq!(payloads(&log), payloads(&alone));
}

// verifies: R59 R94
#[test]
fn a_cut_file_is_repaired_by_the_whole_one() {
    let whole = read("codex/tool-success.jsonl");
    let cut: usize = whole.split_inclusive(|b| *b == b'\n').take(13).map(<[u8]>::len).sum();
    let log = adapt_parts(Format::Codex, &[&whole[..cut], &whole, &whole]);
    let names: Vec<_> = log.iter().map(|d| d.event_type.name()).collect();
    let count = |name: &str| names.iter().filter(|n| **n == name).count();
    assert_eq!((count("stream.interrupted"), count("stream.repaired")), (1, 1));
    assert_eq!(names.last(), Some(&"stream.repaired"));
}

// verifies: H40
#[test]
fn a_sub_agent_and_its_parent_are_one_session_in_any_order() {
    let parent = read("codex/subagent.parent.jsonl");
    let child = read("codex/subagent.child.jsonl");
    for (name, files) in [("parent_first", [&parent, &child]), ("child_first", [&child, &parent])] {
        let files: Vec<&[u8]> = files.iter().map(|f| f.as_slice()).collect();
        let log = adapt_parts(Format::Codex, &files);
        let starts = log.iter().filter(|d| d.event_type.name() == "subagent.started");
        assert_eq!(starts.count(), 1, "{name}");
        insta::assert_snapshot!(name, spell_drafts(&log.iter().collect::<Vec<_>>()));
    }
    let sessions = |input: &[u8]| {
        let batch = adapt(Format::Codex, input, EndOfInput::Closed);
        batch.drafts[0].session_id.clone()
    };
    assert_eq!(sessions(&parent), sessions(&child));
}

const HEAD_2025: &str = r#"
{"timestamp":"2025-10-29T00:59:38.317Z","type":"session_meta","payload":{"id":"s1","timestamp":"2025-10-29T00:59:38.308Z","cwd":"/w","originator":"codex_exec","cli_version":"0.46.0","instructions":"Be brief.","source":"exec","model_provider":"openai"}}
{"timestamp":"2025-10-29T00:59:38.317Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"}]}}
{"timestamp":"2025-10-29T00:59:38.317Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"run ls"}]}}
{"timestamp":"2025-10-29T00:59:38.317Z","type":"event_msg","payload":{"type":"user_message","message":"run ls","images":[]}}
{"timestamp":"2025-10-29T00:59:38.318Z","type":"turn_context","payload":{"cwd":"/w","approval_policy":"on-request","sandbox_policy":{"mode":"read-only"},"model":"gpt-5-codex","effort":"high","summary":"auto"}}
"#;

/// Files of 2025 have no ends of turns, no ids of messages, and the two records in one order or the other.
#[test]
fn files_of_2025() {
    insta::assert_snapshot!(told(&format!(
        "{}{}",
        HEAD_2025.trim_start(),
        r#"{"timestamp":"2025-10-29T00:59:39.522Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"**Looking**"}}
{"timestamp":"2025-10-29T00:59:39.523Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"**Looking**"}],"content":null,"encrypted_content":"c2VjcmV0"}}
{"timestamp":"2025-10-29T00:59:39.6Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"],\"n\":9007199254740993}","call_id":"c1"}}
{"timestamp":"2025-10-29T00:59:39.7Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":3,"reasoning_output_tokens":1,"total_tokens":13},"last_token_usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":3,"reasoning_output_tokens":1,"total_tokens":13},"model_context_window":272000},"rate_limits":null}}
{"timestamp":"2025-10-29T00:59:39.8Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a.txt\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}}
{"timestamp":"2025-10-29T00:59:39.9Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":3,"reasoning_output_tokens":1,"total_tokens":13},"last_token_usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":3,"reasoning_output_tokens":1,"total_tokens":13},"model_context_window":272000},"rate_limits":null}}
{"timestamp":"2025-10-29T00:59:40.1Z","type":"event_msg","payload":{"type":"agent_message","message":"One file."}}
{"timestamp":"2025-10-29T00:59:40.2Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file."}]}}
{"timestamp":"2025-10-29T01:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"again"}]}}
{"timestamp":"2025-10-29T01:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"again","images":["data:image/png;base64,xx"]}}
{"timestamp":"2025-10-29T01:00:01Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file."}]}}
{"timestamp":"2025-10-29T01:00:01Z","type":"event_msg","payload":{"type":"agent_message","message":"One file."}}
{"timestamp":"2025-10-29T01:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file."}]}}
{"timestamp":"2025-10-29T01:00:02Z","type":"event_msg","payload":{"type":"agent_message","message":"One file."}}
{"timestamp":"2025-10-29T01:00:03Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"c2","status":"completed","action":{"type":"exec","command":["ls"]}}}
"#
    )));
}

/// Approvals, as files have them that record every event: what was asked is told, the answer follows from what happened.
// verifies: R80 R92
#[test]
fn approvals_by_events() {
    insta::assert_snapshot!(told(&format!(
        "{}{}",
        HEAD_2025.trim_start(),
        r#"{"timestamp":"t1","type":"event_msg","payload":{"type":"task_started","model_context_window":272000}}
{"timestamp":"t2","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"rm\",\"x\"]}","call_id":"c1"}}
{"timestamp":"t3","type":"event_msg","payload":{"type":"exec_approval_request","call_id":"c1","turn_id":"t","command":["rm","x"],"cwd":"/w","reason":"it deletes"}}
{"timestamp":"t4","type":"event_msg","payload":{"type":"exec_command_begin","call_id":"c1","turn_id":"t","command":["bash","-lc","rm x"],"cwd":"/w","parsed_cmd":[]}}
{"timestamp":"t5","type":"event_msg","payload":{"type":"exec_command_end","call_id":"c1","turn_id":"t","stdout":"","stderr":"no","aggregated_output":"no","exit_code":1,"duration":{"secs":1,"nanos":500000000},"formatted_output":"no"}}
{"timestamp":"t6","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"no"}}
{"timestamp":"t7","type":"event_msg","payload":{"type":"apply_patch_approval_request","call_id":"c2","turn_id":"t","changes":{"a":{"add":{"content":"x"}}},"reason":null}}
{"timestamp":"t8","type":"event_msg","payload":{"type":"patch_apply_begin","call_id":"c2","turn_id":"t","auto_approved":false,"changes":{"a":{"add":{"content":"x"}}}}}
{"timestamp":"t9","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c2","turn_id":"t","stdout":"ok","stderr":"","success":true}}
{"timestamp":"t10","type":"event_msg","payload":{"type":"exec_approval_request","call_id":"c3","command":["x"],"cwd":"/w"}}
{"timestamp":"t11","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}
"#
    )));
}

// verifies: R80
#[test]
fn other_events_of_other_versions() {
    insta::assert_snapshot!(told(&format!(
        "{}{}",
        HEAD_2025.trim_start(),
        r#"{"timestamp":"t","type":"event_msg","payload":{"type":"task_started","turn_id":"u2"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"mcp_tool_call_begin","call_id":"m1","invocation":{"server":"docs","tool":"find","arguments":{"q":"x"}}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"m1","invocation":{"server":"docs","tool":"find","arguments":{"q":"x"}},"duration":{"secs":0,"nanos":2000000},"result":{"Err":"no server"}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"mcp_tool_call_end","call_id":"m2","invocation":{"server":"docs","tool":"find","arguments":null},"duration":{"secs":0,"nanos":0},"result":{"Ok":{"content":[],"isError":true}}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"plan_update","explanation":"why","plan":[{"step":"look","status":"in_progress"},{"step":"do","status":"pending"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"look\",\"status\":\"completed\"}]}","call_id":"p1"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"p1","output":{"content":"Plan updated","success":true}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"entered_review_mode","target":{"type":"uncommittedChanges"}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"exited_review_mode","review_output":{"findings":[{"title":"Fix it","body":"…"}],"overall_correctness":"patch is incorrect","overall_explanation":"It breaks.","overall_confidence_score":0.9}}}
{"timestamp":"t","type":"compacted","payload":{"message":"Summary so far.","replacement_history":[{"type":"message"},{"type":"message"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"context_compacted"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"context_compacted"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":2}}
{"timestamp":"t","type":"event_msg","payload":{"type":"web_search_end","call_id":"w1","query":"fox","action":{"type":"search","query":"fox"}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"stream_error","message":"Reconnecting... 1/5"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"error","message":"sandbox said no","codex_error_info":"sandbox_error"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"collab_agent_spawn_end","call_id":"s1","sender_thread_id":"s1","new_thread_id":"kid","prompt":"help","status":"running"}}
{"timestamp":"t","type":"event_msg","payload":{"type":"collab_waiting_end","sender_thread_id":"s1","call_id":"s2","statuses":{"kid":{"errored":"it broke"}}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","item":{"type":"Plan","id":"pl","text":"First this."}}}
{"timestamp":"t","type":"event_msg","payload":{"type":"brand_new","x":1.10}}
{"timestamp":"t","type":"event_msg","payload":{"type":"task_complete","turn_id":"other","last_agent_message":null}}
{"timestamp":"t","type":"event_msg","payload":{"type":"task_complete","turn_id":"u2","last_agent_message":null}}
{"timestamp":"t","type":"event_msg","payload":{"type":"task_complete","turn_id":"u2","last_agent_message":null}}
"#
    )));
}

/// The oldest files have lines without a frame around them.
#[test]
fn bare_lines() {
    insta::assert_snapshot!(told(
        r#"
{"id":"old","timestamp":"2025-06-01T10:00:00.000Z","instructions":null,"git":{"branch":"main"}}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"hello"}]}
{"record_type":"state"}
{"type":"reasoning","id":"rs1","summary":[],"encrypted_content":null}
{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"hi"}]}
not json
[1]
"#
    ));
}

// verifies: H13
#[test]
fn items_without_an_end_are_no_success() {
    insta::assert_snapshot!(told(
        r#"
{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"bash -lc ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":1.10},"result":null,"error":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":[{"path":"a.txt","kind":"add"}],"status":"completed"}}
{"type":"item.updated","item":{"id":"item_3","type":"todo_list","items":[{"text":"look","completed":true},{"text":"do","completed":false}]}}
{"type":"turn.completed","usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0}}
"#
    ));
}
