//! Owns the table of contents of a sealed segment: which session has which frames in it. A cache: made when a segment is
//! sealed, read instead of the segment, made again when it is missing or does not hold.
//!
//! It lies in a file beside the segment and not in sled, since sled locks its file and writes when it is opened, and
//! reading a log must need no lock and change no file.
//!
//! ```text
//! toc = "SPINETOC" version:u32 crc32c:u32 length:u64 head sections      head = postcard, crc over head
//! ```
//!
//! It is written only when the next segment is on disk, so that it tells of that one too. Its version rises with the
//! version of frames: what it stands for was not walked when the log is opened.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::index::{FramePlace, Index, Known, Places, Run};
use super::segment::toc_path;
use crate::id::SessionId;
use crate::integrity::ChainHash;
use crate::store::{ForkPoint, Head};
use crate::time::RecordedAt;

const MAGIC: &[u8; 8] = b"SPINETOC";
const VERSION: u32 = 1;
const HEADER: usize = 24;

/// A stretch of a table of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Section {
    /// Offset in the file.
    offset: u64,
    bytes: u32,
    crc: u32,
}

#[derive(Serialize, Deserialize)]
struct TocHead {
    segment: u64,
    end: u64,
    damage: Vec<(u64, u64)>,
    sessions: Vec<TocSession>,
}

#[derive(Serialize, Deserialize)]
struct TocSession {
    session_id: String,
    head: (u64, [u8; 32]),
    first_recorded_at: i64,
    last_recorded_at: i64,
    parent: Option<(String, u64)>,
    activity: u64,
    first: u64,
    last: u64,
    bytes: u64,
    frames: Section,
    ids: Section,
}

/// A table of contents that is not on disk yet.
pub(super) struct Draft {
    number: u64,
    bytes: Vec<u8>,
    places: Vec<(SessionId, Places)>,
}

impl Draft {
    /// The table of contents of a segment that nothing was entered behind.
    ///
    /// # Errors
    /// It has no stored form.
    pub(super) fn of(number: u64, index: &Index) -> io::Result<Self> {
        let (sessions, sections) = sessions_of(number, index);
        let segment = index.segments.get(&number).cloned().unwrap_or_default();
        let mut head =
            TocHead { segment: number, end: segment.end, damage: segment.damage, sessions };
        let length = postcard_len(&head)?;
        // Section offsets are final only once the head's length is known, and that depends on the offsets: fix the
        // length generously and pad.
        let room = length + 10 * head.sessions.len() * 2;
        for session in &mut head.sessions {
            session.frames.offset += (HEADER + room) as u64;
            session.ids.offset += (HEADER + room) as u64;
        }
        let mut text = postcard::to_stdvec(&head).map_err(invalid)?;
        text.resize(room, 0);
        let mut bytes = Vec::with_capacity(HEADER + room + sections.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&text).to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&text);
        bytes.extend_from_slice(&sections);
        let places = head.sessions.into_iter().filter_map(|session| {
            let id = SessionId::parse(session.session_id).ok()?;
            Some((id, Places::Toc { frames: session.frames, ids: session.ids }))
        });
        Ok(Self { number, bytes, places: places.collect() })
    }

    /// Writes it, and lets the index forget the details.
    ///
    /// # Errors
    /// A file cannot be written. The index is unchanged then, and the next open makes the table again.
    pub(super) fn save(self, dir: &Path, index: &mut Index) -> io::Result<()> {
        let path = toc_path(dir, self.number);
        let temporary = path.with_extension("toc.tmp");
        let mut file = File::create(&temporary)?;
        file.write_all(&self.bytes)?;
        file.sync_data()?;
        fs::rename(&temporary, &path)?;
        for (id, places) in self.places {
            let runs = index.sessions.get_mut(&id).map(|known| &mut known.runs);
            let run = runs.and_then(|runs| runs.iter_mut().rfind(|r| r.segment == self.number));
            if let Some(run) = run {
                run.places = places;
            }
        }
        Ok(())
    }
}

/// What the index knows of the sessions in a segment, and the sections that hold their details.
fn sessions_of(number: u64, index: &Index) -> (Vec<TocSession>, Vec<u8>) {
    let mut sections: Vec<u8> = Vec::new();
    let mut sessions = Vec::new();
    let mut all: Vec<_> = index.sessions.iter().collect();
    all.sort_unstable_by_key(|(_, known)| known.activity); // the same segment gives the same bytes
    for (session_id, known) in all {
        let Some(run) = known.runs.last().filter(|run| run.segment == number) else {
            continue;
        };
        let Places::Kept { frames, ids } = &run.places else {
            continue;
        };
        sessions.push(TocSession {
            session_id: session_id.to_string(),
            head: (known.head.sequence, known.head.chain.0),
            first_recorded_at: known.first_recorded_at.0,
            last_recorded_at: known.last_recorded_at.0,
            parent: known.parent.as_ref().map(|p| (p.session_id.to_string(), p.sequence)),
            activity: known.activity,
            first: run.first,
            last: run.last,
            bytes: run.bytes,
            frames: push_frames(&mut sections, frames),
            ids: push_ids(&mut sections, ids),
        });
    }
    (sessions, sections)
}

/// A table of contents whose head holds.
pub(super) struct Table(TocHead);

/// The table of contents of a segment, if there is one whose head holds.
pub(super) fn read(dir: &Path, number: u64) -> Option<Table> {
    read_head(&toc_path(dir, number)).ok().filter(|head| head.segment == number).map(Table)
}

impl Table {
    /// Where the segment ends.
    pub(super) fn end(&self) -> u64 {
        self.0.end
    }

