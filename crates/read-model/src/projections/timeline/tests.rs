//! Tests of the timeline: an entry is written as `sequence+events title [status] duration`.

use crate::testing::{events, fold, view};
use crate::{Known, Limits};

fn entries(lines: &str) -> Vec<String> {
    let timeline = view(lines).timeline;
    timeline
        .entries
        .iter()
        .map(|entry| {
            let run = if entry.events > 1 { format!("+{}", entry.events) } else { String::new() };
            let ms = match entry.elapsed.ms {
                Known::Is(ms) => format!(" {ms}ms"),
                Known::Stale(_) | Known::Not(_) => String::new(),
            };
            let stepped = if entry.elapsed.clock_stepped_back { " clock stepped back" } else { "" };
            let title = &entry.title;
            format!("{}{run} {title} [{}]{ms}{stepped}", entry.first.sequence, entry.status)
        })
        .collect()
}

#[test]
fn a_turn_from_input_to_answer() {
    insta::assert_snapshot!(
        entries(
            r#"
        turn.submitted    turn=u1 {"text":"Fix the build\nplease"}
        turn.started      turn=u1 {"model":"m"}
        model.requested   turn=u1 message=m1 {"model":"m"}
        reasoning.delta   turn=u1 message=m1 {"delta":"hm"}
        reasoning.delta   turn=u1 message=m1 {"delta":"m"}
        model.delta       turn=u1 message=m1 {"delta":"I "}
        model.delta       turn=u1 message=m1 {"delta":"look"}
        model.completed   turn=u1 message=m1 {"text":"I look"}
        tool.started      turn=u1 step=s1 tool=c1 {"toolName":"sh","title":"make"}
        tool.started      turn=u1 step=s1 tool=c2 {"toolName":"read"}
        tool.progress     turn=u1 step=s1 tool=c1 {"preview":"a"}
        tool.progress     turn=u1 step=s1 tool=c2 {"preview":"b"}
        tool.progress     turn=u1 step=s1 tool=c1 {"preview":"c"}
        tool.result       turn=u1 step=s1 tool=c1 {"status":"succeeded"}
        action.required   turn=u1 action=a1 {"actionType":"approval","title":"May I?"}
        action.resolved   turn=u1 action=a1 {"decision":"approve"} @60
        permission.denied turn=u1 tool=c2 {"reason":"never"}
        model.requested   turn=u1 message=m2 {}
        vendor.thing      {"a":1}
        turn.failed       turn=u1 {"failureCategory":"x","error":"gave up"} @90
        "#
        )
        .join("\n")
    );
}

// verifies: H43
#[test]
fn durations_are_never_negative_and_say_when_the_clock_stepped_back() {
    assert_eq!(
        entries(
            r#"
            turn.started   turn=u1 @300
            turn.completed turn=u1 @1
            "#
        ),
        ["1 Turn started [done] clock stepped back", "2 Turn completed [done] clock stepped back"]
    );
    // Order is the sequence's alone.
    let reversed = entries(
        r#"
        turn.submitted turn=u1 {"text":"second"} @50
        turn.submitted turn=u2 {"text":"first"} @10
        "#,
    );
    assert_eq!(reversed, ["1 Input: second [done]", "2 Input: first [done]"]);
}

#[test]
fn pieces_before_and_after_something_else_are_two_entries() {
    assert_eq!(
        entries(
            r#"
            model.delta     turn=u1 {"delta":"a"}
            model.delta     turn=u1 {"delta":"b"}
            run.status      turn=u1 {"phase":"plan"}
            model.delta     turn=u1 {"delta":"c"}
            "#
        ),
        ["1+2 Model answers [done]", "3 Phase: plan [done]", "4 Model answers [done]"]
    );
}

#[test]
fn open_entries_stay_however_old_they_are() {
    let mut lines = "tool.started turn=u1 step=s1 tool=c1 {\"toolName\":\"sh\"}\n".to_owned();
    for at in 0..50 {
        lines.push_str(&format!("run.status turn=u1 {{\"phase\":\"{at}\"}}\n"));
    }
    let limits = Limits { items: 5, ..Limits::default() };
    let timeline = fold(&events(&lines), limits).timeline;
    let sequences: Vec<_> = timeline.entries.iter().map(|entry| entry.first.sequence).collect();
    assert_eq!(sequences, [1, 47, 48, 49, 50, 51]);
    assert_eq!((timeline.entries.total(), timeline.entries.dropped()), (51, 45));
    assert_eq!(timeline.entries.before(), Some(47));
    assert_eq!(timeline.events, 51);
}

#[test]
fn a_state_that_is_stated_again_and_again_is_one_entry() {
    let stated = r#"snapshot.updated turn=u1 {"target":"agent_state","state":{"n":1}}"#;
    // Each comes from another frame of its source.
    let framed = format!(r#"{stated} refs=[{{"id":"raw:1","kind":"raw"}}]"#);
    assert_eq!(
        entries(&format!(
            "turn.submitted turn=u1 {{}}\n{stated}\n{framed}\n{stated}\nrun.status turn=u1 {{\"phase\":\"a\"}}\n{stated}"
        )),
        [
            "1 Input, not stated [done]",
            "2+3 State stated [done]",
            "5 Phase: a [done]",
            "6 State stated [done]",
        ]
    );
}
