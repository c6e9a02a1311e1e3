//! The sessions that a picture must look right for.

use event_spine::event::family::context::*;
use event_spine::event::family::task::*;
use event_spine::event::value::*;

use super::story::Story;

/// A name and the session it stands for.
pub(crate) fn gallery() -> Vec<(&'static str, Story)> {
    vec![
        ("one_answer", one_answer()),
        ("tool_run", tool_run()),
        ("parallel_one_fails", parallel()),
        ("approval_waits", approval_waits()),
        ("denied", denied()),
        ("handoff", handoff()),
        ("nested_agents", nested_agents()),
        ("unplaced", unplaced()),
        ("products", products()),
        ("tasks", tasks()),
        ("boundaries", boundaries()),
        ("odd_texts", odd_texts()),
        ("twenty_turns", turns(20)),
        ("thirty_turns", turns(30)),
        ("two_hundred_calls", calls_in_steps(200)),
        ("two_hundred_parallel", calls_at_once(200)),
        ("nothing", Story::new("nothing")),
    ]
}

fn one_answer() -> Story {
    let mut s = Story::new("one_answer");
    s.turn("t1", "What is the capital of France?").step("t1_0");
    s.answer("m1", 1_340, "The capital of France is Paris. It has been the seat of government, with interruptions, since the twelfth century.", Some((812, 34)));
    s.done();
    s
}

