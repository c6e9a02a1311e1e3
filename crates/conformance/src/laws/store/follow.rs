//! Owns the laws of following: no gap and no repeat where history ends and live begins.

use std::time::Duration;

use event_spine::{ChainHash, Cursor, EventLog, Expected, LogReader, ReadError, SessionId};

use super::Stores;
use super::material::{delta, session, tool_started};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

const EVENTS: u64 = 300;

/// Longer than any store needs; a follower that hangs fails instead of hanging the test.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn the_seam(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let results: Vec<_> = std::thread::scope(|scope| {
        let followers = (0..5).map(|at| {
            let (reader, s) = (log.reader(), &s);
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(at * 5));
                follow(&reader, s, at * 2)
            })
        });
        let followers: Vec<_> = followers.collect();
        let written = write(&log, &s);
        let followed = followers.into_iter().map(|follower| {
            follower.join().unwrap_or_else(|_| Err(Broken::because("a follower panicked")))
        });
        std::iter::once(written).chain(followed).collect()
    });
    for result in results {
        result?;
    }
    Ok(())
}

fn write(log: &EventLog, s: &SessionId) -> Result<(), Broken> {
    for n in 0..EVENTS {
        let id = format!("e{n}");
        let draft = if n % 7 == 0 { tool_started(&id)? } else { delta(&id, "x")? };
        log.append(s, Expected::Exact(n), vec![draft])?;
    }
    Ok(())
}

fn follow(reader: &LogReader, s: &SessionId, after: u64) -> Result<(), Broken> {
    let mut follow = reader.follow(s, Cursor { sequence: after, chain: None })?;
    for expected in after + 1..=EVENTS {
        let event = follow.next_timeout(PATIENCE)?;
        let sequence = event.map(|event| event.sequence);
        same!(sequence, Some(expected), "what a follower from {after} sees next");
    }
    // What a follower came to is what it can resume from.
    let cursor = follow.cursor();
    let mut resumed = reader.follow(s, cursor)?;
    let more = resumed.next_timeout(Duration::from_millis(1))?.map(|event| event.sequence);
    same!(more, None, "what comes behind the end");
    Ok(())
}

pub(super) fn other_histories(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let batch =
        vec![tool_started("b1")?, delta("d2", "x")?, tool_started("b3")?, delta("d4", "x")?];
    log.append(&s, Expected::Empty, batch)?;
    let log = stores.reopened(log);
    let reader = log.reader();
    let own = reader.chain_at(&s, 4)?;
    reader.follow(&s, Cursor { sequence: 4, chain: own })?;
    for (sequence, barrier) in [(4, 3), (3, 1), (1, 0), (25, 3)] {
        let cursor = Cursor { sequence, chain: Some(ChainHash([7; 32])) };
        let refused = reader.follow(&s, cursor).map(|_| ());
        let back = form!(
            refused, Err(ReadError::Diverged { last_barrier, .. }) => last_barrier, "a cursor at {sequence}"
        );
        same!(back.sequence, barrier, "where a cursor at {sequence} is sent back to");
        let chain = reader.chain_at(&s, barrier)?;
        same!(chain, Some(back.chain), "the chain value there");
    }
    Ok(())
}
