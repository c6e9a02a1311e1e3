//! Owns checking every byte of a journal: headers, frames, padding, and what damaged places held.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::disk::DiskFile;
use super::folder;
use super::frame::{FRAME_HEADER, FRAME_MAGIC, SEGMENT_HEADER, is_segment_header};
use super::scan::scan;
use super::segment::{segment_name, segment_numbers, segment_path};
use crate::codec;
use crate::error::ReadError;
use crate::store::{HeldThere, StorageFinding};

/// So much of a damaged place is searched for the beginnings of frames.
const SEARCHED: u64 = 64 * 1024 * 1024;

/// So much of a frame is read to learn whose it was.
const BEGINNING: usize = 2048;

/// So many frames of one damaged place are named.
const NAMED: usize = 100;

/// Checks every byte of the journal in a data folder. One finding a place.
///
/// # Errors
/// A file cannot be read.
pub(super) fn verify(dir: &Path) -> Result<Vec<StorageFinding>, ReadError> {
    let journal = dir.join("journal");
    let numbers = segment_numbers(&journal).map_err(ReadError::io("list", &journal))?;
    let mut findings = Vec::new();
    let mut expected = numbers.first().copied().unwrap_or(1);
    for &number in &numbers {
        let file = segment_name(number);
        let finding = |what: String| StorageFinding {
            file: file.clone(),
            offset: 0,
            what,
            unfinished: false,
            held: Vec::new(),
        };
        if number != expected {
            findings.push(finding(format!("segment {expected} is missing before it")));
        }
        expected = number + 1;
        let path = segment_path(&journal, number);
        let last = numbers.last() == Some(&number);
        segment(&path, number, last, folder::is_locked(dir), finding, &mut findings)
            .map_err(ReadError::io("read", &path))?;
    }
    Ok(findings)
}

fn segment(
    path: &Path,
    number: u64,
    last: bool,
    is_written: bool,
    finding: impl Fn(String) -> StorageFinding,
    findings: &mut Vec<StorageFinding>,
) -> io::Result<()> {
    let file = File::open(path)?;
    let size = fs::metadata(path)?.len();
    let mut header = [0; SEGMENT_HEADER];
    let header_read = DiskFile::read_at(&file, &mut header, 0).is_ok();
    if !header_read || !is_segment_header(&header, number) {
        findings.push(finding("the header of the segment is damaged".into()));
    }
    let found = scan(&file, SEGMENT_HEADER as u64, size, |_, _| {})?;
    // While a process writes, the end of the last segment may be a write that is under way.
    let cut = if last && is_written { found.cut() } else { u64::MAX };
    for &(from, to) in found.damage.iter().filter(|&&(from, _)| from < cut) {
        let size = to - from;
        let unfinished = last && from >= found.cut();
        let held = if unfinished { Vec::new() } else { held(&file, from, to)? };
        let what = if unfinished {
            format!("{size} bytes of an unfinished write; the next writer sets them aside")
        } else if held.is_empty() {
            format!("{size} bytes are damaged; no session can be read in them")
        } else {
            format!("{size} bytes are damaged: {}", names(&held))
        };
        findings.push(StorageFinding { offset: from, unfinished, held, ..finding(what) });
    }
    Ok(())
}

/// Whose frames a damaged place held, as far as their beginnings can still be read. Their checksums do not hold, so this
/// is what they seem to have been.
fn held(file: &File, from: u64, to: u64) -> io::Result<Vec<HeldThere>> {
    let searched = usize::try_from((to - from).min(SEARCHED)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; searched];
    DiskFile::read_at(file, &mut bytes, from)?;
    let mut held: Vec<HeldThere> = Vec::new();
    // The first frame begins with the place, whatever became of its letters.
    let begins = std::iter::once(0).chain(memchr::memmem::find_iter(&bytes, FRAME_MAGIC));
    for begin in begins {
        let body = bytes.get(begin + FRAME_HEADER..).unwrap_or_default();
        let Some((session_id, first)) = codec::peek(body.get(..BEGINNING).unwrap_or(body)) else {
            continue;
        };
        let there = HeldThere { session_id, first };
        if !held.contains(&there) {
            held.push(there);
        }
        if held.len() >= NAMED {
            break;
        }
    }
    Ok(held)
}

fn names(held: &[HeldThere]) -> String {
    let mut names: Vec<String> = held
        .iter()
        .take(3)
        .map(|there| format!("{} from event {} on", there.session_id, there.first))
        .collect();
    if held.len() > 3 {
        names.push(format!("{} more", held.len() - 3));
    }
    names.join(", ")
}