pub(crate) fn tool_run() -> Story {
    let mut s = Story::new("tool_run");
    s.turn("t1", "The build is broken on main. Find out why and fix it.").step("t1_0");
    s.model("m1", 2_100, "I will look at the failing test first.", Some((2_410, 96)));
    s.wait(10).call("c1", "run_command", r#"{"command":"cargo test -p parser"}"#);
    s.wait(8_400).failed(
        "c1",
        "execution_failed",
        "error[E0308]: mismatched types in src/parse.rs:42",
    );
    s.step("t1_1").model("m2", 1_800, "", Some((3_120, 60)));
    s.call("c2", "read_file", r#"{"path":"src/parse.rs","from":30,"to":60}"#)
        .wait(35)
        .result("c2", "fn parse(input: &str) -> Result<Ast, Error> {");
    s.step("t1_2").model("m3", 3_050, "The return type changed.", Some((3_900, 210)));
    s.call("c3", "edit_file", r#"{"path":"src/parse.rs","old":"Ok(ast)","new":"Ok(ast.into())"}"#)
        .wait(50);
    s.artifact("a1", "c3", "src/parse.rs").result("c3", "1 line changed");
    s.step("t1_3").model("m4", 900, "", Some((4_300, 40)));
    s.call("c4", "run_command", r#"{"command":"cargo test -p parser"}"#)
        .wait(9_100)
        .result("c4", "test result: ok. 48 passed; 0 failed");
    s.evidence("e1", "c4", "parser tests pass", EvidenceStatus::Verified);
    s.step("t1_4").answer("m5", 2_000, "The build is fixed: `parse` returned the old AST type. I converted it at the boundary; all 48 parser tests pass.", Some((4_700, 88)));
    s.done();
    s
}

fn parallel() -> Story {
    let mut s = Story::new("parallel");
    s.turn("t1", "Compare the three config files").step("t1_0");
    s.model("m1", 1_500, "", Some((1_200, 140)));
    s.call("c1", "read_file", r#"{"path":"config/dev.toml"}"#);
    s.call("c2", "read_file", r#"{"path":"config/staging.toml"}"#);
    s.call("c3", "read_file", r#"{"path":"config/prod.toml"}"#);
    s.wait(40).result("c2", "[server] port = 8080");
    s.wait(20).failed("c3", "execution_failed", "config/prod.toml: permission denied");
    s.wait(30).result("c1", "[server] port = 3000");
    s.step("t1_1").answer(
        "m2",
        1_900,
        "Dev and staging differ in the port only. I could not read the production file.",
        Some((2_000, 70)),
    );
    s.done();
    s
}

fn approval_waits() -> Story {
    let mut s = Story::new("approval_waits");
    s.turn("t1", "Delete the old releases from the bucket").step("t1_0");
    s.model("m1", 1_100, "", Some((900, 64)));
    s.call("c1", "list_objects", r#"{"bucket":"releases","prefix":"2019/"}"#)
        .wait(210)
        .result("c1", "1,204 objects");
    s.step("t1_1").model("m2", 1_300, "These can go.", Some((1_500, 90)));
    s.required("act1", "c2", "delete_objects", r#"{"bucket":"releases","prefix":"2019/"}"#);
    s
}

fn denied() -> Story {
    let mut s = Story::new("denied");
    s.turn("t1", "Clean up my home directory").step("t1_0");
    s.model("m1", 1_100, "", Some((900, 64)));
    s.required("act1", "c1", "run_command", r#"{"command":"rm -rf ~/Downloads"}"#);
    s.wait(14_000).resolved("act1", "deny", "mia");
    s.failed("c1", "permission_denied", "mia denied the call");
    s.step("t1_1").model("m2", 1_000, "", Some((1_000, 50)));
    s.required("act2", "c2", "run_command", r#"{"command":"du -sh ~/*"}"#);
    s.wait(3_000).resolved("act2", "approve", "mia");
    s.call("c2", "run_command", r#"{"command":"du -sh ~/*"}"#)
        .wait(900)
        .result("c2", "12G ~/Downloads");
    s.step("t1_2").answer(
        "m3",
        800,
        "Downloads takes 12 GB. I did not delete anything.",
        Some((1_200, 30)),
    );
    s.done();
    s
}

fn handoff() -> Story {
    let mut s = Story::new("handoff");
    s.turn("t1", "I was charged twice for my order").step("t1_0");
    s.model("m1", 700, "", Some((600, 24)));
    s.call("c1", "transfer_to_billing", "{}").wait(12).result("c1", "billing agent");
    s.start_agent("billing", "billing agent", None, None, true);
    s.agent(Some("billing")).step("b_0").model("m2", 1_100, "", Some((850, 40)));
    s.call("c2", "find_charges", r#"{"order":"A-1009"}"#)
        .wait(320)
        .result("c2", "2 charges of 49.00 EUR");
    s.step("b_1").answer(
        "m3",
        1_250,
        "You were charged twice. I have refunded one of the two charges.",
        Some((1_000, 44)),
    );
    s.agent_done("billing", None).agent(None).done();
    s
}

pub(crate) fn nested_agents() -> Story {
    let mut s = Story::new("nested_agents");
    s.turn("t1", "Write a report on vector databases").step("t1_0");
    s.model("m1", 1_500, "I will split this up.", Some((1_400, 120)));
    s.call("c1", "start_agent", r#"{"name":"researcher","task":"collect sources"}"#);
    s.call("c2", "start_agent", r#"{"name":"writer","task":"draft the text"}"#);
    s.spawn("A", "researcher", Some("c1"), None).spawn("B", "writer", Some("c2"), None);
    s.agent(Some("A")).step("a_0").model("ma1", 1_200, "", Some((800, 60)));
    s.call("ca1", "web_search", r#"{"query":"vector database benchmarks 2026"}"#);
    s.agent(Some("B")).step("b_0").ask("mb1").delta("mb1", "Vector databases ");
    s.agent(Some("A")).step("a_0").wait(900).result("ca1", "14 results");
    s.step("a_1").model("ma2", 700, "", Some((1_900, 80)));
    s.call("ca2", "start_agent", r#"{"name":"reader","task":"read the paper"}"#);
    s.spawn("A1", "reader", Some("ca2"), Some("A"));
    s.agent(Some("A1")).step("r_0").model(
        "mr1",
        2_000,
        "The paper compares recall at fixed latency.",
        Some((12_400, 300)),
    );
    s.agent(Some("B")).step("b_0").delta("mb1", "store embeddings").model_done(
        "mb1",
        "Vector databases store embeddings and answer nearest-neighbour questions.",
        Some((2_000, 700)),
        false,
    );
    s.agent_done("B", None);
    s.agent(Some("A1")).agent_done("A1", None);
    s.agent(Some("A")).step("a_1").result("ca2", "summary of the paper");
    s.agent_done("A", None)
        .agent(None)
        .step("t1_0")
        .result("c1", "3 sources")
        .result("c2", "a draft of 700 words");
    s.step("t1_1").answer(
        "m2",
        1_700,
        "The report is ready: three systems compared, with sources.",
        Some((5_000, 240)),
    );
    s.done();
    s
}

pub(crate) fn unplaced() -> Story {
    let mut s = Story::new("unplaced");
    s.turn("t1", "Run the nightly checks").step("t1_0").model("m1", 400, "", Some((300, 20)));
    s.agent(Some("ghost")).step("g_0").model("mg", 900, "Nobody knows who started me.", None);
    s.call("cg", "list_files", r#"{"path":"."}"#).wait(20).result_as("cg", None, "14 files");
    s.agent(None).step("t1_1").answer("m2", 500, "All checks pass.", Some((320, 12))).done();
    s
}

fn products() -> Story {
    let mut s = Story::new("products");
    s.turn("t1", "Draw the quarterly figures and check them").step("t1_0");
    s.model("m1", 1_100, "", Some((1_000, 70)));
    s.call("c1", "plot", r#"{"data":"q3.csv","kind":"bar"}"#).wait(700);
    s.artifact("a1", "c1", "figures-q3.png").artifact("a2", "c1", "figures-q3.csv").artifact(
        "a1",
        "c1",
        "figures-q3.png",
    );
    s.result("c1", "2 files written");
    s.step("t1_1").model("m2", 800, "", Some((1_400, 50)));
    s.call("c2", "verify_totals", r#"{"source":"q3.csv"}"#).wait(300);
    s.evidence("e1", "c2", "totals match the ledger", EvidenceStatus::Verified);
    s.evidence("e2", "c2", "currency of row 14", EvidenceStatus::Disputed)
        .result("c2", "1 of 2 checks");
    s.verdict("e1", Verdict::Approved, "lin");
    s.step("t1_2")
        .answer("m3", 900, "The figures are drawn; one currency needs a look.", Some((1_600, 40)))
        .done();
    s
}

fn task(s: &mut Story, id: &str, label: &str, after: &[&str]) {
    let scope = s.with("taskId", id);
    s.say_in(
        scope,
        TaskCreated {
            objective: Some(format!("{label}, completely")),
            label: Some(label.into()),
            status: None,
            kind: None,
            depends_on: after.iter().map(ToString::to_string).collect(),
            attempt: None,
        },
    );
}

fn task_is(s: &mut Story, id: &str, attempt: &str, status: TaskStatus, said: &str) {
    let mut scope = s.with("taskId", id);
    scope.set("attemptId", attempt).unwrap();
    s.say_in(
        scope,
        TaskUpdated {
            status: Some(status),
            native_status: None,
            label: None,
            progress: Some(said.into()),
            attempt: None,
            error: None,
            summary: None,
        },
    );
}

fn tasks() -> Story {
    let mut s = Story::new("tasks");
    s.turn("t1", "Release version 2.0").step("t1_0").model(
        "m1",
        1_000,
        "Four things to do.",
        Some((700, 90)),
    );
    task(&mut s, "k1", "run all tests", &[]);
    task(&mut s, "k2", "write the changelog", &[]);
    task(&mut s, "k3", "build the packages", &["k1"]);
    task(&mut s, "k4", "publish", &["k2", "k3"]);
    task_is(&mut s, "k1", "k1_1", TaskStatus::Running, "");
    s.wait(20_000);
    task_is(&mut s, "k1", "k1_1", TaskStatus::Failed, "2 tests failed");
    task_is(&mut s, "k1", "k1_2", TaskStatus::Running, "");
    s.wait(18_000);
    task_is(&mut s, "k1", "k1_2", TaskStatus::Completed, "all tests pass");
    task_is(&mut s, "k2", "k2_1", TaskStatus::Completed, "14 entries");
    task_is(&mut s, "k3", "k3_1", TaskStatus::Running, "2 of 5 targets");
    s
}

fn boundaries() -> Story {
    let mut s = Story::new("boundaries");
    s.say(SessionForked {
        parent_session_id: "sess_parent".into(),
        parent_sequence: 41,
        parent_chain: "00".repeat(32),
        reason: Some("try another way".into()),
    });
    s.turn("t1", "Go on with the migration").step("t1_0").model(
        "m1",
        1_000,
        "",
        Some((90_000, 90)),
    );
    s.call("c1", "run_migration", r#"{"table":"orders"}"#).wait(2_000).result("c1", "ok");
    s.say(ContextCompactionStarted {
        trigger: Some("proactive".into()),
        compaction_id: Some("k1".into()),
    });
    s.wait(3_000).say(HistoryCompacted {
        trigger: Some("proactive".into()),
        compaction_id: Some("k1".into()),
        summary: None,
        summary_ref: None,
        before_tokens: Some(90_000),
        after_tokens: Some(12_000),
        before_chars: None,
        after_chars: None,
        kept_messages: None,
        first_kept_sequence: None,
    });
    s.step("t1_1").model("m2", 1_000, "", Some((12_400, 60)));
    s.call("c2", "run_migration", r#"{"table":"customers"}"#);
    s.say(StreamInterrupted {
        reason: "connection reset".into(),
        last_source_sequence: Some(18),
        expected_source_sequence: None,
    });
    s.failed("c2", "interrupted", "the stream broke off; the outcome is not known");
    s.fail("network_error", "the stream broke off and could not be resumed");
    s
}

fn odd_texts() -> Story {
    let mut s = Story::new("odd_texts_会话_🚀");
    s.turn("t1", "请把<所有>的 \"配置\" & 文件 🚀🚀🚀 都检查一遍，然后告诉我哪里有问题，越详细越好，不要遗漏任何一个文件，也不要修改任何内容").step("t1_0");
    s.model("m1", 1_000, "<script>alert('x')</script> & ]]> \u{202E}gnp.exe", Some((1, 1)));
    s.call(
        "c1",
        "một_công_cụ_có_tên_rất_dài_và_kỳ_lạ_để_kiểm_tra_cắt_chữ",
        r#"{"путь":"/очень/длинный/путь/к/файлу/настроек.toml","a":[1,2,{"b":null}]}"#,
    );
    s.wait(5).result(
        "c1",
        "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦 família — naïve café ﷽ مرحبا بالعالم שלום עולם こんにちは世界 안녕하세요",
    );
    s.step("t1_1").answer("m2", 800, "已检查全部二十三个配置文件，其中三个存在问题：第一个文件缺少必填字段，第二个文件的端口号重复，第三个文件编码不正确。", Some((1_234_567, 999_999)));
    s.done();
    s
}

pub(crate) fn turns(n: usize) -> Story {
    let mut s = Story::new(&format!("turns_{n}"));
    let asks = [
        "Where is the login page defined?",
        "Add a test for the empty password",
        "Run the tests",
        "Explain the failure in one sentence",
    ];
    for turn in 0..n {
        s.turn(&format!("t{turn}"), asks[turn % asks.len()]);
        for step in 0..1 + turn % 3 {
            s.step(&format!("t{turn}_{step}")).model(
                &format!("m{turn}_{step}"),
                900,
                "",
                Some((1_000 + 100 * turn as u64, 50)),
            );
            for call in 0..1 + (turn + step) % 2 {
                let id = format!("c{turn}_{step}_{call}");
                s.call(&id, "search", &format!(r#"{{"pattern":"login{turn}","in":"src"}}"#))
                    .wait(40);
                if turn % 7 == 4 && call == 0 {
                    s.failed(&id, "execution_failed", "ripgrep: exit status 2");
                } else {
                    s.result(&id, "3 matches");
                }
            }
        }
        s.step(&format!("t{turn}_end")).answer(
            &format!("m{turn}_end"),
            700,
            "It is in src/login.rs, line 12.",
            Some((1_500, 30)),
        );
        if turn % 9 == 5 {
            s.fail("rate_limited", "429: too many requests");
        } else {
            s.done();
        }
        s.wait(30_000);
    }
    s
}

pub(crate) fn calls_in_steps(n: usize) -> Story {
    let mut s = Story::new(&format!("calls_{n}"));
    s.turn("t1", "Rename the type everywhere");
    for step in 0..n {
        s.step(&format!("t1_{step}")).model(
            &format!("m{step}"),
            700,
            "",
            Some((2_000 + step as u64 * 10, 40)),
        );
        let id = format!("c{step}");
        s.call(&id, "edit_file", &format!(r#"{{"path":"src/module_{step}/types.rs"}}"#)).wait(60);
        if step % 23 == 11 {
            s.failed(&id, "execution_failed", "no match for the old text");
        } else {
            s.result(&id, "2 replacements");
        }
    }
    s.step("t1_end").answer("m_end", 900, "Renamed in all files.", Some((9_000, 20))).done();
    s
}

pub(crate) fn calls_at_once(n: usize) -> Story {
    let mut s = Story::new(&format!("parallel_{n}"));
    s.turn("t1", "Fetch all pages").step("t1_0").model("m1", 2_000, "", Some((800, 4_000)));
    for call in 0..n {
        s.call(
            &format!("c{call}"),
            "fetch",
            &format!(r#"{{"url":"https://example.org/page/{call}"}}"#),
        );
    }
    for call in 0..n {
        s.wait(5).result(&format!("c{call}"), "200 OK");
    }
    s.step("t1_1").answer("m2", 1_000, "All pages are here.", Some((20_000, 20))).done();
    s
}
