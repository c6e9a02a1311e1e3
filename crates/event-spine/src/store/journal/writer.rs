//! Owns the one thread that writes: takes all batches that wait, writes them together, syncs once, then acknowledges.
//!
//! After a failed write it takes nothing more: the end of the file is not known until recovery has looked at it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Shared;
use super::disk::{Disk, DiskFile};
use super::frame::write_frame;
use super::index::BatchFacts;
use super::recover::{Tail, create_segment};
use super::segment::segment_path;
use super::toc;
use crate::codec::BATCH_VERSION;
use crate::error::StoreFault;

/// Buffered facts are on disk after this long at the latest.
const SYNC_WITHIN: Duration = Duration::from_secs(1);
/// Batches that are written together take at most about this many bytes.
const GROUP_BYTES: usize = 8 * 1024 * 1024;
/// A group below this size gets room that is zero-filled ahead, since then a sync has no file size to commit.
const AHEAD_BELOW: u64 = 64 * 1024;
/// How much is zero-filled ahead: little in a small file, more in a large one.
const AHEAD: std::ops::RangeInclusive<u64> = 64 * 1024..=1024 * 1024;
/// Version of a frame that says only how far the segment is on disk.
const MARK_VERSION: u8 = 0;

/// Work for the thread.
pub(super) enum Job {
    Batch(Box<Batch>),
    Close,
}

/// A batch in its stored form.
pub(super) struct Batch {
    pub(super) body: Vec<u8>,
    pub(super) facts: BatchFacts,
    pub(super) sync: bool,
    pub(super) done: oneshot::Sender<Result<(), StoreFault>>,
}

pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) journal: PathBuf,
    pub(super) segment_bytes: u64,
    number: u64,
    file: Box<dyn DiskFile>,
    /// Behind the last frame.
    end: u64,
    /// Up to here the file has bytes, zeros at least.
    filled: u64,
    /// Up to here the file is on disk.
    synced: u64,
    /// When the oldest byte that is not on disk was written.
    dirty_since: Option<Instant>,
    /// True when the last frame does not yet stand below a «synced» of a later one.
    unmarked: bool,
    buffer: Vec<u8>,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        disk: Arc<dyn Disk>,
        journal: PathBuf,
        segment_bytes: u64,
        tail: Tail,
    ) -> Self {
        Self {
            shared,
            disk,
            journal,
            segment_bytes,
            number: tail.number,
            file: tail.file,
            end: tail.end,
            filled: tail.end,
            synced: tail.end,
            dirty_since: None,
            unmarked: false,
            buffer: Vec::new(),
        }
    }

    /// Works until it is told to close or nobody is left to tell it.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut group = Vec::new();
        loop {
            let first = match self.wait(jobs) {
                Some(Job::Batch(batch)) => *batch,
                Some(Job::Close) | None => break,
            };
            let mut bytes = first.body.len();
            group.push(first);
            let mut closing = false;
            while bytes < GROUP_BYTES {
                match jobs.try_recv() {
                    Ok(Job::Batch(batch)) => {
                        bytes += batch.body.len();
                        group.push(*batch);
                    }
                    Ok(Job::Close) => {
                        closing = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            self.commit(&mut group);
            if closing {
                break;
            }
        }
        self.close();
    }

    /// The next job. While something is not on disk, wakes up in time to sync it.
    fn wait(&mut self, jobs: &Receiver<Job>) -> Option<Job> {
        loop {
            let nap = match self.dirty_since {
                Some(since) => SYNC_WITHIN.saturating_sub(since.elapsed()),
                None if self.unmarked => SYNC_WITHIN,
                None => return jobs.recv().ok(),
            };
            match jobs.recv_timeout(nap) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.settle(),
            }
        }
    }

    /// Syncs what is not on disk, or writes down that everything is.
    fn settle(&mut self) {
        let outcome = if self.dirty_since.is_some() { self.sync() } else { self.mark() };
        if outcome.is_err() {
            self.poison();
            self.dirty_since = None;
            self.unmarked = false;
        }
    }

    fn commit(&mut self, group: &mut Vec<Batch>) {
        match self.write(group) {
            Ok(()) => {
                for batch in group.drain(..) {
                    self.shared.give_back(batch.body);
                    let _ = batch.done.send(Ok(())); // the caller may have stopped waiting
                }
                self.shared.changes.send_modify(|ticks| *ticks += 1);
            }
            Err(fault) => {
                self.poison();
                for batch in group.drain(..) {
                    let _ = batch.done.send(Err(fault.clone()));
                }
            }
        }
    }

    fn write(&mut self, group: &[Batch]) -> Result<(), StoreFault> {
        if let Some(fault) = self.shared.fault() {
            return Err(fault);
        }
        if self.end >= self.segment_bytes {
            self.rotate()?;
        }
        self.buffer.clear();
        let mut places = Vec::with_capacity(group.len());
        let synced = u32::try_from(self.synced).unwrap_or(u32::MAX);
        for batch in group {
            let from = self.buffer.len();
            write_frame(&batch.body, synced, BATCH_VERSION, &mut self.buffer);
            places.push((self.end + from as u64, self.buffer.len() - from));
        }
        self.make_room(self.buffer.len() as u64)?;
        self.file.write_at(&self.buffer, self.end).map_err(self.fault("write"))?;
        self.end += self.buffer.len() as u64;
        self.filled = self.filled.max(self.end);
        self.unmarked = true;
        self.dirty_since.get_or_insert_with(Instant::now);
        if group.iter().any(|batch| batch.sync) {
            self.sync()?;
        }
        let mut index = self.shared.index.write().unwrap_or_else(PoisonError::into_inner);
        for (batch, (offset, size)) in group.iter().zip(places) {
            index.enter(&batch.facts, self.number, offset, size);
        }
        Ok(())
    }

    /// Zero-fills ahead of small groups.
    fn make_room(&mut self, bytes: u64) -> Result<(), StoreFault> {
        if bytes >= AHEAD_BELOW || self.end + bytes <= self.filled {
            return Ok(());
        }
        let ahead = (self.end / 4).clamp(*AHEAD.start(), *AHEAD.end());
        let zeros = vec![0; usize::try_from(ahead).unwrap_or(0)];
        self.file.write_at(&zeros, self.filled).map_err(self.fault("write"))?;
        self.filled += ahead;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreFault> {
        self.file.sync().map_err(self.fault("sync"))?;
        self.synced = self.end;
        self.dirty_since = None;
        Ok(())
    }

    /// Writes down that everything so far is on disk, so that recovery never mistakes damage for an unfinished write.
    fn mark(&mut self) -> Result<(), StoreFault> {
        self.buffer.clear();
        write_frame(
            &[],
            u32::try_from(self.synced).unwrap_or(u32::MAX),
            MARK_VERSION,
            &mut self.buffer,
        );
        self.make_room(self.buffer.len() as u64)?;
        self.file.write_at(&self.buffer, self.end).map_err(self.fault("write"))?;
        self.end += self.buffer.len() as u64;
        self.filled = self.filled.max(self.end);
        self.unmarked = false;
        let mut index = self.shared.index.write().unwrap_or_else(PoisonError::into_inner);
        index.segments.entry(self.number).or_default().end = self.end;
        Ok(())
    }

    /// Seals the segment and begins the next one.
    fn rotate(&mut self) -> Result<(), StoreFault> {
        self.file.set_len(self.end).map_err(self.fault("trim"))?;
        self.sync()?;
        let tail =
            create_segment(&*self.disk, &self.journal, self.number + 1).map_err(|e| match e {
                crate::error::OpenError::Io { action, path, source } => {
                    StoreFault::Io { action, path, source }
                }
                _ => StoreFault::Poisoned,
            })?;
        {
            // Only now: who finds the table knows that the next segment was there.
            let mut index = self.shared.index.write().unwrap_or_else(PoisonError::into_inner);
            let table = toc::Draft::of(self.number, &index);
            let _ = table.and_then(|table| table.save(&self.journal, &mut index)); // a cache: the next open makes it again
        }
        self.number = tail.number;
        self.file = tail.file;
        self.end = tail.end;
        self.filled = tail.end;
        self.synced = tail.end;
        Ok(())
    }

    fn close(&mut self) {
        if self.shared.fault().is_some() {
            return;
        }
        let outcome = self.sync().and_then(|()| if self.unmarked { self.mark() } else { Ok(()) });
        let trim = || {
            self.file.set_len(self.end)?;
            self.file.sync()
        };
        if outcome.is_err() || trim().is_err() {
            self.poison();
        }
        self.shared.changes.send_modify(|ticks| *ticks += 1);
    }

    fn poison(&self) {
        self.shared.poison();
        self.shared.changes.send_modify(|ticks| *ticks += 1);
    }

    fn fault(&self, action: &'static str) -> impl FnOnce(std::io::Error) -> StoreFault + use<> {
        let path = segment_path(&self.journal, self.number);
        move |source| StoreFault::Io { action, path, source: Arc::new(source) }
    }
}
