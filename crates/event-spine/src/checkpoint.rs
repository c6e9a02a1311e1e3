//! Owns the index folder: projection checkpoints in sled. A cache; nothing in it is the truth, all of it may be deleted.
//!
//! The only file that names sled. What sled 0.34 does on a bad day stays in here: a snapshot half-written by a kill during
//! open blocks every later open, so such files go first; an index that does not open, or panics while opening, is
//! deleted and begun anew, without asking. Nothing here is ever synced, since nothing here is ever missed.

use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::id::SessionId;

/// Memory that sled may use for its cache.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Values are cut into parts of this size: above 128 KiB sled writes a file of its own for each.
const PART_BYTES: usize = 64 * 1024;
/// Longest checkpoint that is kept.
const MAX_PARTS: usize = 4096;
/// Bytes of the key before the part number: half a hash of session and name.
const KEY: usize = 16;

/// Saved folds, by session and name of the projection.
#[derive(Clone)]
pub struct Checkpoints(Arc<Backend>);

enum Backend {
    Memory(Mutex<HashMap<[u8; KEY], Vec<u8>>>),
    Sled(sled::Db),
    /// The folder cannot be used (a full disk, no permission): every fold begins at the first event.
    None,
}

impl Checkpoints {
    /// Opens the index in a folder, and makes it anew when it cannot be opened.
    #[must_use]
    pub fn open(dir: &Path) -> Self {
        let opened = open_patiently(dir).or_else(|| {
            // The folder holds nothing but this cache, so that losing it loses nothing.
            fs::remove_dir_all(dir).ok()?;
            open_patiently(dir)
        });
        Self(Arc::new(opened.map_or(Backend::None, Backend::Sled)))
    }

    /// Checkpoints that are gone when the last clone is.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Arc::new(Backend::Memory(Mutex::default())))
    }

    /// The saved fold, if there is one that is whole.
    #[must_use]
    pub fn get(&self, session: &SessionId, name: &str) -> Option<Vec<u8>> {
        let key = key(session, name);
        match &*self.0 {
            Backend::None => None,
            Backend::Memory(map) => {
                map.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
            }
            Backend::Sled(db) => get_parts(db, &key),
        }
    }

    /// Saves a fold in place of the one before; `false` when it could not be saved, which costs time and nothing else.
    pub fn put(&self, session: &SessionId, name: &str, bytes: &[u8]) -> bool {
        let key = key(session, name);
        match &*self.0 {
            Backend::None => false,
            Backend::Memory(map) => {
                map.lock().unwrap_or_else(PoisonError::into_inner).insert(key, bytes.to_vec());
                true
            }
            Backend::Sled(db) => put_parts(db, &key, bytes).is_some(),
        }
    }

    /// Forgets a saved fold.
    pub fn remove(&self, session: &SessionId, name: &str) {
        let key = key(session, name);
        match &*self.0 {
            Backend::None => {}
            Backend::Memory(map) => {
                map.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            }
            Backend::Sled(db) => {
                let _ = db.remove(part_key(&key, 0)); // without its head the rest is not read; the next put takes its place
            }
        }
    }
}

/// Opens sled. Its threads may hold the lock of an instance that was just dropped, so an I/O error is tried again.
fn open_patiently(dir: &Path) -> Option<sled::Db> {
    for _ in 0..50 {
        remove_half_written(dir)?;
        let config =
            sled::Config::new().path(dir).cache_capacity(CACHE_BYTES).flush_every_ms(Some(1000));
        // sled can panic on a damaged file.
        match catch_unwind(AssertUnwindSafe(|| config.open())) {
            Ok(Ok(db)) => return Some(db),
            Ok(Err(sled::Error::Io(_))) => std::thread::sleep(Duration::from_millis(10)),
            Ok(Err(_)) | Err(_) => return None,
        }
    }
    None
}

/// Removes snapshots that a kill during an earlier open left half-written; sled takes them for whole ones.
fn remove_half_written(dir: &Path) -> Option<()> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().ends_with(".generating") {
            fs::remove_file(entry.path()).ok()?;
        }
    }
    Some(())
}

