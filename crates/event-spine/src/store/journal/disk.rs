//! Owns the file layer below the journal: what it does to files, and nothing that it knows of them.
//!
//! The journal writes through [`Disk`], so a test can put a full disk or a failing sync there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// As the system says. Some of the bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Reads exactly `bytes.len()` bytes at `offset`.
    ///
    /// # Errors
    /// As the system says; `UnexpectedEof` when the file ends before.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;

    /// Makes everything written so far survive a power loss (`fdatasync`).
    ///
    /// # Errors
    /// As the system says. What was written before may or may not survive.
    fn sync(&self) -> io::Result<()>;

    /// Sets the length of the file.
    ///
    /// # Errors
    /// As the system says.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// The length of the file in bytes.
    ///
    /// # Errors
    /// As the system says.
    fn size(&self) -> io::Result<u64>;
}

/// Opens files for writing.
pub trait Disk: Send + Sync {
    /// Opens a file for reading and writing; `create` makes a new one and fails when it exists.
    ///
    /// # Errors
    /// As the system says.
    fn open(&self, path: &Path, create: bool) -> io::Result<Box<dyn DiskFile>>;

    /// Makes the entries of a folder survive a power loss.
    ///
    /// # Errors
    /// As the system says.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The real files.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(create).open(path)?;
        Ok(Box::new(file))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

impl DiskFile for File {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        File::set_len(self, bytes)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}
