//! Owns the files of the journal: their names and their numbers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The file of a segment.
pub(super) fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:010}.seg"))
}

/// The table of contents beside a sealed segment.
pub(super) fn toc_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:010}.toc"))
}

/// Where the bytes go that recovery cuts off.
pub(super) fn torn_path(dir: &Path, number: u64, offset: u64) -> PathBuf {
    dir.join(format!("{number:010}-{offset}.torn"))
}

/// File name of a segment, for messages.
pub(super) fn segment_name(number: u64) -> String {
    format!("journal/{number:010}.seg")
}

/// Numbers of all files of a kind (`seg`, `toc`). A folder that is not there has none.
pub(super) fn file_numbers(dir: &Path, extension: &str) -> io::Result<BTreeSet<u64>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(e) => return Err(e),
    };
    let mut numbers = BTreeSet::new();
    for entry in entries {
        let name = entry?.file_name();
        let number: Option<u64> = name
            .to_str()
            .and_then(|name| name.strip_suffix(extension))
            .and_then(|name| name.strip_suffix('.'))
            .and_then(|digits| digits.parse().ok());
        // No other spelling: one number would be two files.
        numbers.extend(number.filter(|n| name == *format!("{n:010}.{extension}")));
    }
    Ok(numbers)
}