/// The first part begins with the length and the hash of the whole, so that parts of two puts are never mixed.
fn get_parts(db: &sled::Db, key: &[u8; KEY]) -> Option<Vec<u8>> {
    let head = db.get(part_key(key, 0)).ok()??;
    let (length, rest) = head.split_first_chunk::<8>()?;
    let (hash, first) = rest.split_first_chunk::<32>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let mut bytes = Vec::with_capacity(length.min(MAX_PARTS * PART_BYTES));
    bytes.extend_from_slice(first);
    let mut part = 1;
    while bytes.len() < length {
        bytes.extend_from_slice(&db.get(part_key(key, part)).ok()??);
        part += 1;
    }
    (blake3::hash(&bytes).as_bytes() == hash).then_some(bytes)
}

fn put_parts(db: &sled::Db, key: &[u8; KEY], bytes: &[u8]) -> Option<()> {
    if bytes.len() > MAX_PARTS * PART_BYTES {
        return None;
    }
    let mut parts = bytes.chunks(PART_BYTES);
    let mut head = Vec::with_capacity(40 + PART_BYTES.min(bytes.len()));
    head.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    head.extend_from_slice(blake3::hash(bytes).as_bytes());
    head.extend_from_slice(parts.next().unwrap_or_default());
    let mut batch = sled::Batch::default();
    batch.insert(part_key(key, 0).as_slice(), head);
    for (at, part) in parts.enumerate() {
        batch.insert(part_key(key, u32::try_from(at).ok()? + 1).as_slice(), part);
    }
    db.apply_batch(batch).ok()
}

fn key(session: &SessionId, name: &str) -> [u8; KEY] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(session.as_str().as_bytes()).update(&[0]).update(name.as_bytes());
    let mut key = [0; KEY];
    hasher.finalize_xof().fill(&mut key);
    key
}

fn part_key(key: &[u8; KEY], part: u32) -> Vec<u8> {
    key.iter().copied().chain(part.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("sess_1").unwrap()
    }

    #[test]
    fn long_and_short_checkpoints_come_back_whole_and_last_put_wins() {
        let dir = tempfile::tempdir().unwrap();
        for checkpoints in [Checkpoints::open(&dir.path().join("index")), Checkpoints::in_memory()]
        {
            for length in [0, 1, PART_BYTES, PART_BYTES * 3 + 5, 7] {
                let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
                assert!(checkpoints.put(&session(), "view", &bytes));
                assert_eq!(checkpoints.get(&session(), "view"), Some(bytes));
            }
            assert_eq!(checkpoints.get(&session(), "other"), None);
            checkpoints.remove(&session(), "view");
            assert_eq!(checkpoints.get(&session(), "view"), None);
        }
    }

    /// A broken, half-written or missing index is begun anew without a word.
    // verifies: H04
    #[test]
    fn an_index_that_is_broken_in_any_way_opens_empty_or_whole() {
        let dir = tempfile::tempdir().unwrap();
        let index = dir.path().join("index");
        let fill = || {
            let checkpoints = Checkpoints::open(&index);
            assert!(checkpoints.put(&session(), "view", b"fold"));
        };
        fill();
        assert_eq!(
            Checkpoints::open(&index).get(&session(), "view").as_deref(),
            Some(&b"fold"[..])
        );
        let damages: [&dyn Fn(); 4] = [
            &|| fs::write(index.join("snap.00000000000000AA.generating"), b"half").unwrap(),
            &|| fs::write(index.join("db"), vec![0xA5; 4096]).unwrap(),
            &|| fs::write(index.join("conf"), b"").unwrap(),
            &|| fs::remove_dir_all(&index).unwrap(),
        ];
        for damage in damages {
            damage();
            let checkpoints = Checkpoints::open(&index);
            assert!(checkpoints.put(&session(), "view", b"again"));
            assert_eq!(checkpoints.get(&session(), "view").as_deref(), Some(&b"again"[..]));
            drop(checkpoints);
        }
    }
}
