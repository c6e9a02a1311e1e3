//! `spine doctor`: is the data folder in good health, and what to do if not.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::Path;

use event_spine::blob::{BlobError, BlobId, Blobs};
use event_spine::{Entry, LogReader, OpenError, ReadMode};
use serde::Serialize;

use crate::app::App;
use crate::failure::{Answer, Failure, sentence};
use crate::folder::{Folder, Part};
use crate::output::{BAD, DIM, GOOD, WARN};
use crate::progress::{Progress, Unit};
use crate::store;
use crate::text::{bytes, counted};

/// Check the health of the data folder and say what to do about it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine doctor
  spine doctor --deep                       also read every large body and check its hash

Changes nothing. Exit status: 0 healthy, 1 something is wrong.
`spine verify` proves that the history is what was recorded; doctor looks at the folder around it.")]
pub(crate) struct Args {
    /// Read every blob and check its hash
    #[arg(long)]
    deep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    Note,
    Bad,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    health: Health,
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, health: Health::Good, found: found.into(), advice: None }
    }

    fn note(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, health: Health::Note, found: found.into(), advice: Some(advice.into()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, health: Health::Bad, found: found.into(), advice: Some(advice.into()) }
    }
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let (reader, format) = match store::reader(app) {
        Ok(reader) => (reader, format(&app.data)),
        Err(_) => without_format(&app.data)?,
    };
    let folder = Folder::measure(&app.data)?;
    let mut checks = vec![format, lock(&app.data)];
    checks.extend(segments(app, &reader, &folder)?);
    checks.push(torn(&folder));
    checks.push(index(&app.data, &folder));
    checks.extend(blobs(app, &reader, &folder, args.deep)?);
    let healthy = checks.iter().all(|check| check.health != Health::Bad);
    if app.json {
        app.out.json(&serde_json::json!({"healthy": healthy, "checks": checks}))?;
        return Ok(healthy.into());
    }
    for check in &checks {
        let (style, sign) = match check.health {
            Health::Good => (GOOD, "✓"),
            Health::Note => (WARN, "!"),
            Health::Bad => (BAD, "✗"),
        };
        let sign = app.out.paint(style, sign);
        writeln!(app.out, "{sign} {:9} {}", check.name, check.found)?;
        if let Some(advice) = &check.advice {
            let advice = app.out.paint(DIM, format!("→ {advice}"));
            writeln!(app.out, "            {advice}")?;
        }
    }
    Ok(healthy.into())
}

/// A folder that does not open for its format mark alone is looked at all the same.
fn without_format(dir: &Path) -> Result<(LogReader, Check), Failure> {
    match LogReader::open(dir) {
        Ok(reader) => Ok((reader, format(dir))),
        Err(lost @ (OpenError::FormatLost { .. } | OpenError::Io { .. })) => {
            let advice = format!("`spine salvage {}` needs no FORMAT file", dir.display());
            let reader = LogReader::open_journal(dir)?;
            Ok((reader, Check::bad("folder", sentence(&lost), advice)))
        }
        Err(other) => Err(other.into()),
    }
}

/// Opening it has checked the format already.
fn format(dir: &Path) -> Check {
    let text = std::fs::read_to_string(dir.join("FORMAT")).unwrap_or_default();
    Check::good(
        "folder",
        format!("{}, format {}", dir.display(), text.trim().trim_start_matches("spine ")),
    )
}

fn lock(dir: &Path) -> Check {
    let path = dir.join("LOCK");
    let Ok(file) = File::open(&path) else {
        return Check::good("lock", "free");
    };
    match file.try_lock_shared() {
        Ok(()) => Check::good("lock", "free"),
        Err(TryLockError::WouldBlock) => {
            let holder = std::fs::read_to_string(&path).unwrap_or_default();
            Check::good(
                "lock",
                format!(
                    "held by process {}, which writes; reading is always possible",
                    holder.trim()
                ),
            )
        }
        Err(TryLockError::Error(e)) => Check::bad(
            "lock",
            format!("cannot be asked: {e}"),
            "put the data folder on a file system with locks",
        ),
    }
}

