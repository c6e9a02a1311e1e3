//! Owns the law of a store: what it means to keep sealed batches and to give them back.
//!
//! Two implementations: [`memory`] for tests and tools that need no disk, [`journal`] for everything else. The suite of
//! laws in `conformance` runs against both, and the same input gives the same chain head on each.
//!
//! Next: [`memory`], the law in its simplest form; then [`journal`].

pub(crate) mod journal;
pub(crate) mod memory;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use crate::error::{ReadError, StoreFault};
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::record::RecordedEvent;
use crate::time::RecordedAt;

/// The newest event of a session: its sequence and the chain value there. Two logs with equal heads hold equal histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head {
    /// Sequence of the newest event; 0 before the first.
    pub sequence: u64,
    /// Chain value at that event.
    pub chain: ChainHash,
}

impl Head {
    /// The head of a session before its first event.
    #[must_use]
    pub fn genesis(session_id: &SessionId) -> Self {
        Self { sequence: 0, chain: ChainHash::genesis(session_id) }
    }
}

/// Where a session branched off another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ForkPoint {
    /// The parent.
    pub session_id: SessionId,
    /// Last event that both share.
    pub sequence: u64,
}

/// What is known of a session without reading its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// Its newest event.
    pub head: Head,
    /// When the log took its first event.
    pub first_recorded_at: RecordedAt,
    /// When the log took its newest event.
    pub last_recorded_at: RecordedAt,
    /// Bytes its own events take in the store; a fork does not count what it shares.
    pub bytes: u64,
    /// Where it branched off, if it is a fork.
    pub parent: Option<ForkPoint>,
    /// Place of its newest batch in the order of all batches of the store: what «last active» means. No clock decides it.
    pub activity: u64,
}

/// Events that were sealed together: all of them are stored, or none.
#[derive(Debug, Clone)]
pub struct SealedBatch {
    /// The session.
    pub session_id: SessionId,
    /// Chain value before the first event.
    pub previous: ChainHash,
    /// The events, dense in sequence. Never empty.
    pub events: Vec<RecordedEvent>,
    /// True when the acknowledgement must wait until the batch is on disk.
    pub sync: bool,
    /// Set in the first batch of a fork.
    pub parent: Option<ForkPoint>,
}

impl SealedBatch {
    /// Sequence of the first event.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.events.first().map_or(0, |event| event.sequence)
    }

    /// The head of the session after this batch.
    #[must_use]
    pub fn head(&self) -> Head {
        self.events.last().map_or(Head { sequence: 0, chain: self.previous }, |event| Head {
            sequence: event.sequence,
            chain: event.chain,
        })
    }
}

/// The promise of an acknowledgement.
#[derive(Debug)]
pub struct Ticket(oneshot::Receiver<Result<(), StoreFault>>);

impl Ticket {
    /// A ticket and the sender that settles it.
    #[must_use]
    pub fn new() -> (oneshot::Sender<Result<(), StoreFault>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(receiver))
    }

    /// Blocks until the batch is acknowledged.
    ///
    /// # Errors
    /// The batch was not stored, and says why.
    pub fn wait(self) -> Result<(), StoreFault> {
        crate::wait::block_on(self.0, None)
            .unwrap_or(Ok(Err(StoreFault::Closed)))
            .unwrap_or(Err(StoreFault::Closed))
    }

    /// Waits until the batch is acknowledged.
    ///
    /// # Errors
    /// The batch was not stored, and says why.
    pub async fn acknowledged(self) -> Result<(), StoreFault> {
        self.0.await.unwrap_or(Err(StoreFault::Closed))
    }
}

/// How a read treats damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReadMode {
    /// Goes on behind damage and names what is missing.
    #[default]
    Tolerant,
    /// Stops at damage and names it.
    Strict,
}

/// Something a read gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every entry is an event; a box would cost an allocation for each"
)]
pub enum Entry {
    /// An event.
    Event(RecordedEvent),
    /// Events that are there no more; tolerant reads name them and go on.
    Gap(Gap),
}

/// Events that a read could not give back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// First missing sequence.
    pub from: u64,
    /// Last missing sequence.
    pub to: u64,
    /// Where and why, for people.
    pub reason: String,
}

/// Reading: needs no lock, changes no file.
pub trait ReadStore: Send + Sync {
    /// The newest event of a session's own events, or nothing when the store has none.
    ///
    /// # Errors
    /// The store cannot be read.
    fn summary(&self, session: &SessionId) -> Result<Option<SessionSummary>, ReadError>;

    /// All sessions, in order of [`SessionSummary::activity`], the most recently active last.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sessions(&self) -> Result<Vec<SessionSummary>, ReadError>;

    /// The session's own events from `from` to `to`, both included, in order, in pieces. Missing ones are gaps.
    ///
    /// # Errors
    /// The store cannot be read.
    fn read(&self, session: &SessionId, from: u64, to: u64) -> Result<Pieces, ReadError>;

    /// Hash of the event id and sequence of every own event of a session, in any order.
    ///
    /// # Errors
    /// The store cannot be read.
    fn event_ids(&self, session: &SessionId) -> Result<Vec<(u64, u64)>, ReadError>;

    /// Ticks whenever something was stored that a reader of this store can see.
    fn changes(&self) -> watch::Receiver<u64>;

    /// How long a follower may sleep before it looks by itself; `None` when [`ReadStore::changes`] never misses anything.
    fn poll_interval(&self) -> Option<Duration> {
        None
    }

    /// How many damaged places are known so far, without reading everything: 0 does not mean that there is none.
    ///
    /// # Errors
    /// The store cannot be read.
    fn damaged_places(&self) -> Result<u64, ReadError>;

    /// Checks what lies below the events: frames, padding, files. One fault a place.
    ///
    /// # Errors
    /// The store cannot be read.
    fn verify_storage(&self) -> Result<Vec<StorageFinding>, ReadError>;
}

/// Damage below the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageFinding {
    /// File, relative to the data folder.
    pub file: String,
    /// Byte offset in it.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
    /// True for what a killed process left of a write that it never acknowledged: nothing is lost by it.
    pub unfinished: bool,
    /// What the damaged bytes seem to have held, by what can still be read of them.
    pub held: Vec<HeldThere>,
}

/// Events that a damaged place held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldThere {
    /// Their session.
    pub session_id: SessionId,
    /// The first of them.
    pub first: u64,
}

/// Pieces of a read, each in memory at once.
pub type Pieces = Box<dyn Iterator<Item = Result<Vec<Entry>, ReadError>> + Send>;

/// A store that takes batches.
///
/// Laws: batches of one session are stored in the order in which they are submitted; a batch is all there or not there; a
/// ticket is settled after the batch can be read, and with `sync` after it is on disk; after a failed write the store
/// takes nothing more until it is opened again, so that nothing is ever appended behind a hole.
pub trait Store: ReadStore {
    /// Hands a batch to the store. Returns at once, or when there is room.
    fn submit(&self, batch: SealedBatch) -> Ticket;

    /// Why the store takes nothing more, once it does not.
    fn fault(&self) -> Option<StoreFault>;

    /// This store as a reader.
    fn as_read(self: Arc<Self>) -> Arc<dyn ReadStore>;
}

/// The hash under which an event id is indexed. Equal hashes are compared by their events, so it need not be a digest;
/// tables of contents keep it, so it never changes.
#[must_use]
pub fn id_hash(event_id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(event_id.as_bytes())
}
