//! Owns this project's log behind the same trait. It does more than the peers for the same append: it validates, masks
//! secrets, hashes, chains and deduplicates.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use event_spine::{
    Clock, Entropy, EventLog, Expected, LogOptions, ReadMode, RecordedAt, SyncPolicy,
};

use super::{Peer, Seen};
use crate::record::{Append, session_id};

/// The log, opened as the command opens it.
pub(crate) struct Spine {
    pub(crate) log: EventLog,
    /// The same log with acknowledgements that do not wait; it exists from the first `load` on.
    loading: bool,
    dir: std::path::PathBuf,
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> RecordedAt {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RecordedAt(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Salts need not be secret here; they need to cost what salts cost.
struct Random(AtomicU64);

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let mut z = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (z ^ (z >> 27)).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// How the log is opened.
pub(crate) fn options(sync: SyncPolicy) -> LogOptions {
    let mut options = LogOptions::new(Arc::new(SystemClock), Arc::new(Random(AtomicU64::new(1))));
    options.sync = sync;
    options
}

impl Spine {
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        let log = EventLog::open(dir, options(SyncPolicy::Barrier))?;
        Ok(Self { log, loading: false, dir: dir.to_owned() })
    }

    fn put(&self, append: Append) -> Result<()> {
        let drafts =
            append.records.into_iter().map(crate::record::Record::draft).collect::<Result<_>>()?;
        self.log.append(&session_id(append.session)?, Expected::Exact(append.first - 1), drafts)?;
        Ok(())
    }

    fn reopen(&mut self, sync: SyncPolicy) -> Result<()> {
        self.log = EventLog::in_memory(options(sync));
        self.log = EventLog::open(&self.dir, options(sync))?;
        Ok(())
    }
}

impl Peer for Spine {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        batch.into_iter().try_for_each(|append| self.put(append))
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        if !self.loading {
            self.reopen(SyncPolicy::Relaxed)?;
            self.loading = true;
        }
        self.put(batch)
    }

    fn finish(&mut self) -> Result<()> {
        self.loading = false;
        self.reopen(SyncPolicy::Barrier)
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut seen = Seen::default();
        let mut events = self.log.reader().read(&session_id(session)?, .., ReadMode::Strict)?;
        while let Some(event) = events.next_event()? {
            seen.events += 1;
            seen.bytes += event.draft.payload.as_str().len() as u64;
        }
        Ok(seen)
    }

    fn head(&mut self, session: u64) -> Result<u64> {
        Ok(self.log.reader().head(&session_id(session)?)?.map_or(0, |head| head.sequence))
    }
}
