//! Owns salvage: what can still be read of a damaged log goes into a new one; the old one is left as it is.
//!
//! Of each session the events before the first gap are copied as they are, with their sequence, salt and chain, so that
//! the new log verifies; each chain value is computed before it is copied. Events behind a gap cannot be chained, those of
//! a fork whose shared part is not whole neither; they are kept beside it as lines of JSON, which can be ingested again.
//!
//! They are not put into the log under another name by themselves: where the recording is still there, ingesting it again
//! continues the session behind the gap in its own order, and a second copy would be in the way.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{EventLog, LogOptions};
use crate::error::{AppendError, OpenError, ReadError, reason};
use crate::files::open_regular;
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::log::read::LogReader;
use crate::log::verify::ChainCheck;
use crate::record::RecordedEvent;
use crate::store::{
    Entry, Head, HeldThere, ReadMode, SealedBatch, SessionSummary, StorageFinding, Store,
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
    /// The file that keeps them, in the new folder.
    pub kept_in: Option<PathBuf>,
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
    let reader = LogReader::open_journal(from)?;
    let mut damage = reader.verify_storage()?;
    damage.retain(|finding| !finding.unfinished);
    let log = EventLog::open(to, options)?;
    let mut done = Vec::new();
    let sessions = parents_first(reader.sessions()?);
    let mut heads = HashMap::new();
    for summary in sessions {
        heads.insert(summary.session_id.clone(), summary.head.sequence);
        done.push(salvage_session(&reader, &log, to, &summary)?);
    }
    for held in damage.iter().flat_map(|finding| &finding.held) {
        note_held(&mut done, &heads, held);
    }
    copy_blobs(from, to, &mut damage)?;
    Ok(Salvage { sessions: done, damage })
}

/// Notes what a damaged place held and no gap shows: the end of a session, or all of it.
fn note_held(done: &mut Vec<Salvaged>, heads: &HashMap<SessionId, u64>, held: &HeldThere) {
    let Some(of) = done.iter_mut().find(|salvaged| salvaged.session_id == held.session_id) else {
        done.push(Salvaged {
            session_id: held.session_id.clone(),
            events: 0,
            behind_gap: 0,
            kept_in: None,
            first_lost: Some(held.first),
        });
        return;
    };
    let behind_the_end = heads.get(&held.session_id).is_none_or(|head| held.first > *head);
    if behind_the_end {
        of.first_lost = Some(of.first_lost.unwrap_or(held.first).min(held.first));
    }
}

/// Parents before forks, so that a fork finds what it shares.
fn parents_first(mut sessions: Vec<SessionSummary>) -> Vec<SessionSummary> {
    let parents: HashMap<_, _> = sessions
        .iter()
        .map(|s| (s.session_id.clone(), s.parent.as_ref().map(|parent| parent.session_id.clone())))
        .collect();
    let depth = |of: &SessionSummary| {
        let first = parents.get(&of.session_id).cloned().flatten();
        // A damaged log may go round in circles.
        std::iter::successors(first, |id| parents.get(id).cloned().flatten())
            .take(parents.len())
            .count()
    };
    sessions.sort_by_cached_key(|summary| (depth(summary), summary.activity));
    sessions
}

