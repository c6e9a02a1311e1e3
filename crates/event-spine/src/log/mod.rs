//! Owns the log: the one way in ([`EventLog::append`]) and the ways out ([`LogReader`]).
//!
//! ```text
//! drafts → validate → mask → spill → sequence and seal → store → receipt
//! ```
//!
//! Next: [`append`], that path; then [`read`] and [`follow`].

mod append;
mod follow;
mod fork;
mod ids;
mod intake;
mod read;
mod salvage;
mod seal;
mod stats;
mod verify;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::blob::Blobs;
use crate::checkpoint::Checkpoints;
use crate::error::OpenError;
use crate::id::SessionId;
use crate::store::Store;
use crate::store::journal::{Journal, JournalOptions};
use crate::store::memory::MemoryStore;
use crate::time::{Clock, Entropy};

pub use append::{Expected, Receipt};
pub use follow::{Cursor, Follow};
pub use intake::{Masker, mask, validate};
pub use read::{Events, LogReader};
pub use salvage::{Salvage, SalvageError, Salvaged, salvage};
pub use stats::{Stats, StatsWarning};
pub use verify::{Fault, Verification};

pub use crate::store::journal::{Disk, DiskFile, Found, RealDisk, Recovery, RecoveryNote};
pub use crate::store::{
    Entry, ForkPoint, Gap, Head, HeldThere, ReadMode, SessionSummary, StorageFinding,
};

/// When an acknowledgement waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SyncPolicy {
    /// Every batch is on disk before it is acknowledged.
    Always,
    /// Batches with a barrier fact are; others within a second.
    #[default]
    Barrier,
    /// None waits; everything is on disk within a second. A power loss can take acknowledged facts.
    Relaxed,
}

/// What a log needs from outside.
#[derive(Clone)]
pub struct LogOptions {
    /// Tells when facts are taken.
    pub clock: Arc<dyn Clock>,
    /// Gives salts.
    pub entropy: Arc<dyn Entropy>,
    /// When acknowledgements wait for the disk.
    pub sync: SyncPolicy,
    /// Strings longer than this many bytes go to the blob store.
    pub inline_limit: usize,
    /// A segment is sealed when it has grown to this many bytes.
    pub segment_bytes: u64,
    /// What finds secrets, so that a host can bring its own rules.
    pub rules: Arc<dyn mask::Rules>,
    /// The files. Tests put faults here.
    pub disk: Arc<dyn Disk>,
}

impl LogOptions {
    /// The defaults: barrier facts synced, strings over 8 KiB spilled, segments of 64 MiB.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            clock,
            entropy,
            sync: SyncPolicy::Barrier,
            inline_limit: intake::spill::INLINE_LIMIT,
            segment_bytes: 64 * 1024 * 1024,
            rules: Arc::new(mask::BuiltinRules),
            disk: Arc::new(RealDisk),
        }
    }
}

/// The log, open for writing. Clones share it; when the last one goes, everything is synced and the lock is released.
///
/// One process writes a data folder at a time; any number may read it.
#[derive(Clone)]
pub struct EventLog {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    blobs: Blobs,
    masker: Masker,
    options: LogOptions,
    recovery: Recovery,
    /// Where the index is; nowhere for a log in memory.
    index: Option<PathBuf>,
    checkpoints: OnceLock<Checkpoints>,
    writers: Mutex<HashMap<SessionId, Arc<Mutex<SessionWriter>>>>,
}

/// What a writer keeps of a session: enough to number, chain and deduplicate the next batch.
struct SessionWriter {
    head: Head,
    ids: ids::IdIndex,
    /// Set until the first batch of a fork is submitted.
    parent: Option<ForkPoint>,
}

impl SessionWriter {
    /// Goes back to a session without events, when its first batch was not taken.
    fn forget(&mut self, session: &SessionId) {
        *self = Self { head: Head::genesis(session), ids: ids::IdIndex::default(), parent: None };
    }
}

/// So many sessions keep their writer state; beyond, those that are idle are dropped and read again when needed.
const KEPT_WRITERS: usize = 1024;

