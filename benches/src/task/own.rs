//! Owns what only this project has: the hash chain, followers, projections, checkpoints.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use event_spine::{Cursor, EventLog, Expected, ReadMode, SyncPolicy};
use read_model::{Engine, SessionView};

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
    thread.join().map_err(|_| anyhow!("the follower panicked"))??;
    let mut latencies = Latencies::default();
    for (sequence, at) in receiver {
        let acked = acknowledged
            .get(usize::try_from(sequence - 1)?)
            .context("an event that nobody wrote")?;
        latencies.add(at.saturating_duration_since(*acked));
    }
    ensure!(latencies.0.len() == acknowledged.len(), "the follower missed events");
    let mut numbers = Numbers::new();
    latencies.put_into(&mut numbers);
    Ok(numbers)
}

fn write(dir: &Path, events: u64, make: fn(u64, u64) -> Record) -> Result<EventLog> {
    let log = EventLog::open(dir, options(SyncPolicy::Relaxed))?;
    let session = session_id(1)?;
    for first in (1..=events).step_by(1000) {
        let records = (first..first + 1000).map(|n| make(1, n));
        let drafts = records.map(Record::draft).collect::<Result<_>>()?;
        log.append(&session, Expected::Exact(first - 1), drafts)?;
    }
    Ok(log)
}

/// Writes a session, looks at it once as a program that serves views does, and closes.
pub(super) fn load_session(dir: &Path, events: u64) -> Result<Numbers> {
    let log = write(dir, events, Record::of_answers)?;
    let begun = Instant::now();
    let engine = Engine::open(&log);
    let view = engine.view(&session_id(1)?)?;
    let numbers = rate(view.at.sequence, begun.elapsed());
    engine.close();
    Ok(numbers)
}

/// From an open log to the whole view of its one long session.
pub(super) fn open_session(dir: &Path) -> Result<Numbers> {
    let log = EventLog::open(dir, options(SyncPolicy::Barrier))?;
    let begun = Instant::now();
    let view = Engine::open(&log).view(&session_id(1)?)?;
    let took = begun.elapsed();
    ensure!(view.at.sequence > 0, "the view is empty");
    Ok(Numbers::from([("view_ms".into(), took.as_secs_f64() * 1000.0)]))
}

/// Writes a session and builds all its views from the log: once everything, once the fold alone.
pub(super) fn fold(dir: &Path, events: u64, make: fn(u64, u64) -> Record) -> Result<Numbers> {
    let (log, session) = (write(dir, events, make)?, session_id(1)?);
    let reader = log.reader();
    read_model::replay(&reader, &session, Some(events / 10))?;
    let begun = Instant::now();
    let view = read_model::replay(&reader, &session, None)?;
    let mut numbers = rate(view.at.sequence, begun.elapsed());
    let mut entries = reader.read(&session, .., ReadMode::Strict)?;
    let mut recorded = Vec::new();
    while let Some(event) = entries.next_event()? {
        recorded.push(event);
    }
    let begun = Instant::now();
    let mut folded = SessionView::new(session);
    for event in &recorded {
        folded.apply(event);
    }
    let fold_only = recorded.len() as f64 / begun.elapsed().as_secs_f64();
    ensure!(folded == view, "two replays differ");
    numbers.insert("fold_only_per_s".into(), fold_only);
    Ok(numbers)
}
