//! The generated JSON Schemas, run by a validator that is not ours, over every fixture. Schema and rules agree on what
//! an event may look like: an event that one refuses, the other refuses too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use conformance::{Options, check_lines};
use event_spine::wire::WireEvent;
use serde_json::Value;

use crate::support::{files, repo, scenarios};

fn validator() -> jsonschema::Validator {
    let schema = std::fs::read(repo("schema/json/runtime-event.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

// verifies: R17
#[test]
fn every_event_of_the_native_fixtures_fits() {
    let validator = validator();
    for (path, events) in scenarios() {
        for event in events {
            let errors: Vec<_> = validator.iter_errors(&event).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{}: {event}\n{errors:?}", path.display());
        }
    }
    let example = std::fs::read(repo("fixtures/native/minimal-example.json")).unwrap();
    assert!(validator.is_valid(&serde_json::from_slice(&example).unwrap()));
}

#[test]
fn schema_and_rules_refuse_the_same_events() {
    let validator = validator();
    for name in ["events.jsonl", "mended.jsonl"] {
        for path in files("fixtures/invalid", name) {
            let by_schema = refused_by_schema(&validator, &path);
            let by_rules = refused_by_rules(&path);
            for (line, refused) in by_schema {
                assert_eq!(refused, by_rules.contains(&line), "{} line {line}", path.display());
            }
        }
    }
}

#[test]
fn the_log_and_the_rules_refuse_the_same_events() {
    for path in files("fixtures/invalid", "events.jsonl") {
        let by_rules = refused_by_rules(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, line) in (1..).zip(text.lines()) {
            // What is no event at all never gets as far as the log, and a log numbers by itself.
            let Ok(event) = WireEvent::parse(line) else {
                continue;
            };
            let refused = event_spine::validate(&[event.draft]).is_err();
            let unnamed = line.contains("\"type\":\"ToolPaused\"");
            assert_eq!(refused, by_rules.contains(&at) || unnamed, "{} line {at}", path.display());
        }
    }
}

/// Lines that are JSON at all, and whether the schema refuses them.
fn refused_by_schema(validator: &jsonschema::Validator, path: &Path) -> BTreeMap<u64, bool> {
    let text = std::fs::read_to_string(path).unwrap();
    (1..)
        .zip(text.lines())
        .filter_map(|(at, line)| Some((at, serde_json::from_str::<Value>(line).ok()?)))
        .map(|(at, event)| (at, !validator.is_valid(&event)))
        .collect()
}

fn refused_by_rules(path: &Path) -> BTreeSet<u64> {
    let report = check_lines(std::fs::read(path).unwrap().as_slice(), Options::default()).unwrap();
    let lines = |codes: &[&str]| -> BTreeSet<u64> {
        let found = report.findings.iter().filter(|finding| codes.contains(&finding.code));
        found.filter_map(|finding| finding.line).collect()
    };
    // The schema holds a type that is not registered to nothing; the rules know its relatives.
    &lines(&["schema_mismatch", "missing_scope_id"]) - &lines(&["unknown_event_type"])
}
