//! Owns sled 0.34.7: one tree, one batch per commit, then `flush` and an `fdatasync` of the file `db` on a handle of our own.

use std::fs::File;
use std::path::Path;

use anyhow::Result;

use super::{CACHE_MIB, Peer, Seen, key};
use crate::record::{Append, Record};

pub(super) struct Sled {
    db: sled::Db,
    file: File,
}

impl Sled {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let db = sled::Config::default()
            .path(dir.join("sled"))
            .cache_capacity(CACHE_MIB as u64 * 1024 * 1024)
            .open()?;
        let file = File::options().write(true).open(dir.join("sled/db"))?;
        Ok(Self { db, file })
    }
}

impl Peer for Sled {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        for append in batch {
            self.load(append)?;
        }
        self.finish()
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        let mut writes = sled::Batch::default();
        for (record, sequence) in batch.records.iter().zip(batch.first..) {
            writes.insert(&key(batch.session, sequence), record.encode()?);
        }
        Ok(self.db.apply_batch(writes)?)
    }

    fn finish(&mut self) -> Result<()> {
        self.db.flush()?;
        Ok(self.file.sync_data()?)
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut seen = Seen::default();
        for entry in self.db.range(key(session, 0)..key(session + 1, 0)) {
            seen.events += 1;
            seen.bytes += Record::decode(&entry?.1)?.payload.len() as u64;
        }
        Ok(seen)
    }

    fn head(&mut self, session: u64) -> Result<u64> {
        let last = self.db.range(key(session, 0)..key(session + 1, 0)).next_back().transpose()?;
        Ok(match last {
            Some((key, _)) => u64::from_be_bytes(key[8..].try_into()?),
            None => 0,
        })
    }
}
