//! Owns walking a segment: frame after frame, over damage, to the end of its data.

use std::io;

use super::disk::DiskFile;
use super::frame::{FRAME_HEADER, FRAME_MAGIC, Frame, Parsed, parse_frame};

/// How much is read at once.
const WINDOW: usize = 1024 * 1024;

/// What a walk over a segment found besides its frames.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ScanEnd {
    /// Behind the last whole frame.
    pub(super) end: u64,
    /// Behind the last byte that is not zero.
    pub(super) written: u64,
    /// Places that are no frames, between or behind whole ones: from, to.
    pub(super) damage: Vec<(u64, u64)>,
    /// The highest offset that a frame says was on disk.
    pub(super) synced: u64,
}

impl ScanEnd {
    /// Where recovery cuts: the first damage that is not covered by a later «synced», else the end of the frames.
    pub(super) fn cut(&self) -> u64 {
        self.damage
            .iter()
            .map(|&(from, _)| from)
            .find(|&from| from >= self.synced)
            .unwrap_or(self.end)
    }

    /// Damage that no crash explains: it lies below what was on disk.
    pub(super) fn lost(&self) -> impl Iterator<Item = (u64, u64)> {
        let cut = self.cut();
        self.damage.iter().copied().filter(move |&(from, _)| from < cut)
    }
}

/// Walks the frames of `file` from `offset` to `size`; `visit` gets each whole frame with its offset.
///
/// # Errors
/// The file cannot be read.
pub(super) fn scan(
    file: &dyn DiskFile,
    offset: u64,
    size: u64,
    mut visit: impl FnMut(u64, Frame<'_>),
) -> io::Result<ScanEnd> {
    let mut window = Window { file, size, start: 0, bytes: Vec::new() };
    let mut end = ScanEnd { end: offset, written: offset, damage: Vec::new(), synced: 0 };
    let mut at = offset;
    while let Some((found, next)) = window.frame_from(at, &mut visit)? {
        if found > at {
            end.damage.push((at, found));
        }
        end.synced = end.synced.max(u64::from(next.synced));
        at = found + next.size;
        end.end = at;
    }
    end.written = window.last_nonzero(at)?.map_or(at, |last| last + 1);
    if end.written > at {
        end.damage.push((at, end.written));
    }
    Ok(end)
}

struct Seen {
    synced: u32,
    size: u64,
}

struct Window<'f> {
    file: &'f dyn DiskFile,
    size: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// At least `want` bytes at `at`, or as many as the file has; usually more.
    fn bytes_at(&mut self, at: u64, want: usize) -> io::Result<&[u8]> {
        let want = want.min(usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX));
        let have = self.start..self.start + self.bytes.len() as u64;
        if !(at >= have.start && at + want as u64 <= have.end) {
            let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
            self.bytes.resize(left.min(want.max(WINDOW)), 0);
            self.start = at;
            self.file.read_at(&mut self.bytes, at)?;
        }
        let from = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        Ok(self.bytes.get(from..).unwrap_or_default())
    }

    /// The next whole frame at or behind `at`, visited.
    fn frame_from(
        &mut self,
        mut at: u64,
        visit: &mut impl FnMut(u64, Frame<'_>),
    ) -> io::Result<Option<(u64, Seen)>> {
        let mut want = FRAME_HEADER;
        let size = self.size;
        loop {
            let bytes = self.bytes_at(at, want)?;
            match parse_frame(bytes) {
                Parsed::Frame(frame) => {
                    visit(at, frame);
                    return Ok(Some((
                        at,
                        Seen { synced: frame.synced, size: frame.size() as u64 },
                    )));
                }
                // It may be whole further on in the file: look again with that many bytes.
                Parsed::Short(needed) if needed > want && at + needed as u64 <= size => {
                    want = needed;
                    continue;
                }
                Parsed::Short(_) | Parsed::Broken => {}
            }
            want = FRAME_HEADER;
            match self.next_magic(at + 1)? {
                Some(found) => at = found,
                None => return Ok(None),
            }
        }
    }

    /// Where the letters of a frame stand next, from `at` on.
    fn next_magic(&mut self, mut at: u64) -> io::Result<Option<u64>> {
        while at + FRAME_HEADER as u64 <= self.size {
            let bytes = self.bytes_at(at, FRAME_HEADER)?;
            if let Some(found) = memchr::memmem::find(bytes, FRAME_MAGIC) {
                return Ok(Some(at + found as u64));
            }
            // The letters may lie across the border of two windows.
            at += (bytes.len() as u64).saturating_sub(FRAME_MAGIC.len() as u64 - 1).max(1);
        }
        Ok(None)
    }

    fn last_nonzero(&mut self, from: u64) -> io::Result<Option<u64>> {
        let mut last = None;
        let mut at = from;
        while at < self.size {
            let bytes = self.bytes_at(at, 1)?;
            if let Some(found) = bytes.iter().rposition(|&byte| byte != 0) {
                last = Some(at + found as u64);
            }
            at += (bytes.len() as u64).max(1);
        }
        Ok(last)
    }
}
