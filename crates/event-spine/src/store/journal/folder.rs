//! Owns the data folder around the journal: its format mark, its lock, its mask key.
//!
//! ```text
//! <data>/FORMAT       "spine 1"
//! <data>/LOCK         held by the one process that writes; says its process id
//! <data>/mask.key     32 random bytes, for equal placeholders of equal secrets
//! <data>/journal/     segments, tables of contents, bytes that recovery cut off
//! <data>/index/       sled: projection checkpoints; may be deleted
//! <data>/blobs/       large bodies by BLAKE3
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::frame::JOURNAL_VERSION;
use crate::error::OpenError;
use crate::time::Entropy;

const FORMAT: &str = "FORMAT";
const LOCK: &str = "LOCK";
const MASK_KEY: &str = "mask.key";
/// What a folder may hold whose making was cut off before its format mark was there.
const BEGINNINGS: [&str; 2] = [LOCK, "FORMAT.tmp"];

/// A data folder that this process may write.
pub(super) struct LockedFolder {
    pub(super) journal: PathBuf,
    pub(super) mask_key: [u8; 32],
    /// Held until it is dropped.
    pub(super) lock: File,
}

/// Locks a data folder for writing; makes it when it is not there.
///
/// # Errors
/// It is in use, something else, of a newer format, or cannot be written.
pub(super) fn lock(dir: &Path, entropy: &dyn Entropy) -> Result<LockedFolder, OpenError> {
    let fresh = match check_format(dir) {
        Ok(()) => false,
        Err(OpenError::NotFound { .. }) => true,
        Err(other) => return Err(other),
    };
    fs::create_dir_all(dir).map_err(OpenError::io("create", dir))?;
    let lock = take_lock(dir)?;
    let journal = dir.join("journal");
    if fresh {
        let format = dir.join(FORMAT);
        write_new(&format, format!("spine {JOURNAL_VERSION}\n").as_bytes(), 0o644)?;
    }
    fs::create_dir_all(&journal).map_err(OpenError::io("create", &journal))?;
    let mask_key = mask_key(dir, entropy)?;
    Ok(LockedFolder { journal, mask_key, lock })
}

/// Checks that a folder is a data folder of a format that is understood here. Changes nothing.
///
/// # Errors
/// There is none, it is something else, or it is of a newer format.
pub(super) fn check_format(dir: &Path) -> Result<(), OpenError> {
    let not_found = || OpenError::NotFound { dir: dir.to_owned() };
    let not_a_log =
        |found: &str| OpenError::NotALog { dir: dir.to_owned(), found: found.to_owned() };
    if dir.is_file() {
        return Err(not_a_log("it is a file"));
    }
    let text = match fs::read_to_string(dir.join(FORMAT)) {
        Ok(text) => text,
        Err(_) => {
            let foreign = fs::read_dir(dir)
                .into_iter()
                .flatten()
                .flatten()
                .find(|entry| !BEGINNINGS.iter().any(|name| entry.file_name() == *name));
            return Err(match foreign {
                Some(entry) => {
                    not_a_log(&format!("it holds «{}»", entry.file_name().to_string_lossy()))
                }
                None => not_found(),
            });
        }
    };
    let found = text
        .strip_prefix("spine ")
        .and_then(|number| number.trim().parse::<u32>().ok())
        .ok_or_else(|| not_a_log("its FORMAT file says something else"))?;
    if found > JOURNAL_VERSION {
        return Err(OpenError::NewerFormat {
            dir: dir.to_owned(),
            found,
            supported: JOURNAL_VERSION,
        });
    }
    Ok(())
}

/// True while a process holds the folder for writing. Changes nothing.
pub(super) fn is_locked(dir: &Path) -> bool {
    File::open(dir.join(LOCK))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn take_lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(OpenError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = file.read_to_string(&mut text); // the number is a courtesy
            return Err(OpenError::InUse { dir: dir.to_owned(), pid: text.trim().parse().ok() });
        }
        Err(TryLockError::Error(e)) => return Err(OpenError::io("lock", &path)(e)),
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(OpenError::io("write", &path))?;
    Ok(file)
}

fn mask_key(dir: &Path, entropy: &dyn Entropy) -> Result<[u8; 32], OpenError> {
    let path = dir.join(MASK_KEY);
    if let Ok(bytes) = fs::read(&path)
        && let Ok(key) = <[u8; 32]>::try_from(bytes)
    {
        return Ok(key);
    }
    let mut key = [0_u8; 32];
    entropy.fill(&mut key);
    write_new(&path, &key, 0o600)?;
    Ok(key)
}

/// Writes a small file whole or not at all.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), OpenError> {
    let temporary = path.with_extension("tmp");
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(OpenError::io("write", path))
}