impl EventLog {
    /// Opens the log in `dir` for writing, makes it when there is none, and repairs what a crash left behind.
    ///
    /// # Errors
    /// Another process has it open, the folder is something else or of a newer format, or a file cannot be used.
    pub fn open(dir: &Path, options: LogOptions) -> Result<Self, OpenError> {
        let journal = JournalOptions {
            segment_bytes: options.segment_bytes,
            disk: Arc::clone(&options.disk),
        };
        let (store, recovery, mask_key) = Journal::open(dir, &journal, &*options.entropy)?;
        let blobs = Blobs::local(&dir.join("blobs"))
            .map_err(|e| OpenError::Blobs { detail: e.to_string() })?;
        let masker = Masker::with_rules(mask_key, Arc::clone(&options.rules));
        let mut inner = Inner::over(Arc::new(store), blobs, masker, options);
        inner.recovery = recovery;
        inner.index = Some(dir.join("index"));
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A log in memory, for tests and for tools that need no disk.
    #[must_use]
    pub fn in_memory(options: LogOptions) -> Self {
        let mut key = [0_u8; 32];
        options.entropy.fill(&mut key);
        Self::over(
            Arc::new(MemoryStore::new()),
            Blobs::in_memory(),
            Masker::with_rules(key, Arc::clone(&options.rules)),
            options,
        )
    }

    /// A log over any store that keeps the laws of [`Store`].
    #[must_use]
    pub fn over(store: Arc<dyn Store>, blobs: Blobs, masker: Masker, options: LogOptions) -> Self {
        Self { inner: Arc::new(Inner::over(store, blobs, masker, options)) }
    }

    /// What opening had to repair.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// The large bodies.
    #[must_use]
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// What replaces secrets in this log, for what goes into the blob store beside the facts.
    #[must_use]
    pub fn masker(&self) -> &Masker {
        &self.inner.masker
    }

    /// Saved folds of this log's projections, for whoever holds the log open. Opened when first asked for.
    #[must_use]
    pub fn checkpoints(&self) -> Checkpoints {
        let open = || match &self.inner.index {
            Some(index) => Checkpoints::open(index),
            None => Checkpoints::in_memory(),
        };
        self.inner.checkpoints.get_or_init(open).clone()
    }

    /// A reader that sees every acknowledged event.
    #[must_use]
    pub fn reader(&self) -> LogReader {
        LogReader::new(Arc::clone(&self.inner.store).as_read(), self.inner.blobs.clone())
    }
}

impl Inner {
    fn over(store: Arc<dyn Store>, blobs: Blobs, masker: Masker, options: LogOptions) -> Self {
        Self {
            store,
            blobs,
            masker,
            options,
            recovery: Recovery::default(),
            index: None,
            checkpoints: OnceLock::new(),
            writers: Mutex::default(),
        }
    }

    /// The writer state of a session, read from the store when it is not kept.
    fn writer(
        &self,
        session: &SessionId,
    ) -> Result<Arc<Mutex<SessionWriter>>, crate::error::ReadError> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writers.get(session) {
            return Ok(Arc::clone(writer));
        }
        if writers.len() >= KEPT_WRITERS {
            self.drop_idle(&mut writers);
        }
        let writer = Arc::new(Mutex::new(self.load_writer(session)?));
        writers.insert(session.clone(), Arc::clone(&writer));
        Ok(writer)
    }

    fn load_writer(&self, session: &SessionId) -> Result<SessionWriter, crate::error::ReadError> {
        let reader = LogReader::new(Arc::clone(&self.store).as_read(), self.blobs.clone());
        let head = reader.head(session)?.unwrap_or_else(|| Head::genesis(session));
        Ok(SessionWriter { head, ids: ids::IdIndex::load(&reader, session)?, parent: None })
    }

    /// Drops writers that nobody uses and whose every batch the store already shows.
    fn drop_idle(&self, writers: &mut HashMap<SessionId, Arc<Mutex<SessionWriter>>>) {
        writers.retain(|session, writer| {
            if Arc::strong_count(writer) > 1 {
                return true;
            }
            let head = writer.lock().unwrap_or_else(PoisonError::into_inner).head;
            let stored = self.store.summary(session).ok().flatten().map(|summary| summary.head);
            stored != Some(head)
        });
    }
}
