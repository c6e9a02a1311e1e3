//! Owns opening files that others may have put there: only regular ones, so that a pipe or a device never makes us wait.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// It cannot be opened, or it is a folder, a pipe or a device.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    regular(path)?;
    File::open(path)
}

/// What is known of a regular file without reading it.
///
/// # Errors
/// There is none, or it is a folder, a pipe or a device.
pub(crate) fn regular(path: &Path) -> io::Result<Metadata> {
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(found)
}
