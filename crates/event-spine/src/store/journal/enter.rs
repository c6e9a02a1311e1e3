//! Owns entering segments into the index: from a table of contents where one holds, else frame by frame.
//!
//! A batch enters only behind what its session has already. One that comes again (a copied file, a copied stretch) never
//! takes the place of what is there: it is damage. So are a whole frame that holds no batch, and a segment of another
//! number. A segment that is cut, gone or not readable still has its table of contents, which says what is missing.

use std::fs;
use std::path::Path;

use super::disk::DiskFile;
use super::frame::SEGMENT_HEADER;
use super::index::{BatchFacts, FramePlace, Index, Run};
use super::scan::{ScanEnd, scan};
use super::segment::{segment_path, toc_path};
use super::survey::{JournalError, SegmentFile};
use super::toc::{self, Table};
use crate::codec;
use crate::files::open_regular;
use crate::id::SessionId;

/// Frames of a segment that were walked.
pub(super) struct Walked {
    pub(super) end: ScanEnd,
    /// Whole frames that did not enter.
    pub(super) refused: Vec<(u64, u64)>,
}

/// Enters a segment that holds still. True when it was walked frame by frame and its table of contents should be made
/// again.
///
/// # Errors
/// A newer version wrote it; or it cannot be read, and `strict` says that this matters.
pub(super) fn enter_sealed(
    journal: &Path,
    number: u64,
    state: &SegmentFile,
    index: &mut Index,
    strict: bool,
) -> Result<bool, JournalError> {
    let table = toc::read(journal, number).filter(|table| table.goes_on_from(index));
    let path = segment_path(journal, number);
    let size = fs::metadata(&path).map_or(0, |found| found.len());
    match state {
        SegmentFile::Whole | SegmentFile::BadHeader | SegmentFile::Short => {}
        SegmentFile::Unreadable(source) if strict => {
            let source = source.clone();
            return Err(JournalError::Io { action: "open", path, source });
        }
        SegmentFile::Foreign(_) | SegmentFile::Unreadable(_) | SegmentFile::Missing => {
            let end = table.as_ref().map_or(size, Table::end);
            if let Some(table) = table {
                table.adopt(index);
            }
            let segment = index.segments.entry(number).or_default();
            segment.end = end;
            // A number that is missing is counted as that.
            let gone = matches!(state, SegmentFile::Missing);
            segment.damage = if gone { Vec::new() } else { vec![(0, end.max(1))] };
            return Ok(false);
        }
    }
    let worth_a_table = match table.filter(|table| table.end() >= size) {
        Some(table) => {
            let end = table.end();
            table.adopt(index);
            if end > size {
                index.segments.entry(number).or_default().damage.push((size, end));
            }
            false
        }
        None => walk_sealed(&path, number, size, index, strict)?,
    };
    if matches!(state, SegmentFile::BadHeader | SegmentFile::Short) {
        let header = (0, SEGMENT_HEADER as u64);
        index.segments.entry(number).or_default().damage.insert(0, header);
        return Ok(false);
    }
    Ok(worth_a_table)
}

/// Enters a sealed segment frame by frame. True when all frames of it that are whole did enter.
fn walk_sealed(
    path: &Path,
    number: u64,
    size: u64,
    index: &mut Index,
    strict: bool,
) -> Result<bool, JournalError> {
    let walked = open_regular(path).map_err(JournalError::io("open", path)).and_then(|file| {
        enter_frames(&file, path, number, SEGMENT_HEADER as u64, size, true, index)
    });
    let (damage, whole) = match walked {
        Ok(walked) => {
            let whole = walked.refused.is_empty();
            (merged(walked.end.damage.into_iter().chain(walked.refused)), whole)
        }
        Err(JournalError::Io { .. }) if !strict => (vec![(0, size.max(1))], false),
        Err(other) => return Err(other),
    };
    let segment = index.segments.entry(number).or_default();
    segment.end = size;
    segment.damage = damage;
    Ok(whole)
}

