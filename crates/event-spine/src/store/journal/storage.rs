//! Owns checking every byte of a journal: headers, frames, padding, numbers, and what damaged places held.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::path::Path;

use super::disk::DiskFile;
use super::enter::{merged, refuse_newer};
use super::folder;
use super::frame::{FRAME_HEADER, FRAME_MAGIC, SEGMENT_HEADER};
use super::scan::{ScanEnd, scan};
use super::segment::{segment_name, segment_path};
use super::survey::{JournalError, SegmentFile, survey};
use super::toc::{self, Table};
use crate::codec;
use crate::error::{ReadError, reason};
use crate::files::open_regular;
use crate::id::SessionId;
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
/// The folder cannot be listed, or a newer version wrote a part of it. What cannot be read is a finding.
pub(super) fn verify(dir: &Path) -> Result<Vec<StorageFinding>, ReadError> {
    let found = survey(dir)?;
    let journal = dir.join("journal");
    let mut check = Check {
        journal: &journal,
        is_written: folder::is_locked(dir),
        heads: HashMap::new(),
        findings: Vec::new(),
    };
    let growing = found.growing.as_ref().map(|(number, file)| (*number, file));
    let mut holes = found.missing.iter().peekable();
    for (number, file) in found.sealed.iter().map(|(&number, file)| (number, file)).chain(growing) {
        while let Some(&hole) = holes.next_if(|hole| hole.0 <= number) {
            check.missing(hole, &found.sealed);
        }
        let last = growing.is_some_and(|(growing, _)| growing == number);
        check.segment(number, file, last)?;
    }
    for &hole in holes {
        check.missing(hole, &found.sealed);
    }
    Ok(check.findings)
}

struct Check<'j> {
    journal: &'j Path,
    /// True while a process writes the journal.
    is_written: bool,
    /// The last sequence of each session so far.
    heads: HashMap<SessionId, u64>,
    findings: Vec<StorageFinding>,
}

