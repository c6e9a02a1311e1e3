//! What commands do, one test for each promise.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::run::Desk;

fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn desk() -> Desk {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("native/tool-success/events.jsonl")]).ok();
    desk.run(&["ingest", &fixture("native/approval/events.jsonl")]).ok();
    desk
}

// verifies: R10 R11 R12 R13 R14 R15 R16 R17
#[test]
fn events_are_json_lines_with_a_whole_envelope() {
    let desk = desk();
    let events = desk.run(&["events", "sess_tool_success"]).ok();
    for (at, line) in events.lines().enumerate() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        for member in ["schemaVersion", "runtimeId", "sessionId", "eventId", "timestamp", "type"] {
            assert!(event[member].as_str().is_some_and(|text| !text.is_empty()), "{member} {line}");
        }
        assert_eq!(event["sequence"], at as u64 + 1);
        assert!(event["payload"].is_object(), "{line}");
        assert_eq!(event.get("integrity"), None);
    }
    let part =
        desk.run(&["events", "sess_tool_success", "--from", "3", "--to", "5", "--integrity"]).ok();
    let sequences: Vec<_> = part
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(event["integrity"]["chain"].as_str().unwrap().len(), 64);
            event["sequence"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(sequences, [3, 4, 5]);
}

#[test]
fn a_follower_sees_what_another_process_records() {
    let desk = Desk::new();
    let whole = std::fs::read_to_string(fixture("native/text/events.jsonl")).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    desk.write("a.jsonl", lines[..4].join("\n"));
    desk.write("b.jsonl", lines[4..].join("\n"));
    desk.run(&["ingest", "a.jsonl"]).ok();
    let mut follower =
        desk.command(&["events", "last", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut seen = BufReader::new(follower.stdout.take().unwrap()).lines();
    let sequence = |line: String| {
        serde_json::from_str::<serde_json::Value>(&line).unwrap()["sequence"].as_u64()
    };
    for at in 1..=4 {
        assert_eq!(sequence(seen.next().unwrap().unwrap()), Some(at));
    }
    desk.run(&["ingest", "b.jsonl"]).ok();
    for at in 5..=lines.len() as u64 {
        assert_eq!(sequence(seen.next().unwrap().unwrap()), Some(at));
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn a_fork_shares_its_parents_history_and_goes_its_own_way() {
    let desk = desk();
    let child = desk.run(&["fork", "sess_approval", "--at", "7", "--as", "retry"]).ok();
    assert_eq!(child.trim(), "retry");
    let forked = desk.run(&["sessions", "--json"]).json();
    assert_eq!(forked[0]["sessionId"], "retry");
    assert_eq!(forked[0]["events"], 8);
    assert_eq!(forked[0]["parent"]["sequence"], 7);
    let lines = |session| desk.run(&["events", session, "--to", "7"]).ok();
    assert_eq!(lines("retry"), lines("sess_approval"));
    desk.run(&["verify", "retry"]).ok();
    assert!(desk.run(&["show", "retry"]).ok().contains("forked from sess_approval at 7"));
    // The same again changes nothing; another parent point is refused.
    desk.run(&["fork", "sess_approval", "--at", "7", "--as", "retry"]).ok();
    assert_eq!(desk.run(&["sessions", "--json"]).json()[0]["events"], 8);
    desk.run(&["fork", "sess_approval", "--at", "6", "--as", "retry"]).refused(2, "retry");
}

#[test]
fn one_flipped_bit_is_found_and_named_and_the_rest_is_salvaged() {
    let desk = desk();
    let segment = desk.path(".spine/journal/0000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = memchr::memmem::rfind(&bytes, b"tool_success").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let ran = desk.run(&["verify"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("damaged"), "{ran:?}");
    let ran = desk.run(&["doctor"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("`spine salvage .spine`"), "{ran:?}");
    let before = std::fs::read(&segment).unwrap();
    let ran = desk.run(&["salvage", ".spine", "-o", "rescued"]);
    assert!(ran.status <= 1, "{ran:?}");
    assert_eq!(before, std::fs::read(&segment).unwrap());
    desk.run(&["verify", "--data", "rescued"]).ok();
    assert!(desk.run(&["events", "sess_approval", "--data", "rescued"]).ok().lines().count() > 10);
    desk.run(&["salvage", ".spine", "-o", "rescued"]).refused(2, "rescued is there already");
}

#[test]
fn views_are_served_whole_as_json_with_what_they_are_a_fold_of() {
    let desk = desk();
    let events = desk.run(&["events", "sess_approval"]).ok().lines().count();
    for view in read_model::VIEW_NAMES {
        let json = desk.run(&["show", "sess_approval", "--view", view, "--json"]).json();
        assert_eq!(json["at"]["sequence"], events as u64, "{view}");
        assert!(json[*view].is_object(), "{view}: {json}");
        assert_eq!(json.as_object().unwrap().len(), 3, "{view}: {json}");
    }
    let all = desk.run(&["show", "sess_approval", "--view", "all", "--json"]).json();
    assert!(read_model::VIEW_NAMES.iter().all(|view| all[*view].is_object()));
    let earlier =
        desk.run(&["show", "sess_approval", "--view", "status", "--at", "3", "--json"]).json();
    assert_eq!(earlier["at"]["sequence"], 3);
    assert_eq!(earlier["status"]["runtime"], "running");
}

#[test]
fn pictures_and_texts_of_the_graph() {
    let desk = desk();
    for (form, begins) in
        [("svg", "<svg"), ("dot", "digraph"), ("mermaid", "flowchart"), ("json", "{")]
    {
        let text = desk.run(&["graph", "sess_approval", "--format", form]).ok();
        assert!(text.trim_start().starts_with(begins), "{form}: {}", &text[..80.min(text.len())]);
        desk.run(&["graph", "sess_approval", "--format", form, "-o", "graph.out"]).ok();
        assert_eq!(std::fs::read_to_string(desk.path("graph.out")).unwrap(), text);
    }
}

// verifies: R1 H07
#[test]
fn a_replay_equals_what_is_served_at_every_event() {
    let desk = desk();
    let events = desk.run(&["events", "sess_approval"]).ok().lines().count();
    for to in 1..=events {
        let outcome =
            desk.run(&["replay", "sess_approval", "--to", &to.to_string(), "--json"]).json();
        assert_eq!(outcome["equal"], true, "{outcome}");
        assert_eq!(outcome["servedHash"], outcome["replayedHash"]);
        assert_eq!(outcome["sequence"], to as u64);
    }
    let before = desk.run(&["events", "sess_approval"]).ok();
    let outcome = desk.run(&["replay", "sess_approval", "--json"]).json();
    assert_eq!(outcome["equal"], true, "{outcome}");
    assert_eq!(desk.run(&["events", "sess_approval"]).ok(), before);
}

// verifies: R62 R69
#[test]
fn checks_name_what_is_wrong_in_every_form() {
    let desk = Desk::new();
    let bad = fixture("invalid/SP0002-members-missing-or-wrong/events.jsonl");
    let ran = desk.run(&["check", &bad, "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let findings: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(
        findings.as_array().unwrap().iter().any(|f| f["code"] == "schema_mismatch"),
        "{findings}"
    );
    let ran = desk.run(&["check", &bad, "--format", "junit"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.starts_with("<?xml") && ran.stdout.contains("<failure"), "{ran:?}");
    let ran = desk.run(&["check", &bad, "--format", "report"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["passed"], false);
    desk.run(&["check", &fixture("native/text/events.jsonl")]).ok();
    desk.run(&["check", &fixture("native/minimal-example.json")]).ok();
}

#[test]
fn colours_come_on_demand_only() {
    let desk = desk();
    assert!(!desk.run(&["sessions"]).ok().contains('\u{1b}'));
    let forced = desk.command(&["sessions"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(String::from_utf8(forced.stdout).unwrap().contains("\u{1b}["));
    let never = desk
        .command(&["sessions"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!String::from_utf8(never.stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn quiet_commands_print_results_only() {
    let desk = Desk::new();
    let ran = desk.run(&["-q", "ingest", &fixture("native/text/events.jsonl")]);
    assert_eq!(ran.stdout, "sess_text\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn an_evidence_pack_proves_itself_and_names_what_was_changed() {
    let desk = desk();
    desk.run(&["export", "sess_approval", "--as", "evidence", "-o", "pack.json"]).ok();
    // Needs nothing but the file.
    std::fs::rename(desk.path(".spine"), desk.path("away")).unwrap();
    assert!(desk.run(&["verify", "pack.json"]).ok().contains("every fact is what was recorded"));
    let pack = std::fs::read_to_string(desk.path("pack.json")).unwrap();
    desk.write("changed.json", pack.replace("Never push to main", "Always push to main"));
    let ran = desk.run(&["verify", "changed.json", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["intact"], false);
    assert_eq!(found["faults"][0]["sequence"], 25, "{found}");
    desk.write("cut.json", &pack[..pack.len() / 2]);
    assert_eq!(desk.run(&["verify", "cut.json"]).status, 1);
}

// verifies: H03
#[test]
fn two_exporters_to_one_target_leave_one_whole_pack() {
    let desk = desk();
    let exporters: Vec<_> = ["sess_approval", "sess_tool_success"]
        .iter()
        .cycle()
        .take(8)
        .map(|session| {
            let mut command =
                desk.command(&["-q", "export", session, "--as", "evidence", "-o", "pack.json"]);
            command.spawn().unwrap()
        })
        .collect();
    for mut exporter in exporters {
        assert!(exporter.wait().unwrap().success());
    }
    desk.run(&["verify", "pack.json"]).ok();
    let left: Vec<_> = desk
        .listing()
        .into_iter()
        .filter(|(path, _)| path.parent() == desk.path("x").parent())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn results_go_where_they_were_sent_and_never_over_the_log() {
    let desk = desk();
    desk.run(&["graph", "sess_approval", "-o", ".spine/FORMAT"]).refused(2, "data folder");
    desk.run(&["graph", "sess_approval", "-o", "nowhere/x.svg"]).refused(2, "nowhere");
    desk.write("target.svg", "old");
    std::os::unix::fs::symlink(desk.path("target.svg"), desk.path("link.svg")).unwrap();
    desk.run(&["graph", "sess_approval", "-o", "link.svg"]).ok();
    assert!(std::fs::read_to_string(desk.path("target.svg")).unwrap().starts_with("<svg"));
    assert!(std::fs::symlink_metadata(desk.path("link.svg")).unwrap().is_symlink());
    let printed = desk.run(&["graph", "sess_approval", "-o", "/dev/stdout"]).ok();
    assert!(printed.starts_with("<svg"), "{printed}");
    assert!(!std::fs::metadata("/dev/stdout").unwrap().is_file() || cfg!(not(unix)));
}

#[test]
fn json_and_another_form_exclude_each_other() {
    let desk = desk();
    desk.run(&["--json", "graph", "sess_approval", "--format", "dot"]).refused(2, "--format");
    desk.run(&["--json", "check", "sess_approval", "--format", "junit"]).refused(2, "--format");
    assert!(desk.run(&["--json", "graph", "sess_approval"]).json()["nodes"].is_array());
    let junit = desk.run(&["check", "sess_app", "--format", "junit"]).ok();
    assert!(junit.contains("name=\"sess_approval\""), "{junit}");
    assert_eq!(desk.run(&["--json", "demo", "--data", "tour"]).json()["passed"], true);
}

#[test]
fn events_that_are_not_there_are_said_to_be_missing() {
    let desk = desk();
    desk.run(&["events", "sess_approval", "--from", "9999"]).refused(2, "its events are 1 to");
    desk.run(&["events", "sess_approval", "--from", "5", "--to", "3"]).refused(2, "from 5 to 3");
    desk.run(&["fork", "sess_approval", "--at", "2", "--as", "../evil"]).refused(2, "--as ../evil");
}

/// What a recording says cannot repaint the terminal.
#[test]
fn a_recording_cannot_say_one_thing_and_show_another() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(fixture("native/approval/events.jsonl")).unwrap();
    let hostile = r"x\u001b[2K\r\u202eapproved\u200b\u009b8m";
    let text = text.replace(r#""decidedBy":""#, &format!(r#""decidedBy":"{hostile}"#));
    assert!(text.contains("202eapproved"));
    desk.write("run.jsonl", text);
    desk.run(&["ingest", "run.jsonl"]).ok();
    for view in ["all", "actions", "graph"] {
        let mut shown = desk.command(&["show", "last", "--view", view]);
        let shown = shown.env("CLICOLOR_FORCE", "1").output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        for bad in ["\u{1b}[2K", "\r", "\u{202e}", "\u{200b}", "\u{9b}"] {
            assert!(!shown.contains(bad), "{view}: {bad:?}");
        }
    }
}

/// One recording that is refused does not keep the others out.
#[test]
fn of_several_recordings_each_stands_for_itself() {
    let desk = Desk::new();
    let (good, other) = (fixture("codex/text.jsonl"), fixture("ag-ui/text.jsonl"));
    let ran = desk.run(&["--json", "ingest", &good, "nothing.jsonl", &other]);
    assert_eq!(ran.status, 2, "{ran:?}");
    let taken: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(taken.as_array().unwrap().len(), 3, "{taken}");
    assert!(taken[1]["error"].as_str().unwrap().contains("nothing.jsonl"), "{taken}");
    assert_eq!(desk.run(&["sessions", "--json"]).json().as_array().unwrap().len(), 2);
}
