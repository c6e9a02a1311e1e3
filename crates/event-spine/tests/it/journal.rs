//! A log on disk: what is written is read again, by the same process, by another one, and after a restart.

use event_spine::{EventLog, Expected, LogReader};

use crate::common::{delta, history, options, session, tool_started};

#[test]
fn what_is_appended_is_read_again_also_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let s = session("sess_1");
    let log = EventLog::open(dir.path(), options()).unwrap();
    for n in 0..50 {
        let receipt = log
            .append(
                &s,
                Expected::Exact(n * 2),
                vec![tool_started(&format!("t{n}")), delta(&format!("d{n}"), "x")],
            )
            .unwrap();
        assert_eq!(receipt.sequences, [n * 2 + 1, n * 2 + 2]);
    }
    let before = history(&log, &s);
    assert_eq!(before.len(), 100);
    let head = log.reader().head(&s).unwrap();
    assert!(log.reader().verify(&s).unwrap().intact());
    let outside = LogReader::open(dir.path()).unwrap();
    assert_eq!(outside.head(&s).unwrap(), head);
    drop(log);
    let log = EventLog::open(dir.path(), options()).unwrap();
    assert_eq!(log.recovery().notes, []);
    assert_eq!(history(&log, &s), before);
    assert_eq!(log.reader().head(&s).unwrap(), head);
    assert!(log.reader().verify_storage().unwrap().is_empty());
}

#[test]
fn segments_roll_and_are_read_through_their_tables() {
    let dir = tempfile::tempdir().unwrap();
    let mut small = options();
    small.segment_bytes = 8 * 1024;
    let sessions = [session("sess_a"), session("sess_b")];
    let log = EventLog::open(dir.path(), small.clone()).unwrap();
    for n in 0..200 {
        for s in &sessions {
            log.append(s, Expected::Any, vec![tool_started(&format!("{s}-{n}"))]).unwrap();
        }
    }
    drop(log);
    let segments = std::fs::read_dir(dir.path().join("journal")).unwrap().count();
    assert!(segments > 10, "{segments}");
    let log = EventLog::open(dir.path(), small.clone()).unwrap();
    for s in &sessions {
        assert_eq!(history(&log, s).len(), 200);
        assert!(log.reader().verify(s).unwrap().intact());
        // An event of the oldest segment is known by its id.
        let again = log.append(s, Expected::Empty, vec![tool_started(&format!("{s}-3"))]).unwrap();
        assert_eq!((again.sequences, again.duplicates), (vec![4], 1));
    }
    drop(log);
    // Without any table of contents the same comes out.
    for entry in std::fs::read_dir(dir.path().join("journal")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|e| e == "toc") {
            std::fs::write(entry.path(), b"half a table").unwrap();
        }
    }
    let log = EventLog::open(dir.path(), small).unwrap();
    for s in &sessions {
        assert_eq!(history(&log, s).len(), 200);
    }
}
