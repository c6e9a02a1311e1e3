//! Owns durable appends: one writer, many writers, large batches.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use event_spine::Expected;

use super::{Latencies, Numbers, rate};
use crate::peer::{Name, Peer, Spine};
use crate::record::{Append, Record, session_id};

const BATCH: u64 = 1000;

fn one(session: u64, sequence: u64) -> Append {
    Append { session, first: sequence, records: vec![Record::tool_result(session, sequence)] }
}

/// One writer, one fact per append, on disk before the next.
pub(super) fn single(name: Name, dir: &Path, time: Duration) -> Result<Numbers> {
    let mut store = name.open(dir)?;
    store.append(vec![one(1, 1)])?;
    let mut latencies = Latencies::default();
    let begun = Instant::now();
    let mut sequence = 1;
    while begun.elapsed() < time {
        sequence += 1;
        let asked = Instant::now();
        store.append(vec![one(1, sequence)])?;
        latencies.add(asked.elapsed());
    }
    let mut numbers = rate(sequence - 1, begun.elapsed());
    latencies.put_into(&mut numbers);
    Ok(numbers)
}

/// One writer, 1,000 facts per append.
pub(super) fn batches(name: Name, dir: &Path, time: Duration) -> Result<Numbers> {
    let mut store = name.open(dir)?;
    let batch = |first| Append {
        session: 1,
        first,
        records: (first..first + BATCH).map(|n| Record::tool_result(1, n)).collect(),
    };
    store.append(vec![batch(1)])?;
    let mut next = 1 + BATCH;
    // Making up the events takes longer than some stores take to append them, so only appending is timed.
    let mut took = Duration::ZERO;
    while took < time {
        let batch = vec![batch(next)];
        let begun = Instant::now();
        store.append(batch)?;
        took += begun.elapsed();
        next += BATCH;
    }
    Ok(rate(next - 1 - BATCH, took))
}

/// Many writers, each with a session of its own, each waiting for its fact to be on disk.
///
/// Spine gathers waiting appends itself. The peers get the same: one thread takes all that wait, commits them together
/// and tells each writer.
pub(super) fn writers(name: Name, dir: &Path, time: Duration, count: u64) -> Result<Numbers> {
    if name == Name::Spine {
        let log = Spine::open(dir)?.log;
        let append = move |append: Append| -> Result<()> {
            let drafts = append.records.into_iter().map(Record::draft).collect::<Result<_>>()?;
            log.append(&session_id(append.session)?, Expected::Exact(append.first - 1), drafts)?;
            Ok(())
        };
        return run_writers(time, count, |_| append.clone());
    }
    let (sender, receiver) = mpsc::channel();
    let store = name.open(dir)?;
    let committer = std::thread::spawn(move || commit(store, &receiver));
    let numbers = run_writers(time, count, |_| {
        let sender: Sender<Waiting> = sender.clone();
        let (done, ack) = mpsc::sync_channel(1);
        move |append: Append| {
            sender.send((append, done.clone()))?;
            Ok(ack.recv()?)
        }
    });
    drop(sender);
    committer.join().map_err(|_| anyhow!("the committing thread panicked"))??;
    numbers
}

/// An append and the writer that waits for it.
type Waiting = (Append, SyncSender<()>);

fn commit(mut store: Box<dyn Peer>, receiver: &Receiver<Waiting>) -> Result<()> {
    while let Ok(first) = receiver.recv() {
        let (batch, waiting): (Vec<_>, Vec<_>) =
            std::iter::once(first).chain(receiver.try_iter()).unzip();
        store.append(batch)?;
        for writer in waiting {
            writer.send(())?;
        }
    }
    Ok(())
}

fn run_writers<A>(time: Duration, count: u64, mut make: impl FnMut(u64) -> A) -> Result<Numbers>
where
    A: FnMut(Append) -> Result<()> + Send + 'static,
{
    let stop = Arc::new(AtomicBool::new(false));
    let total = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let threads: Vec<_> = (1..=count)
        .map(|session| {
            let (stop, total) = (Arc::clone(&stop), Arc::clone(&total));
            let mut append = make(session);
            std::thread::spawn(move || -> Result<Latencies> {
                let mut latencies = Latencies::default();
                for sequence in 1.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let asked = Instant::now();
                    append(one(session, sequence))?;
                    latencies.add(asked.elapsed());
                    total.fetch_add(1, Ordering::Relaxed);
                }
                Ok(latencies)
            })
        })
        .collect();
    std::thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
    let took = begun.elapsed();
    let done = total.load(Ordering::Relaxed);
    let mut latencies = Latencies::default();
    for thread in threads {
        latencies.0.extend(thread.join().map_err(|_| anyhow!("a writer panicked"))??.0);
    }
    let mut numbers = rate(done, took);
    latencies.put_into(&mut numbers);
    Ok(numbers)
}
