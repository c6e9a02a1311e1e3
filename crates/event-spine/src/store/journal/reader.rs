//! Owns reading a journal from outside: no lock, no change to any file, also while another process writes.
//!
//! A reader keeps an index of its own and catches up with what was written whenever it is asked.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::disk::DiskFile;
use super::enter::{enter_frames, enter_sealed, merged};
use super::frame::SEGMENT_HEADER;
use super::index::Index;
use super::segment::segment_path;
use super::survey::{JournalError, SegmentFile, survey};
use super::{folder, read, storage};
use crate::error::{OpenError, ReadError};
use crate::files::open_regular;
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
        Self::without_format(dir)
    }

    /// The same, when the format mark is lost or cannot be read: for looking at a damaged folder.
    ///
    /// # Errors
    /// There is no such folder, it has no journal, or a newer version wrote it.
    pub(crate) fn open_journal(dir: &Path) -> Result<Self, OpenError> {
        match folder::check_format(dir) {
            Ok(()) | Err(OpenError::FormatLost { .. } | OpenError::Io { .. }) => {
                Self::without_format(dir)
            }
            Err(OpenError::NotFound { .. }) if !dir.exists() => {
                Err(OpenError::NoFolder { dir: dir.to_owned() })
            }
            Err(other) => Err(other),
        }
    }

    fn without_format(dir: &Path) -> Result<Self, OpenError> {
        let state = State { index: Index::default(), growing: 0, end: 0, file: None };
        let reader = Self {
            dir: dir.to_owned(),
            journal: dir.join("journal"),
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        };
        reader.look(|_| ())?;
        Ok(reader)
    }

    /// Looks at the index after it has caught up.
    fn with<T>(&self, look: impl FnOnce(&Index) -> T) -> Result<T, ReadError> {
        Ok(self.look(look)?)
    }

    fn look<T>(&self, look: impl FnOnce(&Index) -> T) -> Result<T, JournalError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.catch_up(&self.dir, &self.journal)?;
        Ok(look(&state.index))
    }
}

impl State {
    fn catch_up(&mut self, dir: &Path, journal: &Path) -> Result<(), JournalError> {
        self.extend(journal)?;
        // A next segment exists only once this one is sealed.
        if self.growing != 0 && !segment_path(journal, self.growing + 1).exists() {
            return Ok(());
        }
        self.extend(journal)?; // what was written between the first look and the sealing
        let found = survey(dir)?;
        for (&number, state) in &found.sealed {
            if !self.index.segments.contains_key(&number) {
                enter_sealed(journal, number, state, &mut self.index, false)?;
            }
        }
        self.index.missing = found.missing;
        let Some((last, state)) = found.growing else {
            self.growing = 0;
            return Ok(());
        };
        if last != self.growing {
            self.growing = last;
            self.end = SEGMENT_HEADER as u64;
            self.file = None;
            if matches!(state, SegmentFile::BadHeader) {
                let header = (0, SEGMENT_HEADER as u64);
                self.index.segments.entry(last).or_default().damage.push(header);
            }
            self.extend(journal)?;
        }
        Ok(())
    }

    /// Enters frames that were added to the segment that grows.
    fn extend(&mut self, journal: &Path) -> Result<(), JournalError> {
        if self.growing == 0 {
            return Ok(());
        }
        let path = segment_path(journal, self.growing);
        if self.file.is_none() {
            match open_regular(&path) {
                Ok(file) => self.file = Some(file),
                // It cannot be read now; whoever asks again may be luckier.
                Err(_) => {
                    self.index.segments.entry(self.growing).or_default().damage = vec![(0, 1)];
                    return Ok(());
                }
            }
        }
        let Some(file) = &self.file else {
            return Ok(());
        };
        let size = DiskFile::size(file).map_err(JournalError::io("read", &path))?;
        let mut next = [0_u8; 4];
        let nothing_new = size < self.end + 4
            || (DiskFile::read_at(file, &mut next, self.end).is_ok() && next == [0; 4]);
        if nothing_new && self.index.segments.contains_key(&self.growing) {
            return Ok(());
        }
        let walked =
            enter_frames(file, &path, self.growing, self.end, size, false, &mut self.index)?;
        let cut = walked.end.cut();
        let segment = self.index.segments.entry(self.growing).or_default();
        segment.end = cut;
        segment.damage.extend(merged(walked.end.lost().chain(walked.refused)));
        self.end = cut;
        Ok(())
    }
}

impl ReadStore for JournalReader {
    fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError> {
        self.with(|index| index.summary(session))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError> {
        self.with(Index::summaries)
    }

    fn read(&self, session: &SessionId, from: u64, to: u64) -> Result<Pieces, ReadError> {
        let pieces =
            self.with(|index| read::pieces(&self.journal, index, session, from, to, false))??;
        Ok(Box::new(pieces))
    }

    fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError> {
        self.with(|index| read::event_ids(&self.journal, index, session, false))?
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
