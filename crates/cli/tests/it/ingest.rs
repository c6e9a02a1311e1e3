//! Taking recordings into the log.

use crate::run::Desk;

fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

// verifies: R3 R61 H06
#[test]
fn the_same_recording_again_adds_nothing_in_any_format() {
    for path in [
        "native/tool-success/events.jsonl",
        "ag-ui/approval.jsonl",
        "ag-ui/text.sse",
    ] {
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
            desk.run(&["ingest", &file])
                .ok()
                .contains(&format!("0 new, {events} already there"))
        );
    }
}

#[test]
fn stdin_is_a_recording_like_any_other() {
    let desk = Desk::new();
    let bytes = std::fs::read(fixture("native/text/events.jsonl")).unwrap();
    let piped = desk
        .run_with_stdin(&["ingest", "-", "--json"], &bytes)
        .json();
    let again = desk
        .run(&["ingest", &fixture("native/text/events.jsonl"), "--json"])
        .json();
    assert_eq!(again["sessions"][0]["already"], piped["sessions"][0]["new"]);
    assert_eq!(again["sessions"][0]["new"], 0);
}

#[test]
fn a_recording_can_be_put_into_a_session_of_another_name() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("ag-ui/text.jsonl"), "--session", "mine"])
        .ok();
    assert!(desk.run(&["show", "mine"]).ok().starts_with("mine  "));
}

// verifies: R2
#[test]
fn what_was_exported_can_be_ingested_elsewhere_and_is_the_same() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("native/approval/events.jsonl")])
        .ok();
    desk.run(&["export", "last", "--as", "runtime-event", "-o", "out.jsonl"])
        .ok();
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
    let (here, there) = (
        desk.run(&["events", "last"]).ok(),
        desk.run(&["events", "last", "--data", "other"]).ok(),
    );
    assert_eq!(strip(here), strip(there));
}
