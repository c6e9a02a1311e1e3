//! Owns what is measured: one task on one store in one process, and the numbers that come of it.
//!
//! Next: `append.rs`, `stored.rs`, `own.rs`.

mod append;
mod own;
mod stored;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::machine;
use crate::peer::Name;
use crate::record::Record;

pub(crate) use stored::LONG_SESSION;

/// Numbers by name; the last line that a child prints.
pub(crate) type Numbers = BTreeMap<String, f64>;

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Task {
    /// One writer, one barrier fact per append.
    Single,
    /// 16 writers, one barrier fact each per append.
    Writers16,
    /// 64 writers, one barrier fact each per append.
    Writers64,
    /// One writer, 1,000 facts per append.
    Batch,
    /// A million facts over many sessions, not synced one by one.
    Load,
    /// Open a loaded store.
    Open,
    /// The same after a kill.
    OpenKilled,
    /// Read the long session of a loaded store, twice.
    Read,
    /// Append to a loaded store until killed.
    Kill,
    /// Walk the hash chain of the long session.
    Verify,
    /// From acknowledgement to a follower in the same process.
    Follow,
    /// Build all views of a session that is nearly all deltas, from the log.
    FoldDeltas,
    /// Build all views of a session that is nearly all tool calls, from the log.
    FoldTools,
    /// Write one session of a million events and save its checkpoint.
    LoadSession,
    /// Open that session from its checkpoint.
    OpenSession,
}

/// A child process: what it measures and where.
#[derive(Debug, Args)]
pub(crate) struct Child {
    /// The store.
    #[arg(long)]
    pub(crate) store: Name,
    /// The task.
    #[arg(long)]
    pub(crate) task: Task,
    /// Folder of the store.
    #[arg(long)]
    pub(crate) dir: PathBuf,
    /// How long a task without an end takes.
    #[arg(long)]
    pub(crate) seconds: f64,
    /// How many events a load has.
    #[arg(long)]
    pub(crate) events: u64,
}

impl Child {
    /// Measures and prints the numbers.
    pub(crate) fn run(&self) -> Result<()> {
        let time = Duration::from_secs_f64(self.seconds);
        let (store, dir) = (self.store, self.dir.as_path());
        let mut numbers = match self.task {
            Task::Single => append::single(store, dir, time)?,
            Task::Writers16 => append::writers(store, dir, time, 16)?,
            Task::Writers64 => append::writers(store, dir, time, 64)?,
            Task::Batch => append::batches(store, dir, time)?,
            Task::Load => stored::load(store, dir, self.events)?,
            Task::Open | Task::OpenKilled => stored::open(store, dir)?,
            Task::Read => stored::read(store, dir)?,
            Task::Kill => stored::kill(store, dir)?,
            Task::Verify => own::verify(dir)?,
            Task::Follow => own::follow(dir, time)?,
            Task::FoldDeltas => own::fold(dir, self.events / 4, Record::of_answers)?,
            Task::FoldTools => own::fold(dir, self.events / 4, Record::of_tools)?,
            Task::LoadSession => own::load_session(dir, self.events)?,
            Task::OpenSession => own::open_session(dir)?,
        };
        numbers.insert("memory_mib".into(), machine::peak_memory_mib());
        println!("{}", serde_json::to_string(&numbers)?);
        Ok(())
    }
}

/// Latencies in nanoseconds.
#[derive(Default)]
struct Latencies(Vec<u64>);

impl Latencies {
    fn add(&mut self, time: Duration) {
        self.0.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// `p50_us` and `p99_us`.
    fn put_into(mut self, numbers: &mut Numbers) {
        self.0.sort_unstable();
        for (name, part) in [("p50_us", 50), ("p99_us", 99)] {
            let at = self.0.len().saturating_sub(1) * part / 100;
            let nanos = self.0.get(at).copied().unwrap_or(0);
            numbers.insert(name.into(), nanos as f64 / 1000.0);
        }
    }
}

/// `events_per_s`.
fn rate(events: u64, time: Duration) -> Numbers {
    Numbers::from([("events_per_s".into(), events as f64 / time.as_secs_f64())])
}
