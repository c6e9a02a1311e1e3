//! Owns the floor: one file, frames of length, checksum, session, sequence and bytes, `fdatasync` after each batch.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Peer, Seen};
use crate::record::{Append, Record};

pub(super) struct Bare {
    path: PathBuf,
    file: File,
}

impl Bare {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("events");
        let file = File::options().create(true).append(true).open(&path)?;
        Ok(Self { path, file })
    }

    fn write(&mut self, batch: &[Append]) -> Result<()> {
        let mut bytes = Vec::new();
        for append in batch {
            for (record, sequence) in append.records.iter().zip(append.first..) {
                let body = record.encode()?;
                bytes.extend(u32::try_from(body.len())?.to_le_bytes());
                bytes.extend(crc32c::crc32c(&body).to_le_bytes());
                bytes.extend(append.session.to_le_bytes());
                bytes.extend(sequence.to_le_bytes());
                bytes.extend(body);
            }
        }
        self.file.write_all(&bytes)?;
        Ok(())
    }

    /// Walks the whole file: it has no index.
    fn scan(&self, mut each: impl FnMut(u64, u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        File::open(&self.path)?.read_to_end(&mut bytes)?;
        let mut rest = bytes.as_slice();
        while let Some((head, tail)) = rest.split_first_chunk::<24>() {
            let length = u32::from_le_bytes(head[..4].try_into()?) as usize;
            let (body, tail) = tail.split_at_checked(length).context("torn frame")?;
            if crc32c::crc32c(body) != u32::from_le_bytes(head[4..8].try_into()?) {
                bail!("bad checksum");
            }
            let session = u64::from_le_bytes(head[8..16].try_into()?);
            each(session, u64::from_le_bytes(head[16..].try_into()?), body)?;
            rest = tail;
        }
        Ok(())
    }
}

impl Peer for Bare {
    fn append(&mut self, batch: Vec<Append>) -> Result<()> {
        self.write(&batch)?;
        Ok(self.file.sync_data()?)
    }

    fn load(&mut self, batch: Append) -> Result<()> {
        self.write(&[batch])
    }

    fn finish(&mut self) -> Result<()> {
        Ok(self.file.sync_data()?)
    }

    fn read(&mut self, session: u64) -> Result<Seen> {
        let mut seen = Seen::default();
        self.scan(|of, _, body| {
            if of == session {
                seen.events += 1;
                seen.bytes += Record::decode(body)?.payload.len() as u64;
            }
            Ok(())
        })?;
        Ok(seen)
    }

    fn head(&mut self, session: u64) -> Result<u64> {
        let mut head = 0;
        self.scan(|of, sequence, _| {
            if of == session {
                head = sequence;
            }
            Ok(())
        })?;
        Ok(head)
    }
}
