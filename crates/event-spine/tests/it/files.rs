//! Whole files that are lost, exchanged, copied, cut or not readable: each is named, and costs what was in it and no more.

use std::fs;
use std::path::{Path, PathBuf};

use event_spine::{
    Entry, EventLog, Expected, LogOptions, LogReader, ReadMode, StorageFinding, salvage,
};

use crate::common::{contents, history, options, session, tool_started};

const EVENTS: u64 = 60;

fn small() -> LogOptions {
    let mut small = options();
    small.segment_bytes = 4 * 1024;
    small
}

/// A log of two sessions in several segments, closed in order.
fn segmented() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), small()).unwrap();
    for n in 1..=EVENTS {
        for name in ["s", "t"] {
            let draft = tool_started(&format!("{name}{n}"));
            log.append(&session(name), Expected::Any, vec![draft]).unwrap();
        }
    }
    drop(log);
    assert!(segments(dir.path()) >= 5, "{}", segments(dir.path()));
    dir
}

fn segments(dir: &Path) -> u64 {
    let is_segment =
        |entry: &fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "seg");
    fs::read_dir(dir.join("journal")).unwrap().flatten().filter(is_segment).count() as u64
}

fn file(dir: &Path, number: u64, extension: &str) -> PathBuf {
    dir.join(format!("journal/{number:010}.{extension}"))
}

/// Sequences of a session's events that a tolerant read gives, and its gaps.
fn read(dir: &Path, name: &str) -> (Vec<u64>, Vec<(u64, u64, String)>) {
    let reader = LogReader::open(dir).unwrap();
    let (mut events, mut gaps) = (Vec::new(), Vec::new());
    for entry in reader.read(&session(name), .., ReadMode::Tolerant).unwrap() {
        match entry.unwrap() {
            Entry::Event(event) => events.push(event.sequence),
            Entry::Gap(gap) => gaps.push((gap.from, gap.to, gap.reason)),
        }
    }
    (events, gaps)
}

fn findings(dir: &Path) -> Vec<StorageFinding> {
    LogReader::open(dir).unwrap().verify_storage().unwrap()
}

fn named(dir: &Path, words: &str) -> bool {
    let found = findings(dir);
    let named = found.iter().any(|finding| finding.what.contains(words));
    assert!(named, "«{words}» in {found:?}");
    let counted = LogReader::open(dir).unwrap().damaged_places().unwrap();
    assert!(counted > 0, "damage is known without reading everything");
    named
}

fn all() -> Vec<u64> {
    (1..=EVENTS).collect()
}

/// Changes bytes of a file.
fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Offset, version and body of each whole frame.
fn frames(bytes: &[u8]) -> Vec<(usize, u8, usize)> {
    let mut all = Vec::new();
    let mut at = 32;
    while at + 17 <= bytes.len() && &bytes[at..at + 4] == b"SPNF" {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        all.push((at, bytes[at + 16], length));
        at += 17 + length;
    }
    all
}

/// Puts the right checksum on the frame at `at`.
fn sign(bytes: &mut [u8], at: usize, length: usize) {
    let crc = crc32c::crc32c(&bytes[at + 12..at + 17 + length]);
    bytes[at + 8..at + 12].copy_from_slice(&crc.to_le_bytes());
}

// verifies: H02
#[test]
fn a_second_copy_of_a_segment_hides_nothing_and_is_named() {
    let dir = segmented();
    let next = segments(dir.path()) + 1;
    for number in [next, next + 5] {
        fs::copy(file(dir.path(), 1, "seg"), file(dir.path(), number, "seg")).unwrap();
        assert_eq!(read(dir.path(), "s"), (all(), Vec::new()));
        named(dir.path(), "the header says that it is segment 1");
        let held: Vec<_> = findings(dir.path()).into_iter().flat_map(|f| f.held).collect();
        assert!(held.iter().any(|held| held.session_id == session("s") && held.first == 1));
        assert!(LogReader::open(dir.path()).unwrap().verify(&session("s")).unwrap().intact());
        let log = EventLog::open(dir.path(), small()).unwrap();
        let draft = vec![tool_started("behind")];
        let again = log.append(&session("t"), Expected::Any, draft).unwrap();
        assert_eq!((again.sequences, again.appended + again.duplicates), (vec![EVENTS + 1], 1));
        assert_eq!(history(&log, &session("s")).len() as u64, EVENTS);
        drop(log);
        assert_eq!(read(dir.path(), "t").0.len() as u64, EVENTS + 1);
        fs::remove_file(file(dir.path(), number, "seg")).unwrap();
        assert_eq!(findings(dir.path()), [], "the copy was all that was wrong");
    }
}

