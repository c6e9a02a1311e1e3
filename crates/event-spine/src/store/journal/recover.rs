//! Owns what happens when a journal is opened: reading the index, and setting aside what a crash left half-written.
//!
//! It may be interrupted at any point and run again: nothing is cut before a copy is on disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::disk::{Disk, DiskFile};
use super::frame::{SEGMENT_HEADER, segment_header};
use super::index::{BatchFacts, Index};
use super::scan::{ScanEnd, scan};
use super::segment::{has_header, segment_name, segment_numbers, segment_path, torn_path};
use super::toc;
use crate::codec;
use crate::error::{OpenError, ReadError};

/// What opening a log had to repair or found lost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// What was found, in the order of the journal.
    pub notes: Vec<RecoveryNote>,
}

/// Something that opening a log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryNote {
    /// File, relative to the data folder.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The file that keeps the bytes, when they were cut off.
    pub kept_in: Option<String>,
}

impl RecoveryNote {
    /// One sentence for people.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { file, offset, bytes, kept_in } = self;
        match kept_in {
            Some(kept) => {
                format!(
                    "{file}: {bytes} bytes of an unfinished write at byte {offset} were set aside in {kept}"
                )
            }
            None => {
                format!("{file}: {bytes} bytes at byte {offset} are damaged and cannot be read")
            }
        }
    }
}

/// The last segment, ready to be written behind its end.
pub(super) struct Tail {
    pub(super) number: u64,
    pub(super) file: Box<dyn DiskFile>,
    pub(super) end: u64,
}

/// Reads the index of a journal that this process may write, and repairs its tail.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn recover(
    disk: &dyn Disk,
    journal: &Path,
) -> Result<(Index, Tail, Recovery), OpenError> {
    let numbers = segment_numbers(journal).map_err(OpenError::io("list", journal))?;
    let mut index = Index::default();
    let mut recovery = Recovery::default();
    let Some((&last, sealed)) = numbers.split_last() else {
        return Ok((index, create_segment(disk, journal, 1)?, recovery));
    };
    for &number in sealed {
        enter_sealed(journal, number, &mut index, &mut recovery, true)
            .map_err(|error| OpenError::reading(journal, error))?;
    }
    let tail = repair_tail(disk, journal, last, &mut index, &mut recovery)?;
    Ok((index, tail, recovery))
}

/// Makes a new segment with nothing in it.
///
/// # Errors
/// The file cannot be written.
pub(super) fn create_segment(
    disk: &dyn Disk,
    journal: &Path,
    number: u64,
) -> Result<Tail, OpenError> {
    let path = segment_path(journal, number);
    let create = || {
        let file = disk.open(&path, true)?;
        file.write_at(&segment_header(number), 0)?;
        file.sync()?;
        disk.sync_dir(journal)?;
        Ok(file)
    };
    let file = create().map_err(OpenError::io("create", &path))?;
    Ok(Tail { number, file, end: SEGMENT_HEADER as u64 })
}

/// Enters a sealed segment: from its table of contents, else from its frames (and then writes the table again, when it may).
pub(super) fn enter_sealed(
    journal: &Path,
    number: u64,
    index: &mut Index,
    recovery: &mut Recovery,
    may_write: bool,
) -> Result<(), ReadError> {
    let path = segment_path(journal, number);
    let size = fs::metadata(&path).map_err(ReadError::io("read", &path))?.len();
    if !toc::adopt(journal, number, size, index) {
        let file = File::open(&path).map_err(ReadError::io("open", &path))?;
        let found = enter_frames(&file, number, SEGMENT_HEADER as u64, size, true, index)
            .map_err(ReadError::io("read", &path))?;
        let segment = index.segments.entry(number).or_default();
        segment.end = size;
        segment.damage = found.damage;
        if may_write {
            let _ = toc::write(journal, number, index); // a cache: without it the next open scans again
        }
    }
    let damage =
        index.segments.get(&number).map(|segment| segment.damage.clone()).unwrap_or_default();
    note_damage(number, damage, recovery);
    Ok(())
}

