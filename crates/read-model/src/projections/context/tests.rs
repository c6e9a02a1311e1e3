//! Tests of the view of the context.

use super::{Context, HydrationStatus};
use crate::honesty::Absence;
use crate::testing::{brief, events, fold, view};
use crate::{Limits, SessionView};

fn context(lines: &str) -> Context {
    view(lines).context
}

#[test]
fn attached_compacted_rolled_back_forked() {
    insta::assert_snapshot!(brief(&context(
        r#"
        context.attached             {"kind":"skill","skillId":"git","sizeBytes":900}
        context.attached             {"kind":"file","name":"AGENTS.md","source":"workdir"}
        context.detached             {"kind":"skill","skillId":"git","reason":"done"}
        context.missing              {"kind":"skill","skillId":"svn","code":"not_found"}
        context.compaction.started   {"trigger":"proactive","compactionId":"k1"}
        history.compacted            {"trigger":"proactive","compactionId":"k1","summary":"We did a lot.","beforeTokens":90000,"afterTokens":9000,"firstKeptSequence":4}
        context.compaction.failed    {"trigger":"manual","error":"no model"}
        context.compaction.started   {"trigger":"manual"}
        context.compaction.completed {"trigger":"manual"}
        history.rollback.completed   {"toSequence":4,"reason":"undo"}
        session.forked               {"parentSessionId":"sess_0","parentSequence":3,"parentChain":"00"}
        "#
    )));
}

// verifies: R59 R60 R94
#[test]
fn hydration_says_whether_something_is_missing() {
    use HydrationStatus as H;
    let check = |lines: &str, status: H| {
        assert_eq!(context(lines).hydration.status, status, "{lines}");
    };
    check("", H::Idle);
    check("turn.started turn=u1", H::Live);
    let broken = "turn.started turn=u1\n stream.interrupted {\"reason\":\"gone\"}\n";
    check(broken, H::Stale);
    check(&format!("{broken} turn.completed turn=u1"), H::Stale);
    check(&format!("{broken} messages.snapshot {{\"messages\":[]}}"), H::Repairing);
    check(&format!("{broken} snapshot.updated {{\"state\":{{}}}}"), H::Repairing);
    check(&format!("{broken} stream.repaired {{\"method\":\"replay\"}}"), H::Live);
    // What stays missing stays visible.
    check(&format!("{broken} stream.repaired {{\"lost\":3}}"), H::Stale);
    check(&format!("{broken} stream.repaired {{\"lost\":3}}\n stream.repaired {{}}"), H::Live);
    check("tool.started turn=u1 {\"toolName\":7}", H::Degraded);
    check("vendor.unknown {\"a\":1}", H::Live);
}

#[test]
fn a_stretch_of_the_log_that_is_lost_leaves_the_view_stale() {
    let events = events("turn.submitted turn=u1\nturn.started turn=u1\nturn.completed turn=u1");
    let mut view = SessionView::new(crate::testing::session());
    view.apply(&events[0]);
    let gap = event_spine::Gap { from: 2, to: 2, reason: "a frame does not hold".into() };
    view.pass_over(&gap);
    view.apply(&events[2]);
    assert_eq!(view.context.hydration.status, HydrationStatus::Stale);
    assert_eq!((view.lost.events, view.lost.stretches[0].from), (1, 2));
    assert_eq!(view.at.sequence, 3);
    assert_eq!(view.status.turns.completed, 1);
}

fn document(lines: &str) -> (String, Option<Absence>, u64, bool) {
    let context = context(lines);
    let document = context.documents.iter().next().unwrap();
    (document.value.to_string(), document.missing, document.failed_patches, document.stale)
}

const STATED: &str =
    "snapshot.updated {\"kind\":\"agent_state\",\"state\":{\"n\":1.50,\"list\":[],\"a/b~c\":0}}\n";

fn delta(patch: &str) -> String {
    format!("{STATED} state.delta {{\"target\":\"agent_state\",\"patch\":{patch}}}\n")
}