/// Frames that come again with a fitting header, and at the end of a segment.
// verifies: H02
#[test]
fn a_batch_that_comes_a_second_time_replaces_nothing_and_is_named() {
    let dir = segmented();
    let last = segments(dir.path());
    let first = fs::read(file(dir.path(), 1, "seg")).unwrap();
    let copied = first[32..].to_vec();
    change(&file(dir.path(), last, "seg"), |bytes| bytes.extend_from_slice(&copied));
    for name in ["s", "t"] {
        assert_eq!(read(dir.path(), name), (all(), Vec::new()));
    }
    named(dir.path(), "events 1 to 8 of session s");
    named(dir.path(), "come a second time");
    let log = EventLog::open(dir.path(), small()).unwrap();
    assert!(!log.recovery().notes.is_empty());
    let again = log.append(&session("s"), Expected::Any, vec![tool_started("s60")]).unwrap();
    assert_eq!((again.sequences, again.duplicates), (vec![60], 1));
    drop(log);
    assert_eq!(read(dir.path(), "s"), (all(), Vec::new()));
}

/// A newer program may have written what this one cannot read: it is left alone, by readers and by writers.
// verifies: H08
#[test]
fn what_a_newer_version_wrote_is_refused_and_not_changed() {
    let newer_frame = |bytes: &mut Vec<u8>| {
        let (at, _, length) = frames(bytes).into_iter().find(|frame| frame.1 == 1).unwrap();
        bytes[at + 16] = 2;
        sign(bytes, at, length);
    };
    let newer_header = |bytes: &mut Vec<u8>| {
        bytes[8] = 2;
        let crc = crc32c::crc32c(&bytes[..28]);
        bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    };
    let last = segments(segmented().path());
    for (number, header) in [(1, false), (1, true), (last, false), (last, true)] {
        let dir = segmented();
        let path = file(dir.path(), number, "seg");
        if header {
            change(&path, newer_header)
        } else {
            change(&path, newer_frame)
        }
        if number == 1 {
            fs::remove_file(file(dir.path(), 1, "toc")).unwrap();
            fs::remove_file(file(dir.path(), 2, "toc")).unwrap();
        }
        let before = contents(dir.path());
        let refused = [
            LogReader::open(dir.path()).err().map(|e| e.to_string()),
            EventLog::open(dir.path(), small()).err().map(|e| e.to_string()),
        ];
        for text in refused {
            let text = text.unwrap_or_default();
            assert!(text.contains("written by a newer spine"), "{number} {header}: {text}");
        }
        assert!(contents(dir.path()) == before, "nothing is changed");
    }
    // With its table of contents the segment is not walked when the log is opened; reading it says so.
    let dir = segmented();
    change(&file(dir.path(), 1, "seg"), newer_frame);
    let reader = LogReader::open(dir.path()).unwrap();
    let mut events = reader.read(&session("s"), .., ReadMode::Tolerant).unwrap();
    let refused = events.find_map(Result::err).unwrap().to_string();
    assert!(refused.contains("written by a newer spine"), "{refused}");
    let refused = reader.verify_storage().unwrap_err().to_string();
    assert!(refused.contains("written by a newer spine"), "{refused}");
}

/// Whatever is wrong with a table of contents, the segment tells the same.
#[test]
fn a_damaged_table_of_contents_costs_nothing() {
    let dir = segmented();
    let number = segments(dir.path()) - 1;
    let path = file(dir.path(), number, "toc");
    let whole = fs::read(&path).unwrap();
    let flips = (0..whole.len()).step_by(7).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let cuts = (0..whole.len()).step_by(61).map(|at| whole[..at].to_vec());
    for (at, bytes) in flips.chain(cuts).enumerate() {
        fs::write(&path, &bytes).unwrap();
        for name in ["s", "t"] {
            assert_eq!(read(dir.path(), name), (all(), Vec::new()), "{at}");
        }
        if at % 16 == 0 {
            let log = EventLog::open(dir.path(), small()).unwrap();
            for name in ["s", "t"] {
                let draft = vec![tool_started(&format!("{name}55"))];
                let again = log.append(&session(name), Expected::Any, draft).unwrap();
                assert_eq!((again.sequences, again.duplicates), (vec![55], 1));
                assert_eq!(history(&log, &session(name)).len() as u64, EVENTS);
            }
            drop(log);
            drop(EventLog::open(dir.path(), small()).unwrap());
            assert!(fs::read(&path).unwrap() == whole, "{at}: the writer makes it again");
        }
    }
}

