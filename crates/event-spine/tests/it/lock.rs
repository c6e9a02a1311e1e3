//! One writer a data folder; any number of readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use event_spine::{AppendError, EventLog, Expected, LogReader, OpenError};

use crate::common::{history, options, session, tool_started};

// verifies: H03
#[test]
fn a_second_writer_is_told_who_holds_the_log_and_may_read() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    log.append(&session("s"), Expected::Empty, vec![tool_started("e1")]).unwrap();
    let Err(OpenError::InUse { pid, .. }) = EventLog::open(dir.path(), options()) else { panic!() };
    assert_eq!(pid, Some(std::process::id()));
    let reader = LogReader::open(dir.path()).unwrap();
    assert_eq!(reader.head(&session("s")).unwrap().unwrap().sequence, 1);
    log.append(&session("s"), Expected::Exact(1), vec![tool_started("e2")]).unwrap();
    assert_eq!(reader.head(&session("s")).unwrap().unwrap().sequence, 2, "a reader keeps up");
    drop(log);
    EventLog::open(dir.path(), options()).unwrap();
}

// verifies: H03
#[test]
fn two_appenders_that_expect_a_sequence_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    let s = session("s");
    let conflicts = Arc::new(AtomicUsize::new(0));
    let each = 500;
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (log, s, conflicts) = (log.clone(), s.clone(), Arc::clone(&conflicts));
            scope.spawn(move || {
                let mut expected = 0;
                for n in 0..each {
                    loop {
                        let draft = tool_started(&format!("{thread}-{n}"));
                        match log.append(&s, Expected::Exact(expected), vec![draft]) {
                            Ok(receipt) => {
                                expected = receipt.head.sequence;
                                break;
                            }
                            Err(AppendError::WrongExpected { actual, .. }) => {
                                conflicts.fetch_add(1, Ordering::Relaxed);
                                expected = actual.sequence;
                            }
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            });
        }
    });
    let all = history(&log, &s);
    assert_eq!(
        all.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(),
        (1..=1000).collect::<Vec<_>>()
    );
    for thread in 0..2 {
        let own: Vec<_> =
            all.iter().filter(|(_, id)| id.starts_with(&format!("{thread}-"))).collect();
        assert_eq!(own.len(), each, "each in its own order");
        assert!(own.windows(2).all(|pair| {
            let number = |id: &str| id[2..].parse::<usize>().unwrap();
            number(&pair[0].1) < number(&pair[1].1)
        }));
    }
}

/// A kill while a folder is made leaves a lock and half a format mark: the next open goes on from there.
// verifies: H04
#[test]
fn a_folder_whose_making_was_cut_off_is_made_whole() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("LOCK"), "1\n").unwrap();
    std::fs::write(dir.path().join("FORMAT.tmp"), "spi").unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    log.append(&session("s"), Expected::Empty, vec![tool_started("e1")]).unwrap();
    drop(log);
    std::fs::write(dir.path().join("FORMAT"), "something else").unwrap();
    let refused = EventLog::open(dir.path(), options());
    assert!(
        matches!(refused, Err(OpenError::FormatLost { .. })),
        "the mark is lost, the journal is not"
    );
    std::fs::remove_dir_all(dir.path().join("journal")).unwrap();
    let refused = EventLog::open(dir.path(), options());
    assert!(matches!(refused, Err(OpenError::NotALog { .. })), "what is no log is not touched");
}
