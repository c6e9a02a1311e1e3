//! Owns what happens when a journal is opened: reading the index, and setting aside what a crash left half-written.
//!
//! It may be interrupted at any point and run again: a copy is on disk, where there is room for it, before anything is cut.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::disk::{Disk, DiskFile};
use super::enter::{enter_frames, enter_sealed, merged};
use super::frame::{SEGMENT_HEADER, segment_header};
use super::index::Index;
use super::segment::{segment_name, segment_path, torn_path};
use super::survey::{SegmentFile, Survey};
use super::toc;
use crate::error::{OpenError, reason};
use crate::files::regular;

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
    /// What they are.
    pub found: Found,
}

/// What a place is that opening a log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A write that was never acknowledged, kept in this file, relative to the data folder.
    SetAside(String),
    /// A write that was never acknowledged; it could not be kept, and why.
    CutOff(String),
    /// Damage.
    Damaged,
    /// The whole file is missing.
    Missing,
}

impl RecoveryNote {
    /// One sentence for people.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { file, offset, bytes, found } = self;
        match found {
            Found::SetAside(kept) => {
                format!(
                    "{file}: {bytes} bytes of an unfinished write at byte {offset} were set aside in {kept}"
                )
            }
            Found::CutOff(why) => {
                format!(
                    "{file}: {bytes} bytes of an unfinished write at byte {offset} were cut off; they could not be set aside: {why}"
                )
            }
            Found::Damaged => {
                format!("{file}: {bytes} bytes at byte {offset} are damaged or not to be used")
            }
            Found::Missing => format!("{file} is missing; what was in it is lost"),
        }
    }
}

/// The last segment, ready to be written behind its end.
pub(super) struct Tail {
    pub(super) number: u64,
    pub(super) file: Box<dyn DiskFile>,
    pub(super) end: u64,
}

/// Reads the index of a journal that this process may write, and repairs its tail. Nothing is changed before all of it
/// was looked at: a newer version may have written it.
///
/// # Errors
/// A file cannot be read or written, or a newer version wrote it.
pub(super) fn recover(
    disk: &dyn Disk,
    journal: &Path,
    found: Survey,
) -> Result<(Index, Tail, Recovery), OpenError> {
    let mut index = Index { missing: found.missing, ..Index::default() };
    let mut recovery = Recovery::default();
    recovery.notes.extend(index.missing.iter().map(|&(from, _)| RecoveryNote {
        file: segment_name(from),
        offset: 0,
        bytes: 0,
        found: Found::Missing,
    }));
    let mut tables = Vec::new();
    for (&number, state) in &found.sealed {
        if enter_sealed(journal, number, state, &mut index, true)? {
            tables.extend(toc::Draft::of(number, &index)); // a cache: without it the next open walks again
        }
        let damage =
            index.segments.get(&number).map(|segment| segment.damage.clone()).unwrap_or_default();
        note_damage(number, damage, &mut recovery);
    }
    let tail = match found.growing {
        Some((number, state)) => {
            repair_tail(disk, journal, number, &state, &mut index, &mut recovery)?
        }
        None => create_segment(disk, journal, found.next)?,
    };
    for table in tables {
        let _ = table.save(journal, &mut index); // a cache: without it the next open walks again
    }
    Ok((index, tail, recovery))
}

/// Makes a new segment with nothing in it. A number that some other file has is left out.
///
/// # Errors
/// The file cannot be written.
pub(super) fn create_segment(
    disk: &dyn Disk,
    journal: &Path,
    number: u64,
) -> Result<Tail, OpenError> {
    let number = (number..).find(|&n| !segment_path(journal, n).exists()).unwrap_or(number);
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

fn note_damage(number: u64, damage: impl IntoIterator<Item = (u64, u64)>, recovery: &mut Recovery) {
    recovery.notes.extend(damage.into_iter().map(|(from, to)| RecoveryNote {
        file: segment_name(number),
        offset: from,
        bytes: to - from,
        found: Found::Damaged,
    }));
}

fn repair_tail(
    disk: &dyn Disk,
    journal: &Path,
    number: u64,
    state: &SegmentFile,
    index: &mut Index,
    recovery: &mut Recovery,
) -> Result<Tail, OpenError> {
    let path = segment_path(journal, number);
    regular(&path).map_err(OpenError::io("open", &path))?;
    let file = disk.open(&path, false).map_err(OpenError::io("open", &path))?;
    let size = file.size().map_err(OpenError::io("read", &path))?;
    let begins = matches!(state, SegmentFile::Whole);
    if !begins && size <= SEGMENT_HEADER as u64 {
        // The crash came while the segment was made: nothing was in it yet.
        let rewrite = || {
            file.set_len(0)?;
            file.write_at(&segment_header(number), 0)?;
            file.sync()
        };
        rewrite().map_err(OpenError::io("write", &path))?;
        return Ok(Tail { number, file, end: SEGMENT_HEADER as u64 });
    }
    let walked = enter_frames(&*file, &path, number, SEGMENT_HEADER as u64, size, false, index)?;
    let found = walked.end;
    let cut = found.cut();
    let header = (!begins).then_some((0, SEGMENT_HEADER as u64));
    let lost = merged(header.into_iter().chain(found.lost()).chain(walked.refused));
    let segment = index.segments.entry(number).or_default();
    segment.end = cut;
    segment.damage.clone_from(&lost);
    note_damage(number, lost, recovery);
    if found.written > cut {
        set_aside(&*file, journal, number, cut, found.written, recovery);
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

/// Keeps the bytes from `from` to `to` in a file of their own, when there is room for it. Nothing that was acknowledged
/// is in them, so a full disk does not keep the log from being opened.
fn set_aside(
    file: &dyn DiskFile,
    journal: &Path,
    number: u64,
    from: u64,
    to: u64,
    recovery: &mut Recovery,
) {
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
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found = match copy() {
        Ok(()) => Found::SetAside(format!("journal/{name}")),
        Err(e) => {
            let _ = fs::remove_file(&path); // half a copy helps nobody; a rest of it is harmless
            Found::CutOff(reason(&e))
        }
    };
    recovery.notes.push(RecoveryNote {
        file: segment_name(number),
        offset: from,
        bytes: to - from,
        found,
    });
}
