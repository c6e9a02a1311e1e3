//! Streams of which a part is looked at: what may lie outside of the part is no error.

use conformance::{Checker, Finding, Options, Severity};
use event_spine::wire::WireEvent;
use serde_json::Value;

use crate::support::{check, kind, scenario};

fn finding<'a>(found: &'a [Finding], code: &str) -> &'a Finding {
    found
        .iter()
        .find(|finding| finding.code == code)
        .unwrap_or_else(|| panic!("no {code}: {found:?}"))
}

fn as_drafts(events: &[Value], options: Options) -> conformance::Report {
    let mut checker = Checker::new(options);
    for event in events {
        let event = WireEvent::parse(&event.to_string()).unwrap();
        checker.draft(&event.session_id, &event.draft);
    }
    checker.finish()
}

#[test]
fn every_suffix_of_a_good_stream_passes() {
    for name in ["text", "tool-success", "approval", "subagents", "coverage"] {
        let events = scenario(name);
        for from in 0..events.len() {
            let report = check(&events[from..]);
            assert!(report.passed, "{name} from {from}\n{report}");
        }
    }
}

#[test]
fn every_prefix_of_a_good_stream_has_no_finding() {
    for name in ["text", "tool-success", "approval", "subagents", "coverage"] {
        let events = scenario(name);
        for to in 0..events.len() {
            let report = check(&events[..to]);
            assert!(report.findings.is_empty(), "{name} to {to}\n{report}");
        }
    }
}

#[test]
fn what_can_have_started_before_the_part_is_degraded() {
    let events = scenario("approval");
    let at = events.iter().position(|event| kind(event) == "action.resolved").unwrap();
    let report = check(&events[at..]);
    assert_eq!(
        finding(&report.findings, "action_resolved_without_request").severity,
        Severity::Degraded
    );
    assert_eq!(finding(&report.findings, "tool_result_without_start").severity, Severity::Degraded);
}

#[test]
fn a_foreign_stream_may_let_the_end_of_a_turn_close_its_tools() {
    let mut events = scenario("tool-success");
    events.retain(|event| kind(event) != "tool.result");
    let own = as_drafts(&events, Options::default());
    let foreign = as_drafts(&events, Options { foreign: true, ..Options::default() });
    let code = "tool_unclosed_at_turn_end";
    assert_eq!(finding(&own.findings, code).severity, Severity::Error);
    assert_eq!(finding(&foreign.findings, code).severity, Severity::Degraded);
    assert!(foreign.passed && !own.passed);
}

#[test]
fn drafts_have_no_place_yet_and_sessions_do_not_mix() {
    let mut mixed = Vec::new();
    for (a, b) in scenario("text").into_iter().zip(scenario("tool-success")) {
        mixed.extend([a, b]);
    }
    let report = as_drafts(&mixed, Options::default());
    assert!(report.findings.is_empty(), "{report}");
    assert_eq!(report.counts.sessions, 2);
    assert!(check(&mixed).findings.is_empty(), "lines of two sessions");
}

#[test]
fn a_whole_stream_has_closed_what_it_opened() {
    let events = scenario("approval");
    let at = events.iter().position(|event| kind(event) == "action.required").unwrap();
    let report = as_drafts(&events[..=at], Options { whole: true, ..Options::default() });
    for code in
        ["tool_unclosed_at_turn_end", "action_unresolved_at_turn_end", "turn_unclosed_at_end"]
    {
        finding(&report.findings, code);
    }
    let whole = as_drafts(&events, Options { whole: true, ..Options::default() });
    assert!(whole.findings.is_empty(), "{whole}");
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let mut events = scenario("text");
    for event in &mut events {
        event.as_object_mut().unwrap().remove("runtimeId");
    }
    let report = as_lines(&events, Options { keep: 3, ..Options::default() });
    assert_eq!((report.findings.len(), report.dropped), (3, events.len() as u64 - 3));
    assert_eq!(report.total(Severity::Error), events.len() as u64);
}

fn as_lines(events: &[Value], options: Options) -> conformance::Report {
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    conformance::check_lines(text.as_bytes(), options).unwrap()
}
