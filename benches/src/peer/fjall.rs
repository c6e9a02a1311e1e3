//! Owns fjall 3: one keyspace, one batch per commit with `SyncData`.

use std::path::Path;

use anyhow::Result;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{CACHE_MIB, Peer, Seen, key};
use crate::record::{Append, Record};

pub(super) struct Fjall {
    db: Database,
    events: Keyspace,
}

impl Fjall {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let db = Database::builder(dir.join("fjall"))
            .cache_size(CACHE_MIB as u64 * 1024 * 1024)
            .open()?;
        let events = db.keyspace("events", KeyspaceCreateOptions::default)?;
        Ok(Self { db, events })
    }

    fn commit(&self, batch: &[Append], durability: Option<PersistMode>) -> Result<()> {
        let mut writes = self.db.batch().durability(durability);
        for append in batch {
            for (record, sequence) in append.records.iter().zip(append.first..) {
                writes.insert(&self.events, key(append.session, sequence), record.encode()?);
            }
        }
        Ok(writes.commit()?)
    }
}

impl Peer for Fjall {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        self.commit(&batch, Some(PersistMode::SyncData))
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        self.commit(&[batch], None)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(self.db.persist(PersistMode::SyncData)?)
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut seen = Seen::default();
        for entry in self.events.range(key(session, 0)..key(session + 1, 0)) {
            seen.events += 1;
            seen.bytes += Record::decode(&entry.value()?)?.payload.len() as u64;
        }
        Ok(seen)
    }

    fn head(&mut self, session: u64) -> Result<u64> {
        let last = self.events.range(key(session, 0)..key(session + 1, 0)).next_back();
        Ok(match last {
            Some(entry) => u64::from_be_bytes(entry.key()?[8..].try_into()?),
            None => 0,
        })
    }
}
