//! Damaged data folders, as a person meets them: what the commands say, and what they leave alone.

use crate::run::Desk;

fn fixture(path: &str) -> String {
    format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"))
}

fn desk() -> Desk {
    let desk = Desk::new();
    let recording = fixture("native/tool-success/events.jsonl");
    desk.run(&["ingest", &recording]).ok();
    desk
}

/// The mark of the folder is lost: who reads is told what helps, doctor looks on, salvage needs the journal only.
// verifies: H04
#[test]
fn a_lost_format_mark_is_named_and_what_is_there_is_salvaged() {
    let desk = desk();
    for format in [None, Some("spimd 1\n"), Some("")] {
        let path = desk.path(".spine/FORMAT");
        match format {
            None => std::fs::remove_file(&path).unwrap(),
            Some(text) => std::fs::write(&path, text).unwrap(),
        }
        desk.run(&["sessions"]).refused(2, "its FORMAT file");
        let ran = desk.run(&["doctor"]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stdout.contains("its FORMAT file"), "{ran:?}");
        assert!(ran.stdout.contains("1 segment"), "the journal is looked at: {ran:?}");
        desk.run(&["salvage", ".spine", "-o", "rescued"]).ok();
        desk.run(&["verify", "--data", "rescued"]).ok();
        std::fs::remove_dir_all(desk.path("rescued")).unwrap();
    }
}

/// Half a write that nobody was told is stored is no damage.
// verifies: H01
#[test]
fn an_unfinished_write_is_no_damage() {
    let desk = Desk::new();
    desk.run(&["ingest", &fixture("native/text/events.jsonl")]).ok();
    let segment = desk.path(".spine/journal/0000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes.extend_from_slice(b"SPNF\x00\x01\x00\x00 half a frame");
    std::fs::write(&segment, bytes).unwrap();
    let ran = desk.run(&["verify"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("unfinished"), "{ran:?}");
    assert_eq!(desk.run(&["doctor"]).status, 0);
}

/// Replay reads: it makes no index and takes no lock where nothing was saved.
#[test]
fn replay_changes_nothing() {
    let desk = desk();
    let before = desk.listing();
    desk.run(&["replay", "last"]).ok();
    assert!(desk.listing() == before);
}

/// What lay behind a gap comes back by the commands that salvage names.
// verifies: H04
#[test]
fn what_lay_behind_a_gap_comes_back_by_the_commands_that_salvage_names() {
    let desk = Desk::new();
    let recording = fixture("native/tool-success/events.jsonl");
    let text = std::fs::read_to_string(&recording).unwrap();
    let all = text.lines().count();
    let (first, second) = text.split_at(text.match_indices('\n').nth(4).unwrap().0 + 1);
    desk.write("first.jsonl", first);
    desk.write("second.jsonl", second);
    for part in ["first.jsonl", "second.jsonl"] {
        desk.run(&["ingest", part, "--part"]).ok();
    }
    let segment = desk.path(".spine/journal/0000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = memchr::memmem::find(&bytes, b"turn.submitted").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let ran = desk.run(&["salvage", ".spine", "-o", "rescued", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let session = &said["sessions"][0];
    assert_eq!((&session["events"], &session["firstLost"]), (&0.into(), &1.into()), "{ran:?}");
    let kept_in = session["keptIn"].as_str().unwrap().to_owned();
    let id = session["sessionId"].as_str().unwrap().to_owned();
    let behind = session["behindGap"].as_u64().unwrap() as usize;
    assert!(behind > 0 && behind < all, "{ran:?}");
    let hint = desk.run(&["salvage", ".spine", "-o", "again"]).stderr;
    assert!(hint.contains(&format!("--session {id}.rest --data again")), "{hint}");

    let rest = format!("{id}.rest");
    let count =
        |session: &str| desk.run(&["events", session, "--data", "rescued"]).ok().lines().count();
    desk.run(&["ingest", &kept_in, "--session", &rest, "--data", "rescued"]).ok();
    assert_eq!(count(&rest), behind);
    desk.run(&["ingest", &recording, "--data", "rescued"]).ok();
    assert_eq!(count(&id), all, "all of it, in order");
    desk.run(&["verify", "--data", "rescued"]).ok();
}
