//! What commands print, word for word, with what differs from run to run blanked out.

use crate::run::Desk;

fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn with(recordings: &[&str]) -> Desk {
    let desk = Desk::new();
    for recording in recordings {
        desk.run(&["ingest", &fixture(recording)]).ok();
    }
    desk
}

/// Compares with the stored snapshot.
fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    for (what, blank) in [
        (r"chain [0-9a-f]{8}", "chain ########"),
        (r"  [0-9a-f]{8}  ", "  ########  "),
        (r"just now|\d+ min ago", "just now"),
        (r"[\d.]+ [kM]? ?events/s", "# events/s"),
        (r"[0-9a-f]{16,64}", "#hash#"),
        (r"/tmp/[\w./-]*spine-demo-\w+", "/tmp/spine-demo"),
        // How many facts an adapter makes of a recording is its own affair.
        (r" +\d+ (facts|hashes|events)\b", " # $1"),
        (r"(✓ completed|▲ waiting) +\d+ ", "$1 # "),
        (r"at byte \d+", "at byte #"),
        (r"\d+ bytes are damaged", "# bytes are damaged"),
        (r"\d+(\.\d)? (KiB|B)\b", "# B"),
        (r"[\w/.-]*/fixtures/", "fixtures/"),
        (r"[\w/.-]+/spine(-[0-9a-f#]+)? (--data|ingest)", "spine $2"),
    ] {
        settings.add_filter(what, blank);
    }
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn transcripts() {
    let desk = with(&[
        "native/approval/events.jsonl",
        "native/subagents/events.jsonl",
        "native/coverage/events.jsonl",
        "codex/code-mode-parallel.jsonl",
        "codex/stream-cut.jsonl",
        "ag-ui/subagent-approval.part1.jsonl",
    ]);
    for (name, session) in [
        ("show-approval", "sess_approval"),
        ("show-subagents", "sess_subagents"),
        ("show-coverage", "sess_coverage"),
        ("show-codex", "01a22dde"),
    ] {
        check(name, &desk.run(&["show", session]).ok());
    }
    check("show-waiting", &desk.run(&["show", "last"]).ok());
    check("show-verbose", &desk.run(&["show", "sess_approval", "-v"]).ok());
}

#[test]
fn views() {
    let desk = with(&["native/coverage/events.jsonl"]);
    for view in read_model::VIEW_NAMES.iter().filter(|view| **view != "transcript") {
        check(&format!("view-{view}"), &desk.run(&["show", "last", "--view", view]).ok());
    }
}

#[test]
fn lists_and_verdicts() {
    let desk = with(&["native/text/events.jsonl", "native/tool-failure/events.jsonl"]);
    check("sessions", &desk.run(&["sessions"]).ok());
    check("verify", &desk.run(&["verify"]).ok());
    check("check", &desk.run(&["check", "sess_text"]).ok());
    check("replay", &desk.run(&["replay", "sess_text"]).ok());
    check("stats", &desk.run(&["stats"]).ok());
    check("doctor", &desk.run(&["doctor"]).ok());
    check("ingest", &desk.run(&["ingest", &fixture("native/tool-success/events.jsonl")]).ok());
    check("salvage", &desk.run(&["salvage", ".spine"]).ok());
}

#[test]
fn the_demo_tells_the_whole_story() {
    let desk = Desk::new();
    let begun = std::time::Instant::now();
    let story = desk.run(&["demo"]).ok();
    assert!(begun.elapsed().as_secs() < 10, "it takes too long");
    assert!(story.lines().count() <= 75, "{story}");
    assert!(!story.contains("✗ sess_approval  "), "{story}");
    check("demo", &story);
    // What it says to try next works as it stands.
    let next = story.split("Try next").nth(1).unwrap();
    let commands: Vec<_> = next.lines().filter_map(|line| line.split_once("--data ")).collect();
    assert_eq!(commands.len(), 3, "{story}");
    for (_, command) in commands {
        let args: Vec<_> = std::iter::once("--data").chain(command.split_whitespace()).collect();
        assert!(!desk.run(&args).ok().is_empty(), "{args:?}");
    }
}

#[test]
fn the_demo_can_be_given_a_folder_and_run_again() {
    let desk = Desk::new();
    desk.run(&["demo", "--data", "tour"]).ok();
    assert!(desk.path("tour/demo.svg").exists());
    desk.run(&["demo", "--data", "tour"]).ok();
    assert_eq!(
        desk.run(&["sessions", "--data", "tour", "--json"]).json().as_array().unwrap().len(),
        4
    );
}
