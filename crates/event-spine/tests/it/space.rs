//! Space: what a log takes on disk is bounded by what is in it, and said per session.

use event_spine::{EventLog, Expected, LogReader};

use crate::common::{contents, delta, options, session, tool_started};

/// Bytes of all files below a folder.
fn on_disk(dir: &std::path::Path) -> usize {
    contents(dir).values().map(Vec::len).sum()
}

/// Bodies that come again and again, and many small pieces that one final message repeats: at most 1.3 bytes on disk for
/// a byte of event, tables of contents included. Nothing is ever rewritten, so nothing has to be given back.
// verifies: H05
#[test]
fn disk_space_is_bounded_by_what_was_recorded_and_said_per_session() {
    let dir = tempfile::tempdir().unwrap();
    let mut small = options();
    small.segment_bytes = 1024 * 1024;
    let log = EventLog::open(dir.path(), small).unwrap();
    let (blobs, deltas) = (session("blobs"), session("deltas"));
    for round in 0..200 {
        let mut draft = tool_started(&format!("b{round}"));
        // Ten bodies of 10 KB in turn: each is stored once.
        let body = format!("{} ", round % 10).repeat(5_000);
        let payload = format!(r#"{{"toolName":"write_file","title":"{body}"}}"#);
        draft.payload = event_spine::JsonText::parse(&payload).unwrap().0;
        let receipt = log.append(&blobs, Expected::Any, vec![draft]).unwrap();
        assert_eq!(receipt.spilled, 1);
    }
    let pieces: Vec<_> = (0..20_000).map(|n| delta(&format!("d{n}"), "a piece of text ")).collect();
    for piece in pieces.chunks(500) {
        log.append(&deltas, Expected::Any, piece.to_vec()).unwrap();
    }
    drop(log);

    let reader = LogReader::open(dir.path()).unwrap();
    let mut events = 0;
    for id in [&blobs, &deltas] {
        for entry in reader.read(id, .., event_spine::ReadMode::Strict).unwrap() {
            if let event_spine::Entry::Event(event) = entry.unwrap() {
                events +=
                    event_spine::wire::to_json(&event, event_spine::wire::WriteOptions::default())
                        .len();
            }
        }
    }
    let bodies = 10 * 10_000;
    let bound = (events + bodies) * 13 / 10;
    let disk = on_disk(dir.path());
    assert!(disk <= bound, "{disk} bytes on disk, {bound} allowed");

    let stats = reader.stats().unwrap();
    assert_eq!(stats.events, 20_200);
    let of = |id| stats.sessions.iter().find(|s| &s.session_id == id).unwrap().bytes;
    assert!(of(&deltas) > of(&blobs), "each session says what it takes");
    assert_eq!(stats.event_bytes, of(&deltas) + of(&blobs));
}