// verifies: H02
#[test]
fn a_segment_that_cannot_be_read_costs_its_events_only() {
    for table in [true, false] {
        let dir = segmented();
        let path = file(dir.path(), 3, "seg");
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        if !table {
            fs::remove_file(file(dir.path(), 3, "toc")).unwrap();
        }
        let (events, gaps) = read(dir.path(), "s");
        let [(from, to, reason)] = &gaps[..] else { panic!("{gaps:?}") };
        assert_eq!(events.len() as u64 + (to - from + 1), EVENTS);
        assert!(!table || reason.contains("0000000003.seg"), "{reason}");
        named(dir.path(), "it is a folder");
        // A writer would number the events anew that are only out of reach.
        assert!(EventLog::open(dir.path(), small()).is_err());
        let into = tempfile::tempdir().unwrap();
        let salvaged = salvage(dir.path(), &into.path().join("new"), options()).unwrap();
        assert!(!salvaged.whole());
        fs::remove_dir(&path).unwrap();
        fs::write(&path, kept).unwrap();
        assert_eq!(read(dir.path(), "s"), (all(), Vec::new()));
    }
}

// verifies: H02
#[test]
fn a_segment_that_is_gone_or_cut_is_named() {
    let last = segments(segmented().path());
    for number in [1, 3, last - 1] {
        for table in [true, false] {
            let dir = segmented();
            fs::remove_file(file(dir.path(), number, "seg")).unwrap();
            if !table {
                fs::remove_file(file(dir.path(), number, "toc")).unwrap();
            }
            named(dir.path(), &format!("segment {number} is missing"));
            let (events, gaps) = read(dir.path(), "s");
            assert_eq!(gaps.len(), 1, "{gaps:?}");
            assert!(!events.is_empty());
            assert!(!LogReader::open(dir.path()).unwrap().verify(&session("s")).unwrap().intact());
            drop(EventLog::open(dir.path(), small()).unwrap());
            named(dir.path(), &format!("segment {number} is missing"));
        }
        let dir = segmented();
        let path = file(dir.path(), number, "seg");
        change(&path, |bytes| bytes.truncate(32));
        named(dir.path(), "cut short");
        drop(EventLog::open(dir.path(), small()).unwrap());
        named(dir.path(), "cut short");
        let (events, gaps) = read(dir.path(), "s");
        assert_eq!((events.is_empty(), gaps.len()), (false, 1), "{gaps:?}");
    }
}

/// Nothing lies behind the last segment that could tell of it: the table of contents before it does, and what was made
/// beside the journal.
// verifies: H02
#[test]
fn the_last_segment_that_is_gone_is_named_and_stays_named() {
    let dir = segmented();
    let last = segments(dir.path());
    fs::remove_file(file(dir.path(), last, "seg")).unwrap();
    named(dir.path(), &format!("segment {last} is missing"));
    let log = EventLog::open(dir.path(), small()).unwrap();
    log.append(&session("u"), Expected::Any, vec![tool_started("u1")]).unwrap();
    drop(log);
    named(dir.path(), &format!("segment {last} is missing"));

    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), small()).unwrap();
    log.append(&session("s"), Expected::Any, vec![tool_started("s1")]).unwrap();
    drop(log);
    assert_eq!(findings(dir.path()), []);
    let journal = dir.path().join("journal");
    fs::remove_dir_all(&journal).unwrap();
    named(dir.path(), "segment 1 is missing");
    drop(EventLog::open(dir.path(), small()).unwrap());
    named(dir.path(), "segment 1 is missing");

    // A kill before the first segment was made leaves a folder that lost nothing.
    let dir = tempfile::tempdir().unwrap();
    drop(EventLog::open(dir.path(), small()).unwrap());
    fs::remove_file(file(dir.path(), 1, "seg")).unwrap();
    assert_eq!(findings(dir.path()), []);
    fs::create_dir(dir.path().join("index")).unwrap();
    named(dir.path(), "segment 1 is missing");
}

/// The mark of the folder is lost, cut or changed: the journal is enough to copy what is there.
// verifies: H04
#[test]
fn salvage_needs_nothing_but_the_journal() {
    for format in [None, Some(&b""[..]), Some(b"spimd 1\n"), Some(b"\xff\xfe")] {
        let dir = segmented();
        fs::remove_file(dir.path().join("FORMAT")).unwrap();
        if let Some(format) = format {
            fs::write(dir.path().join("FORMAT"), format).unwrap();
        }
        let refused = LogReader::open(dir.path()).err().unwrap().to_string();
        assert!(refused.contains("its FORMAT file"), "{refused}");
        let into = tempfile::tempdir().unwrap();
        let target = into.path().join("new");
        let salvaged = salvage(dir.path(), &target, options()).unwrap();
        assert!(salvaged.whole());
        assert_eq!(read(&target, "s"), (all(), Vec::new()));
    }
    let nowhere = tempfile::tempdir().unwrap();
    let refused = salvage(&nowhere.path().join("no"), &nowhere.path().join("new"), options());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("there is no folder"), "{refused}");
    assert!(!nowhere.path().join("new").exists());
}

