//! Owns what is measured on a store with many events: loading, disk, opening, reading.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{Numbers, rate};
use crate::machine;
use crate::peer::{Name, Peer};
use crate::record::{Append, Record};

/// The session that is read; it has a tenth of all events, between those of the others.
pub(crate) const LONG_SESSION: u64 = 1;

/// Sessions that are written at the same time, as a server would have them.
const OPEN_SESSIONS: u64 = 64;

/// Events of a short session.
const SHORT: u64 = 96;

const BATCH: u64 = 64;

/// Loads so many events in batches of up to 64: the long session and many short ones, 64 of them open at a time.
pub(super) fn load(name: Name, dir: &Path, events: u64) -> Result<Numbers> {
    let mut store = name.open(dir)?;
    let mut done = 0;
    let mut long = 0;
    let mut short: Vec<(u64, u64)> =
        (0..OPEN_SESSIONS).map(|n| (LONG_SESSION + 1 + n, 0)).collect();
    let mut next_session = LONG_SESSION + 1 + OPEN_SESSIONS;
    let mut put = Put::default();
    while done < events {
        if long < events / 10 {
            put.records(&mut *store, LONG_SESSION, &mut long, BATCH)?;
            done += BATCH;
        }
        // Nine batches of others to one of the long session.
        for turn in 0..9 {
            let at = usize::try_from((done + turn) % OPEN_SESSIONS)?;
            let (session, sequence) = &mut short[at];
            let count = BATCH.min(SHORT - *sequence);
            put.records(&mut *store, *session, sequence, count)?;
            done += count;
            if *sequence == SHORT {
                short[at] = (next_session, 0);
                next_session += 1;
            }
        }
    }
    let begun = Instant::now();
    store.finish()?;
    let finished = put.took + begun.elapsed();
    drop(store);
    let mut numbers = rate(done, finished);
    numbers.insert("unsynced_per_s".into(), done as f64 / put.took.as_secs_f64());
    numbers.insert("disk_per_byte".into(), machine::disk_bytes(dir)? as f64 / put.bytes as f64);
    numbers.insert("sessions".into(), (next_session - LONG_SESSION) as f64);
    Ok(numbers)
}

/// What was put into a store. Making up the events is not timed.
#[derive(Default)]
struct Put {
    bytes: u64,
    took: Duration,
}

impl Put {
    fn records(
        &mut self,
        store: &mut dyn Peer,
        session: u64,
        sequence: &mut u64,
        count: u64,
    ) -> Result<()> {
        let records: Vec<_> =
            (*sequence + 1..=*sequence + count).map(|n| Record::tool_result(session, n)).collect();
        for record in &records {
            self.bytes += record.encode()?.len() as u64;
        }
        let append = Append { session, first: *sequence + 1, records };
        let begun = Instant::now();
        store.load(append)?;
        self.took += begun.elapsed();
        *sequence += count;
        Ok(())
    }
}

/// From nothing to knowing where the long session is.
pub(super) fn open(name: Name, dir: &Path) -> Result<Numbers> {
    let begun = Instant::now();
    let mut store = name.open(dir)?;
    let opened = begun.elapsed();
    let head = store.head(LONG_SESSION)?;
    let ready = begun.elapsed();
    ensure!(head > 0, "the long session is not there");
    Ok(Numbers::from([
        ("open_ms".into(), opened.as_secs_f64() * 1000.0),
        ("ready_ms".into(), ready.as_secs_f64() * 1000.0),
    ]))
}

/// Reads the long session: once as it lies, then three times more.
pub(super) fn read(name: Name, dir: &Path) -> Result<Numbers> {
    let mut store = name.open(dir)?;
    let begun = Instant::now();
    let first = store.read(LONG_SESSION)?;
    let first_time = begun.elapsed();
    ensure!(first.events > 0 && first.bytes > 0, "the long session is not there");
    let begun = Instant::now();
    for _ in 0..3 {
        ensure!(store.read(LONG_SESSION)? == first, "two reads differ");
    }
    let mut numbers = rate(3 * first.events, begun.elapsed());
    numbers.insert("first_per_s".into(), first.events as f64 / first_time.as_secs_f64());
    Ok(numbers)
}

/// Appends durably for half a second, then dies as by `kill -9`.
pub(super) fn kill(name: Name, dir: &Path) -> Result<Numbers> {
    let mut store = name.open(dir)?;
    let session = u64::MAX >> 33;
    let mut sequence = store.head(session)?;
    let begun = Instant::now();
    while begun.elapsed().as_millis() < 500 {
        let records =
            (sequence + 1..=sequence + 16).map(|n| Record::tool_result(session, n)).collect();
        store.append(vec![Append { session, first: sequence + 1, records }])?;
        sequence += 16;
    }
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
    Ok(Numbers::new())
}
