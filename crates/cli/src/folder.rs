//! Owns measuring the data folder: which kinds of files are in it and how large they are. Reads names and sizes only.

use std::fs;
use std::io;
use std::path::Path;

use event_spine::reason;

use crate::failure::Failure;

/// A kind of file in the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Segments,
    Contents,
    Blobs,
    Index,
    Torn,
    Other,
}

impl Part {
    pub(crate) const ALL: [Self; 6] =
        [Self::Segments, Self::Contents, Self::Blobs, Self::Index, Self::Torn, Self::Other];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Segments => "segments",
            Self::Contents => "contents",
            Self::Blobs => "blobs",
            Self::Index => "index",
            Self::Torn => "torn",
            Self::Other => "other",
        }
    }

    /// What it is for, for people.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Segments => "the facts; everything else is made from them",
            Self::Contents => "tables of contents of segments, made again when missing",
            Self::Blobs => "large bodies, each once",
            Self::Index => "saved views, may be deleted at any time",
            Self::Torn => "unfinished writes that recovery set aside",
            Self::Other => "format mark, lock, mask key",
        }
    }

    fn of(path: &Path) -> Self {
        let top = path.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
        match (top.as_deref(), extension.as_deref()) {
            (Some("journal"), Some("seg")) => Self::Segments,
            (Some("journal"), Some("toc")) => Self::Contents,
            (Some("journal"), Some("torn")) => Self::Torn,
            (Some("blobs"), _) => Self::Blobs,
            (Some("index"), _) => Self::Index,
            _ => Self::Other,
        }
    }

    fn place(self) -> usize {
        Self::ALL.iter().position(|part| *part == self).unwrap_or_default()
    }
}

/// Files and bytes by kind.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    files: [u64; Part::ALL.len()],
    bytes: [u64; Part::ALL.len()],
}

impl Folder {
    /// Walks the folder.
    pub(crate) fn measure(dir: &Path) -> Result<Self, Failure> {
        let mut folder = Self::default();
        folder.walk(dir, Path::new("")).map_err(|e| {
            Failure::input(format!("cannot list {}: {}", dir.display(), reason(&e)))
        })?;
        Ok(folder)
    }

    fn walk(&mut self, root: &Path, below: &Path) -> io::Result<()> {
        for entry in fs::read_dir(root.join(below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            // A file may go while we look: the writer trims and renames.
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                // What is in a folder that nobody may list cannot be measured; whoever reads it says so.
                match self.walk(root, &path) {
                    Err(e) if e.kind() != io::ErrorKind::PermissionDenied => return Err(e),
                    Ok(()) | Err(_) => continue,
                }
            }
            let at = Part::of(&path).place();
            if let (Some(files), Some(bytes)) = (self.files.get_mut(at), self.bytes.get_mut(at)) {
                *files += 1;
                *bytes += meta.len();
            }
        }
        Ok(())
    }

    pub(crate) fn files(&self, part: Part) -> u64 {
        self.files.get(part.place()).copied().unwrap_or_default()
    }

    pub(crate) fn bytes(&self, part: Part) -> u64 {
        self.bytes.get(part.place()).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self) -> u64 {
        self.bytes.iter().sum()
    }
}
