//! What the adapters make of every recording: it breaks no rule.

use conformance::{Checker, Options, Report};
use event_spine::Timestamp;
use providers::stream::{AdapterContext, EndOfInput, Format, Framing, Pipeline};

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
