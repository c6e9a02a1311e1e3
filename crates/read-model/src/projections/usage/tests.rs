//! Tests of the view of tokens.

use super::{CountedBy, Usage};
use crate::honesty::{Absence, Known};
use crate::testing::{brief, view};

fn usage(lines: &str) -> Usage {
    view(lines).usage
}

/// Input and output of the session.
fn check(lines: &str, input: Known<u64>, output: Known<u64>) -> Usage {
    let usage = usage(lines);
    let session = (usage.session.input.tokens, usage.session.output.tokens);
    assert_eq!(session, (input, output), "{lines}");
    usage
}

use Known::Is;

const UNKNOWN: Known<u64> = Known::UNKNOWN;

#[test]
fn a_session_with_every_kind_of_statement() {
    insta::assert_snapshot!(brief(&usage(
        r#"
        turn.started       turn=u1
        budget.checked     turn=u1 step=s1 {"attemptSeq":1,"requestHash":"h1","action":"allow","reason":"fits","estimatedInputTokens":95,"promptBudget":1000,"estimateSource":"local","estimateGatePolicy":"gateable"}
        model.requested    turn=u1 step=s1 message=m1 {"model":"big","requestHash":"h1"}
        model.completed    turn=u1 step=s1 message=m1 {"text":"x","usage":{"inputTokens":100,"outputTokens":20,"cachedInputTokens":80,"reasoningTokens":5}}
        ledger.reconciled  turn=u1 step=s1 {"attemptSeq":1,"requestHash":"h1","inputTokens":100,"inputSource":"observed","outputTokens":20,"outputSource":"observed","hasUnknownUsage":false}
        usage.updated      turn=u1 step=s1 {"inputTokens":100,"outputTokens":20,"sessionInputTokens":100,"sessionOutputTokens":20,"hasUnknownUsage":false}
        subagent.started   turn=u1 subagent=g1 {"name":"helper"}
        model.completed    turn=u1 subagent=g1 message=m2 {"text":"y","model":"small","usage":{"inputTokens":10,"outputTokens":2}}
        subagent.completed turn=u1 subagent=g1 {"usage":{"inputTokens":10,"outputTokens":2}}
        turn.completed     turn=u1 {"usage":{"inputTokens":100,"outputTokens":20}}
        "#
    )));
}

// verifies: H31
#[test]
fn the_same_tokens_count_once_however_often_they_are_stated() {
    let usage = check(
        r#"
        model.requested   turn=u1 step=s1 message=m1 {"requestHash":"h"}
        model.completed   turn=u1 step=s1 message=m1 {"usage":{"inputTokens":100,"outputTokens":20}}
        ledger.reconciled turn=u1 step=s1 {"attemptSeq":1,"requestHash":"h","inputTokens":100,"inputSource":"observed","outputTokens":20,"outputSource":"observed","hasUnknownUsage":false}
        usage.updated     turn=u1 {"inputTokens":100,"outputTokens":20,"hasUnknownUsage":false}
        turn.completed    turn=u1 {"usage":{"inputTokens":100,"outputTokens":20}}
        "#,
        Is(100),
        Is(20),
    );
    assert_eq!(usage.calls.len(), 1);
    let account = usage.accounts.iter().next().unwrap();
    assert_eq!((account.counted_by, account.agrees), (CountedBy::Calls, Is(true)));
}

#[test]
fn statements_without_ids_are_calls_of_their_own() {
    let usage = check(
        r#"
        model.completed turn=u1 message=m1 {"text":"first"}
        usage.updated   turn=u1 {"inputTokens":100,"outputTokens":20,"hasUnknownUsage":false}
        model.completed turn=u1 message=m2 {"text":"second"}
        usage.updated   turn=u1 {"inputTokens":150,"outputTokens":5,"hasUnknownUsage":false}
        turn.completed  turn=u1
        "#,
        Is(250),
        Is(25),
    );
    assert_eq!((usage.calls.len(), usage.session.input.figures), (2, 2));
    assert!(!usage.has_unknown_usage, "the messages are what the calls are about");
}

