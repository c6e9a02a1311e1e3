//! Taking recordings into the log.

use crate::run::Desk;

fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

// verifies: R3 R61 H06
#[test]
fn the_same_recording_again_adds_nothing_in_any_format() {
    for path in ["native/tool-success/events.jsonl", "ag-ui/approval.jsonl", "ag-ui/text.sse"] {
        let desk = Desk::new();
        let file = fixture(path);
        let first = desk.run(&["ingest", &file, "--json"]).json();
        let events = first["sessions"][0]["new"].as_u64().unwrap();
        assert!(events > 5, "{first}");
        let chain = first["sessions"][0]["chain"].as_str().unwrap().to_owned();
        let listing = desk.run(&["events", "last"]).ok();
        let again = desk.run(&["ingest", &file, "--json"]).json();
        assert_eq!(again["sessions"][0]["new"], 0, "{again}");
        assert_eq!(again["sessions"][0]["already"], events, "{again}");
        assert_eq!(again["sessions"][0]["chain"], chain.as_str());
        assert_eq!(desk.run(&["events", "last"]).ok(), listing, "{path}");
        assert!(
            desk.run(&["ingest", &file]).ok().contains(&format!("0 new, {events} already there"))
        );
    }
}

#[test]
fn stdin_is_a_recording_like_any_other() {
    let desk = Desk::new();
    let bytes = std::fs::read(fixture("native/text/events.jsonl")).unwrap();
    let piped = desk.run_with_stdin(&["ingest", "-", "--json"], &bytes).json();
    let again = desk.run(&["ingest", &fixture("native/text/events.jsonl"), "--json"]).json();
    assert_eq!(again["sessions"][0]["already"], piped["sessions"][0]["new"]);
    assert_eq!(again["sessions"][0]["new"], 0);
}

#[test]
fn a_recording_can_be_put_into_a_session_of_another_name() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("ag-ui/text.jsonl"), "--session", "mine"]).ok();
    assert!(desk.run(&["show", "mine"]).ok().starts_with("mine  "));
}

// verifies: R2
#[test]
fn what_was_exported_can_be_ingested_elsewhere_and_is_the_same() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("native/approval/events.jsonl")]).ok();
    desk.run(&["export", "last", "--as", "runtime-event", "-o", "out.jsonl"]).ok();
    desk.run(&["ingest", "out.jsonl", "--data", "other"]).ok();
    let strip = |text: String| -> Vec<serde_json::Value> {
        text.lines()
            .map(|line| {
                let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
                event.as_object_mut().unwrap().remove("recordedAt");
                event
            })
            .collect()
    };
    let (here, there) =
        (desk.run(&["events", "last"]).ok(), desk.run(&["events", "last", "--data", "other"]).ok());
    assert_eq!(strip(here), strip(there));
}

/// Every file below a folder, for searching.
fn all_bytes(folder: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(all_bytes(&path))
        } else {
            bytes.extend(std::fs::read(path).unwrap())
        }
    }
    bytes
}

// verifies: H25
#[test]
fn a_recording_that_has_grown_adds_only_what_is_new() {
    let desk = Desk::new();
    let whole = std::fs::read_to_string(fixture("codex/tool-success.jsonl")).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    desk.write("run.jsonl", lines[..12].join("\n") + "\n");
    let first = desk.run(&["ingest", "run.jsonl", "--part", "--json"]).json();
    desk.write("run.jsonl", &whole);
    let second = desk.run(&["ingest", "run.jsonl", "--json"]).json();
    let new = |taken: &serde_json::Value| taken["sessions"][0]["new"].as_u64().unwrap();
    assert!(new(&first) > 0 && new(&second) > 0, "{first} {second}");
    let alone = desk.run(&["ingest", "run.jsonl", "--data", "other", "--json"]).json();
    // One more: each state of the input is recorded.
    assert_eq!(new(&first) + new(&second), new(&alone) + 1);
    assert_eq!(new(&desk.run(&["ingest", "run.jsonl", "--json"]).json()), 0);
}

#[test]
fn facts_without_a_time_of_their_own_are_known_again_whatever_the_file_says() {
    let desk = Desk::new();
    let file = desk.write("run.jsonl", std::fs::read(fixture("ag-ui/approval.jsonl")).unwrap());
    desk.run(&["ingest", "run.jsonl"]).ok();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    std::fs::File::options().write(true).open(file).unwrap().set_modified(past).unwrap();
    assert!(desk.run(&["ingest", "run.jsonl"]).ok().contains(" 0 new, "));
}

// verifies: H39
#[test]
fn no_secret_of_a_recording_reaches_the_disk() {
    let desk = Desk::new();
    let secrets = ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAIOSFODNN7EXAMPLE"];
    let text = std::fs::read_to_string(fixture("ag-ui/text.jsonl")).unwrap();
    desk.write("run.jsonl", text.replace("Paris", &format!("Paris {} {}", secrets[0], secrets[1])));
    let taken = desk.run(&["ingest", "run.jsonl", "--json"]).json();
    assert!(taken["sessions"][0]["masked"].as_u64().unwrap() >= 2, "{taken}");
    desk.run(&["export", "last", "--as", "runtime-event", "-o", "out.jsonl"]).ok();
    let mut stored = all_bytes(&desk.path(".spine"));
    stored.extend(std::fs::read(desk.path("out.jsonl")).unwrap());
    stored.extend(desk.run(&["show", "last", "--view", "all", "--json"]).ok().into_bytes());
    for secret in secrets {
        assert!(memchr::memmem::find(&stored, secret.as_bytes()).is_none(), "{secret} is there");
    }
}

