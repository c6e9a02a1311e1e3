//! Owns SQLite: write-ahead log, `synchronous=FULL`, one table whose integer key is session and sequence.

use std::path::Path;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::{CACHE_MIB, Peer, Seen};
use crate::record::{Append, Record};

pub(super) struct Sqlite {
    db: Connection,
}

impl Sqlite {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let db = Connection::open(dir.join("events.sqlite"))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "cache_size", -i64::try_from(CACHE_MIB * 1024)?)?;
        db.execute_batch(
            "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        )?;
        Ok(Self { db })
    }

    fn insert(&mut self, batch: &[Append]) -> Result<()> {
        let transaction = self.db.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO events (id, body) VALUES (?1, ?2)")?;
            for append in batch {
                for (record, sequence) in append.records.iter().zip(append.first..) {
                    insert.execute(params![id(append.session, sequence), record.encode()?])?;
                }
            }
        }
        Ok(transaction.commit()?)
    }
}

fn id(session: u64, sequence: u64) -> i64 {
    i64::try_from(session << 32 | sequence).unwrap_or(i64::MAX)
}

impl Peer for Sqlite {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        self.insert(&batch)
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        self.db.pragma_update(None, "synchronous", "NORMAL")?;
        self.insert(&[batch])
    }

    fn finish(&mut self) -> Result<()> {
        self.db.pragma_update(None, "synchronous", "FULL")?;
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut select = self
            .db
            .prepare_cached("SELECT body FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        let mut rows = select.query(params![id(session, 0), id(session + 1, 0)])?;
        let mut seen = Seen::default();
        while let Some(row) = rows.next()? {
            seen.events += 1;
            seen.bytes += Record::decode(row.get_ref(0)?.as_blob()?)?.payload.len() as u64;
        }
        Ok(seen)
    }

    fn head(&mut self, session: u64) -> Result<u64> {
        let newest: Option<i64> = self
            .db
            .query_row(
                "SELECT id FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT 1",
                params![id(session, 0), id(session + 1, 0)],
                |row| row.get(0),
            )
            .optional()?;
        Ok(newest.map_or(0, |id| u64::try_from(id).unwrap_or(0) & 0xffff_ffff))
    }
}
