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
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::frame::JOURNAL_VERSION;
use super::segment::file_numbers;
use super::survey::{Survey, survey};
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
    /// What there was of the journal before anything was made.
    pub(super) survey: Survey,
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
    let survey = survey(dir)?;
    fs::create_dir_all(&journal).map_err(OpenError::io("create", &journal))?;
    let mask_key = mask_key(dir, entropy)?;
    Ok(LockedFolder { journal, mask_key, survey, lock })
}

/// Checks that a folder is a data folder of a format that is understood here. Changes nothing.
///
/// # Errors
/// There is none, it is something else, or it is of a newer format.
pub(super) fn check_format(dir: &Path) -> Result<(), OpenError> {
    let not_a_log =
        |found: &str| OpenError::NotALog { dir: dir.to_owned(), found: found.to_owned() };
    if dir.is_file() {
        return Err(not_a_log("it is a file"));
    }
    let path = dir.join(FORMAT);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(without_format(dir)?),
        Err(e) => return Err(OpenError::io("read", path)(e)),
    };
    let said = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_prefix("spine "));
    let Some(found) = said.and_then(|number| number.trim().parse::<u32>().ok()) else {
        return Err(if has_segments(dir) {
            OpenError::FormatLost { dir: dir.to_owned(), what: "says something else" }
        } else {
            not_a_log("its FORMAT file says something else")
        });
    };
    if found > JOURNAL_VERSION {
        return Err(OpenError::NewerFormat {
            dir: dir.to_owned(),
            found,
            supported: JOURNAL_VERSION,
        });
    }
    Ok(())
}

/// What a folder without a format mark is.
fn without_format(dir: &Path) -> Result<OpenError, OpenError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Ok(OpenError::NotFound { dir: dir.to_owned() });
        }
        Err(e) => return Err(OpenError::io("list", dir)(e)),
    };
    if has_segments(dir) {
        return Ok(OpenError::FormatLost { dir: dir.to_owned(), what: "is missing" });
    }
    let foreign =
        entries.flatten().find(|entry| !BEGINNINGS.iter().any(|name| entry.file_name() == *name));
    Ok(match foreign {
        Some(entry) => OpenError::NotALog {
            dir: dir.to_owned(),
            found: format!("it holds «{}»", entry.file_name().to_string_lossy()),
        },
        None => OpenError::NotFound { dir: dir.to_owned() },
    })
}

/// True when there is a journal, whatever the format mark says.
pub(super) fn has_segments(dir: &Path) -> bool {
    file_numbers(&dir.join("journal"), "seg").is_ok_and(|numbers| !numbers.is_empty())
}

/// True when something is there that is made only once the journal has its first segment.
pub(super) fn had_segments(dir: &Path) -> bool {
    let there = |name: &str| dir.join(name).exists();
    there("index") || there("blobs") || (there(MASK_KEY) && !there("journal"))
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
    Ok(file)
}

impl LockedFolder {
    /// Writes down who holds the lock. A courtesy: a full disk does not prevent it from being held.
    pub(super) fn name_holder(&mut self) {
        let file = &mut self.lock;
        let _ = file
            .rewind()
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .and_then(|()| file.stream_position())
            .and_then(|end| file.set_len(end)); // whoever is refused is told «another process» then
    }
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
