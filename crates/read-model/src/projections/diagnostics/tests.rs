//! Tests of the view of diagnostics.

use super::Diagnostics;
use crate::testing::{brief, view};

fn diagnostics(lines: &str) -> Diagnostics {
    view(lines).diagnostics
}

#[test]
fn warnings_errors_metrics_and_what_was_masked() {
    insta::assert_snapshot!(brief(&diagnostics(
        r#"
        runtime.warning    {"code":"slow","message":"taking long","detail":{"ms":900}}
        runtime.error      {"code":"boom","message":"it broke","fatal":true}
        metrics.changed    {"metric":"ttft","value":12.5,"unit":"ms"}
        metrics.changed    {"metric":"ttft","value":13,"unit":"ms","values":{"p50":1.10}}
        output.redacted    {"target":"tool","method":"mask","reason":"github-token","count":2}
        output.redacted    {"target":"model","method":"mask","reason":"github-token","count":1}
        rate_limit.hit     {"provider":"p","retryAfterMs":500}
        progress.evaluated turn=u1 {"stalledProgressState":"stalled","repeatCycleStreak":3,"shouldTerminate":true}
        vendor.thing       {"a":1}
        vendor.thing       {"a":2}
        tool.started       turn=u1 step=s1 tool=c1 {"toolName":7}
        stream.interrupted {"reason":"gone"}
        "#
    )));
}

// verifies: H43
#[test]
fn times_that_cannot_be_believed_cost_a_diagnostic_and_not_the_event() {
    let diagnostics = diagnostics(
        r#"
        turn.submitted turn=u1 {"text":"a"} @300
        turn.started   turn=u1 @0
        model.delta    turn=u1 {"delta":"x"} @yesterday
        model.delta    turn=u1 {"delta":"y"} @
        model.delta    turn=u1 {"delta":"z"} @2999-01-01T00:00:00Z
        model.delta    turn=u1 {"delta":"z"} @2999-01-01T00:00:00Z
        "#,
    );
    let counts = diagnostics.counts;
    assert_eq!(
        (counts.bad_timestamps, counts.future_timestamps, counts.clock_steps_back),
        (2, 2, 1)
    );
    let codes: Vec<_> = diagnostics.entries.iter().map(|e| (e.code.as_str(), e.count)).collect();
    assert_eq!(codes, [("clock_stepped_back", 1), ("bad_timestamp", 2), ("future_timestamp", 2)]);
}

#[test]
fn nothing_of_it_is_part_of_the_conversation() {
    let view = view(
        r#"
        runtime.warning {"code":"w","message":"SECRET WORDS"}
        runtime.error   {"code":"e","message":"SECRET WORDS"}
        rate_limit.hit  {"provider":"SECRET WORDS"}
        vendor.thing    {"text":"SECRET WORDS"}
        "#,
    );
    assert!(view.transcript.parts.is_empty());
    assert_eq!(view.diagnostics.entries.len(), 4);
}
