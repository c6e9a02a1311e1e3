//! The fixtures, run: what the streams of `fixtures/` show is what they say they show.
//!
//! `UPDATE_EXPECTED=1` writes what is shown into the `fixture.json` files; look at the difference before it is committed.

use std::fmt::Write as _;
use std::sync::Arc;

use conformance::Level;
use conformance::fixture::{Fixture, Shown, Stage, Suite, find, load, run, run_folder};
use event_spine::wire::WireEvent;
use event_spine::{EventLog, Expected, LogOptions, RecordedAt, SeededEntropy, SteppingClock};
use read_model::SessionView;
use serde_json::{Value, json};

use crate::support::repo;

const SIX: [&str; 6] =
    ["text", "tool-success", "tool-failure", "approval", "artifact-evidence", "stream-recovery"];

fn native() -> Suite {
    run_folder(&repo("fixtures/native")).unwrap()
}

/// What every fixture shows after every event, as a table.
fn trace(fixture: &Fixture) -> String {
    let clock = SteppingClock::new(RecordedAt(1_780_999_200_000_000), 1000);
    let log =
        EventLog::in_memory(LogOptions::new(Arc::new(clock), Arc::new(SeededEntropy::new(1))));
    let text = std::fs::read_to_string(fixture.path.with_file_name("events.jsonl")).unwrap();
    let mut table = String::new();
    let mut view = None;
    for line in text.lines() {
        let event = WireEvent::parse(line).unwrap();
        let session = event.session_id.clone();
        log.append(&session, Expected::Any, vec![event.draft]).unwrap();
        let view = view.get_or_insert_with(|| SessionView::new(session.clone()));
        let mut events =
            log.reader().read(&session, view.at.sequence + 1.., Default::default()).unwrap();
        while let Some(event) = events.next_event().unwrap() {
            view.apply(&event);
            let shown = Shown::of(view);
            writeln!(
                table,
                "{:>3} {:<28} {:<10} {:<6} parts {:>2}  waiting {}",
                event.sequence,
                event.event_type().name(),
                shown.status,
                shown.hydration,
                shown.message_part_count,
                shown.pending_action_count,
            )
            .unwrap();
        }
    }
    table
}

fn update(fixture: &Fixture, shown: &Shown) {
    let text = std::fs::read(&fixture.path).unwrap();
    let mut json: Value = serde_json::from_slice(&text).unwrap();
    let mut expected = serde_json::to_value(shown).unwrap();
    expected.as_object_mut().unwrap().remove("actionCount");
    if let Some(findings) = json["expected"].get("findings") {
        expected["findings"] = findings.clone();
    }
    json["expected"] = expected;
    std::fs::write(&fixture.path, serde_json::to_string_pretty(&json).unwrap() + "\n").unwrap();
}

// verifies: R1 R3 R4 R61
#[test]
fn every_fixture_shows_what_it_says() {
    for fixture in find(&repo("fixtures")).unwrap() {
        let report = run(&fixture);
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            update(&fixture, &report.counts);
            continue;
        }
        assert!(report.passed, "{}\n{:#?}", fixture.path.display(), report);
        assert!(fixture.expected.status.is_some(), "{} expects nothing", fixture.path.display());
    }
}

// verifies: R4
#[test]
fn the_native_provider_has_the_six_that_the_contract_asks_for() {
    let suite = native();
    assert!(suite.passed);
    assert_eq!(suite.level, Level::RuntimeCompatible);
    let ids: Vec<_> = suite.fixtures.iter().map(|report| report.fixture_id.as_str()).collect();
    for id in SIX {
        assert!(ids.contains(&id), "{id} is missing in {ids:?}");
    }
    let json = serde_json::to_value(&suite).unwrap();
    assert_eq!(json["passed"], json!(true));
    assert!(json["fixtures"].as_array().unwrap().len() >= 6);
}

// verifies: R92
#[test]
fn an_approval_waits_and_then_goes_on() {
    let trace = trace(&load(&repo("fixtures/native/approval")).unwrap());
    let asked: Vec<_> = trace.lines().filter(|line| line.contains("action.required")).collect();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|line| line.contains(" waiting ")), "{trace}");
    insta::assert_snapshot!("approval", trace);
}

// verifies: R94
#[test]
fn a_broken_stream_is_stale_until_it_is_repaired() {
    let trace = trace(&load(&repo("fixtures/native/stream-recovery")).unwrap());
    assert!(trace.contains(" stale "));
    assert!(trace.lines().last().unwrap().contains(" live "), "{trace}");
    insta::assert_snapshot!("stream-recovery", trace);
}

// verifies: R60
#[test]
fn a_stream_that_is_lost_stays_stale() {
    let trace = trace(&load(&repo("fixtures/native/stream-lost")).unwrap());
    let last = trace.lines().last().unwrap();
    assert!(last.contains(" stale ") && last.contains(" failed "), "{trace}");
    insta::assert_snapshot!("stream-lost", trace);
}

// verifies: R207
#[test]
fn unknown_usage_is_shown_as_unknown() {
    let mut events = crate::support::scenario("text");
    events.retain(|event| event["type"] != "usage.updated");
    for (number, event) in (1..).zip(&mut events) {
        event["sequence"] = json!(number);
        if let Some(payload) = event["payload"].as_object_mut() {
            payload.remove("usage");
        }
    }
    let shown = |output: Value| {
        let view = json!({"usage": {"session": {"output": {"tokens": output}}}});
        run(&fixture_of(&events, json!({"status": "completed"}), view))
    };
    let unknown = shown(json!("unknown"));
    assert!(unknown.passed, "{unknown:#?}");
    assert_eq!(shown(json!(0)).stage, Stage::Projection, "unknown is not 0");
}

fn fixture_of(events: &[Value], expected: Value, view: Value) -> Fixture {
    let fixture = json!({
        "id": "made", "schemaVersion": "0.1", "title": "made by a test", "events": events,
        "expected": expected, "finalReadModel": view,
    });
    // Through text, as from a file: events keep their spelling.
    serde_json::from_str(&fixture.to_string()).unwrap()
}

#[test]
fn what_is_not_as_the_fixture_says_fails_at_its_stage() {
    let text = crate::support::scenario("text");
    let stage = |fixture: &Fixture| {
        let report = run(fixture);
        assert!(!report.passed && !report.diagnostics.is_empty(), "{report:#?}");
        (report.stage, report.diagnostics[0].code.clone())
    };
    let wrong_count = fixture_of(&text, json!({"messagePartCount": 7}), json!({}));
    assert_eq!(stage(&wrong_count), (Stage::Projection, "projection_mismatch".to_owned()));
    let wrong_view = fixture_of(&text, json!({}), json!({"status": {"runtime": "failed"}}));
    assert_eq!(stage(&wrong_view), (Stage::Projection, "projection_mismatch".to_owned()));
    let mut broken = text.clone();
    broken.remove(3);
    let undeclared = fixture_of(&broken, json!({}), json!({}));
    assert_eq!(stage(&undeclared).0, Stage::Events);
    let declared = fixture_of(&broken, json!({"findings": ["sequence_gap"]}), json!({}));
    assert!(run(&declared).passed, "{:#?}", run(&declared));
    let not_broken = fixture_of(&text, json!({"findings": ["sequence_gap"]}), json!({}));
    assert_eq!(stage(&not_broken), (Stage::Events, "sequence_gap".to_owned()));
    let empty = fixture_of(&[], json!({}), json!({}));
    assert_eq!(stage(&empty), (Stage::Fixture, "fixture_invalid".to_owned()));
}
