//! Owns where recordings come from: a file, stdin, or the binary itself. Each can be read more than once, in pieces.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use event_spine::{Clock, RecordedAt, reason};

use providers::stream::Framing;

use crate::failure::Failure;
use crate::text::bytes as bytes_text;

/// So much of a stream is set aside to be read twice; a file may be larger.
const MOST_SPOOLED: u64 = 16 << 30;

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// A recording that is to be read.
pub(crate) struct Source {
    /// What people call it.
    pub(crate) name: String,
    /// The beginning of it, to recognise the format by.
    pub(crate) head: Vec<u8>,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// The time of facts to which it gives none.
    pub(crate) time: RecordedAt,
    content: Content,
}

enum Content {
    File(File),
    Bundled(&'static [u8]),
}

impl Source {
    /// A file, or stdin for `-`. Stdin is set aside in a temporary file first, since it is read twice.
    pub(crate) fn open(path: &Path, clock: &dyn Clock) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Self::stdin(clock);
        }
        let name = path.display().to_string();
        let refuse = |what: String| Failure::input(format!("cannot read {name}: {what}"));
        let file = File::open(path).map_err(|e| refuse(reason(&e)))?;
        let meta = file.metadata().map_err(|e| refuse(reason(&e)))?;
        if meta.is_dir() {
            return Err(Failure::input(format!(
                "{name} is a folder; name the file that holds the recording"
            )));
        }
        if !meta.is_file() {
            // A pipe or a device gives its bytes once only.
            return Self::spooled(name, file, clock);
        }
        let modified = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let time = modified.and_then(|since| i64::try_from(since.as_micros()).ok());
        Self::new(
            name,
            Content::File(file),
            meta.len(),
            time.map_or_else(|| clock.now(), RecordedAt),
        )
    }

    /// A recording that the binary carries.
    pub(crate) fn bundled(
        name: &str,
        bytes: &'static [u8],
        time: RecordedAt,
    ) -> Result<Self, Failure> {
        Self::new(name.to_owned(), Content::Bundled(bytes), bytes.len() as u64, time)
    }

    fn stdin(clock: &dyn Clock) -> Result<Self, Failure> {
        Self::spooled("standard input".to_owned(), io::stdin().lock(), clock)
    }

    fn spooled(name: String, mut from: impl Read, clock: &dyn Clock) -> Result<Self, Failure> {
        let failed = |e: io::Error| {
            Failure::input(format!("cannot set {name} aside to read it: {}", reason(&e)))
        };
        // Unlinked at once: nothing is left behind, whatever happens.
        let mut spool = tempfile::tempfile().map_err(failed)?;
        let mut piece = vec![0; PIECE];
        let mut size = 0;
        let mut lines = LineGuard::default();
        loop {
            let read = match from.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(failed(e)),
            };
            let bytes = piece.get(..read).unwrap_or_default();
            // No recording has zero bytes, and a device may give them for ever.
            if bytes.contains(&0) {
                return Err(Failure::input(format!(
                    "{name} looks like binary data; a recording is text in UTF-8"
                )));
            }
            if size > MOST_SPOOLED {
                return Err(Failure::input(format!(
                    "{name} is longer than {}; write it to a file and give that",
                    bytes_text(MOST_SPOOLED)
                )));
            }
            if let Some(line) = lines.too_long(bytes) {
                return Err(Failure::input(format!(
                    "{name}, line {line}: longer than {}; give a file to take the rest of it with --lenient",
                    bytes_text(LONGEST as u64)
                )));
            }
            spool.write_all(bytes).map_err(failed)?;
            size += read as u64;
        }
        Self::new(name, Content::File(spool), size, clock.now())
    }

    fn new(name: String, content: Content, size: u64, time: RecordedAt) -> Result<Self, Failure> {
        let mut source = Self { name, head: Vec::new(), size, time, content };
        let mut head = Vec::new();
        let wanted = providers::stream::Format::HEAD as u64;
        let read = source.reader().and_then(|from| from.take(wanted).read_to_end(&mut head));
        read.map_err(|e| source.unreadable(&e))?;
        if head.is_empty() {
            return Err(Failure::input(format!(
                "{} is empty; there is nothing to read in it",
                source.name
            )));
        }
        source.head = head;
        Ok(source)
    }

    /// The whole recording from its beginning.
    pub(crate) fn reader(&mut self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &mut self.content {
            Content::Bundled(bytes) => Box::new(*bytes),
            Content::File(file) => {
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
        })
    }

    /// Gives the recording piece by piece.
    pub(crate) fn for_each_piece(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut buffer = vec![0; PIECE];
        let mut read = |source: &mut Self| -> Result<(), ReadOr> {
            let mut from = source.reader()?;
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(read) => {
                        take(buffer.get(..read).unwrap_or_default()).map_err(ReadOr::Taken)?
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(e.into()),
                }
            }
        };
        read(self).map_err(|e| match e {
            ReadOr::Read(e) => self.unreadable(&e),
            ReadOr::Taken(failure) => failure,
        })
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::input(format!("cannot read {}: {}", self.name, reason(error)))
    }
}

/// The longest line that is taken.
pub(crate) const LONGEST: usize = providers::stream::frames::DEFAULT_LIMIT;

/// Watches a stream for a line that no adapter takes, so that it is refused before it has been read to its end or has
/// filled the disk.
#[derive(Default)]
pub(crate) struct LineGuard {
    framing: Option<Framing>,
    line: u64,
    length: usize,
}

impl LineGuard {
    /// The number of the line that is too long by now, if there is one.
    pub(crate) fn too_long(&mut self, piece: &[u8]) -> Option<u64> {
        // In other framings a line says nothing about the size of a frame.
        if *self.framing.get_or_insert_with(|| Framing::detect(piece)) != Framing::Lines {
            return None;
        }
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', piece) {
            self.length += end - begin;
            if self.length > LONGEST {
                break;
            }
            self.line += 1;
            self.length = 0;
            begin = end + 1;
        }
        if self.length <= LONGEST {
            self.length += piece.len() - begin;
        }
        (self.length > LONGEST).then_some(self.line + 1)
    }
}

enum ReadOr {
    Read(io::Error),
    Taken(Failure),
}

impl From<io::Error> for ReadOr {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Whoever types a folder or an extension means a file, also one that is not there.
pub(crate) fn is_file_name(path: &Path) -> bool {
    let known = ["json", "jsonl", "ndjson", "sse", "txt", "log"];
    path.components().count() > 1 || path.extension().is_some_and(|e| known.iter().any(|k| e == *k))
}