// verifies: R85
#[test]
fn a_secret_in_a_raw_provider_payload_is_flagged_and_in_no_projection() {
    let raw = r#"{"provider":"openai","request":{"headers":{"apiKey":"SECRET-CANARY"}}}"#;
    let native = std::fs::read_to_string(fixture("native/text/events.jsonl")).unwrap();
    let native = native.replacen(r#""payload":{"#, &format!(r#""payload":{{"raw":{raw},"#), 2);
    let foreign = std::fs::read_to_string(fixture("ag-ui/text.jsonl")).unwrap();
    let raw_event = format!(r#"{{"type":"RAW","event":{raw}}}"#);
    let state = format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{raw}}}"#);
    let mut lines: Vec<&str> = foreign.lines().collect();
    lines.splice(1..1, [raw_event.as_str(), state.as_str()]);
    for (name, text) in [("native.jsonl", native), ("foreign.jsonl", lines.join("\n"))] {
        assert!(text.contains("SECRET-CANARY"));
        let desk = Desk::new();
        desk.write(name, &text);
        let checked = desk.run(&["check", name, "--json"]);
        assert_eq!(checked.status, 1, "{}", checked.stdout);
        assert!(checked.stdout.contains("SP0080"), "{}", checked.stdout);
        assert!(!checked.stdout.contains("SECRET-CANARY"), "a finding repeats the secret");
        desk.run(&["ingest", name]).ok();
        let mut found = all_bytes(&desk.path(".spine"));
        found.extend(desk.run(&["show", "last", "--view", "all", "--json"]).ok().into_bytes());
        found.extend(desk.run(&["graph", "last", "--format", "svg"]).ok().into_bytes());
        assert!(memchr::memmem::find(&found, b"SECRET-CANARY").is_none(), "{name}");
    }
}

/// What is stored can be exported, and what is exported can be taken again.
#[test]
fn a_blank_time_is_no_time() {
    let desk = Desk::new();
    let text = std::fs::read_to_string(fixture("codex/text.jsonl")).unwrap();
    let stamp = text.split('"').nth(3).unwrap().to_owned();
    desk.write(
        "run.jsonl",
        text.replace(&format!(r#""timestamp":"{stamp}""#), r#""timestamp":" ""#),
    );
    desk.run(&["ingest", "run.jsonl"]).ok();
    desk.run(&["export", "last", "--as", "runtime-event", "-o", "out.jsonl"]).ok();
    desk.run(&["--data", "again", "ingest", "out.jsonl"]).ok();
}

/// Other programs write JSON with escapes where none are needed; the raw input is kept as they wrote it.
// verifies: H39
#[test]
fn a_secret_behind_escapes_is_in_no_blob() {
    let deep = {
        let mut text = r#"{"password":"hunterCANARY9"}"#.to_owned();
        for _ in 0..3 {
            text = serde_json::json!({ "cmd": format!("curl -d '{text}' h") }).to_string();
        }
        serde_json::to_string(&text).unwrap()
    };
    for delta in [
        r#""conf: \u003cpassword\u003ehunterCANARY9\u003c/password\u003e ok""#,
        r#""postgres:\/\/app:hunterCANARY9@db\/x""#,
        r#""password=\u0027hunterCANARY9\u0027""#,
        r#""use \u0067hp_CANARY6789abcdefghijABCDEFGHIJ012345""#,
        &deep,
    ] {
        let desk = Desk::new();
        let lines = [
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#.to_owned(),
            format!(
                r#"{{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":{delta}}}"#
            ),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#.to_owned(),
        ];
        desk.write("run.jsonl", lines.join("\n"));
        desk.run(&["ingest", "run.jsonl"]).ok();
        let stored = all_bytes(&desk.path(".spine"));
        assert!(memchr::memmem::find(&stored, b"CANARY").is_none(), "{delta}");
    }
}

#[test]
fn the_raw_input_is_kept_once_and_facts_name_their_frame_of_it() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("codex/tool-success.jsonl")]).ok();
    let events = desk.run(&["events", "last"]).ok();
    let events: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let input = events.iter().rev().find(|e| e["type"] == "evidence.changed").unwrap();
    let id = input["refs"][0]["id"].as_str().unwrap().strip_prefix("blake3:").unwrap();
    let kept =
        std::fs::read(desk.path(&format!(".spine/blobs/{}/{}", &id[..2], &id[2..]))).unwrap();
    assert_eq!(kept, std::fs::read(fixture("codex/tool-success.jsonl")).unwrap());
    let started = events.iter().find(|e| e["type"] == "tool.started").unwrap();
    let raw = &started["refs"][0];
    assert_eq!(raw["id"], input["refs"][0]["owner"], "{started}");
    let frame = usize::try_from(raw["origin"]["frame"].as_u64().unwrap()).unwrap();
    let line = std::str::from_utf8(&kept).unwrap().lines().nth(frame - 1).unwrap();
    assert!(line.contains("function_call"), "{line}");
}