fn segments(app: &App, reader: &LogReader, folder: &Folder) -> Result<Vec<Check>, Failure> {
    let findings = reader.verify_storage()?;
    let size = format!(
        "{}, {}",
        counted(folder.files(Part::Segments), "segment"),
        bytes(folder.bytes(Part::Segments))
    );
    if findings.is_empty() {
        return Ok(vec![Check::good("journal", size)]);
    }
    let advice =
        format!("`spine salvage {}` copies what can be read into a new folder", app.data.display());
    Ok(findings
        .into_iter()
        .map(|f| match f.unfinished {
            true => Check::note(
                "journal",
                store::damage(&f),
                "nothing to do: the next writer clears it away",
            ),
            false => Check::bad("journal", store::damage(&f), advice.clone()),
        })
        .collect())
}

fn torn(folder: &Folder) -> Check {
    match folder.files(Part::Torn) {
        0 => Check::good("recovery", "no write was ever cut off"),
        files => Check::note(
            "recovery",
            format!(
                "{} with {} set aside after a crash",
                counted(files, "file"),
                bytes(folder.bytes(Part::Torn))
            ),
            "none of it was acknowledged as stored; delete journal/*.torn when nobody wants to look at it",
        ),
    }
}

fn index(dir: &Path, folder: &Folder) -> Check {
    if folder.files(Part::Index) == 0 {
        return Check::good("index", "none yet; made when needed");
    }
    let half_made = std::fs::read_dir(dir.join("index"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().ends_with(".generating"));
    let size = bytes(folder.bytes(Part::Index));
    if half_made {
        return Check::note(
            "index",
            format!("{size}, left half-made by a kill"),
            "nothing to do: it is made again by itself",
        );
    }
    Check::good("index", format!("{size} of saved views; may be deleted at any time"))
}

/// Looks for large bodies that events refer to and the store does not have, and the other way round.
fn blobs(
    app: &App,
    reader: &LogReader,
    folder: &Folder,
    deep: bool,
) -> Result<Vec<Check>, Failure> {
    let wanted = referenced(app, reader)?;
    let mut faults = Vec::new();
    for (id, session, sequence) in &wanted.list {
        if let Some(what) = fault(reader.blobs(), id, deep) {
            faults.push(Check::bad(
                "blobs",
                format!("{what}, which {session} refers to at sequence {sequence}"),
                "restore the file from a copy of the folder; the facts around it are not affected",
            ));
        }
    }
    let stored = folder.files(Part::Blobs);
    let known = wanted.list.len() as u64;
    if !faults.is_empty() {
        return Ok(faults);
    }
    let size = format!("{}, {}", counted(stored, "body"), bytes(folder.bytes(Part::Blobs)));
    Ok(vec![if stored > known {
        let orphans = counted(stored - known, "body");
        Check::note(
            "blobs",
            format!("{size}; no event refers to {orphans}"),
            "nothing is wrong: a crash can leave these",
        )
    } else {
        Check::good("blobs", size)
    }])
}

fn fault(blobs: &Blobs, id: &BlobId, deep: bool) -> Option<String> {
    let outcome = if deep { blobs.get(id).map(drop) } else { blobs.size(id).map(drop) };
    match outcome {
        Ok(()) => None,
        Err(BlobError::NotFound { .. }) => Some(format!("{id} is missing")),
        Err(other) => Some(other.to_string()),
    }
}

#[derive(Default)]
struct Wanted {
    seen: HashSet<BlobId>,
    /// Each with the first event that refers to it.
    list: Vec<(BlobId, String, u64)>,
}

fn referenced(app: &App, reader: &LogReader) -> Result<Wanted, Failure> {
    let sessions = reader.sessions()?;
    let own =
        |s: &event_spine::SessionSummary| s.parent.as_ref().map_or(1, |parent| parent.sequence + 1);
    let total = sessions.iter().map(|s| s.head.sequence + 1 - own(s)).sum();
    let mut progress =
        Progress::new(app.quiet, "looking for large bodies", Unit::Events, Some(total));
    let mut wanted = Wanted::default();
    for session in &sessions {
        for entry in reader.read(&session.session_id, own(session).., ReadMode::Tolerant)? {
            progress.advance(1);
            let Entry::Event(event) = entry? else {
                continue;
            };
            for reference in event.draft.refs.to_vec() {
                let Ok(id) = reference.id.parse::<BlobId>() else {
                    continue;
                };
                if wanted.seen.insert(id) {
                    wanted.list.push((id, session.session_id.to_string(), event.sequence));
                }
            }
        }
    }
    Ok(wanted)
}
