//! Owns the journal: append-only segments shared by all sessions, one frame per batch, one thread that writes.
//!
//! Segments are the truth. Everything else (tables of contents, the index in memory) is made from them.
//!
//! Next: [`frame`] for the bytes, [`writer`] for group commit, [`recover`] for what a crash leaves.

mod disk;
mod enter;
mod folder;
mod frame;
mod index;
mod read;
mod reader;
mod recover;
mod scan;
mod segment;
mod storage;
mod survey;
mod toc;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use tokio::sync::watch;

use self::index::{BatchFacts, Index};
use self::writer::{Batch, Job, Writer};
use super::{Pieces, ReadStore, SealedBatch, SessionSummary, StorageFinding, Store, Ticket};
use crate::codec;
use crate::error::{OpenError, ReadError, StoreFault};
use crate::id::SessionId;
use crate::time::Entropy;

pub use disk::{Disk, DiskFile, RealDisk};
pub(crate) use reader::JournalReader;
pub use recover::{Found, Recovery, RecoveryNote};

/// So many batches wait for the writing thread before a caller has to.
const QUEUE: usize = 1024;

/// How a journal is laid out.
pub(crate) struct JournalOptions {
    /// A segment is sealed when it has grown to this many bytes.
    pub(crate) segment_bytes: u64,
    /// The files.
    pub(crate) disk: Arc<dyn Disk>,
}

/// What the writing thread and the readers of this process share.
struct Shared {
    index: RwLock<Index>,
    changes: watch::Sender<u64>,
    fault: Mutex<Option<StoreFault>>,
    spare: Mutex<Vec<Vec<u8>>>,
}

/// So many buffers of stored batches are kept for the next ones, none larger than [`SPARE_BYTES`].
const SPARES: usize = 8;
const SPARE_BYTES: usize = 1024 * 1024;

impl Shared {
    fn fault(&self) -> Option<StoreFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes nothing more. Who waited is told the cause; to those who come later the log is closed for writing.
    fn poison(&self) {
        self.fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(StoreFault::Poisoned);
    }

    /// A buffer for a stored batch. Large ones that one thread takes from the system and another gives back cost more
    /// than filling them.
    fn buffer(&self) -> Vec<u8> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps a buffer for the next batch.
    fn give_back(&self, buffer: Vec<u8>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARES && buffer.capacity() <= SPARE_BYTES {
            spare.push(buffer);
        }
    }

    fn read<T>(&self, look: impl FnOnce(&Index) -> T) -> T {
        look(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A journal that this process writes.
pub(crate) struct Journal {
    shared: Arc<Shared>,
    jobs: SyncSender<Job>,
    thread: Option<JoinHandle<()>>,
    dir: PathBuf,
    journal: PathBuf,
    /// Held until the journal goes.
    _lock: File,
}

impl Journal {
    /// Opens the journal of a data folder for writing; makes it when there is none.
    ///
    /// # Errors
    /// As [`crate::EventLog::open`].
    pub(crate) fn open(
        dir: &Path,
        options: &JournalOptions,
        entropy: &dyn Entropy,
    ) -> Result<(Self, Recovery, [u8; 32]), OpenError> {
        let mut folder = folder::lock(dir, entropy)?;
        let survey = std::mem::take(&mut folder.survey);
        let (index, tail, recovery) = recover::recover(&*options.disk, &folder.journal, survey)?;
        folder.name_holder();
        let shared = Arc::new(Shared {
            index: RwLock::new(index),
            changes: watch::Sender::new(0),
            fault: Mutex::new(None),
            spare: Mutex::default(),
        });
        let (jobs, queue) = sync_channel(QUEUE);
        // Offsets within a segment are 32 bits wide.
        let segment_bytes = options.segment_bytes.clamp(4096, 1 << 30);
        let writer = Writer::new(
            Arc::clone(&shared),
            Arc::clone(&options.disk),
            folder.journal.clone(),
            segment_bytes,
            tail,
        );
        let thread = std::thread::Builder::new()
            .name("spine-journal".into())
            .spawn(move || writer.run(&queue))
            .map_err(OpenError::io("start the writing thread for", dir))?;
        let journal = Self {
            shared,
            jobs,
            thread: Some(thread),
            dir: dir.to_owned(),
            journal: folder.journal,
            _lock: folder.lock,
        };
        Ok((journal, recovery, folder.mask_key))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::Close); // fails only when the thread has ended already
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has nobody left to be told
        }
    }
}

impl ReadStore for Journal {
    fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError> {
        Ok(self.shared.read(|index| index.summary(session)))
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError> {
        Ok(self.shared.read(Index::summaries))
    }

    fn read(&self, session: &SessionId, from: u64, to: u64) -> Result<Pieces, ReadError> {
        let pieces = self
            .shared
            .read(|index| read::pieces(&self.journal, index, session, from, to, true))?;
        Ok(Box::new(pieces))
    }

    fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError> {
        self.shared.read(|index| read::event_ids(&self.journal, index, session, true))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    fn damaged_places(&self) -> Result<u64, ReadError> {
        Ok(self.shared.read(Index::damaged_places))
    }

    fn verify_storage(&self) -> Result<Vec<StorageFinding>, ReadError> {
        storage::verify(&self.dir)
    }
}

impl Store for Journal {
    fn submit(&self, batch: SealedBatch) -> Ticket {
        let (done, ticket) = Ticket::new();
        if let Some(fault) = self.shared.fault() {
            let _ = done.send(Err(fault)); // the ticket below is still held
            return ticket;
        }
        let facts = BatchFacts::of_sealed(&batch);
        let Ok(body) = codec::encode(&batch, self.shared.buffer()) else {
            let _ = done.send(Err(StoreFault::Poisoned)); // the ticket below is still held
            return ticket;
        };
        let job = Job::Batch(Box::new(Batch { body, facts, sync: batch.sync, done }));
        // When the thread has ended, the job goes and with it the sender: the ticket then says «closed».
        let _ = self.jobs.send(job);
        ticket
    }

    fn fault(&self) -> Option<StoreFault> {
        self.shared.fault()
    }

    fn as_read(self: Arc<Self>) -> Arc<dyn ReadStore> {
        self
    }
}
