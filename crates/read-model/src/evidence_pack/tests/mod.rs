//! Tests of the evidence pack.

use std::collections::BTreeSet;
use std::sync::Arc;

use event_spine::{
    EventDraft, EventLog, Expected, LogOptions, LogReader, RecordedAt, SeededEntropy, SessionId,
    SteppingClock,
};
use serde_json::Value;

use super::*;
use crate::projections::graph::tests::gallery::{gallery, nested_agents, tool_run};
use crate::projections::graph::tests::story::Story;

fn log() -> EventLog {
    let clock = SteppingClock::new(RecordedAt(1_790_000_000_000_000), 1_000);
    EventLog::in_memory(LogOptions::new(Arc::new(clock), Arc::new(SeededEntropy::new(7))))
}

fn options() -> PackOptions {
    let mut options = PackOptions::new(RecordedAt(1_790_000_100_000_000));
    options.producer.version = "1.2.3".to_owned(); // snapshots outlive releases
    options
}

fn drafts(story: &Story) -> Vec<EventDraft> {
    story.events.iter().map(|event| event.draft.clone()).collect()
}

fn recorded(story: &Story) -> (LogReader, SessionId) {
    let session = story.events[0].session_id.clone();
    let log = log();
    log.append(&session, Expected::Empty, drafts(story)).unwrap();
    (log.reader(), session)
}

fn pack_of(reader: &LogReader, session: &SessionId) -> (String, Written) {
    let mut bytes = Vec::new();
    let written = write_pack(reader, session, &options(), &mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), written)
}

fn told(story: &Story) -> (String, Written) {
    let (reader, session) = recorded(story);
    pack_of(&reader, &session)
}

#[test]
fn a_pack_says_what_happened() {
    let (text, written) = told(&tool_run());
    insta::assert_snapshot!("pack_tool_run", text);
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["checksum"], written.checksum.as_str());
    assert_eq!(read["status"], "verified");
}

