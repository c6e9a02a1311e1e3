//! Owns reading frames of a session: from places to events, with gaps where frames are missing or damaged.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::enter::{drop_table, refuse_newer, walk_for};
use super::frame::{Parsed, parse_frame};
use super::index::{FramePlace, Index, Places};
use super::segment::{segment_name, segment_path};
use super::survey::JournalError;
use super::toc;
use crate::codec::{self, StoredBatch, StrPool};
use crate::error::{ReadError, reason};
use crate::files::open_regular;
use crate::id::SessionId;
use crate::store::{Entry, Gap};

/// Frames that lie this close are read at once.
const READ_BYTES: u64 = 1024 * 1024;
/// A stored record is longer than this: salt and chain value alone are.
const LEAST_RECORD: usize = 48;
/// Bytes of other sessions that are read through to save a read.
const READ_THROUGH: u64 = 16 * 1024;

/// Frames of one segment that are still to be read.
pub(super) struct SegmentFrames {
    segment: u64,
    frames: VecDeque<FramePlace>,
    /// Why they cannot be looked up, if so.
    unreadable: Option<String>,
}

/// Reads the pieces of a range.
pub(super) struct PieceReader {
    dir: PathBuf,
    session: SessionId,
    /// Next sequence that is wanted.
    next: u64,
    to: u64,
    runs: VecDeque<SegmentFrames>,
    open: Option<(u64, Arc<File>)>,
    bytes: Vec<u8>,
    pool: StrPool,
    /// Why the frame before the next one could not be read, if so.
    damage: Option<String>,
    done: bool,
}

/// Finds the frames of a session in the range. `mend` lets go of tables of contents that do not hold.
///
/// # Errors
/// A newer version wrote a part of it.
pub(super) fn pieces(
    dir: &Path,
    index: &Index,
    session: &SessionId,
    from: u64,
    to: u64,
    mend: bool,
) -> Result<PieceReader, ReadError> {
    let mut runs = VecDeque::new();
    for run in index.sessions.get(session).map(|known| known.runs.as_slice()).unwrap_or_default() {
        if run.last < from || run.first > to {
            continue;
        }
        let mut unreadable = None;
        let frames = match &run.places {
            Places::Kept { frames, .. } => in_range(frames, from, to),
            Places::Toc { frames, .. } => match toc::frames(dir, run.segment, frames) {
                Ok(all) => in_range(&all, from, to),
                Err(_) => match walk_for(dir, session, run) {
                    Ok(found) => {
                        if mend {
                            drop_table(dir, run.segment);
                        }
                        in_range(&found.frames, from, to)
                    }
                    Err(newer @ JournalError::Newer { .. }) => return Err(newer.into()),
                    Err(error) => {
                        unreadable = Some(cannot_be_read(run.segment, &error.reason()));
                        VecDeque::new()
                    }
                },
            },
        };
        runs.push_back(SegmentFrames { segment: run.segment, frames, unreadable });
    }
    Ok(PieceReader {
        dir: dir.to_owned(),
        session: session.clone(),
        next: from,
        to,
        runs,
        open: None,
        bytes: Vec::new(),
        pool: StrPool::default(),
        damage: None,
        done: false,
    })
}

/// Hash and sequence of a session's own events. `mend` lets go of tables of contents that do not hold.
///
/// # Errors
/// A segment and its table of contents cannot be read, or a newer version wrote it.
pub(super) fn event_ids(
    dir: &Path,
    index: &Index,
    session: &SessionId,
    mend: bool,
) -> Result<Vec<(u64, u64)>, ReadError> {
    let mut all = Vec::new();
    for run in index.sessions.get(session).map(|known| known.runs.as_slice()).unwrap_or_default() {
        match &run.places {
            Places::Kept { ids, .. } => all.extend_from_slice(ids),
            Places::Toc { ids, .. } => match toc::ids(dir, run.segment, ids) {
                Ok(ids) => all.extend(ids),
                Err(_) => {
                    all.extend(walk_for(dir, session, run)?.ids);
                    if mend {
                        drop_table(dir, run.segment);
                    }
                }
            },
        }
    }
    Ok(all)
}

fn cannot_be_read(segment: u64, reason: &str) -> String {
    format!("{} cannot be read: {reason}", segment_name(segment))
}

fn in_range(frames: &[FramePlace], from: u64, to: u64) -> VecDeque<FramePlace> {
    let begin = frames.partition_point(|place| place.last < from);
    let end = frames.partition_point(|place| place.first <= to);
    frames.get(begin..end.max(begin)).unwrap_or_default().iter().copied().collect()
}

