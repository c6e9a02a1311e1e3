//! A full disk and a failing sync, injected below the file layer: a typed error, and a log that opens again.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use event_spine::{AppendError, Disk, DiskFile, EventLog, Expected, RealDisk, StoreFault};

use crate::common::{history, options, session, tool_started};

/// What goes wrong, and when.
#[derive(Default)]
struct Faults {
    /// Bytes that may still be written; negative for no limit.
    room: AtomicI64,
    sync_fails: AtomicBool,
}

#[derive(Clone)]
struct FaultyDisk(Arc<Faults>);

struct FaultyFile {
    file: Box<dyn DiskFile>,
    faults: Arc<Faults>,
}

impl Disk for FaultyDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, create)?;
        Ok(Box::new(FaultyFile { file, faults: Arc::clone(&self.0) }))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }
}

impl DiskFile for FaultyFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let room = self.faults.room.load(Ordering::SeqCst);
        if room < 0 {
            return self.file.write_at(bytes, offset);
        }
        let part = bytes.len().min(room as usize);
        self.faults.room.fetch_sub(part as i64, Ordering::SeqCst);
        self.file.write_at(&bytes[..part], offset)?;
        if part == bytes.len() { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        if self.faults.sync_fails.load(Ordering::SeqCst) {
            return Err(io::Error::other("the disk does not answer"));
        }
        self.file.sync()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

/// Files cannot be trimmed: recovery stops right before its last step.
pub(crate) struct NoTrim;

struct NoTrimFile(Box<dyn DiskFile>);

impl Disk for NoTrim {
    fn open(&self, path: &Path, create: bool) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(NoTrimFile(RealDisk.open(path, create)?)))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }
}

impl DiskFile for NoTrimFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::Error::other("killed here"))
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

/// Appends until the fault strikes, then checks the error, that nothing more is taken, and what the next open finds.
fn check(break_it: impl Fn(&Faults), action: &str) {
    let dir = tempfile::tempdir().unwrap();
    let faults = Arc::new(Faults { room: AtomicI64::new(-1), sync_fails: AtomicBool::new(false) });
    let mut faulty = options();
    faulty.disk = Arc::new(FaultyDisk(Arc::clone(&faults)));
    let log = EventLog::open(dir.path(), faulty).unwrap();
    let append = |id: &str| log.append(&session("s"), Expected::Any, vec![tool_started(id)]);
    for n in 0..20 {
        append(&format!("e{n}")).unwrap();
    }
    break_it(&faults);
    let mut acknowledged = 20;
    let error = loop {
        match append(&format!("e{acknowledged}")) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    let AppendError::Store { source: StoreFault::Io { action: tried, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(*tried, action);
    let later = append("later");
    assert!(
        matches!(later, Err(AppendError::Store { source: StoreFault::Poisoned, .. })),
        "{later:?}"
    );
    drop(log);
    let log = EventLog::open(dir.path(), options()).unwrap();
    let found = history(&log, &session("s"));
    assert!(found.len() >= acknowledged, "every acknowledged event is there");
    assert!(log.reader().verify(&session("s")).unwrap().intact());
    let next = found.len() as u64 + 1;
    let receipt = log.append(&session("s"), Expected::Any, vec![tool_started("after")]).unwrap();
    assert_eq!(receipt.sequences, [next]);
}

#[test]
fn a_full_disk_is_a_typed_error_and_the_log_opens_again() {
    for room in [0, 1, 16, 17, 200, 500, 70_000] {
        check(|faults| faults.room.store(room, Ordering::SeqCst), "write");
    }
}

#[test]
fn a_failing_sync_is_a_typed_error_and_the_log_opens_again() {
    check(|faults| faults.sync_fails.store(true, Ordering::SeqCst), "sync");
}
