//! The laws of stores, kept by the memory twin and by the journal, and the same heads on both.

use std::sync::{Arc, Mutex};

use conformance::laws::store::{LAWS, Stores, script};
use event_spine::{EventLog, LogOptions, RecordedAt, SeededEntropy, SteppingClock};
use tempfile::TempDir;

fn options() -> LogOptions {
    let start = RecordedAt(1_781_000_000_000_000);
    LogOptions::new(Arc::new(SteppingClock::new(start, 1000)), Arc::new(SeededEntropy::new(7)))
}

struct Memory;

impl Stores for Memory {
    fn fresh(&self) -> EventLog {
        EventLog::in_memory(options())
    }

    fn reopened(&self, log: EventLog) -> EventLog {
        log
    }
}

/// The folder of the newest log; only one is open at a time.
struct OnDisk {
    folder: Mutex<TempDir>,
    segment_bytes: u64,
}

impl OnDisk {
    fn new(segment_bytes: u64) -> Self {
        Self { folder: Mutex::new(tempfile::tempdir().unwrap()), segment_bytes }
    }

    fn open(&self) -> EventLog {
        let options = LogOptions { segment_bytes: self.segment_bytes, ..options() };
        EventLog::open(self.folder.lock().unwrap().path(), options).unwrap()
    }
}

impl Stores for OnDisk {
    fn fresh(&self) -> EventLog {
        *self.folder.lock().unwrap() = tempfile::tempdir().unwrap();
        self.open()
    }

    fn reopened(&self, log: EventLog) -> EventLog {
        drop(log);
        self.open()
    }
}

fn check(stores: &(dyn Stores + 'static)) {
    for law in LAWS {
        (law.check)(stores).unwrap_or_else(|broken| panic!("{}: {broken}", law.says));
    }
}

// verifies: R58 R62 H06 H08
#[test]
fn the_memory_twin_keeps_them() {
    check(&Memory);
}

// verifies: R58 R62 H06 H08
#[test]
fn the_journal_keeps_them() {
    check(&OnDisk::new(64 << 20));
}

#[test]
fn the_journal_keeps_them_over_many_small_segments() {
    check(&OnDisk::new(8 << 10));
}

#[test]
fn the_same_facts_give_the_same_heads_on_each() {
    let memory = script(&Memory).unwrap();
    assert_eq!(memory.len(), 3);
    assert_eq!(script(&OnDisk::new(64 << 20)).unwrap(), memory);
    assert_eq!(script(&OnDisk::new(8 << 10)).unwrap(), memory);
}
