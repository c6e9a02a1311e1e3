//! Owns writing result files: whole or not at all, on disk when the command says so.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use event_spine::reason;

use crate::failure::Failure;

/// Writes what the user asked for into the file that the user named. A link leads to the file it names, a device or a pipe
/// is written to and not replaced, and nothing is written into the data folder.
pub(crate) fn write_result(
    data: &Path,
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let name = target.display();
    let is_special = fs::metadata(target).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if is_special {
        let failed = |e: &io::Error| Failure::input(format!("cannot write {name}: {}", reason(e)));
        let file = OpenOptions::new().write(true).open(target).map_err(|e| failed(&e))?;
        let mut buffered = BufWriter::with_capacity(256 * 1024, file);
        write(&mut buffered)?;
        return buffered.flush().map_err(|e| failed(&e));
    }
    let linked = fs::symlink_metadata(target).is_ok_and(|meta| meta.is_symlink());
    let resolved = if linked {
        Some(fs::canonicalize(target).map_err(|e| {
            Failure::input(format!("cannot write {name}: where the link leads: {}", reason(&e)))
        })?)
    } else {
        None
    };
    let target = resolved.as_deref().unwrap_or(target);
    let folder = fs::canonicalize(folder_of(target)).map_err(|e| {
        Failure::input(format!(
            "cannot write {name}: the folder {}: {}",
            folder_of(target).display(),
            reason(&e)
        ))
    })?;
    if fs::canonicalize(data).is_ok_and(|data| folder.starts_with(data)) {
        return Err(Failure::input(format!(
            "{name} lies in the data folder, which holds the log and nothing else; name another place"
        )));
    }
    write_atomically(target, write)
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file through a temporary one beside it, which takes its place in one step after it is on disk. Whoever reads
/// the target sees the old file or the new one, also when two processes write it at once.
pub(crate) fn write_atomically(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let failed =
        |e: &io::Error| Failure::input(format!("cannot write {}: {}", target.display(), reason(e)));
    if target.is_dir() {
        return Err(Failure::input(format!(
            "{} is a folder; name the file to write",
            target.display()
        )));
    }
    let folder = folder_of(target);
    let mut temporary = NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
    allow_reading(&temporary).map_err(|e| failed(&e))?;
    let mut buffered = BufWriter::with_capacity(256 * 1024, temporary.as_file_mut());
    write(&mut buffered)?;
    buffered.flush().map_err(|e| failed(&e))?;
    drop(buffered);
    temporary.as_file().sync_all().map_err(|e| failed(&e))?;
    temporary.persist(target).map_err(|e| failed(&e.error))?;
    // The name is on disk only when the folder is. Not every file system can be asked for that.
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Temporary files are for their owner only; a result is an ordinary file.
#[cfg(unix)]
fn allow_reading(file: &NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &NamedTempFile) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("pack.json");
        write_atomically(&target, |to| Ok(to.write_all(b"old")?)).unwrap();
        let refused = write_atomically(&target, |to| {
            to.write_all(b"half")?;
            Err(Failure::input("no more"))
        });
        assert_eq!(refused, Err(Failure::input("no more")));
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        write_atomically(&target, |to| Ok(to.write_all(b"new")?)).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
