//! Owns reading frames of a session: from places to events, with gaps where frames are missing or damaged.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frame::{Parsed, parse_frame};
use super::index::{FramePlace, Index, Places};
use super::segment::{segment_name, segment_path};
use super::toc;
use crate::codec::{self, StrPool};
use crate::error::ReadError;
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

/// Finds the frames of a session in the range.
///
/// # Errors
/// A table of contents cannot be read although it could a moment ago.
pub(super) fn pieces(
    dir: &Path,
    index: &Index,
    session: &SessionId,
    from: u64,
    to: u64,
) -> Result<PieceReader, ReadError> {
    let mut runs = VecDeque::new();
    for run in index.sessions.get(session).map(|known| known.runs.as_slice()).unwrap_or_default() {
        if run.last < from || run.first > to {
            continue;
        }
        let frames = match &run.places {
            Places::Kept { frames, .. } => in_range(frames, from, to),
            Places::Toc { frames, .. } => {
                let all = toc::frames(dir, run.segment, frames).map_err(ReadError::io(
                    "read the table of contents",
                    super::segment::toc_path(dir, run.segment),
                ))?;
                in_range(&all, from, to)
            }
        };
        runs.push_back(SegmentFrames { segment: run.segment, frames });
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

fn in_range(frames: &[FramePlace], from: u64, to: u64) -> VecDeque<FramePlace> {
    let begin = frames.partition_point(|place| place.last < from);
    let end = frames.partition_point(|place| place.first <= to);
    frames.get(begin..end.max(begin)).unwrap_or_default().iter().copied().collect()
}

impl PieceReader {
    fn piece(&mut self) -> Result<Option<Vec<Entry>>, ReadError> {
        while self.runs.front().is_some_and(|run| run.frames.is_empty()) {
            self.runs.pop_front();
        }
        let Some(run) = self.runs.front_mut() else {
            return Ok(self.last_gap());
        };
        let segment = run.segment;
        let Some((start, group)) = next_group(&mut run.frames) else {
            return Ok(self.last_gap());
        };
        let path = segment_path(&self.dir, segment);
        let file = match &self.open {
            Some((number, file)) if *number == segment => Arc::clone(file),
            _ => {
                let file = Arc::new(File::open(&path).map_err(ReadError::io("open", &path))?);
                self.open = Some((segment, Arc::clone(&file)));
                file
            }
        };
        let end =
            group.last().map_or(start, |place| u64::from(place.offset) + u64::from(place.size));
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(usize::try_from(end - start).unwrap_or(0), 0);
        let size = file.metadata().map_err(ReadError::io("read", &path))?.len();
        // A file that is shorter than it was: what is not there is damage, not an error.
        let there = usize::try_from(size.saturating_sub(start)).unwrap_or(0).min(bytes.len());
        file.read_exact_at(bytes.get_mut(..there).unwrap_or_default(), start)
            .map_err(ReadError::io("read", &path))?;
        bytes.truncate(there);
        // Room for all at once, so that none is moved; never more than so many bytes can hold, whatever the table says.
        let events = group.iter().map(|place| place.last.saturating_sub(place.first) + 1);
        let events = usize::try_from(events.fold(0, u64::saturating_add)).unwrap_or(usize::MAX);
        let mut entries = Vec::with_capacity(events.min(bytes.len() / LEAST_RECORD));
        for place in &group {
            let from = usize::try_from(u64::from(place.offset) - start).unwrap_or(usize::MAX);
            self.decode(segment, place, bytes.get(from..).unwrap_or_default(), &mut entries);
        }
        self.bytes = bytes;
        Ok(Some(entries))
    }

    fn decode(&mut self, segment: u64, place: &FramePlace, bytes: &[u8], entries: &mut Vec<Entry>) {
        let damaged = |what: &str| {
            format!("{} is damaged at byte {} ({what})", segment_name(segment), place.offset)
        };
        let Parsed::Frame(frame) = parse_frame(bytes) else {
            self.damage = Some(damaged("checksum"));
            return;
        };
        let batch = match codec::decode(frame.body) {
            Ok(batch) if frame.version == codec::BATCH_VERSION => batch,
            _ => {
                self.damage = Some(damaged("stored form"));
                return;
            }
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