// verifies: H31
#[test]
fn running_totals_replace_and_never_add_up() {
    let usage = check(
        r#"
        usage.updated turn=u1 message=m1 {"inputTokens":40,"outputTokens":1,"hasUnknownUsage":false}
        usage.updated turn=u1 message=m1 {"outputTokens":12,"hasUnknownUsage":false}
        usage.updated turn=u1 message=m1 {"inputTokens":55,"outputTokens":31,"hasUnknownUsage":false}
        usage.updated turn=u1 message=m1 {"outputTokens":30,"hasUnknownUsage":false}
        "#,
        Is(55),
        Is(31),
    );
    assert_eq!(usage.notes.went_down, 1);
    assert_eq!(usage.calls.len(), 1);
}

// verifies: H31
#[test]
fn the_source_s_totals_are_compared_and_not_counted() {
    let stated = |lines: &str| {
        let usage = usage(lines);
        (usage.source.input, usage.source.agrees, usage.notes.went_down)
    };
    let call = r#"usage.updated turn=u1 message=m1 {"inputTokens":10,"outputTokens":2,"sessionInputTokens":10,"sessionOutputTokens":2,"hasUnknownUsage":false}"#;
    assert_eq!(stated(call), (Is(10), Is(true), 0));
    let later = format!(
        "{call}\nusage.updated turn=u1 {{\"sessionInputTokens\":30,\"hasUnknownUsage\":false}}"
    );
    assert_eq!(stated(&later), (Is(30), Is(false), 0));
    check(&later, Is(10), Is(2));
    let down = format!(
        "{later}\nusage.updated turn=u1 {{\"sessionInputTokens\":5,\"hasUnknownUsage\":false}}"
    );
    assert_eq!(stated(&down), (Is(30), Is(false), 1));
    assert_eq!(stated("turn.started turn=u1").0, Known::Not(Absence::Unavailable));
}

// verifies: H30
#[test]
fn parts_are_not_added_to_their_whole() {
    let usage = check(
        r#"model.completed turn=u1 message=m1 {"usage":{"inputTokens":1000,"outputTokens":50,"cachedInputTokens":800,"reasoningTokens":10}}"#,
        Is(1000),
        Is(50),
    );
    assert_eq!(usage.session.cached_input.tokens, Is(800));
    assert_eq!(usage.session.reasoning.tokens, Is(10));
    assert_eq!(usage.session.cache_write.tokens, UNKNOWN, "unknown is not zero");
    assert_eq!(usage.notes.parts_exceed_whole, 0);
    let odd = r#"model.completed turn=u1 message=m1 {"usage":{"inputTokens":10,"outputTokens":5,"cachedInputTokens":800}}"#;
    assert_eq!(check(odd, Is(10), Is(5)).notes.parts_exceed_whole, 1);
}

// verifies: H33 R207
#[test]
fn what_nobody_said_is_unknown_and_not_zero() {
    check(
        "turn.started turn=u1",
        Known::Not(Absence::NotApplicable),
        Known::Not(Absence::NotApplicable),
    );
    let silent = r#"
        model.completed turn=u1 message=m1 {"text":"x"}
        turn.completed  turn=u1
    "#;
    assert!(check(silent, UNKNOWN, UNKNOWN).has_unknown_usage);
    // An estimate is marked as one.
    let estimated = check(
        r#"
        model.requested turn=u1 message=m1 {"estimatedInputTokens":70}
        model.completed turn=u1 message=m1 {"text":"x"}
        "#,
        Is(70),
        UNKNOWN,
    );
    assert_eq!(estimated.session.input.estimated, 70);
    // One known and one unknown call: the sum is unknown, and at least so much.
    let mixed = check(
        r#"
        model.requested turn=u1 message=m1
        model.completed turn=u1 message=m1 {"usage":{"inputTokens":10,"outputTokens":2}}
        model.requested turn=u1 message=m2
        model.failed    turn=u1 message=m2 {"failureCategory":"timeout"}
        "#,
        UNKNOWN,
        UNKNOWN,
    );
    assert_eq!((mixed.session.output.at_least, mixed.session.output.unknown), (2, 1));
    let json = serde_json::to_value(&mixed).unwrap();
    assert_eq!(json["session"]["output"]["tokens"], "unknown");
}

