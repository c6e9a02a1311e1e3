//! Owns the two sides of the power-loss test: a writer that says what was acknowledged, and the check of a recovered copy.
//!
//! `cargo xtask powerloss` runs the writer on a file system inside a file, copies that file while the writer runs (which is
//! what a power loss leaves), mounts the copy and runs the check on it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail, ensure};
use event_spine::{ChainHash, Entry, EventLog, Expected, LogReader, ReadMode, SyncPolicy};

use crate::peer::options;
use crate::record::{Record, session_id};

const WRITERS: u64 = 8;

/// Appends from several writers until killed; prints a line after each acknowledgement of a barrier fact:
/// session, sequence, chain value.
pub(crate) fn write(dir: &Path, sync: &str, segment_bytes: u64) -> Result<()> {
    let policy = match sync {
        "barrier" => SyncPolicy::Barrier,
        "relaxed" => SyncPolicy::Relaxed,
        other => bail!("`--sync` is `barrier` or `relaxed`, not `{other}`"),
    };
    let mut options = options(policy);
    options.segment_bytes = segment_bytes;
    let log = EventLog::open(dir, options)?;
    let out = Arc::new(Mutex::new(std::io::stdout()));
    let threads: Vec<_> = (1..=WRITERS)
        .map(|session| {
            let (log, out) = (log.clone(), Arc::clone(&out));
            std::thread::spawn(move || append_for_ever(&log, &out, session))
        })
        .collect();
    for thread in threads {
        match thread.join() {
            Ok(outcome) => outcome?,
            Err(_) => bail!("a writer panicked"),
        }
    }
    Ok(())
}

fn append_for_ever(log: &EventLog, out: &Mutex<std::io::Stdout>, session: u64) -> Result<()> {
    let id = session_id(session)?;
    let mut next = 1;
    loop {
        // Some deltas, then the barrier; batches of different sizes.
        let count = 1 + next % 7;
        let drafts = (next..next + count)
            .map(|n| {
                if n + 1 == next + count {
                    Record::tool_result(session, n)
                } else {
                    Record::delta(session, n)
                }
            })
            .map(Record::draft)
            .collect::<Result<_>>()?;
        let receipt = log.append(&id, Expected::Exact(next - 1), drafts)?;
        next += count;
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(out, "{session} {} {}", receipt.head.sequence, receipt.head.chain)?;
        out.flush()?;
    }
}

/// Recovers a folder twice and holds it against what was acknowledged.
pub(crate) fn check(dir: &Path, acknowledged: &Path) -> Result<()> {
    let text = std::fs::read_to_string(acknowledged)?;
    let mut newest: BTreeMap<u64, (u64, String)> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (Some(session), Some(sequence), Some(chain)) =
            (words.next(), words.next(), words.next())
        else {
            // The copy may have been taken in the middle of a line; what was not told was not acknowledged.
            continue;
        };
        if chain.len() == ChainHash::genesis(&session_id(0)?).to_string().len() {
            newest.insert(session.parse()?, (sequence.parse()?, chain.to_owned()));
        }
    }
    ensure!(!newest.is_empty(), "nothing was acknowledged before the copy: the run was too short");
    let first = heads(dir, &newest)?;
    let second = heads(dir, &newest)?;
    ensure!(first == second, "a second recovery changed the log");
    let events: u64 = first.iter().map(|(sequence, _)| sequence).sum();
    let told: u64 = newest.values().map(|(sequence, _)| sequence).sum();
    println!(
        "{} sessions, {told} events acknowledged, {events} recovered, dense and verified",
        newest.len()
    );
    Ok(())
}

type Heads = Vec<(u64, String)>;

fn heads(dir: &Path, newest: &BTreeMap<u64, (u64, String)>) -> Result<Heads> {
    drop(EventLog::open(dir, options(SyncPolicy::Barrier)).context("recovering")?);
    let reader = LogReader::open(dir)?;
    let mut heads = Vec::new();
    for (session, (sequence, chain)) in newest {
        let id = session_id(*session)?;
        let head = reader.head(&id)?.with_context(|| format!("session {session} is gone"))?;
        ensure!(
            head.sequence >= *sequence,
            "session {session}: acknowledged up to {sequence}, recovered to {}",
            head.sequence
        );
        let there = reader.chain_at(&id, *sequence)?.context("no chain value")?;
        ensure!(there.to_string() == *chain, "session {session}: another history at {sequence}");
        let verification = reader.verify(&id)?;
        ensure!(verification.intact(), "session {session}: {:?}", verification.fault);
        let mut expected = 1;
        for entry in reader.read(&id, .., ReadMode::Strict)? {
            match entry? {
                Entry::Event(event) => ensure!(
                    event.sequence == expected,
                    "session {session}: a gap before {expected}"
                ),
                Entry::Gap(gap) => bail!("session {session}: {gap:?}"),
            }
            expected += 1;
        }
        heads.push((head.sequence, head.chain.to_string()));
    }
    Ok(heads)
}
