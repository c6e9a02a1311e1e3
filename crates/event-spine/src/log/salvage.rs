//! Owns salvage: what can still be read of a damaged log goes into a new one; the old one is left as it is.
//!
//! Of each session the events before the first gap are copied as they are, with their sequence, salt and chain, so that
//! the new log verifies. Events behind a gap cannot be chained; they are kept beside it as lines of JSON.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::{EventLog, LogOptions};
use crate::error::{AppendError, OpenError, ReadError};
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::log::read::LogReader;
use crate::record::RecordedEvent;
use crate::store::{
    Entry, HeldThere, ReadMode, SealedBatch, SessionSummary, StorageFinding, Store,
};
use crate::wire::{WriteOptions, to_json};

/// What was salvaged of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvage {
    /// The sessions, also those of which nothing was left.
    pub sessions: Vec<Salvaged>,
    /// The damaged places of the old log.
    pub damage: Vec<StorageFinding>,
}

impl Salvage {
    /// True when everything that the old log ever acknowledged is in the new one, as far as the old one tells.
    #[must_use]
    pub fn whole(&self) -> bool {
        self.damage.is_empty() && self.sessions.iter().all(|session| session.first_lost.is_none())
    }
}

/// What was salvaged of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// The session.
    pub session_id: SessionId,
    /// Events in the new log.
    pub events: u64,
    /// Events behind a gap, kept as lines of JSON.
    pub behind_gap: u64,
    /// The first sequence that could not be read, if there is one.
    pub first_lost: Option<u64>,
}

/// Why nothing, or no more, could be salvaged.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SalvageError {
    /// The old log cannot be read at all, or the new one not be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The old log cannot be read any further.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The new log took no more.
    #[error(transparent)]
    Append(#[from] AppendError),
}

const PIECE: usize = 1024;

/// Copies what can be read of the log in `from` into a new log in `to`.
///
/// # Errors
/// Says which of the two logs failed and how. The old one is not changed in any case.
pub fn salvage(from: &Path, to: &Path, options: LogOptions) -> Result<Salvage, SalvageError> {
    let reader = LogReader::open(from)?;
    let mut damage = reader.verify_storage()?;
    damage.retain(|finding| !finding.unfinished);
    let log = EventLog::open(to, options)?;
    let mut done = Vec::new();
    let mut sessions = reader.sessions()?;
    // Parents before forks, so that a fork finds what it shares.
    sessions.sort_by_key(|summary| (summary.parent.is_some(), summary.activity));
    let mut heads = HashMap::new();
    for summary in sessions {
        heads.insert(summary.session_id.clone(), summary.head.sequence);
        done.push(salvage_session(&reader, &log, to, &summary)?);
    }
    for held in damage.iter().flat_map(|finding| &finding.held) {
        note_held(&mut done, &heads, held);
    }
    copy_blobs(from, to)?;
    Ok(Salvage { sessions: done, damage })
}

/// Notes what a damaged place held and no gap shows: the end of a session, or all of it.
fn note_held(done: &mut Vec<Salvaged>, heads: &HashMap<SessionId, u64>, held: &HeldThere) {
    let Some(of) = done.iter_mut().find(|salvaged| salvaged.session_id == held.session_id) else {
        done.push(Salvaged {
            session_id: held.session_id.clone(),
            events: 0,
            behind_gap: 0,
            first_lost: Some(held.first),
        });
        return;
    };
    let behind_the_end = heads.get(&held.session_id).is_none_or(|head| held.first > *head);
    if behind_the_end {
        of.first_lost = Some(of.first_lost.unwrap_or(held.first).min(held.first));
    }
}

