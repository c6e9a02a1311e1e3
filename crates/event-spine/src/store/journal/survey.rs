//! Owns looking at which segments there are and which there should be, before anything of them is read.
//!
//! Three things tell of a segment that is gone: a hole in the numbers, which begin at 1; a table of contents, which is
//! written only when the next segment is on disk; and what is made beside the journal once it has its first segment.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::DiskFile;
use super::folder::had_segments;
use super::frame::{Header, SEGMENT_HEADER, read_header};
use super::segment::{file_numbers, segment_path};
use super::toc;
use crate::error::{OpenError, ReadError, SharedIo, reason};
use crate::files::open_regular;

/// Why a part of the journal is not read.
#[derive(Debug, Clone)]
pub(super) enum JournalError {
    Io {
        action: &'static str,
        path: PathBuf,
        source: SharedIo,
    },
    /// A newer version wrote it.
    Newer {
        path: PathBuf,
        found: u32,
        supported: u32,
    },
}

impl JournalError {
    pub(super) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source: Arc::new(source) }
    }

    /// In a few words, for a place that is named already.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Io { source, .. } => reason(source),
            Self::Newer { found, .. } => format!("a newer spine wrote it, version {found}"),
        }
    }
}

impl From<JournalError> for OpenError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Io { action, path, source } => Self::Io { action, path, source },
            JournalError::Newer { path, found, supported } => {
                Self::NewerPart { path, found, supported }
            }
        }
    }
}

impl From<JournalError> for ReadError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Io { action, path, source } => Self::Io { action, path, source },
            JournalError::Newer { path, found, supported } => {
                Self::NewerPart { path, found, supported }
            }
        }
    }
}

/// What a segment's file is.
#[derive(Debug, Clone)]
pub(super) enum SegmentFile {
    /// It begins as the segment of its number does.
    Whole,
    /// Its header does not hold. Its frames have checksums of their own.
    BadHeader,
    /// It ends before the header does.
    Short,
    /// It is the segment of another number: a copy, or exchanged.
    Foreign(u64),
    /// It cannot be read.
    Unreadable(SharedIo),
    /// There is none, and its table of contents says that there was.
    Missing,
}

/// The segments of a journal.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// All that hold still, in order.
    pub(super) sealed: BTreeMap<u64, SegmentFile>,
    /// The one that grows.
    pub(super) growing: Option<(u64, SegmentFile)>,
    /// Numbers that are missing: from, to.
    pub(super) missing: Vec<(u64, u64)>,
    /// The number behind all that there are or were.
    pub(super) next: u64,
}

/// Looks at the journal of the data folder `dir`. Reads no more than headers.
///
/// # Errors
/// The folder cannot be listed, or a newer version wrote a segment.
pub(super) fn survey(dir: &Path) -> Result<Survey, JournalError> {
    let journal = dir.join("journal");
    let list =
        |extension| file_numbers(&journal, extension).map_err(JournalError::io("list", &journal));
    let mut found = look(dir, &journal, list("seg")?, &list("toc")?)?;
    if found.growing.is_none() && found.next > 1 {
        // The segment behind a table of contents may have been made while we looked.
        found = look(dir, &journal, list("seg")?, &list("toc")?)?;
    }
    Ok(found)
}

fn look(
    dir: &Path,
    journal: &Path,
    numbers: BTreeSet<u64>,
    tables: &BTreeSet<u64>,
) -> Result<Survey, JournalError> {
    let mut sealed = BTreeMap::new();
    for &number in &numbers {
        sealed.insert(number, segment_file(journal, number)?);
    }
    let is_own = |file: &SegmentFile| !matches!(file, SegmentFile::Foreign(_));
    let last = sealed.iter().rfind(|(_, file)| is_own(file)).map(|(&number, _)| number);
    // A table of contents says that its segment was there, and the next one too.
    let mut next = last.map_or(1, |last| last + 1);
    let mut growing = last;
    for &number in tables.iter().filter(|&&number| Some(number) >= last) {
        let Some(table) = toc::read(journal, number) else {
            continue;
        };
        let size = fs::metadata(segment_path(journal, number)).map_or(0, |found| found.len());
        if last == Some(number) && table.end() < size {
            continue; // it grew on: the table is of before
        }
        next = number + 2;
        growing = None;
        sealed.entry(number).or_insert(SegmentFile::Missing);
    }
    let mut missing = holes(&numbers, next);
    for &(from, to) in &missing {
        for &number in tables.range(from..=to) {
            if toc::read(journal, number).is_some() {
                sealed.entry(number).or_insert(SegmentFile::Missing);
            }
        }
    }
    if numbers.is_empty() && next == 1 && had_segments(dir) {
        missing.push((1, 1));
        next = 2;
    }
    let growing = growing.and_then(|number| sealed.remove(&number).map(|file| (number, file)));
    Ok(Survey { sealed, growing, missing, next })
}

/// The numbers below `next` that are not there.
fn holes(numbers: &BTreeSet<u64>, next: u64) -> Vec<(u64, u64)> {
    let mut holes = Vec::new();
    let mut expected = 1;
    for &number in numbers.range(..next).chain([&next]) {
        if number > expected {
            holes.push((expected, number - 1));
        }
        expected = number + 1;
    }
    holes
}

/// What the file of a segment is, by its header.
///
/// # Errors
/// A newer version wrote it.
fn segment_file(journal: &Path, number: u64) -> Result<SegmentFile, JournalError> {
    let path = segment_path(journal, number);
    let mut header = [0; SEGMENT_HEADER];
    let read = open_regular(&path).and_then(|file| {
        let size = file.metadata()?.len();
        if size < SEGMENT_HEADER as u64 {
            return Ok(false);
        }
        DiskFile::read_at(&file, &mut header, 0).map(|()| true)
    });
    Ok(match read {
        Err(e) => SegmentFile::Unreadable(Arc::new(e)),
        Ok(false) => SegmentFile::Short,
        Ok(true) => match read_header(&header) {
            Header::Of(found) if found == number => SegmentFile::Whole,
            Header::Of(found) => SegmentFile::Foreign(found),
            Header::Newer { found, supported } => {
                return Err(JournalError::Newer { path, found, supported });
            }
            Header::Broken => SegmentFile::BadHeader,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_one_and_have_no_hole() {
        let of = |numbers: &[u64], next| holes(&numbers.iter().copied().collect(), next);
        assert_eq!(of(&[1, 2, 3], 4), []);
        assert_eq!(of(&[2, 3, 6], 7), [(1, 1), (4, 5)]);
        assert_eq!(of(&[1, 2, 99], 3), []);
        assert_eq!(of(&[1, 2], 4), [(3, 3)]);
        assert_eq!(of(&[], 3), [(1, 2)]);
    }
}