impl PieceReader {
    fn piece(&mut self) -> Result<Option<Vec<Entry>>, ReadError> {
        while self.runs.front().is_some_and(|run| run.frames.is_empty()) {
            let done = self.runs.pop_front().and_then(|run| run.unreadable);
            self.damage = done.or(self.damage.take());
        }
        let Some(run) = self.runs.front_mut() else {
            return Ok(self.last_gap());
        };
        let segment = run.segment;
        let Some((start, group)) = next_group(&mut run.frames) else {
            return Ok(self.last_gap());
        };
        let file = match &self.open {
            Some((number, file)) if *number == segment => Arc::clone(file),
            _ => match open_regular(&segment_path(&self.dir, segment)) {
                Ok(file) => {
                    let file = Arc::new(file);
                    self.open = Some((segment, Arc::clone(&file)));
                    file
                }
                Err(e) => return Ok(Some(self.pass_over(segment, &e))),
            },
        };
        let end =
            group.last().map_or(start, |place| u64::from(place.offset) + u64::from(place.size));
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(usize::try_from(end - start).unwrap_or(0), 0);
        let read = file.metadata().and_then(|found| {
            // A file that is shorter than it was: what is not there is damage, not an error.
            let there = usize::try_from(found.len().saturating_sub(start)).unwrap_or(0);
            let there = there.min(bytes.len());
            file.read_exact_at(bytes.get_mut(..there).unwrap_or_default(), start).map(|()| there)
        });
        let there = match read {
            Ok(there) => there,
            Err(e) => {
                self.bytes = bytes;
                return Ok(Some(self.pass_over(segment, &e)));
            }
        };
        bytes.truncate(there);
        // Room for all at once, so that none is moved; never more than so many bytes can hold, whatever the table says.
        let events = group.iter().map(|place| place.last.saturating_sub(place.first) + 1);
        let events = usize::try_from(events.fold(0, u64::saturating_add)).unwrap_or(usize::MAX);
        let mut entries = Vec::with_capacity(events.min(bytes.len() / LEAST_RECORD));
        for place in &group {
            let from = usize::try_from(u64::from(place.offset) - start).unwrap_or(usize::MAX);
            self.decode(segment, place, bytes.get(from..).unwrap_or_default(), &mut entries)?;
        }
        self.bytes = bytes;
        Ok(Some(entries))
    }

    /// Goes on behind a segment that cannot be read; what comes next says that it is missing, and why.
    fn pass_over(&mut self, segment: u64, error: &std::io::Error) -> Vec<Entry> {
        self.runs.pop_front();
        self.damage = Some(cannot_be_read(segment, &reason(error)));
        Vec::new()
    }

    fn decode(
        &mut self,
        segment: u64,
        place: &FramePlace,
        bytes: &[u8],
        entries: &mut Vec<Entry>,
    ) -> Result<(), ReadError> {
        let damaged = |what: &str| {
            format!("{} is damaged at byte {} ({what})", segment_name(segment), place.offset)
        };
        let Parsed::Frame(frame) = parse_frame(bytes) else {
            self.damage = Some(damaged("checksum"));
            return Ok(());
        };
        refuse_newer(&segment_path(&self.dir, segment), frame.version)?;
        let is_it = |batch: &StoredBatch<'_>| {
            frame.version == codec::BATCH_VERSION
                && batch.session_id == self.session.as_str()
                && batch.first == place.first
        };
        let Some(batch) = codec::decode(frame.body).ok().filter(is_it) else {
            self.damage = Some(damaged("stored form"));
            return Ok(());
        };
        for (at, sequence) in (batch.first..=batch.last()).enumerate() {
            if sequence < self.next || sequence > self.to {
                continue;
            }
            let Some(event) = batch.event(at, &self.session, &mut self.pool) else {
                self.damage = Some(damaged("stored form"));
                continue;
            };
            if sequence > self.next {
                entries.push(self.gap(sequence - 1));
            }
            self.damage = None;
            self.next = sequence + 1;
            entries.push(Entry::Event(event));
        }
        Ok(())
    }

    fn gap(&mut self, to: u64) -> Entry {
        let reason =
            self.damage.take().unwrap_or_else(|| "a damaged part of the journal".to_owned());
        let gap = Gap { from: self.next, to, reason };
        self.next = to + 1;
        Entry::Gap(gap)
    }

    fn last_gap(&mut self) -> Option<Vec<Entry>> {
        let missing = !std::mem::replace(&mut self.done, true) && self.next <= self.to;
        missing.then(|| vec![self.gap(self.to)])
    }
}

/// Takes frames off the front that are worth one read; gives where it begins.
fn next_group(frames: &mut VecDeque<FramePlace>) -> Option<(u64, Vec<FramePlace>)> {
    let first = frames.pop_front()?;
    let start = u64::from(first.offset);
    let mut end = start + u64::from(first.size);
    let mut group = vec![first];
    while let Some(next) = frames.front() {
        let (from, to) = (u64::from(next.offset), u64::from(next.offset) + u64::from(next.size));
        if from < end || from - end > READ_THROUGH || to - start > READ_BYTES {
            break;
        }
        end = to;
        group.extend(frames.pop_front());
    }
    Some((start, group))
}

impl Iterator for PieceReader {
    type Item = Result<Vec<Entry>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        self.piece().transpose()
    }
}