fn note_damage(number: u64, damage: impl IntoIterator<Item = (u64, u64)>, recovery: &mut Recovery) {
    recovery.notes.extend(damage.into_iter().map(|(from, to)| RecoveryNote {
        file: segment_name(number),
        offset: from,
        bytes: to - from,
        kept_in: None,
    }));
}

/// Enters the frames of a segment that grows, up to where recovery would cut, in one pass over the file.
pub(super) fn enter_frames(
    file: &dyn DiskFile,
    number: u64,
    from: u64,
    size: u64,
    sealed: bool,
    index: &mut Index,
) -> std::io::Result<ScanEnd> {
    let mut found = Vec::new();
    let end = scan(file, from, size, |offset, frame| {
        if frame.version != codec::BATCH_VERSION {
            return;
        }
        let facts = codec::decode(frame.body).ok().and_then(|batch| BatchFacts::of_stored(&batch));
        found.extend(facts.map(|facts| (offset, frame.size(), facts)));
    })?;
    // Where to cut is known only at the end; a sealed segment is not cut.
    let cut = if sealed { u64::MAX } else { end.cut() };
    for (offset, size, facts) in found.iter().filter(|(offset, ..)| *offset < cut) {
        index.enter(facts, number, *offset, *size);
    }
    Ok(end)
}

fn repair_tail(
    disk: &dyn Disk,
    journal: &Path,
    number: u64,
    index: &mut Index,
    recovery: &mut Recovery,
) -> Result<Tail, OpenError> {
    let path = segment_path(journal, number);
    let file = disk.open(&path, false).map_err(OpenError::io("open", &path))?;
    let size = file.size().map_err(OpenError::io("read", &path))?;
    if !has_header(&*file, size, number).map_err(OpenError::io("read", &path))?
        && size <= SEGMENT_HEADER as u64
    {
        // The crash came while the segment was made: nothing was in it yet.
        let rewrite = || {
            file.set_len(0)?;
            file.write_at(&segment_header(number), 0)?;
            file.sync()
        };
        rewrite().map_err(OpenError::io("write", &path))?;
        return Ok(Tail { number, file, end: SEGMENT_HEADER as u64 });
    }
    let found = enter_frames(&*file, number, SEGMENT_HEADER as u64, size, false, index)
        .map_err(OpenError::io("read", &path))?;
    let cut = found.cut();
    let lost: Vec<_> = found.lost().collect();
    let segment = index.segments.entry(number).or_default();
    segment.end = cut;
    segment.damage.clone_from(&lost);
    note_damage(number, lost, recovery);
    if found.written > cut {
        set_aside(&*file, journal, number, cut, found.written, recovery)?;
    }
    if size > cut {
        let trim = || {
            file.set_len(cut)?;
            file.sync()
        };
        trim().map_err(OpenError::io("trim", &path))?;
    }
    Ok(Tail { number, file, end: cut })
}

/// Keeps the bytes from `from` to `to` in a file of their own.
fn set_aside(
    file: &dyn DiskFile,
    journal: &Path,
    number: u64,
    from: u64,
    to: u64,
    recovery: &mut Recovery,
) -> Result<(), OpenError> {
    let path = torn_path(journal, number, from);
    let copy = || {
        let mut out = File::create(&path)?;
        let mut at = from;
        let mut bytes = vec![0; 1024 * 1024];
        while at < to {
            let part = usize::try_from(to - at).unwrap_or(usize::MAX).min(bytes.len());
            let bytes = bytes.get_mut(..part).unwrap_or_default();
            file.read_at(bytes, at)?;
            out.write_all(bytes)?;
            at += part as u64;
        }
        out.sync_all()?;
        File::open(journal)?.sync_all()
    };
    copy().map_err(OpenError::io("write", &path))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    recovery.notes.push(RecoveryNote {
        file: segment_name(number),
        offset: from,
        bytes: to - from,
        kept_in: Some(format!("journal/{name}")),
    });
    Ok(())
}
