//! Following: history, then live, no gap and no repeat at the seam; inside the writing process and outside.

use std::time::Duration;

use event_spine::{Cursor, EventLog, Expected, LogReader, ReadError};

use crate::common::{delta, options, session, tool_started};

const EVENTS: u64 = 400;

fn write_all(log: &EventLog) {
    for n in 0..EVENTS {
        let draft = if n % 5 == 0 {
            tool_started(&format!("e{n}"))
        } else {
            delta(&format!("e{n}"), "text")
        };
        log.append(&session("s"), Expected::Exact(n), vec![draft]).unwrap();
    }
}

fn follow_all(reader: &LogReader, after: u64) -> Vec<u64> {
    let cursor = Cursor { sequence: after, chain: None };
    let mut follow = reader.follow(&session("s"), cursor).unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&EVENTS) {
        let event =
            follow.next_timeout(Duration::from_secs(20)).unwrap().expect("the next event comes");
        seen.push(event.sequence);
    }
    seen
}

#[test]
fn followers_that_join_at_any_time_see_every_event_once() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    std::thread::scope(|scope| {
        let mut followers = Vec::new();
        for at in 0..6 {
            let (reader, path) = (log.reader(), dir.path());
            followers.push(scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(at * 7));
                let after = at * 3;
                let reader = if at % 2 == 0 { reader } else { LogReader::open(path).unwrap() };
                (after, follow_all(&reader, after))
            }));
        }
        write_all(&log);
        for follower in followers {
            let (after, seen) = follower.join().unwrap();
            assert_eq!(seen, (after + 1..=EVENTS).collect::<Vec<_>>());
        }
    });
}

#[test]
fn async_followers_see_the_same() {
    let log = EventLog::in_memory(options());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let mut follow = log.reader().follow(&session("s"), Cursor::START).unwrap();
        for n in 0..20 {
            log.append_async(&session("s"), Expected::Any, vec![delta(&format!("e{n}"), "x")])
                .await
                .unwrap();
            assert_eq!(follow.next_event().await.unwrap().sequence, n + 1);
        }
    });
}

#[test]
fn a_cursor_of_another_history_is_sent_back_to_the_last_barrier() {
    let log = EventLog::in_memory(options());
    let drafts = vec![
        tool_started("b1"),
        delta("d2", "x"),
        tool_started("b3"),
        delta("d4", "x"),
        delta("d5", "x"),
    ];
    log.append(&session("s"), Expected::Empty, drafts).unwrap();
    let reader = log.reader();
    let other = event_spine::ChainHash([7; 32]);
    let diverged = |sequence, chain| match reader
        .follow(&session("s"), Cursor { sequence, chain: Some(chain) })
    {
        Err(ReadError::Diverged { last_barrier, .. }) => Some(last_barrier.sequence),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    };
    let own = reader.chain_at(&session("s"), 5).unwrap().unwrap();
    assert_eq!(diverged(5, own), None);
    assert_eq!(diverged(5, other), Some(3));
    assert_eq!(diverged(9, other), Some(3), "a sequence that the log does not have (any more)");
    assert_eq!(diverged(3, other), Some(1));
    assert_eq!(diverged(1, other), Some(0));
}