/// What salvage writes verifies, whatever is missing: a fork whose shared part is not whole is kept beside it.
// verifies: H04
#[test]
fn what_salvage_writes_verifies_also_forks_of_what_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), small()).unwrap();
    let runtime = event_spine::RuntimeId::parse("rt_test").unwrap();
    let append = |name: &str, n: u64| {
        log.append(&session(name), Expected::Any, vec![tool_started(&format!("{name}{n}"))])
            .unwrap();
    };
    (1..=EVENTS).for_each(|n| append("s", n));
    for (child, parent, at) in [("early", "s", 3), ("late", "s", 50), ("later", "late", 51)] {
        log.fork(&session(parent), at, &session(child), &runtime, None).unwrap();
    }
    // The parent of a fork was the last to be active: order of activity is not order of descent.
    for name in ["later", "early", "late"] {
        (1..=5).for_each(|n| append(name, n));
    }
    drop(log);
    let check = |whole: bool| {
        let into = tempfile::tempdir().unwrap();
        let target = into.path().join("new");
        let salvaged = salvage(dir.path(), &target, options()).unwrap();
        assert_eq!(salvaged.whole(), whole, "{salvaged:?}");
        let new = LogReader::open(&target).unwrap();
        for summary in new.sessions().unwrap() {
            let found = new.verify(&summary.session_id).unwrap();
            assert!(found.intact(), "{found:?}");
        }
        salvaged
    };
    check(true);
    let third = file(dir.path(), 3, "seg");
    let kept = fs::read(&third).unwrap();
    fs::remove_file(&third).unwrap();
    let salvaged = check(false);
    let of = |id: &str| salvaged.sessions.iter().find(|s| s.session_id.as_str() == id).unwrap();
    let lost = of("s").first_lost.unwrap();
    assert_eq!((of("early").events, of("early").first_lost), (6, None));
    assert_eq!(
        (of("late").events, of("late").behind_gap, of("late").first_lost),
        (0, 6, Some(lost))
    );
    assert_eq!((of("later").events, of("later").behind_gap), (0, 6));
    assert!(
        of("late").kept_in.as_ref().is_some_and(|path| path.ends_with(path.file_name().unwrap()))
    );

    // Changed with care: the checksum fits, the chain does not.
    fs::write(&third, kept).unwrap();
    change(&third, |bytes| {
        let (at, _, length) = frames(bytes).into_iter().find(|frame| frame.1 == 1).unwrap();
        let word = bytes[at..].windows(10).position(|w| w == b"write_file").unwrap();
        bytes[at + word..at + word + 10].copy_from_slice(b"erase_file");
        sign(bytes, at, length);
    });
    let salvaged = check(false);
    let of = |id: &str| salvaged.sessions.iter().find(|s| s.session_id.as_str() == id).unwrap();
    assert_eq!(of("s").first_lost, Some(lost));
}

/// A pipe where a body should be is named, and nobody waits for it.
#[test]
fn only_regular_files_are_bodies() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    log.append(&session("s"), Expected::Any, vec![tool_started("s1")]).unwrap();
    let (kept, gone) = (log.blobs().put(b"kept").unwrap(), log.blobs().put(b"gone").unwrap());
    let blobs = log.blobs().clone();
    drop(log);
    let bodies = contents(&dir.path().join("blobs"));
    let path = bodies.into_iter().find(|(_, bytes)| bytes == b"gone").unwrap().0;
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let into = tempfile::tempdir().unwrap();
    let target = into.path().join("new");
    let (done, waits) = std::sync::mpsc::channel();
    let from = dir.path().to_owned();
    std::thread::spawn(move || {
        let refused = [
            blobs.get(&gone).is_err(),
            blobs.get_range(&gone, 0..2).is_err(),
            blobs.size(&gone).is_err(),
        ];
        let salvaged = salvage(&from, &target, options()).unwrap();
        let copied = LogReader::open(&target).unwrap().blobs().get(&kept).unwrap();
        done.send((refused, salvaged, copied))
    });
    let limit = std::time::Duration::from_secs(20);
    let (refused, salvaged, copied) = waits.recv_timeout(limit).expect("nobody waits for a pipe");
    assert_eq!(refused, [true; 3]);
    assert!(!salvaged.whole());
    assert!(salvaged.damage.iter().any(|finding| finding.file.starts_with("blobs/")));
    assert_eq!(copied, b"kept");
}
