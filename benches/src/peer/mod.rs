//! Owns the stores that are measured: one file each, the same trait, the same work.
//!
//! `append` is as durable as `fdatasync` makes it when it returns. Each store is configured as its documentation
//! advises for that, and gets the same cache.
//!
//! Next: `bare.rs`, the floor; `spine.rs`, ours.

mod bare;
mod fjall;
mod sled;
mod spine;
mod sqlite;
mod umadb;

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

pub(crate) use spine::{Spine, options};

use crate::record::Append;

/// Cache of each store that has one.
const CACHE_MIB: usize = 64;

/// A store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Name {
    /// A file, appended to and synced: the floor.
    Bare,
    /// This project.
    Spine,
    /// sled 0.34.7 with an `fdatasync` of its own, since its `flush` does none.
    Sled,
    /// fjall 3, `SyncData`.
    Fjall,
    /// SQLite, WAL, `synchronous=FULL`.
    Sqlite,
    /// UmaDB's embedded core.
    Umadb,
}

impl Name {
    /// As the tables print it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Bare => "bare file",
            Self::Spine => "Spine",
            Self::Sled => "sled 0.34.7 + fdatasync",
            Self::Fjall => "fjall 3",
            Self::Sqlite => "SQLite FULL",
            Self::Umadb => "UmaDB",
        }
    }

    /// Opens the store in a folder, or makes it.
    pub(crate) fn open(self, dir: &Path) -> Result<Box<dyn Peer>> {
        Ok(match self {
            Self::Bare => Box::new(bare::Bare::open(dir)?),
            Self::Spine => Box::new(Spine::open(dir)?),
            Self::Sled => Box::new(sled::Sled::open(dir)?),
            Self::Fjall => Box::new(fjall::Fjall::open(dir)?),
            Self::Sqlite => Box::new(sqlite::Sqlite::open(dir)?),
            Self::Umadb => Box::new(umadb::Umadb::open(dir)?),
        })
    }
}

/// What was read of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) events: u64,
    /// Bytes of payload, so that nothing is optimised away.
    pub(crate) bytes: u64,
}

/// What every store does.
pub(crate) trait Peer: Send {
    /// Appends and makes durable: all of it, in one commit.
    fn append(&mut self, batch: Vec<Append>) -> Result<()>;

    /// Appends without waiting for the disk where the store can; `finish` makes it durable.
    fn load(&mut self, batch: Append) -> Result<()>;

    /// Makes durable what was loaded.
    fn finish(&mut self) -> Result<()>;

    /// Reads a session from its beginning, every event decoded into owned fields, the payload as text.
    fn read(&mut self, session: u64) -> Result<Seen>;

    /// Newest sequence of a session: what a store has to know before it can take the next event.
    fn head(&mut self, session: u64) -> Result<u64>;
}

/// Key of an event: session, then sequence, big-endian.
fn key(session: u64, sequence: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&session.to_be_bytes());
    key[8..].copy_from_slice(&sequence.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    /// Every store gives back what it took, also after it was opened again.
    #[test]
    fn stores_keep_what_they_take() {
        for name in Name::value_variants() {
            let dir = tempfile::tempdir().unwrap();
            let append = |session, first, count: u64| Append {
                session,
                first,
                records: (first..first + count).map(|n| Record::tool_result(session, n)).collect(),
            };
            let mut store = name.open(dir.path()).unwrap();
            store.append(vec![append(1, 1, 3), append(2, 1, 1)]).unwrap();
            store.load(append(1, 4, 2)).unwrap();
            store.finish().unwrap();
            drop(store);
            let mut store = name.open(dir.path()).unwrap();
            assert_eq!(store.read(1).unwrap().events, 5, "{name:?}");
            assert_eq!(store.head(1).unwrap(), 5, "{name:?}");
            assert_eq!(store.head(2).unwrap(), 1, "{name:?}");
        }
    }
}