// verifies: R9
#[test]
fn the_ids_are_those_of_the_events_in_order() {
    let story = nested_agents();
    let (text, _) = told(&story);
    let read: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<&str> =
        read["eventIds"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    let told: Vec<&str> = story.events.iter().map(|e| e.draft.event_id.as_str()).collect();
    assert_eq!(ids, told);
    let of_events: Vec<&str> =
        read["events"].as_array().unwrap().iter().map(|v| v["eventId"].as_str().unwrap()).collect();
    assert_eq!(of_events, told);
    assert_eq!(read["runtimeCorrelation"]["subagentIds"], serde_json::json!(["A", "A1", "B"]));
}

#[test]
fn every_session_of_the_gallery_gives_a_pack_that_holds() {
    for (name, story) in gallery() {
        if story.events.is_empty() {
            continue;
        }
        let (text, written) = told(&story);
        let found = verify_pack(&text);
        assert_eq!(found.faults, [], "{name}");
        assert_eq!(found.events, story.events.len() as u64, "{name}");
        assert_eq!(found.head, Some(written.pack.chain.head), "{name}");
        assert!(written.pack.verification.intact, "{name}");
    }
}

#[test]
fn the_same_evidence_has_the_same_id_and_the_same_bytes() {
    let (first, _) = told(&tool_run());
    let (again, _) = told(&tool_run());
    assert_eq!(first, again);
    let (other, _) = told(&nested_agents());
    let id = |text: &str| serde_json::from_str::<Value>(text).unwrap()["evidencePackId"].clone();
    assert_ne!(id(&first), id(&other));
}

#[test]
fn approvals_name_who_decided() {
    let mut s = Story::new("approvals");
    s.turn("t1", "go").step("s0");
    s.required("a1", "c1", "rm", "{}")
        .resolved("a1", "deny", "mia")
        .resolved("a1", "approve", "eve");
    s.required("a2", "c2", "ls", "{}");
    s.required("a1", "c3", "rm", "{}").resolved("a1", "approve", "lin");
    let pack = EvidencePack::of_events(
        &s.events[0].session_id.clone(),
        &s.events,
        &options(),
        &BTreeSet::new(),
    );
    let seen: Vec<_> = pack
        .approvals
        .iter()
        .map(|a| (a.action_id.as_str(), a.outcome, a.decided_by.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            ("a1", ApprovalOutcome::Refused, Some("mia")),
            ("a2", ApprovalOutcome::Open, None),
            ("a1", ApprovalOutcome::Granted, Some("lin")),
        ]
    );
}

// verifies: H02
#[test]
fn what_cannot_be_read_is_named_and_the_rest_holds() {
    let story = tool_run();
    let session = story.events[0].session_id.clone();
    let mut facts = Facts::new(session);
    for event in &story.events[..5] {
        facts.take(event);
    }
    facts.miss(Missing { from: 6, to: 8, reason: "frame 2 is damaged".into() });
    for event in &story.events[8..] {
        facts.take(event);
    }
    let pack = judge::judge(facts, &options(), &BTreeSet::new());
    assert_eq!(pack.status, PackStatus::Partial);
    assert_eq!(pack.known_gaps[0].code, "events_unreadable");
    assert_eq!(
        pack.verification.verified_events,
        story.events.len() as u64 - 4,
        "the one behind the gap is taken at its word"
    );
    let mut writer = PackWriter::new(Vec::new()).unwrap();
    writer.header(&pack).unwrap();
    let there = || {
        story
            .events
            .iter()
            .filter(|e| !(6..=8).contains(&e.sequence))
            .cloned()
            .map(Ok::<_, PackError>)
    };
    writer.event_ids(there()).unwrap();
    writer.events(there()).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let found = verify_pack(&text);
    assert_eq!(found.faults, []);
    assert_eq!((found.missing, found.events), (3, story.events.len() as u64 - 3));
}

// verifies: H37
#[test]
fn bodies_that_are_gone_are_named() {
    use event_spine::{Ref, RefKind, Refs};
    let log = log();
    let there = log.blobs().put(b"the whole output").unwrap().to_string();
    let gone = format!("blake3:{}", "0".repeat(64));
    let mut story = tool_run();
    for (event, id) in story.events.iter_mut().zip([&there, &gone]) {
        event.draft.refs = Refs::from_list(&[Ref::new(RefKind::Output, id.clone())]).unwrap();
    }
    let session = story.events[0].session_id.clone();
    log.append(&session, Expected::Empty, drafts(&story)).unwrap();
    let (text, written) = pack_of(&log.reader(), &session);
    let present: Vec<_> = written.pack.bodies.iter().map(|b| (b.id == there, b.present)).collect();
    assert!(present.contains(&(true, true)) && present.contains(&(false, false)));
    assert_eq!(written.pack.status, PackStatus::Partial);
    assert_eq!(written.pack.completeness.replay.status, Coverage::Partial);
    assert!(verify_pack(&text).intact());
}

#[test]
fn a_fork_carries_the_history_that_it_shares() {
    let story = tool_run();
    let session = story.events[0].session_id.clone();
    let log = log();
    log.append(&session, Expected::Empty, drafts(&story)).unwrap();
    let child = SessionId::parse("sess_child").unwrap();
    let runtime = story.events[0].draft.runtime_id.clone();
    log.fork(&session, 7, &child, &runtime, None).unwrap();
    let (text, written) = pack_of(&log.reader(), &child);
    assert_eq!(written.pack.range.events, 8);
    assert_eq!(written.pack.runtime_correlation.recorded_by, ["sess_child", "sess_tool_run"]);
    assert_eq!(verify_pack(&text).faults, []);
}

fn small() -> String {
    let mut s = Story::new("small");
    s.turn("t1", "go")
        .step("s0")
        .required("a1", "c1", "rm", "{}")
        .resolved("a1", "deny", "mia")
        .done();
    told(&s).0
}

/// Replaces the first occurrence and puts the checksum and the part hashes right again, as a forger would.
fn forged(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn the_first_bad_event_is_named() {
    let text = small();
    let check = |from: &str, to: &str, sequence: u64, what: &str| {
        let found = verify_pack(&forged(&text, from, to));
        assert_eq!(found.first_bad_event(), Some(sequence), "{from}: {:?}", found.faults);
        assert!(found.faults[0].what.contains(what), "{:?}", found.faults);
        assert_eq!(found.events, sequence - 1);
    };
    check(r#"\"decision\":\"deny\""#, r#"\"decision\":\"allow\""#, 4, "payload digest");
    check(r#""sequence":3,"eventId":"evt_3""#, r#""sequence":3,"eventId":"evt_9""#, 3, "leaf");
    check(r#""sequence":2,"eventId""#, r#""sequence":7,"eventId""#, 2, "sequence 7");
    check(
        r#""toolCallId":"c1","actionId""#,
        r#""toolCallId":"c1","toolCallId":"c2","actionId""#,
        3,
        "twice",
    );
    let fifth = text.lines().find(|line| line.contains("\"sequence\":5,")).unwrap();
    let without = text.replace(&format!(",\n{fifth}"), "");
    assert!(verify_pack(&without).faults.iter().any(|f| f.part == "range" || f.part == "chain"));
    let fourth = text.lines().find(|line| line.contains("\"sequence\":4,")).unwrap();
    let found = verify_pack(&text.replace(&format!("{fourth}\n"), ""));
    assert_eq!(found.first_bad_event(), Some(4));
}

#[test]
fn what_the_pack_says_must_follow_from_the_events() {
    let text = small();
    let check = |from: &str, to: &str, part: &str| {
        let found = verify_pack(&forged(&text, from, to));
        assert!(found.faults.iter().any(|f| f.part == part), "{from}: {:?}", found.faults);
        assert_eq!(found.first_bad_event(), None);
    };
    check(r#""decidedBy":"mia""#, r#""decidedBy":"eve""#, "approvals");
    check(r#""outcome":"refused""#, r#""outcome":"granted""#, "approvals");
    check(r#""status":"verified""#, r#""status":"reviewed""#, "status");
    check(r#""eventIds":["#, r#""eventIds":["evt_0","#, "eventIds");
    check(r#""kind":"session""#, r#""kind":"sessions""#, "scope");
}

/// Every bit of a pack, flipped alone, breaks the checksum.
#[test]
fn no_single_bit_can_change() {
    let mut bytes = small().into_bytes();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            if let Ok(changed) = std::str::from_utf8(&bytes) {
                let mut found = PackVerification::default();
                verify::check_checksum(changed, &mut found);
                assert!(!found.intact(), "bit {bit} of byte {at}");
            }
            bytes[at] ^= 1 << bit;
        }
    }
}

/// And if somebody mends checksum and part hashes, a bit that changed in the events is still found, and the event named.
#[test]
fn a_changed_bit_names_its_event_even_when_the_checksum_is_mended() {
    let text = small();
    let from = text.find("\"events\":[").unwrap() + "\"events\":[".len();
    let to = text[from..].find("\n],\n\"files\"").unwrap() + from;
    let mut bytes = text.clone().into_bytes();
    for (number, at) in (from..to).enumerate() {
        let bit = number % 7; // the eighth would not be UTF-8
        bytes[at] ^= 1 << bit;
        if let Ok(changed) = std::str::from_utf8(&bytes) {
            let found = verify_pack(changed);
            let own: Vec<_> = found
                .faults
                .iter()
                .filter(|f| !matches!(f.part.as_str(), "checksum" | "files"))
                .collect();
            let line = text[from..=at].matches('\n').count() as u64;
            let named = found.first_bad_event();
            let near = named.is_some_and(|n| n == line || n == line + 1);
            let not_json = own.iter().any(|f| f.part == "file");
            assert!(near || not_json, "bit {bit} of byte {at} in event {line}: {:?}", found.faults);
        }
        bytes[at] ^= 1 << bit;
    }
    assert!(verify_pack(&text).intact());
}

#[test]
fn what_is_no_pack_is_refused_without_a_panic() {
    for text in ["", "{}", "[]", "null", "{\"format\":1}", "{\"events\":[{}],\"checksum\":\"x\"}"] {
        assert!(!verify_pack(text).intact(), "{text}");
    }
    let text = small();
    for at in (0..text.len()).step_by(97) {
        assert!(!verify_pack(&text[..at]).intact());
    }
    let newer = forged(&text, r#""schemaVersion":"1""#, r#""schemaVersion":"2""#);
    assert!(verify_pack(&newer).faults.iter().any(|f| f.part == "format"));
}
