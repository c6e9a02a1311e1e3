//! Owns bodies in a folder.
//!
//! A body that is found rather than written may have been left by a process that died before its folder was synced.
//! It is synced once per process before `put` vouches for it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, PutMode, PutOptions, PutPayload};

use super::drive::block_on;
use super::{BlobError, BlobId};
use crate::files::{open_regular, regular};

/// How many bodies are remembered as durable. Forgetting one costs a sync, no more.
const REMEMBERED: usize = 1 << 16;

pub(super) struct Local {
    dir: PathBuf,
    /// Starts to exist with the first body, since it needs the folder.
    store: OnceLock<LocalFileSystem>,
    durable: Mutex<HashSet<BlobId>>,
}

impl Local {
    pub(super) fn new(dir: &Path) -> Result<Self, BlobError> {
        match std::fs::metadata(dir) {
            Ok(found) if !found.is_dir() => Err(BlobError::Folder {
                path: dir.to_owned(),
                source: ErrorKind::NotADirectory.into(),
            }),
            _ => {
                Ok(Self { dir: dir.to_owned(), store: OnceLock::new(), durable: Mutex::default() })
            }
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn put(&self, id: &BlobId, bytes: &[u8]) -> Result<(), BlobError> {
        let there = match regular(&self.file(id)) {
            Ok(found) => found.len() == bytes.len() as u64,
            Err(_) => false, // writing it will say what is wrong, if something is
        };
        if there {
            if self.durable().contains(id) {
                return Ok(());
            }
            self.sync(id).map_err(file("stored", id))?;
        } else {
            self.write(id, bytes)?;
        }
        let mut durable = self.durable();
        if durable.len() >= REMEMBERED {
            durable.clear();
        }
        durable.insert(*id);
        Ok(())
    }

    /// Writes aside, syncs, moves into place, syncs the folder. What lies there with another size was damaged from
    /// outside and is replaced.
    fn write(&self, id: &BlobId, bytes: &[u8]) -> Result<(), BlobError> {
        let options = PutOptions { mode: PutMode::Overwrite, ..PutOptions::default() };
        let path = id.below(&object_store::path::Path::default());
        let payload = PutPayload::from(bytes.to_vec());
        block_on(self.store()?.put_opts(&path, payload, options))
            .map_err(|source| BlobError::Store { id: *id, what: "stored", source })?;
        Ok(())
    }

    fn store(&self) -> Result<&LocalFileSystem, BlobError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let folder = |source| BlobError::Folder { path: self.dir.clone(), source };
        create_durably(&self.dir).map_err(folder)?;
        let store = LocalFileSystem::new_with_prefix(&self.dir)
            .map_err(|e| folder(std::io::Error::other(e)))?
            .with_fsync(true);
        Ok(self.store.get_or_init(|| store))
    }

    /// Makes a found body as durable as a written one.
    fn sync(&self, id: &BlobId) -> std::io::Result<()> {
        let file = self.file(id);
        File::open(&file)?.sync_all()?;
        match file.parent() {
            Some(shard) => sync_dir(shard),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let mut bytes = Vec::new();
        open_regular(&self.file(id))
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|e| missing_or(e, id))?;
        check(id, BlobId::of(&bytes), bytes.len() as u64)?;
        Ok(bytes)
    }

    pub(super) fn get_range(&self, id: &BlobId, range: Range<u64>) -> Result<Vec<u8>, BlobError> {
        let mut file = open_regular(&self.file(id)).map_err(|e| missing_or(e, id))?;
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0_u8; 1 << 16];
        let mut kept = Vec::new();
        let mut at = 0_u64;
        loop {
            let read = match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(missing_or(e, id)),
            };
            let bytes = chunk.get(..read).unwrap_or_default();
            hasher.update(bytes);
            let inside = range.start.saturating_sub(at)..range.end.saturating_sub(at);
            kept.extend(super::cut(bytes, &inside));
            at += read as u64;
        }
        check(id, BlobId::from_hash(*hasher.finalize().as_bytes()), at)?;
        Ok(kept)
    }

    pub(super) fn size(&self, id: &BlobId) -> Result<u64, BlobError> {
        regular(&self.file(id)).map(|found| found.len()).map_err(|e| missing_or(e, id))
    }

    fn file(&self, id: &BlobId) -> PathBuf {
        self.dir.join(id.path())
    }

    fn durable(&self) -> std::sync::MutexGuard<'_, HashSet<BlobId>> {
        self.durable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(id: &BlobId, found: BlobId, bytes: u64) -> Result<(), BlobError> {
    if found == *id {
        return Ok(());
    }
    Err(BlobError::Corrupt { id: *id, found, bytes })
}

fn file(what: &'static str, id: &BlobId) -> impl FnOnce(std::io::Error) -> BlobError {
    let id = *id;
    move |source| BlobError::File { id, what, source }
}

fn missing_or(source: std::io::Error, id: &BlobId) -> BlobError {
    match source.kind() {
        ErrorKind::NotFound => BlobError::NotFound { id: *id },
        _ => file("read", id)(source),
    }
}

/// Creates a folder and syncs every folder that got a new entry for it.
fn create_durably(dir: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> =
        dir.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    std::fs::create_dir_all(dir)?;
    for created in missing {
        match created.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_dir(Path::new("."))?,
            Some(parent) => sync_dir(parent)?,
            None => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
fn sync_dir(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Folders cannot be opened for syncing here; their entries are the file system's concern.
#[cfg(not(unix))]
fn sync_dir(_: &Path) -> std::io::Result<()> {
    Ok(())
}