// verifies: H33
#[test]
fn usage_that_comes_late_takes_the_place_of_the_estimate() {
    check(
        r#"
        model.requested turn=u1 step=s1 message=m1 {"estimatedInputTokens":70}
        model.completed turn=u1 step=s1 message=m1 {"text":"x"}
        turn.completed  turn=u1
        usage.updated   turn=u1 step=s1 {"inputTokens":64,"outputTokens":9,"hasUnknownUsage":false}
        "#,
        Is(64),
        Is(9),
    );
}

#[test]
fn a_turn_states_what_its_calls_do_not() {
    let check = |calls: &str, turn: &str, input: Known<u64>, by: CountedBy| {
        let usage = usage(&format!("{calls}\nturn.completed turn=u1 {turn}"));
        assert_eq!(usage.session.input.tokens, input, "{calls} {turn}");
        assert_eq!(usage.accounts.iter().next().unwrap().counted_by, by);
        usage.notes.totals_differ
    };
    let known =
        r#"model.completed turn=u1 message=m1 {"usage":{"inputTokens":10,"outputTokens":2}}"#;
    let unknown = "model.requested turn=u1 message=m2";
    let stated = r#"{"usage":{"inputTokens":30,"outputTokens":5}}"#;
    assert_eq!(check("", stated, Is(30), CountedBy::OwnStatement), 0);
    assert_eq!(check(&format!("{known}\n{unknown}"), stated, Is(30), CountedBy::OwnStatement), 0);
    assert_eq!(check(known, stated, Is(10), CountedBy::Calls), 1);
    assert_eq!(check(&format!("{known}\n{unknown}"), "{}", UNKNOWN, CountedBy::CallsInPart), 0);
}

// verifies: H32
#[test]
fn sub_agents_count_once() {
    let usage = check(
        r#"
        model.completed    turn=u1 message=m1 {"usage":{"inputTokens":100,"outputTokens":10}}
        model.completed    turn=u1 subagent=g1 message=m2 {"usage":{"inputTokens":200,"outputTokens":20}}
        subagent.completed turn=u1 subagent=g1 {"usage":{"inputTokens":200,"outputTokens":20}}
        subagent.completed turn=u1 subagent=g2 {"usage":{"inputTokens":7,"outputTokens":3}}
        turn.completed     turn=u1 {"usage":{"inputTokens":100,"outputTokens":10}}
        "#,
        Is(307),
        Is(33),
    );
    assert_eq!(usage.subagents.input.tokens, Is(207));
}

#[test]
fn models_are_told_apart() {
    let usage = usage(
        r#"
        model.completed turn=u1 message=m1 {"model":"a","usage":{"inputTokens":1,"outputTokens":1}}
        model.completed turn=u1 message=m2 {"model":"b","usage":{"inputTokens":2,"outputTokens":1}}
        model.completed turn=u1 message=m3 {"usage":{"inputTokens":4,"outputTokens":1}}
        usage.updated   turn=u1 message=m3 {"inputTokens":4,"outputTokens":1,"model":"a","hasUnknownUsage":false}
        "#,
    );
    let models: Vec<_> = usage
        .models
        .iter()
        .map(|(model, totals)| (model.as_str(), totals.input.at_least, totals.input.figures))
        .collect();
    assert_eq!(models, [("a", 5, 2), ("b", 2, 1)]);
}
