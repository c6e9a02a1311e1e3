//! Owns the files of the journal: their names, their order, and a segment's own header.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::disk::DiskFile;
use super::frame::{SEGMENT_HEADER, is_segment_header};

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

/// Numbers of all segments, in order. A folder that is not there has none.
pub(super) fn segment_numbers(dir: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|name| name.strip_suffix(".seg")).and_then(|n| n.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// True when the file begins with the header of segment `number`.
pub(super) fn has_header(file: &dyn DiskFile, size: u64, number: u64) -> io::Result<bool> {
    if size < SEGMENT_HEADER as u64 {
        return Ok(false);
    }
    let mut header = [0; SEGMENT_HEADER];
    file.read_at(&mut header, 0)?;
    Ok(is_segment_header(&header, number))
}