impl Check<'_> {
    fn find(&mut self, number: u64, offset: u64, what: String, held: Vec<HeldThere>) {
        let file = segment_name(number);
        self.findings.push(StorageFinding { file, offset, what, unfinished: false, held });
    }

    /// Numbers without a segment. Their tables of contents may tell what was in them.
    fn missing(&mut self, (from, to): (u64, u64), known: &BTreeMap<u64, SegmentFile>) {
        let what = if from == to {
            format!("segment {from} is missing")
        } else {
            format!("segments {from} to {to} are missing")
        };
        let tables =
            known.range(from..=to).filter_map(|(&number, _)| toc::read(self.journal, number));
        let held: Vec<_> = tables.flat_map(|table| self.held_by(&table)).take(NAMED).collect();
        let what = if held.is_empty() {
            format!("{what}; no table of contents tells what was in it")
        } else {
            format!("{what}: {}", names(&held))
        };
        self.find(from, 0, what, held);
    }

    /// What a segment held by its table of contents.
    fn held_by(&self, table: &Table) -> Vec<HeldThere> {
        table.sessions().map(|(session_id, first, _)| HeldThere { session_id, first }).collect()
    }

    fn segment(
        &mut self,
        number: u64,
        state: &SegmentFile,
        last: bool,
    ) -> Result<(), JournalError> {
        let table = toc::read(self.journal, number);
        let told = |table: Option<&Table>| table.map_or_else(Vec::new, |t| self.held_by(t));
        match state {
            SegmentFile::Missing => return Ok(()), // named with its number
            SegmentFile::Unreadable(source) => {
                let (what, held) = (reason(source), told(table.as_ref()));
                self.find(number, 0, format!("the segment cannot be read: {what}"), held);
                return Ok(());
            }
            SegmentFile::Foreign(other) => {
                let path = segment_path(self.journal, number);
                let held = open_regular(&path)
                    .and_then(|file| held(&file, SEGMENT_HEADER as u64, DiskFile::size(&file)?))
                    .map_err(JournalError::io("read", &path))?;
                let what = format!(
                    "the header says that it is segment {other}: nothing of it is read: {}",
                    names(&held)
                );
                self.find(number, 0, what, held);
                return Ok(());
            }
            SegmentFile::Whole => {}
            SegmentFile::Short | SegmentFile::BadHeader => {
                self.find(number, 0, "the header of the segment is damaged".into(), Vec::new());
            }
        }
        let walked = self.walk(number, last, table.as_ref());
        match walked {
            Err(JournalError::Io { source, .. }) => {
                let what = format!("the segment cannot be read: {}", reason(&source));
                self.find(number, 0, what, Vec::new());
                Ok(())
            }
            other => other,
        }
    }

    /// Checks the frames of a segment and what lies between them.
    fn walk(&mut self, number: u64, last: bool, table: Option<&Table>) -> Result<(), JournalError> {
        let path = segment_path(self.journal, number);
        let failed = || JournalError::io("read", &path);
        let file = open_regular(&path).map_err(failed())?;
        let size = DiskFile::size(&file).map_err(failed())?;
        if last && size <= SEGMENT_HEADER as u64 {
            // A crash may leave the beginning of a segment; the next writer makes it whole.
            if let Some(finding) =
                self.findings.last_mut().filter(|f| f.file == segment_name(number))
            {
                finding.what = "an unfinished beginning of a segment".into();
                finding.unfinished = true;
            }
            return Ok(());
        }
        let mut newest = 0;
        let mut empty = Vec::new();
        let mut again: Vec<(u64, u64, Vec<Again>)> = Vec::new();
        let heads = &mut self.heads;
        let found = scan(&file, SEGMENT_HEADER as u64, size, |offset, frame| {
            newest = newest.max(frame.version);
            if frame.version != codec::BATCH_VERSION {
                return;
            }
            let end = offset + frame.size() as u64;
            let Some((session_id, first, to)) = codec::place_of(frame.body) else {
                empty.push((offset, end));
                return;
            };
            match heads.get_mut(&session_id) {
                Some(head) if first <= *head => {
                    note_again(&mut again, (offset, end), session_id, first, to)
                }
                Some(head) => *head = to,
                None => {
                    heads.insert(session_id, to);
                }
            }
        })
        .map_err(failed())?;
        refuse_newer(&path, newest)?;
        self.damaged(number, &file, &found, last).map_err(failed())?;
        for (from, to) in merged(empty.into_iter()) {
            self.find(
                number,
                from,
                format!("{} bytes hold no batch of events", to - from),
                Vec::new(),
            );
        }
        for (from, _, which) in again {
            self.find(number, from, come_again(&which), Vec::new());
        }
        if let Some(table) = table.filter(|table| table.end() > size) {
            self.cut_short(number, size, table);
        }
        Ok(())
    }

    /// Names the places of a segment that are no frames.
    fn damaged(&mut self, number: u64, file: &File, found: &ScanEnd, last: bool) -> io::Result<()> {
        // While a process writes, the end of the last segment may be a write that is under way.
        let cut = if last && self.is_written { found.cut() } else { u64::MAX };
        for &(from, to) in found.damage.iter().filter(|&&(from, _)| from < cut) {
            let bytes = to - from;
            if last && from >= found.cut() {
                let what = format!(
                    "{bytes} bytes of an unfinished write that nobody was told is stored; the next writer clears them away"
                );
                self.find(number, from, what, Vec::new());
                if let Some(finding) = self.findings.last_mut() {
                    finding.unfinished = true;
                }
                continue;
            }
            let held = held(file, from, to)?;
            let what = if held.is_empty() {
                format!("{bytes} bytes are damaged; no session can be read in them")
            } else {
                format!("{bytes} bytes are damaged: {}", names(&held))
            };
            self.find(number, from, what, held);
        }
        Ok(())
    }

    /// The table of contents says that the segment was longer.
    fn cut_short(&mut self, number: u64, size: u64, table: &Table) {
        let lost: Vec<_> = table
            .sessions()
            .filter_map(|(session_id, first, last)| {
                let head = self.heads.get(&session_id).copied().unwrap_or(0);
                (head < last).then(|| HeldThere { session_id, first: first.max(head + 1) })
            })
            .collect();
        let bytes = table.end() - size;
        let what = format!("the segment is cut short: {bytes} bytes are missing: {}", names(&lost));
        self.find(number, size, what, lost);
    }
}

/// Events that come a second time.
struct Again {
    session_id: SessionId,
    first: u64,
    last: u64,
}

/// Notes a batch that comes a second time; batches that follow one another are one place.
fn note_again(
    places: &mut Vec<(u64, u64, Vec<Again>)>,
    (from, to): (u64, u64),
    session_id: SessionId,
    first: u64,
    last: u64,
) {
    if places.last().is_none_or(|(_, end, _)| *end != from) {
        places.push((from, from, Vec::new()));
    }
    let Some((_, end, which)) = places.last_mut() else {
        return;
    };
    *end = to;
    match which.iter_mut().find(|again| again.session_id == session_id && again.last + 1 == first) {
        Some(again) => again.last = last,
        None => which.push(Again { session_id, first, last }),
    }
}

fn come_again(which: &[Again]) -> String {
    let some: Vec<_> = which
        .iter()
        .take(3)
        .map(|again| {
            format!("events {} to {} of session {}", again.first, again.last, again.session_id)
        })
        .collect();
    let more = which.len().saturating_sub(3);
    let more = if more == 0 { String::new() } else { format!(" and {more} more stretches") };
    format!("{}{more} come a second time; the first ones count", some.join(", "))
}

/// Whose frames a damaged place held, as far as their beginnings can still be read. Their checksums do not hold, so this
/// is what they seem to have been.
fn held(file: &File, from: u64, to: u64) -> io::Result<Vec<HeldThere>> {
    let searched = usize::try_from(to.saturating_sub(from).min(SEARCHED)).unwrap_or(usize::MAX);
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
    if names.is_empty() {
        names.push("no session can be read in it".into());
    }
    names.join(", ")
}