/// Places in order; those that touch are one.
pub(super) fn merged(places: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut places: Vec<_> = places.collect();
    places.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in places {
        match merged.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// Enters the frames of a segment from an offset on, up to where recovery would cut, in one pass over the file.
///
/// # Errors
/// The file cannot be read, or a newer version wrote a frame of it: then nothing of it has entered.
pub(super) fn enter_frames(
    file: &dyn DiskFile,
    path: &Path,
    number: u64,
    from: u64,
    size: u64,
    sealed: bool,
    index: &mut Index,
) -> Result<Walked, JournalError> {
    let mut found = Vec::new();
    let mut newest = 0;
    let end = scan(file, from, size, |offset, frame| {
        newest = newest.max(frame.version);
        if frame.version == codec::BATCH_VERSION {
            let batch = codec::decode(frame.body).ok();
            let facts = batch.and_then(|batch| BatchFacts::of_stored(&batch));
            found.push((offset, frame.size(), facts));
        }
    })
    .map_err(JournalError::io("read", path))?;
    refuse_newer(path, newest)?;
    // Where to cut is known only at the end; a sealed segment is not cut.
    let cut = if sealed { u64::MAX } else { end.cut() };
    let mut refused = Vec::new();
    for (offset, size, facts) in found.iter().filter(|(offset, ..)| *offset < cut) {
        match facts {
            Some(facts) if index.takes(facts) => index.enter(facts, number, *offset, *size),
            _ => refused.push((*offset, offset + *size as u64)),
        }
    }
    Ok(Walked { end, refused })
}

/// Refuses a frame that this version does not know.
///
/// # Errors
/// A newer version wrote it.
pub(super) fn refuse_newer(path: &Path, version: u8) -> Result<(), JournalError> {
    if version <= codec::BATCH_VERSION {
        return Ok(());
    }
    let (found, supported) = (u32::from(version), u32::from(codec::BATCH_VERSION));
    Err(JournalError::Newer { path: path.to_owned(), found, supported })
}

/// Where a session's events are in a segment.
pub(super) struct Places {
    pub(super) frames: Vec<FramePlace>,
    /// For each event (id hash, sequence).
    pub(super) ids: Vec<(u64, u64)>,
}

/// Looks in the segment itself for where a session's events are, when its table of contents does not tell.
///
/// # Errors
/// The segment cannot be read, or a newer version wrote it.
pub(super) fn walk_for(
    journal: &Path,
    session: &SessionId,
    run: &Run,
) -> Result<Places, JournalError> {
    let path = segment_path(journal, run.segment);
    let file = open_regular(&path).map_err(JournalError::io("open", &path))?;
    let size = DiskFile::size(&file).map_err(JournalError::io("read", &path))?;
    let (mut frames, mut ids) = (Vec::new(), Vec::new());
    let mut newest = 0;
    let mut next = run.first;
    scan(&file, SEGMENT_HEADER as u64, size, |offset, frame| {
        newest = newest.max(frame.version);
        let batch =
            codec::decode(frame.body).ok().filter(|_| frame.version == codec::BATCH_VERSION);
        let facts = batch.and_then(|batch| BatchFacts::of_stored(&batch));
        let inside = |facts: &BatchFacts| {
            facts.session_id == *session
                && (next..=run.last).contains(&facts.first)
                && (facts.first..=run.last).contains(&facts.last)
        };
        let Some(facts) = facts.filter(inside) else {
            return;
        };
        next = facts.last + 1;
        frames.push(FramePlace::new(&facts, offset, frame.size()));
        ids.extend(facts.ids.iter().copied().zip(facts.first..));
    })
    .map_err(JournalError::io("read", &path))?;
    refuse_newer(&path, newest)?;
    Ok(Places { frames, ids })
}

/// Removes a table of contents that does not hold, so that the next writer makes it again. Only for who holds the lock.
pub(super) fn drop_table(journal: &Path, number: u64) {
    let _ = fs::remove_file(toc_path(journal, number)); // a cache; it is looked at with care the next time, too
}