    /// The sessions with the first and last sequence of each in the segment.
    pub(super) fn sessions(&self) -> impl Iterator<Item = (SessionId, u64, u64)> + '_ {
        let parse = |session: &TocSession| {
            Some((SessionId::parse(session.session_id.as_str()).ok()?, session.first, session.last))
        };
        self.0.sessions.iter().filter_map(parse)
    }

    /// True when everything in the segment comes behind what the index has already.
    pub(super) fn goes_on_from(&self, index: &Index) -> bool {
        self.sessions().count() == self.0.sessions.len()
            && self.sessions().all(|(id, first, last)| {
                let head = index.sessions.get(&id).map_or(0, |known| known.head.sequence);
                first > head && last >= first
            })
    }

    /// Enters what it says.
    pub(super) fn adopt(self, index: &mut Index) {
        let number = self.0.segment;
        for session in self.0.sessions {
            let Ok(session_id) = SessionId::parse(session.session_id) else {
                continue;
            }; // asked before
            let parent = session.parent.and_then(|(id, sequence)| {
                Some(ForkPoint { session_id: SessionId::parse(id).ok()?, sequence })
            });
            index.adopt(
                session_id,
                Known {
                    head: Head { sequence: session.head.0, chain: ChainHash(session.head.1) },
                    first_recorded_at: RecordedAt(session.first_recorded_at),
                    last_recorded_at: RecordedAt(session.last_recorded_at),
                    parent,
                    activity: session.activity,
                    runs: vec![Run {
                        segment: number,
                        first: session.first,
                        last: session.last,
                        bytes: session.bytes,
                        places: Places::Toc { frames: session.frames, ids: session.ids },
                    }],
                },
            );
        }
        let segment = index.segments.entry(number).or_default();
        segment.end = self.0.end;
        segment.damage = self.0.damage;
    }
}

fn read_head(path: &Path) -> io::Result<TocHead> {
    let mut file = File::open(path)?;
    let mut header = [0_u8; HEADER];
    file.read_exact(&mut header)?;
    let word = |at: usize| {
        header.get(at..at + 4).and_then(|w| w.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    if !header.starts_with(MAGIC) || word(8) != VERSION {
        return Err(invalid("another format"));
    }
    let length = u64::from(word(16)) | (u64::from(word(20)) << 32);
    if length > file.metadata()?.len() {
        return Err(invalid("cut short"));
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(invalid)?];
    file.read_exact(&mut bytes)?;
    if crc32c::crc32c(&bytes) != word(12) {
        return Err(invalid("damaged"));
    }
    let (head, _padding) = postcard::take_from_bytes(&bytes).map_err(invalid)?;
    Ok(head)
}

/// The frames of a section.
///
/// # Errors
/// The file cannot be read, or the section does not hold.
pub(super) fn frames(dir: &Path, number: u64, section: &Section) -> io::Result<Vec<FramePlace>> {
    let bytes = read_section(dir, number, section)?;
    let packed: Vec<(u64, u32, u32, u32)> = postcard::from_bytes(&bytes).map_err(invalid)?;
    let mut next = 0;
    Ok(packed
        .into_iter()
        .map(|(skip, count, offset, size)| {
            let first = next + skip;
            next = first + u64::from(count);
            FramePlace { first, last: next - 1, offset, size }
        })
        .collect())
}

/// The id hashes of a section, with their sequences.
///
/// # Errors
/// The file cannot be read, or the section does not hold.
pub(super) fn ids(dir: &Path, number: u64, section: &Section) -> io::Result<Vec<(u64, u64)>> {
    let bytes = read_section(dir, number, section)?;
    let (pairs, _) = bytes.as_chunks::<16>();
    Ok(pairs
        .iter()
        .map(|pair| {
            let (hash, sequence) = pair.split_at(8);
            let number = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
            (number(hash), number(sequence))
        })
        .collect())
}

fn push_frames(sections: &mut Vec<u8>, frames: &[FramePlace]) -> Section {
    let mut next = 0;
    let packed: Vec<(u64, u32, u32, u32)> = frames
        .iter()
        .map(|place| {
            let skip = place.first - next;
            let count = u32::try_from(place.last - place.first + 1).unwrap_or(u32::MAX);
            next = place.last + 1;
            (skip, count, place.offset, place.size)
        })
        .collect();
    push(sections, &postcard::to_stdvec(&packed).unwrap_or_default())
}

fn push_ids(sections: &mut Vec<u8>, ids: &[(u64, u64)]) -> Section {
    let bytes: Vec<u8> = ids
        .iter()
        .flat_map(|(hash, sequence)| hash.to_le_bytes().into_iter().chain(sequence.to_le_bytes()))
        .collect();
    push(sections, &bytes)
}

fn push(sections: &mut Vec<u8>, bytes: &[u8]) -> Section {
    let section = Section {
        offset: sections.len() as u64,
        bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        crc: crc32c::crc32c(bytes),
    };
    sections.extend_from_slice(bytes);
    section
}

fn read_section(dir: &Path, number: u64, section: &Section) -> io::Result<Vec<u8>> {
    let file = File::open(toc_path(dir, number))?;
    if section.offset + u64::from(section.bytes) > file.metadata()?.len() {
        return Err(invalid("cut short"));
    }
    let mut bytes = vec![0; section.bytes as usize];
    file.read_exact_at(&mut bytes, section.offset)?;
    if crc32c::crc32c(&bytes) == section.crc { Ok(bytes) } else { Err(invalid("damaged")) }
}

fn postcard_len(head: &TocHead) -> io::Result<usize> {
    Ok(postcard::to_stdvec(head).map_err(invalid)?.len())
}

fn invalid(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