fn salvage_session(
    reader: &LogReader,
    log: &EventLog,
    to: &Path,
    summary: &SessionSummary,
) -> Result<Salvaged, SalvageError> {
    let session = &summary.session_id;
    let before = shared_part(reader, log, summary)?;
    let own_from = summary.parent.as_ref().map_or(1, |parent| parent.sequence + 1);
    let mut result = Salvaged {
        session_id: session.clone(),
        events: 0,
        behind_gap: 0,
        kept_in: None,
        first_lost: before.err(),
    };
    let mut previous = before.map_or_else(|_| ChainHash::genesis(session), |head| head.chain);
    let mut check = ChainCheck::new(Head { sequence: own_from - 1, chain: previous });
    let mut parent = summary.parent.clone();
    let mut piece: Vec<RecordedEvent> = Vec::new();
    let mut rest: Option<BufWriter<File>> = None;
    for entry in reader.read(session, own_from.., ReadMode::Tolerant)? {
        let event = match entry? {
            Entry::Event(event) => event,
            Entry::Gap(gap) => {
                result.first_lost = result.first_lost.or(Some(gap.from));
                continue;
            }
        };
        if result.first_lost.is_none() {
            result.first_lost = check.check(&event).map(|fault| fault.sequence);
        }
        if result.first_lost.is_some() {
            result.behind_gap += 1;
            keep_aside(&mut rest, &mut result.kept_in, to, &event)?;
            continue;
        }
        // A batch has one time of recording, and events keep theirs.
        let other_time = piece.last().is_some_and(|last| last.recorded_at != event.recorded_at);
        if other_time || piece.len() >= PIECE {
            previous = store(log, session, previous, parent.take(), &mut piece)?;
        }
        piece.push(event);
        result.events += 1;
    }
    if !piece.is_empty() {
        store(log, session, previous, parent, &mut piece)?;
    }
    if let Some(mut rest) = rest {
        rest.flush().map_err(OpenError::io("write", to))?;
    }
    Ok(result)
}

/// Where a session's own events begin: the end of what it shares with its parent, when the new log has all of that, else
/// the first sequence that it has not.
fn shared_part(
    reader: &LogReader,
    log: &EventLog,
    summary: &SessionSummary,
) -> Result<Result<Head, u64>, ReadError> {
    let Some(point) = &summary.parent else {
        return Ok(Ok(Head::genesis(&summary.session_id)));
    };
    let new = log.reader();
    let there = new.head(&point.session_id)?.map_or(0, |head| head.sequence);
    if there < point.sequence {
        return Ok(Err(there + 1));
    }
    let chain = new.chain_at(&point.session_id, point.sequence)?;
    let same = chain.filter(|chain| {
        reader
            .chain_at(&point.session_id, point.sequence)
            .is_ok_and(|old| old.as_ref() == Some(chain))
    });
    Ok(same.map(|chain| Head { sequence: point.sequence, chain }).ok_or(point.sequence))
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
    kept_in: &mut Option<PathBuf>,
    to: &Path,
    event: &RecordedEvent,
) -> Result<(), SalvageError> {
    let folder = to.join("behind-gap");
    if rest.is_none() {
        fs::create_dir_all(&folder).map_err(OpenError::io("create", &folder))?;
        // A session id may hold anything; a file name may not.
        let name = crate::id::derived_id("", &[event.session_id.as_str()]);
        let path = folder.join(format!("{name}.jsonl"));
        *rest = Some(BufWriter::new(File::create(&path).map_err(OpenError::io("create", &path))?));
        *kept_in = Some(path);
    }
    if let Some(rest) = rest {
        writeln!(rest, "{}", to_json(event, WriteOptions { integrity: true }))
            .map_err(OpenError::io("write", &folder))?;
    }
    Ok(())
}

/// Copies the blobs, file by file; they are checked by their hash when they are read. What is no regular file, or cannot
/// be read, is damage.
fn copy_blobs(from: &Path, to: &Path, damage: &mut Vec<StorageFinding>) -> Result<(), OpenError> {
    let (from, to) = (from.join("blobs"), to.join("blobs"));
    for shard in entries(&from) {
        if !shard.is_dir() {
            continue; // not a shard
        }
        let shard_name = shard.file_name().unwrap_or_default();
        let target = to.join(shard_name);
        for file in entries(&shard) {
            let name = file.file_name().unwrap_or_default();
            let mut source = match open_regular(&file) {
                Ok(source) => source,
                Err(e) => {
                    let file = Path::new("blobs").join(shard_name).join(name);
                    damage.push(StorageFinding {
                        file: file.to_string_lossy().into_owned(),
                        offset: 0,
                        what: format!("the body cannot be copied: {}", reason(&e)),
                        unfinished: false,
                        held: Vec::new(),
                    });
                    continue;
                }
            };
            fs::create_dir_all(&target).map_err(OpenError::io("create", &target))?;
            let target = target.join(name);
            File::create(&target)
                .and_then(|mut target| std::io::copy(&mut source, &mut target))
                .map_err(OpenError::io("copy to", &target))?;
        }
    }
    Ok(())
}

/// What lies in a folder; nothing when there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
