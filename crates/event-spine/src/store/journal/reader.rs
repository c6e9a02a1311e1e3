//! Owns reading a journal from outside: no lock, no change to any file, also while another process writes.
//!
//! A reader keeps an index of its own and catches up with what was written whenever it is asked.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::disk::DiskFile;
use super::frame::SEGMENT_HEADER;
use super::index::{Index, Places};
use super::segment::{segment_numbers, segment_path, toc_path};
use super::{folder, read, recover, storage, toc};
use crate::error::{OpenError, ReadError};
use crate::id::SessionId;
use crate::store::{Pieces, ReadStore, SessionSummary, StorageFinding};

/// How often a follower looks for what another process wrote.
const POLL: Duration = Duration::from_millis(10);

/// A journal that some process may be writing.
pub(crate) struct JournalReader {
    dir: PathBuf,
    journal: PathBuf,
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

struct State {
    index: Index,
    /// The segment that grows, and how far it is known.
    growing: u64,
    end: u64,
    file: Option<File>,
}

impl JournalReader {
    /// Opens the journal of a data folder for reading.
    ///
    /// # Errors
    /// There is none, it is of a newer format, or a file cannot be read.
    pub(crate) fn open(dir: &Path) -> Result<Self, OpenError> {
        folder::check_format(dir)?;
        let journal = dir.join("journal");
        let state = State { index: Index::default(), growing: 0, end: 0, file: None };
        let reader = Self {
            dir: dir.to_owned(),
            journal,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        };
        reader.with(|_| ()).map_err(|error| OpenError::reading(dir, error))?;
        Ok(reader)
    }

    /// Looks at the index after it has caught up.
    fn with<T>(&self, look: impl FnOnce(&Index) -> T) -> Result<T, ReadError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.catch_up(&self.journal)?;
        Ok(look(&state.index))
    }
}

impl State {
    fn catch_up(&mut self, journal: &Path) -> Result<(), ReadError> {
        self.extend(journal)?;
        // A next segment exists only once this one is sealed.
        if self.growing != 0 && !segment_path(journal, self.growing + 1).exists() {
            return Ok(());
        }
        self.extend(journal)?; // what was written between the first look and the sealing
        let numbers = segment_numbers(journal).map_err(ReadError::io("list", journal))?;
        let known: HashSet<u64> = self.index.segments.keys().copied().collect();
        let Some((&last, sealed)) = numbers.split_last() else {
            return Ok(());
        };
        for &number in sealed.iter().filter(|number| !known.contains(number)) {
            let mut notes = recover::Recovery::default();
            recover::enter_sealed(journal, number, &mut self.index, &mut notes, false)?;
        }
        if last != self.growing {
            self.growing = last;
            self.end = SEGMENT_HEADER as u64;
            self.file = None;
            self.extend(journal)?;
        }
        Ok(())
    }

    /// Enters frames that were added to the segment that grows.
    fn extend(&mut self, journal: &Path) -> Result<(), ReadError> {
        if self.growing == 0 {
            return Ok(());
        }
        let path = segment_path(journal, self.growing);
        if self.file.is_none() {
            self.file = Some(File::open(&path).map_err(ReadError::io("open", &path))?);
        }
        let Some(file) = &self.file else {
            return Ok(());
        };
        let size = DiskFile::size(file).map_err(ReadError::io("read", &path))?;
        let mut next = [0_u8; 4];
        let nothing_new = size < self.end + 4
            || (DiskFile::read_at(file, &mut next, self.end).is_ok() && next == [0; 4]);
        if nothing_new && self.index.segments.contains_key(&self.growing) {
            return Ok(());
        }
        let found =
            recover::enter_frames(file, self.growing, self.end, size, false, &mut self.index)
                .map_err(ReadError::io("read", &path))?;
        let cut = found.cut();
        let segment = self.index.segments.entry(self.growing).or_default();
        segment.end = cut;
        segment.damage.extend(found.lost());
        self.end = cut;
        Ok(())
    }
}

/// Hash and sequence of a session's own events.
pub(super) fn event_ids(
    journal: &Path,
    index: &Index,
    session: &SessionId,
) -> Result<Vec<(u64, u64)>, ReadError> {
    let mut all = Vec::new();
    for run in index.sessions.get(session).map(|known| known.runs.as_slice()).unwrap_or_default() {
        match &run.places {
            Places::Kept { ids, .. } => all.extend_from_slice(ids),
            Places::Toc { ids, .. } => {
                let path = toc_path(journal, run.segment);
                all.extend(
                    toc::ids(journal, run.segment, ids)
                        .map_err(ReadError::io("read the table of contents", path))?,
                );
            }
        }
    }
    Ok(all)
}

impl ReadStore for JournalReader {
    fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError> {
        self.with(|index| index.summary(session))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError> {
        self.with(Index::summaries)
    }

    fn read(&self, session: &SessionId, from: u64, to: u64) -> Result<Pieces, ReadError> {
        let pieces = self.with(|index| read::pieces(&self.journal, index, session, from, to))??;
        Ok(Box::new(pieces))
    }

    fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError> {
        self.with(|index| event_ids(&self.journal, index, session))?
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn poll_interval(&self) -> Option<Duration> {
        Some(POLL)
    }

    fn damaged_places(&self) -> Result<u64, ReadError> {
        self.with(Index::damaged_places)
    }

    fn verify_storage(&self) -> Result<Vec<StorageFinding>, ReadError> {
        storage::verify(&self.dir)
    }
}
