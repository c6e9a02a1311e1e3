//! Damage that no crash explains: it costs its frame and no more, and it is found and named.

use event_spine::{Entry, EventLog, Expected, Gap, LogReader, ReadError, ReadMode};

use crate::common::{contents, options, segment, session, tool_started};

/// A log that was closed in order, with ten events in one session and one in another.
fn closed_log() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    for n in 1..=10 {
        log.append(&session("s"), Expected::Any, vec![tool_started(&format!("e{n}"))]).unwrap();
    }
    log.append(&session("healthy"), Expected::Any, vec![tool_started("h1")]).unwrap();
    dir
}

/// Where the frame that holds `id` begins to hold it.
fn place_of(dir: &std::path::Path, id: &str) -> usize {
    let bytes = std::fs::read(segment(dir)).unwrap();
    bytes.windows(id.len()).position(|window| window == id.as_bytes()).unwrap()
}

fn flip(dir: &std::path::Path, bit: usize) {
    let path = segment(dir);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[bit / 8] ^= 1 << (bit % 8);
    std::fs::write(path, bytes).unwrap();
}

fn entries(reader: &LogReader, mode: ReadMode) -> Vec<Result<Entry, ReadError>> {
    reader.read(&session("s"), .., mode).unwrap().collect()
}

// verifies: H02
#[test]
fn one_bad_record_costs_that_record_only() {
    let dir = closed_log();
    flip(dir.path(), place_of(dir.path(), "e4") * 8);
    let before = contents(dir.path());
    let reader = LogReader::open(dir.path()).unwrap();
    let listed: Vec<_> = reader
        .sessions()
        .unwrap()
        .into_iter()
        .map(|s| (s.session_id.to_string(), s.head.sequence))
        .collect();
    assert_eq!(listed, [("s".to_owned(), 10), ("healthy".to_owned(), 1)]);

    let mut sequences = Vec::new();
    let mut gaps = Vec::new();
    for entry in entries(&reader, ReadMode::Tolerant) {
        match entry.unwrap() {
            Entry::Event(event) => sequences.push(event.sequence),
            Entry::Gap(Gap { from, to, .. }) => gaps.push((from, to)),
        }
    }
    assert_eq!(sequences, [1, 2, 3, 5, 6, 7, 8, 9, 10]);
    assert_eq!(gaps, [(4, 4)]);

    let strict = entries(&reader, ReadMode::Strict);
    assert_eq!(strict.len(), 4, "three events, then the error");
    let Some(Err(ReadError::Damaged { from: 4, to: 4, .. })) = strict.last() else {
        panic!("{strict:?}")
    };
    let fault = reader.verify(&session("s")).unwrap().fault.unwrap();
    assert_eq!(fault.sequence, 4);
    assert!(reader.verify(&session("healthy")).unwrap().intact());
    assert_eq!(contents(dir.path()), before, "reading changes no file");

    // The writer keeps what is behind the damage and goes on behind it.
    let log = EventLog::open(dir.path(), options()).unwrap();
    assert_eq!(log.recovery().notes.len(), 1);
    let receipt =
        log.append(&session("s"), Expected::Exact(10), vec![tool_started("e11")]).unwrap();
    assert_eq!(receipt.sequences, [11]);
}

/// Each single bit of the journal, flipped, is noticed by a verification and named.
#[test]
fn every_flipped_bit_of_the_journal_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let log = EventLog::open(dir.path(), options()).unwrap();
    log.append(&session("s"), Expected::Any, vec![tool_started("e1"), tool_started("e2")]).unwrap();
    drop(log);
    let bits = std::fs::metadata(segment(dir.path())).unwrap().len() as usize * 8;
    assert!(bits > 4000);
    for bit in 0..bits {
        flip(dir.path(), bit);
        let reader = LogReader::open(dir.path()).unwrap();
        let findings = reader.verify_storage().unwrap();
        assert!(!findings.is_empty(), "bit {bit} is not noticed");
        assert_eq!(findings[0].file, "journal/0000000001.seg");
        flip(dir.path(), bit);
    }
    assert!(LogReader::open(dir.path()).unwrap().verify_storage().unwrap().is_empty());
}