fn salvage_session(
    reader: &LogReader,
    log: &EventLog,
    to: &Path,
    summary: &SessionSummary,
) -> Result<Salvaged, SalvageError> {
    let session = &summary.session_id;
    let own_from = summary.parent.as_ref().map_or(1, |parent| parent.sequence + 1);
    let mut result =
        Salvaged { session_id: session.clone(), events: 0, behind_gap: 0, first_lost: None };
    let mut previous = match &summary.parent {
        None => ChainHash::genesis(session),
        Some(parent) => match reader.chain_at(&parent.session_id, parent.sequence)? {
            Some(chain) => chain,
            None => {
                result.first_lost = Some(parent.sequence);
                ChainHash::genesis(session)
            }
        },
    };
    let mut parent = summary.parent.clone();
    let mut piece: Vec<RecordedEvent> = Vec::new();
    let mut rest: Option<BufWriter<File>> = None;
    for entry in reader.read(session, own_from.., ReadMode::Tolerant)? {
        match entry? {
            Entry::Gap(gap) => result.first_lost = result.first_lost.or(Some(gap.from)),
            Entry::Event(event) if result.first_lost.is_none() => {
                // A batch has one time of recording, and events keep theirs.
                let other_time =
                    piece.last().is_some_and(|last| last.recorded_at != event.recorded_at);
                if other_time || piece.len() >= PIECE {
                    previous = store(log, session, previous, parent.take(), &mut piece)?;
                }
                piece.push(event);
                result.events += 1;
            }
            Entry::Event(event) => {
                result.behind_gap += 1;
                keep_aside(&mut rest, to, session, &event)?;
            }
        }
    }
    if !piece.is_empty() {
        store(log, session, previous, parent, &mut piece)?;
    }
    if let Some(mut rest) = rest {
        rest.flush().map_err(OpenError::io("write", to))?;
    }
    Ok(result)
}

fn store(
    log: &EventLog,
    session: &SessionId,
    previous: ChainHash,
    parent: Option<crate::store::ForkPoint>,
    piece: &mut Vec<RecordedEvent>,
) -> Result<ChainHash, SalvageError> {
    let batch = SealedBatch {
        session_id: session.clone(),
        previous,
        events: std::mem::take(piece),
        sync: false, // everything is synced when the new log is closed
        parent,
    };
    let chain = batch.head().chain;
    let store: &Arc<dyn Store> = &log.inner.store;
    store
        .submit(batch)
        .wait()
        .map_err(|source| AppendError::Store { session: session.clone(), source })?;
    Ok(chain)
}

fn keep_aside(
    rest: &mut Option<BufWriter<File>>,
    to: &Path,
    session: &SessionId,
    event: &RecordedEvent,
) -> Result<(), SalvageError> {
    let folder = to.join("behind-gap");
    if rest.is_none() {
        fs::create_dir_all(&folder).map_err(OpenError::io("create", &folder))?;
        // A session id may hold anything; a file name may not.
        let path = folder.join(format!("{}.jsonl", crate::id::derived_id("", &[session.as_str()])));
        *rest = Some(BufWriter::new(File::create(&path).map_err(OpenError::io("create", &path))?));
    }
    if let Some(rest) = rest {
        writeln!(rest, "{}", to_json(event, WriteOptions { integrity: true }))
            .map_err(OpenError::io("write", &folder))?;
    }
    Ok(())
}

/// Copies the blobs, file by file; they are checked by their hash when they are read.
fn copy_blobs(from: &Path, to: &Path) -> Result<(), OpenError> {
    let (from, to) = (from.join("blobs"), to.join("blobs"));
    let Ok(shards) = fs::read_dir(&from) else {
        return Ok(());
    }; // a log without large bodies has none
    for shard in shards.flatten() {
        let Ok(files) = fs::read_dir(shard.path()) else {
            continue;
        }; // not a shard
        let target = to.join(shard.file_name());
        fs::create_dir_all(&target).map_err(OpenError::io("create", &target))?;
        for file in files.flatten() {
            let target = target.join(file.file_name());
            fs::copy(file.path(), &target).map_err(OpenError::io("copy to", &target))?;
        }
    }
    Ok(())
}
