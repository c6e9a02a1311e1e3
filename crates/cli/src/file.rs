//! Owns writing result files: whole or not at all, on disk when the command says so.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::source::reason;

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
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
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
