//! What the adapters make of every recording: it breaks no rule.

use std::sync::Arc;

use conformance::{Checker, Options, Report};
use event_spine::{
    EventLog, Expected, LogOptions, ReadMode, RecordedAt, RecordedEvent, SeededEntropy, SessionId,
    SteppingClock, Timestamp,
};
use providers::stream::{AdapterContext, EndOfInput, Format, Framing, Pipeline};
use read_model::SessionView;

use crate::support::{repo, with_code};

/// Folders of `fixtures` that hold no recordings.
const OWN: [&str; 3] = ["native", "invalid", "stored"];

fn recordings() -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(repo("fixtures")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || OWN.contains(&name.as_str()) {
            continue;
        }
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|e| e == "jsonl" || e == "sse") {
                found.push(file);
            }
        }
    }
    found.sort();
    found
}

fn judged(bytes: &[u8], whole: bool) -> Report {
    let format = Format::detect(bytes).expect("a recording has a format");
    let context = AdapterContext::at(Timestamp::verbatim("2026-06-09T10:00:00.000Z"));
    let mut pipeline = Pipeline::new(format, Framing::detect(bytes), context);
    let mut drafts = pipeline.push(bytes).drafts;
    drafts.extend(pipeline.finish(EndOfInput::Closed).drafts);
    assert!(!drafts.is_empty());
    let mut checker = Checker::new(Options { foreign: true, whole, ..Options::default() });
    for made in &drafts {
        checker.draft(&made.session_id, &made.draft);
    }
    checker.finish()
}

// verifies: R78 H13
#[test]
fn no_recording_becomes_a_stream_that_breaks_a_rule() {
    let recordings = recordings();
    assert!(recordings.len() > 20, "{}", recordings.len());
    for path in recordings {
        let bytes = std::fs::read(&path).unwrap();
        let report = judged(&bytes, false);
        assert!(report.passed, "{}\n{report}", path.display());
        // Nothing is left open at the end, unless it waits for a person.
        let report = judged(&bytes, true);
        let waits = with_code(&report, "action_unresolved_at_turn_end");
        assert!(report.passed || !waits.is_empty(), "{}\n{report}", path.display());
    }
}

/// The views of a session after some parts of it, each told what the parts before it gave.
fn folded(parts: &[&[u8]]) -> SessionView {
    let clock = SteppingClock::new(RecordedAt(1_780_999_200_000_000), 1_000);
    let log =
        EventLog::in_memory(LogOptions::new(Arc::new(clock), Arc::new(SeededEntropy::new(1))));
    let mut view = None;
    for bytes in parts {
        let format = Format::detect(bytes).unwrap();
        let context = AdapterContext::at(Timestamp::verbatim("2026-06-09T10:00:00.000Z"));
        let mut pipeline = Pipeline::new(format, Framing::detect(bytes), context.clone());
        let session = Pipeline::session_of(format, bytes, context).unwrap();
        let mut folded = SessionView::new(session.clone());
        for event in read(&log, &session) {
            pipeline.recall(&session, &event.draft);
        }
        let mut drafts = pipeline.push(bytes).drafts;
        drafts.extend(pipeline.finish(EndOfInput::Closed).drafts);
        let drafts = drafts.into_iter().map(|made| made.draft).collect();
        log.append(&session, Expected::Any, drafts).unwrap();
        for event in read(&log, &session) {
            folded.apply(&event);
        }
        view = Some(folded);
    }
    view.unwrap()
}

fn read(log: &EventLog, session: &SessionId) -> Vec<RecordedEvent> {
    let mut all = Vec::new();
    if log.reader().head(session).unwrap().is_none() {
        return all;
    }
    let mut events = log.reader().read(session, .., ReadMode::Strict).unwrap();
    while let Some(event) = events.next_event().unwrap() {
        all.push(event);
    }
    all
}

#[test]
fn tokens_of_recordings_add_up() {
    for (parts, input, output) in [
        (vec!["ag-ui/two-models.jsonl"], 105, 21),
        (vec!["ag-ui/approval.jsonl"], 96, 15),
        (
            vec!["ag-ui/subagent-approval.part1.jsonl", "ag-ui/subagent-approval.part2.jsonl"],
            24 + 27 + 99 + 112,
            18 + 6 + 9 + 10,
        ),
        (vec!["codex/exec.resume.turn1.jsonl", "codex/exec.resume.turn2.jsonl"], 3600, 150),
    ] {
        let inputs: Vec<_> = parts
            .iter()
            .map(|part| std::fs::read(repo(&format!("fixtures/{part}"))).unwrap())
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let view = folded(&inputs);
        let session = &view.usage.session;
        let known = |sum: &read_model::projections::usage::Sum| sum.tokens.value().copied();
        assert_eq!(
            (known(&session.input), known(&session.output)),
            (Some(input), Some(output)),
            "{parts:?}"
        );
        let total = view.graph.derive().total.rolled_up;
        let total = total.unwrap();
        assert_eq!((total.input, total.output), (Some(input), Some(output)), "{parts:?}");
    }
}
