//! What a crash in the middle of a write leaves: half a frame at the end, set aside and never appended behind.

use std::path::Path;

use event_spine::{EventLog, Expected, Found, LogReader, Recovery};

use crate::common::{crashed_copy, history, options, segment, session, tool_started};

/// A log that crashed after five single appends, with the place of its last frame.
struct Crashed {
    dir: tempfile::TempDir,
    last_frame: std::ops::Range<usize>,
}

fn crashed_after(batches: &[&[&str]]) -> Crashed {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    let mut before = 0;
    for (at, batch) in batches.iter().enumerate() {
        if at + 1 == batches.len() {
            before = data_end(dir.path());
        }
        let drafts = batch.iter().map(|id| tool_started(id)).collect();
        log.append(&session("s"), Expected::Any, drafts).unwrap();
    }
    let last_frame = before..data_end(dir.path());
    Crashed { dir: crashed_copy(dir.path()), last_frame }
}

/// Behind the last byte that is not zero.
fn data_end(dir: &Path) -> usize {
    let bytes = std::fs::read(segment(dir)).unwrap();
    bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1)
}

/// Keeps the first `cut` bytes of the segment; behind them nothing, or the zeros that were filled ahead.
fn cut(crashed: &Crashed, cut: usize, zeros: bool) -> tempfile::TempDir {
    let copy = crashed_copy(crashed.dir.path());
    let path = segment(copy.path());
    let mut bytes = std::fs::read(&path).unwrap();
    if zeros {
        bytes[cut..].fill(0);
    } else {
        bytes.truncate(cut);
    }
    std::fs::write(path, bytes).unwrap();
    copy
}

fn ids(log: &EventLog) -> Vec<String> {
    history(log, &session("s")).into_iter().map(|(_, id)| id).collect()
}

// verifies: H01
#[test]
fn every_cut_of_the_last_frame_is_repaired_once_and_never_appended_behind() {
    let crashed = crashed_after(&[&["e1"], &["e2"], &["e3"], &["e4"], &["e5"]]);
    let frame = crashed.last_frame.clone();
    for at in frame.clone() {
        let zeros = at % 2 == 0; // a file that ends there, and one that was filled ahead, in turn
        let dir = cut(&crashed, at, zeros);
        let kept = std::fs::read(segment(dir.path())).unwrap();
        let torn_end = kept[..at].iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
        let log = EventLog::open(dir.path(), options()).unwrap();
        assert_eq!(ids(&log), ["e1", "e2", "e3", "e4"], "cut at {at}");
        match torn_end > frame.start {
            false => assert_eq!(log.recovery(), &Recovery::default(), "cut at {at}"),
            true => {
                let [note] = &log.recovery().notes[..] else { panic!("{:?}", log.recovery()) };
                assert_eq!(note.offset as usize, frame.start);
                let Found::SetAside(kept_in) = &note.found else { panic!("{note:?}") };
                let aside = std::fs::read(dir.path().join(kept_in)).unwrap();
                assert_eq!(aside, kept[frame.start..torn_end], "the cut bytes are kept");
            }
        }
        let receipt =
            log.append(&session("s"), Expected::Exact(4), vec![tool_started("x")]).unwrap();
        assert_eq!(receipt.sequences, [5]);
        drop(log);
        let log = EventLog::open(dir.path(), options()).unwrap();
        assert_eq!(log.recovery(), &Recovery::default(), "the third open finds nothing to repair");
        assert_eq!(ids(&log), ["e1", "e2", "e3", "e4", "x"]);
        assert!(log.reader().verify(&session("s")).unwrap().intact());
    }
}

/// A full disk has no room for the copy either: nothing that was acknowledged is in it, and the log opens.
// verifies: H01
#[test]
fn what_cannot_be_set_aside_is_cut_all_the_same() {
    let crashed = crashed_after(&[&["e1"], &["e2"]]);
    let dir = cut(&crashed, crashed.last_frame.end - 3, true);
    let found = LogReader::open(dir.path()).unwrap().verify_storage().unwrap();
    assert!(found.iter().all(|finding| finding.unfinished), "{found:?}");
    let torn = format!("journal/0000000001-{}.torn", crashed.last_frame.start);
    std::fs::create_dir(dir.path().join(torn)).unwrap(); // no file can be made there
    let log = EventLog::open(dir.path(), options()).unwrap();
    let [note] = &log.recovery().notes[..] else { panic!("{:?}", log.recovery()) };
    assert!(matches!(note.found, Found::CutOff(_)), "{note:?}");
    assert_eq!(ids(&log), ["e1"]);
    let receipt = log.append(&session("s"), Expected::Exact(1), vec![tool_started("e3")]).unwrap();
    assert_eq!(receipt.sequences, [2]);
}

/// A writer that tries again after the crash brings the same event: it is there once.
// verifies: H01
#[test]
fn the_half_written_event_comes_again_and_is_there_once() {
    let crashed = crashed_after(&[&["e1"], &["e2"]]);
    for at in [crashed.last_frame.start + 20, crashed.last_frame.end] {
        let dir = cut(&crashed, at, true);
        let log = EventLog::open(dir.path(), options()).unwrap();
        log.append(&session("s"), Expected::Any, vec![tool_started("e2")]).unwrap();
        assert_eq!(ids(&log), ["e1", "e2"]);
    }
}

/// Three events that belong together are all there or none is, and a crash during recovery changes nothing.
// verifies: H04
#[test]
fn a_batch_is_whole_or_gone_also_when_recovery_is_interrupted() {
    let crashed = crashed_after(&[&["e1"], &["call", "approval", "status"]]);
    for at in crashed.last_frame.clone().step_by(7) {
        let dir = cut(&crashed, at, true);
        let mut broken = options();
        broken.disk = std::sync::Arc::new(crate::faults::NoTrim);
        let first = EventLog::open(dir.path(), broken); // sets aside, then cannot trim: as if killed there
        assert!(first.is_err() || at == crashed.last_frame.start, "cut at {at}");
        drop(first);
        let log = EventLog::open(dir.path(), options()).unwrap();
        assert_eq!(ids(&log), ["e1"], "cut at {at}");
        let state = log.reader().head(&session("s")).unwrap();
        drop(log);
        let log = EventLog::open(dir.path(), options()).unwrap();
        assert_eq!(log.reader().head(&session("s")).unwrap(), state);
    }
}