/// Who rewrites a frame with a fitting checksum still cannot hide it from the chain.
#[test]
fn history_that_was_changed_with_care_does_not_verify() {
    let dir = closed_log();
    let path = segment(dir.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let at = place_of(dir.path(), "e4");
    let frame = bytes[..at].windows(4).rposition(|window| window == b"SPNF").unwrap();
    let length = u32::from_le_bytes(bytes[frame + 4..frame + 8].try_into().unwrap()) as usize;
    let payload = bytes[frame..frame + 17 + length]
        .windows(10)
        .position(|window| window == b"write_file")
        .map(|found| frame + found)
        .unwrap();
    bytes[payload..payload + 10].copy_from_slice(b"erase_file");
    let crc = crc32c::crc32c(&bytes[frame + 12..frame + 17 + length]);
    bytes[frame + 8..frame + 12].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let reader = LogReader::open(dir.path()).unwrap();
    assert!(reader.verify_storage().unwrap().is_empty(), "the frame is whole");
    assert_eq!(reader.verify(&session("s")).unwrap().fault.unwrap().sequence, 4);
}

/// What can be read of a damaged log goes into a new one, and the old one stays as it is.
// verifies: H04
#[test]
fn salvage_copies_the_readable_prefix_and_keeps_the_rest_beside_it() {
    let dir = closed_log();
    flip(dir.path(), place_of(dir.path(), "e4") * 8);
    let before = contents(dir.path());
    let into = tempfile::tempdir().unwrap();
    let target = into.path().join("new");
    let salvaged = event_spine::salvage(dir.path(), &target, options()).unwrap();
    assert!(!salvaged.whole());
    let of = |id: &str| salvaged.sessions.iter().find(|s| s.session_id.as_str() == id).unwrap();
    assert_eq!((of("s").events, of("s").behind_gap, of("s").first_lost), (3, 6, Some(4)));
    assert_eq!((of("healthy").events, of("healthy").first_lost), (1, None));
    assert_eq!(contents(dir.path()), before);
    let (old, new) = (LogReader::open(dir.path()).unwrap(), LogReader::open(&target).unwrap());
    for id in ["s", "healthy"] {
        let verification = new.verify(&session(id)).unwrap();
        assert!(verification.intact());
        let chain = old.chain_at(&session(id), verification.head.sequence).unwrap();
        assert_eq!(chain, Some(verification.head.chain));
    }
    let aside = contents(&target.join("behind-gap"));
    let lines: Vec<_> =
        aside.values().flat_map(|bytes| std::str::from_utf8(bytes).unwrap().lines()).collect();
    assert_eq!(lines.len(), 6);
}

/// A session whose frames are all damaged, and one whose last frame is, show no gap: the damaged place names them.
// verifies: H02 H04
#[test]
fn what_a_damaged_place_held_is_named_even_when_nothing_of_it_is_left() {
    let dir = closed_log();
    flip(dir.path(), place_of(dir.path(), "e10") * 8);
    flip(dir.path(), place_of(dir.path(), "h1") * 8);
    let reader = LogReader::open(dir.path()).unwrap();
    let held: Vec<_> = reader
        .verify_storage()
        .unwrap()
        .into_iter()
        .flat_map(|finding| finding.held)
        .map(|held| (held.session_id.to_string(), held.first))
        .collect();
    assert!(reader.damaged_places().unwrap() > 0);
    assert!(held.contains(&("healthy".to_owned(), 1)), "{held:?}");
    assert!(reader.sessions().unwrap().iter().all(|s| s.session_id.as_str() != "healthy"));
    let into = tempfile::tempdir().unwrap();
    let salvaged = event_spine::salvage(dir.path(), &into.path().join("new"), options()).unwrap();
    assert!(!salvaged.whole());
    let of = |id: &str| salvaged.sessions.iter().find(|s| s.session_id.as_str() == id).unwrap();
    assert_eq!((of("healthy").events, of("healthy").first_lost), (0, Some(1)));
    assert_eq!((of("s").events, of("s").first_lost), (9, Some(10)));
}
