//! Owns what only this project has: the hash chain, followers, projections, checkpoints.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use event_spine::{Cursor, EventLog, Expected, SyncPolicy};

use super::{LONG_SESSION, Latencies, Numbers, rate};
use crate::peer::options;
use crate::record::{Record, session_id};

/// Walks the hash chain of the long session.
pub(super) fn verify(dir: &Path) -> Result<Numbers> {
    let log = EventLog::open(dir, options(SyncPolicy::Barrier))?;
    let session = session_id(LONG_SESSION)?;
    log.reader().verify(&session)?;
    let begun = Instant::now();
    let verification = log.reader().verify(&session)?;
    ensure!(verification.intact(), "the chain does not verify");
    Ok(rate(verification.verified, begun.elapsed()))
}

/// How long after its acknowledgement a fact reaches a follower in the same process; 0 when the follower had it before.
pub(super) fn follow(dir: &Path, time: Duration) -> Result<Numbers> {
    let log = EventLog::open(dir, options(SyncPolicy::Barrier))?;
    let session = session_id(1)?;
    let mut follower = log.reader().follow(&session, Cursor::START)?;
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || -> Result<()> {
        while let Some(event) = follower.next_timeout(Duration::from_secs(1))? {
            sender.send((event.sequence, Instant::now()))?;
        }
        Ok(())
    });
    let mut acknowledged = Vec::new();
    let begun = Instant::now();
    for sequence in 1.. {
        if begun.elapsed() > time {
            break;
        }
        let draft = Record::tool_result(1, sequence).draft()?;
        log.append(&session, Expected::Exact(sequence - 1), vec![draft])?;
        acknowledged.push(Instant::now());
        // A burst would measure the queue, not the way.
        std::thread::sleep(Duration::from_micros(200));
    }
    thread
        .join()
        .map_err(|_| anyhow!("the follower panicked"))??;
    let mut latencies = Latencies::default();
    for (sequence, at) in receiver {
        let acked = acknowledged
            .get(usize::try_from(sequence - 1)?)
            .context("an event that nobody wrote")?;
        latencies.add(at.saturating_duration_since(*acked));
    }
    ensure!(
        latencies.0.len() == acknowledged.len(),
        "the follower missed events"
    );
    let mut numbers = Numbers::new();
    latencies.put_into(&mut numbers);
    Ok(numbers)
}
