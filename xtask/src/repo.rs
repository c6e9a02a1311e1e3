//! Owns the view of the repository that all tasks share: its root, its files, their texts.
//!
//! Tests build a repository from rows, so that every check can be seen to fail.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold no source: build output, data, version control, installed packages.
const SKIPPED: &[&str] = &["target", ".git", ".spine", "node_modules"];

/// The repository: paths from its root, with `/`, and the texts of those files that are text.
pub(crate) struct Repo {
    /// Where it lies.
    pub(crate) root: PathBuf,
    files: BTreeMap<String, Option<String>>,
}

impl Repo {
    /// Reads the repository that this program was built in.
    pub(crate) fn open() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("the xtask crate has no parent folder")?
            .to_owned();
        let mut files = BTreeMap::new();
        walk(&root, "", &mut files)?;
        Ok(Self { root, files })
    }

    /// A repository of given files, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            root: PathBuf::from("."),
            files: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())))
                .collect(),
        }
    }

    /// All paths, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of a file, if it is there and is text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// True when the file is there, be it text or not.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Text files whose path ends with `suffix`.
    pub(crate) fn texts<'a>(&'a self, suffix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(suffix))
            .filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts(".rs")
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Option<String>>) -> Result<()> {
    let reading = || format!("reading {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().with_context(reading)?;
        if kind.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                walk(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
            files.insert(path, String::from_utf8(bytes).ok());
        }
    }
    Ok(())
}
