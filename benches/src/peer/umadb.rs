//! Owns UmaDB, its embedded core: the session is a tag, one commit per batch. It has no way to append without a sync.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use umadb_core::db::{UmaDb, process_append_request};
use umadb_core::mvcc::{Mvcc, StorageOptions};
use umadb_dcb::{DcbEvent, DcbEventStoreSync, DcbQuery, DcbQueryItem};

use super::{CACHE_MIB, Peer, Seen};
use crate::record::{Append, Record};

pub(super) struct Umadb {
    mvcc: Arc<Mvcc>,
    store: UmaDb,
}

impl Umadb {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let options = StorageOptions::default().db_path(dir).page_cache_max_mb(CACHE_MIB);
        let mvcc = Arc::new(Mvcc::new(false, options)?);
        Ok(Self { store: UmaDb::from_arc(Arc::clone(&mvcc)), mvcc })
    }

    fn of(session: u64) -> DcbQuery {
        DcbQuery::new().item(DcbQueryItem::new().tags([tag(session)]))
    }
}

fn tag(session: u64) -> String {
    format!("{session:016x}")
}

impl Peer for Umadb {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        let mut writer = self.mvcc.writer()?;
        for append in batch {
            let mut events = Vec::with_capacity(append.records.len());
            for record in append.records {
                let data = record.encode()?;
                events.push(
                    DcbEvent::new()
                        .event_type(record.event_type)
                        .data(data)
                        .tags([tag(append.session)]),
                );
            }
            process_append_request(events, None, None, &*self.mvcc, &mut writer, None)?;
        }
        Ok(self.mvcc.commit(&mut writer)?)
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        self.append(vec![batch])
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut seen = Seen::default();
        for event in self.store.read(Some(Self::of(session)), None, false, None)? {
            seen.events += 1;
            seen.bytes += Record::decode(&event?.event.data)?.payload.len() as u64;
        }
        Ok(seen)
    }

    /// It numbers events over all sessions, so a session's own number is how many it has.
    fn head(&mut self, session: u64) -> Result<u64> {
        let newest =
            self.store.read(Some(Self::of(session)), None, true, Some(1))?.next().transpose()?;
        Ok(match newest {
            Some(event) => {
                u64::from_str_radix(&Record::decode(&event.event.data)?.event_id[12..], 16)?
            }
            None => 0,
        })
    }
}
