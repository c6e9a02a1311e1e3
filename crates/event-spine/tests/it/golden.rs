//! Old bytes: data folders that earlier versions wrote are opened, read and verified by this one, for ever.
//!
//! A change of a stored format adds a folder under `fixtures/stored`; it never edits one.

use std::path::{Path, PathBuf};

use event_spine::wire::{WireEvent, WriteOptions, to_json};
use event_spine::{EventLog, Expected, LogReader, ReadMode};

use crate::common::{contents, copy_folder, options, session, tool_started};

fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/stored")
}

/// What goes into the folder of this version: real types, unknown ones, a fork, a large body, several segments.
fn lines() -> impl Iterator<Item = String> {
    (1..=40).map(|n| {
        let payload = match n % 4 {
            0 => format!(r#"{{"toolName":"write_file","args":{{"n":{n}.10,"big":9007199254740993}},"note":"kept"}}"#),
            1 => format!(r#"{{"delta":"piece {n} \u00e9\ud83d\ude00"}}"#),
            2 => r#"{"reason":"a type of tomorrow"}"#.to_owned(),
            _ => format!(r#"{{"status":"succeeded","preview":"{}"}}"#, "long output ".repeat(800)),
        };
        let kind = ["tool.started", "model.delta", "weather.changed", "tool.result"][n % 4];
        format!(
            r#"{{"schemaVersion":"0.1","runtimeId":"rt_1","sessionId":"sess_1","threadId":"th","turnId":"tu","stepId":"st","toolCallId":"tc","eventId":"evt_{n}","timestamp":"2026-06-09T10:00:{n:02}Z","type":"{kind}","payload":{payload},"vendor":{{"x":1}}}}"#
        )
    })
}

/// Not a test: writes the folder of the current version. It is run once, when a stored format changes.
#[test]
#[ignore = "writes a fixture"]
fn write_the_folder_of_this_version() {
    let dir = stored().join("v1");
    assert!(!dir.exists(), "a stored fixture is never edited");
    let mut small = options();
    small.segment_bytes = 4096;
    let log = EventLog::open(&dir.join("data"), small).unwrap();
    for line in lines() {
        let wire = WireEvent::parse(&line).unwrap();
        log.append(&wire.session_id, Expected::Any, vec![wire.draft]).unwrap();
    }
    log.fork(&session("sess_1"), 25, &session("sess_2"), &"rt_1".parse().unwrap(), None).unwrap();
    log.append(&session("sess_2"), Expected::Exact(26), vec![tool_started("evt_fork")]).unwrap();
    drop(log);
    std::fs::write(
        dir.join("events.jsonl"),
        exported(&LogReader::open(&dir.join("data")).unwrap()),
    )
    .unwrap();
}

/// Every event of every session, as the log gives it out.
fn exported(reader: &LogReader) -> String {
    let mut out = String::new();
    for summary in reader.sessions().unwrap() {
        let mut events = reader.read(&summary.session_id, .., ReadMode::Strict).unwrap();
        while let Some(event) = events.next_event().unwrap() {
            out.push_str(&to_json(&event, WriteOptions { integrity: true }));
            out.push('\n');
        }
    }
    out
}

// verifies: H08
#[test]
fn folders_of_every_version_open_read_and_verify() {
    let mut versions = 0;
    for version in
        std::fs::read_dir(stored()).unwrap().flatten().filter(|entry| entry.path().is_dir())
    {
        versions += 1;
        let data = version.path().join("data");
        let before = contents(&data);
        let reader = LogReader::open(&data).unwrap();
        let expected = std::fs::read_to_string(version.path().join("events.jsonl")).unwrap();
        assert_eq!(exported(&reader), expected, "{:?}", version.path());
        assert!(reader.verify_storage().unwrap().is_empty());
        for summary in reader.sessions().unwrap() {
            assert!(reader.verify(&summary.session_id).unwrap().intact());
        }
        assert_eq!(contents(&data), before, "reading changes no file");

        // It is also written on.
        let copy = tempfile::tempdir().unwrap();
        copy_folder(&data, copy.path());
        let log = EventLog::open(copy.path(), options()).unwrap();
        let head = log.reader().head(&session("sess_1")).unwrap().unwrap();
        log.append(
            &session("sess_1"),
            Expected::Exact(head.sequence),
            vec![tool_started("evt_new")],
        )
        .unwrap();
        assert!(log.reader().verify(&session("sess_1")).unwrap().intact());
    }
    assert!(versions > 0);
}