#[test]
fn patches_change_the_document() {
    let check = |patch: &str, expected: &str| {
        let (value, missing, failed, stale) = document(&delta(patch));
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(json(&value), json(expected), "{patch}");
        assert_eq!((missing, failed, stale), (None, 0, false), "{patch}");
    };
    check("[]", r#"{"n":1.50,"list":[],"a/b~c":0}"#);
    check(
        r#"[{"op":"add","path":"/list/-","value":9007199254740993}]"#,
        r#"{"n":1.50,"list":[9007199254740993],"a/b~c":0}"#,
    );
    check(
        r#"[{"op":"replace","path":"/a~1b~0c","value":{"x":1.0}}]"#,
        r#"{"n":1.50,"list":[],"a/b~c":{"x":1.0}}"#,
    );
    check(
        r#"[{"op":"remove","path":"/n"},{"op":"test","path":"/list","value":[]}]"#,
        r#"{"list":[],"a/b~c":0}"#,
    );
    check(
        r#"[{"op":"move","from":"/n","path":"/m"},{"op":"copy","from":"/m","path":"/k"}]"#,
        r#"{"list":[],"a/b~c":0,"m":1.50,"k":1.50}"#,
    );
    // Without a stated whole a patch can build the document from nothing.
    let built =
        document(r#"state.delta {"target":"s","patch":[{"op":"add","path":"/plan","value":[1]}]}"#);
    assert_eq!(built.0, r#"{"plan":[1]}"#);
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing_and_says_so() {
    for patch in [
        r#"[{"op":"add","path":"/list/-","value":1},{"op":"replace","path":"/nowhere","value":1}]"#,
        r#"[{"op":"add","path":"/missing/-","value":1}]"#,
        r#"[{"op":"test","path":"/n","value":2}]"#,
        r#"[{"op":"explode","path":"/n"}]"#,
        r#"{"op":"add"}"#,
    ] {
        let lines = delta(patch);
        let (value, _, failed, stale) = document(&lines);
        assert_eq!(value, r#"{"n":1.50,"list":[],"a/b~c":0}"#, "{patch}");
        assert_eq!((failed, stale), (1, true), "{patch}");
        assert_eq!(context(&lines).hydration.status, HydrationStatus::Stale, "{patch}");
        // The next stated whole clears the mark, and the run goes on in any case.
        let again = context(&format!("{lines}{STATED}"));
        assert_eq!(again.hydration.status, HydrationStatus::Live, "{patch}");
    }
}

#[test]
fn documents_that_grow_too_large_or_too_deep_are_let_go() {
    let limits = Limits { document_bytes: 2_000, ..Limits::default() };
    let check = |lines: &str| {
        let context = fold(&events(lines), limits).context;
        let document = context.documents.iter().next().unwrap();
        assert_eq!(document.missing, Some(Absence::Unavailable), "{lines}");
        assert!(document.value.is_null());
    };
    let doubling = r#"{"op":"copy","from":"","path":"/list/-"},"#.repeat(40);
    check(&delta(&format!("[{}]", doubling.trim_end_matches(','))));
    check(&format!("snapshot.updated {{\"state\":\"{}\"}}", "x".repeat(3_000)));
    let path = |depth: usize| "/a".repeat(depth);
    let deeper: Vec<_> = (1..150)
        .map(|depth| format!(r#"{{"op":"add","path":"{}","value":{{}}}}"#, path(depth)))
        .collect();
    check(&format!("state.delta {{\"patch\":[{}]}}", deeper.join(",")));
}

#[test]
fn a_patch_that_was_too_large_for_the_event_makes_the_document_stale() {
    let lines = format!(
        "{STATED} state.delta {{\"target\":\"agent_state\",\"patch\":[]}} refs=[{{\"kind\":\"output\",\"id\":\"blake3:1\",\"pointer\":\"/patch\",\"sizeBytes\":90000}}]"
    );
    let (_, _, failed, stale) = document(&lines);
    assert_eq!((failed, stale), (1, true));
}

#[test]
fn a_state_that_was_too_large_for_the_event_is_named_by_its_ref() {
    let stated = |pointer: &str| {
        let refs = format!(
            "refs=[{{\"kind\":\"output\",\"id\":\"blake3:1\",\"pointer\":\"{pointer}\",\"sizeBytes\":90000}}]"
        );
        let context =
            context(&format!("snapshot.updated {{\"state\":{{\"a\":\"x ... y\"}}}} {refs}"));
        let document = context.documents.iter().next().unwrap();
        (document.missing, document.shortened, document.state_ref.clone())
    };
    let whole = (Some(Absence::Unavailable), false, Some("blake3:1".to_owned()));
    assert_eq!(stated("/state"), whole);
    assert_eq!(stated("/state/a"), (None, true, None));
}
