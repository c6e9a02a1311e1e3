//! Tests of the execution graph.

pub(crate) mod gallery;
mod laws;
pub(crate) mod story;

use std::fmt::Write as _;

use event_spine::event::family::diagnostics::{LedgerReconciled, UsageUpdated};
use event_spine::event::value::{ToolStatus, UsageSource};

use self::gallery::{calls_in_steps, gallery, nested_agents, turns};
use self::story::Story;
use super::*;

/// The graph as lines: whole before part, with status, tokens (own, reported, rolled up) and edges other than "contains".
fn outline(graph: &ExecutionGraph) -> String {
    let derived = graph.derive();
    let mut out = String::new();
    let mut stack: Vec<(&Node, usize)> = Vec::new();
    let children = |parent: Option<&NodeId>| -> Vec<&Node> {
        let mut nodes: Vec<&Node> = graph.nodes().filter(|n| n.parent.as_ref() == parent).collect();
        nodes.reverse();
        nodes
    };
    stack.extend(children(None).into_iter().map(|n| (n, 0)));
    while let Some((node, depth)) = stack.pop() {
        let _ = write!(out, "{}{} {}", "  ".repeat(depth), node.id, derived.status(node));
        for (name, tokens) in [
            ("own", node.own_tokens),
            ("reported", node.reported_tokens),
            ("all", derived.of(&node.id).unwrap().rolled_up.filter(|_| node.own_tokens.is_none())),
        ] {
            if let Some(tokens) = tokens {
                let side = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
                let _ = write!(out, " {name}={}/{}", side(tokens.input), side(tokens.output));
            }
        }
        for edge in graph.incoming(node) {
            let status = edge.status.map(|s| format!("({s})")).unwrap_or_default();
            let _ = write!(out, " <-{}{status}- {}", edge.kind.as_str(), edge.from);
        }
        out.push('\n');
        stack.extend(children(Some(&node.id)).into_iter().map(|n| (n, depth + 1)));
    }
    for note in graph.diagnostics() {
        let _ = writeln!(out, "! {} {} {}", note.code, note.node, note.message);
    }
    out
}

// verifies: R30 R42
#[test]
fn nodes_and_edges_of_the_gallery() {
    for (name, story) in gallery() {
        let graph = story.graph();
        if graph.len() < 60 {
            insta::assert_snapshot!(format!("outline_{name}"), outline(&graph));
        }
    }
}

#[test]
fn the_json_is_flat_and_says_what_each_figure_is() {
    let graph = gallery::tool_run().graph();
    insta::assert_json_snapshot!("json_tool_run", graph);
}

fn node(graph: &ExecutionGraph, id: &str) -> Node {
    graph.node(&id.parse().unwrap()).unwrap_or_else(|| panic!("{id} is missing")).clone()
}

fn all(graph: &ExecutionGraph, id: &str) -> Option<(u64, u64)> {
    let figures = *graph.derive().of(&id.parse().unwrap()).unwrap();
    figures.rolled_up.map(|t| (t.input.unwrap_or(0), t.output.unwrap_or(0)))
}

fn total(graph: &ExecutionGraph) -> Option<(u64, u64)> {
    graph.derive().total.rolled_up.map(|t| (t.input.unwrap_or(0), t.output.unwrap_or(0)))
}

// verifies: H40 R42
#[test]
fn agents_that_only_name_themselves_stand_under_their_starters() {
    let graph = nested_agents().graph();
    assert_eq!(node(&graph, "agent:A").parent.unwrap().to_string(), "tool:c1");
    assert_eq!(node(&graph, "agent:B").parent.unwrap().to_string(), "tool:c2");
    assert_eq!(node(&graph, "agent:A1").parent.unwrap().to_string(), "tool:ca2");
    for (call, lane) in
        [("mb1", "agent:B"), ("mr1", "agent:A1"), ("ma2", "agent:A"), ("m2", "thread:thread_main")]
    {
        assert_eq!(node(&graph, &format!("model:{call}")).lane.unwrap().to_string(), lane);
    }
    assert!(graph.diagnostics().is_empty());
    let b = node(&graph, "model:mb1").output.unwrap();
    assert!(b.starts_with("Vector databases store"), "{b}");
    for agent in ["A", "A1", "B"] {
        assert_eq!(node(&graph, &format!("agent:{agent}")).status, Status::Succeeded);
    }
}

// verifies: H40
#[test]
fn an_agent_is_unplaced_until_its_start_is_known() {
    let mut s = Story::new("late_start");
    s.turn("t1", "go").step("s0").model("m1", 10, "", Some((1, 1)));
    s.call("c1", "start", "{}");
    s.agent(Some("late")).model("ml", 10, "hello", Some((10, 20)));
    s.agent(Some("orphan")).model("mo", 10, "hello", Some((5, 5))).agent(None);
    let graph = s.graph();
    assert_eq!(node(&graph, "agent:late").parent.unwrap().to_string(), "unplaced:session");
    assert_eq!(graph.diagnostics().len(), 2);

    s.spawn("late", "late", Some("c1"), None);
    let graph = s.graph();
    assert_eq!(node(&graph, "agent:late").parent.unwrap().to_string(), "tool:c1");
    assert_eq!(node(&graph, "model:ml").band.unwrap().to_string(), "turn:t1");
    assert_eq!(all(&graph, "turn:t1"), Some((11, 21)));
    assert_eq!(graph.diagnostics().len(), 1, "the other one is still unplaced");

    s.spawn("orphan", "orphan", None, Some("nobody"));
    let graph = s.graph();
    assert_eq!(node(&graph, "agent:orphan").parent.unwrap().to_string(), "agent:nobody");
    assert_eq!(node(&graph, "agent:nobody").parent.unwrap().to_string(), "unplaced:session");
    assert_eq!(total(&graph), Some((16, 26)));
}

#[test]
fn agents_that_start_each_other_do_not_hang_the_graph() {
    let mut s = Story::new("cycle");
    s.turn("t1", "go");
    s.spawn("a", "a", None, Some("b")).spawn("b", "b", None, Some("a")).spawn(
        "a",
        "a",
        None,
        Some("a"),
    );
    let graph = s.graph();
    assert!(graph.diagnostics().iter().any(|d| d.code == "parent_cycle"));
    assert_eq!(graph.derive().total.counts.subagents, 2);
}

// verifies: H40
#[test]
fn an_agent_that_is_said_to_work_where_it_was_started_does_not_hang_the_graph() {
    let started = "subagent.started thread=B turn=t2 subagent=A";
    let view = crate::testing::view(&format!(
        "turn.submitted turn=t1 {{}}\nturn.submitted thread=B turn=t2 {{}}\n\
         {started} {{}}\n{started} {{\"childThreadId\":\"B\"}}\n"
    ));
    assert_eq!(node(&view.graph, "agent:A").parent.unwrap().to_string(), "turn:t2");
    assert_eq!(view.graph.diagnostics().first().unwrap().code, "parent_cycle");
}

// verifies: H32
#[test]
fn tokens_are_rolled_up_once() {
    let mut s = Story::new("rollup");
    s.turn("t1", "go").step("s0");
    // An agent that reports the sum of its calls.
    s.spawn("sum", "sum", None, None).agent(Some("sum"));
    s.model("m1", 10, "", Some((60, 40))).model("m2", 10, "", Some((150, 50)));
    s.agent_done("sum", Some((210, 90))).agent(None);
    // One that reports only as a whole.
    s.spawn("whole", "whole", None, None).agent_done("whole", Some((30, 10)));
    // One call that two events report.
    s.step("s1").model("m3", 10, "", Some((7, 3)));
    let scope = s.with("messageId", "m3");
    s.say_in(scope, usage(Some(7), Some(3)));
    s.done();
    let graph = s.graph();
    assert_eq!(all(&graph, "agent:sum"), Some((210, 90)));
    assert_eq!(all(&graph, "agent:whole"), Some((30, 10)));
    assert_eq!(all(&graph, "turn:t1"), Some((247, 103)));
    assert_eq!(total(&graph), Some((247, 103)));
    let own = node(&graph, "model:m3").own_tokens.unwrap();
    assert_eq!((own.input, own.output), (Some(7), Some(3)));
    assert_eq!(node(&graph, "agent:sum").own_tokens, None, "a figure says what it is a figure of");
}

// verifies: H32
#[test]
fn what_a_turn_reports_is_not_added_to_its_calls() {
    let check = |reported: (u64, u64), expected: (u64, u64)| {
        let mut s = Story::new("turn_total");
        s.turn("t1", "go").step("s0").model("m1", 10, "", Some((100, 0))).model(
            "m2",
            10,
            "",
            Some((200, 0)),
        );
        s.done();
        let mut graph = s.graph();
        let id = "turn:t1".parse().unwrap();
        graph.nodes.get_mut(&id).unwrap().reported_tokens =
            Some(Tokens { input: Some(reported.0), output: Some(reported.1), ..Tokens::default() });
        assert_eq!(total(&graph), Some(expected));
    };
    check((300, 0), (300, 0));
    check((350, 5), (350, 5)); // calls that nobody saw
    check((200, 0), (300, 0)); // the source counts the last call only
}

fn usage(input: Option<u64>, output: Option<u64>) -> UsageUpdated {
    UsageUpdated {
        input_tokens: input,
        output_tokens: output,
        input_source: Some(UsageSource::Observed),
        output_source: Some(UsageSource::Observed),
        cached_input_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
        has_unknown_usage: false,
        session_input_tokens: None,
        session_output_tokens: None,
        model: None,
        provider: None,
    }
}

// verifies: H31 H33
#[test]
fn a_later_count_replaces_an_earlier_one() {
    let mut s = Story::new("usage");
    s.turn("t1", "go").step("s0").ask("m1");
    let scope = s.with("messageId", "m1");
    let estimate = LedgerReconciled {
        attempt_seq: 1,
        request_hash: "h".into(),
        input_tokens: 50,
        input_source: UsageSource::Estimated,
        output_tokens: 0,
        output_source: UsageSource::Unknown,
        has_unknown_usage: true,
        model: None,
    };
    s.say_in(scope.clone(), estimate);
    let own = node(&s.graph(), "model:m1").own_tokens.unwrap();
    assert_eq!((own.input, own.output, own.estimated), (Some(50), None, true));
    s.say_in(scope.clone(), usage(Some(40), Some(1)));
    let own = node(&s.graph(), "model:m1").own_tokens.unwrap();
    assert_eq!(
        (own.input, own.output, own.estimated),
        (Some(40), Some(1), false),
        "observed beats estimated"
    );
    s.say_in(scope.clone(), usage(Some(55), Some(31)));
    s.say_in(scope, usage(Some(55), Some(12)));
    let graph = s.graph();
    let own = node(&graph, "model:m1").own_tokens.unwrap();
    assert_eq!(
        (own.input, own.output),
        (Some(55), Some(31)),
        "a counter that goes down is ignored"
    );
    assert_eq!(graph.diagnostics().first().unwrap().code, "usage_went_down");
    s.ask("m2").model_done("m2", "", None, false);
    assert_eq!(s.graph().derive().total.calls_without_usage, 1);
}

#[test]
fn success_is_never_made_up() {
    let check = |status: Option<ToolStatus>, expected: Status| {
        let mut s = Story::new("honest");
        s.turn("t1", "go").step("s0").call("c1", "tool", "{}").result_as("c1", status, "out");
        assert_eq!(node(&s.graph(), "tool:c1").status, expected);
    };
    check(None, Status::Unknown);
    check(Some(ToolStatus::Succeeded), Status::Succeeded);
    check(Some(ToolStatus::PartialSucceeded), Status::Partial);
    check(Some(ToolStatus::Unknown), Status::Unknown);

    let mut s = Story::new("cut");
    s.turn("t1", "go").step("s0").ask("m1").call("c1", "tool", "{}").done();
    let graph = s.graph();
    assert_eq!(node(&graph, "tool:c1").status, Status::Interrupted);
    assert_eq!(node(&graph, "model:m1").status, Status::Interrupted);
}

// verifies: H29
#[test]
fn an_action_is_decided_once() {
    let mut s = Story::new("once");
    s.turn("t1", "go").step("s0").required("a1", "c1", "rm", "{}");
    assert_eq!(s.graph().derive().total.status, Status::Waiting);
    s.resolved("a1", "deny", "mia").resolved("a1", "approve", "eve");
    let graph = s.graph();
    let action = node(&graph, "action:a1");
    assert_eq!((action.status, action.decided_by.as_deref()), (Status::Denied, Some("mia")));
    let gate = graph.edges().find(|e| e.kind == EdgeKind::Gates).unwrap();
    assert_eq!(gate.status, Some(Status::Denied));
    assert_eq!(node(&graph, "tool:c1").status, Status::Denied);
}

#[test]
fn an_id_that_comes_back_is_another_attempt() {
    let mut s = Story::new("again");
    s.turn("t1", "go").step("s0");
    s.call("c1", "tool", "{}")
        .failed("c1", "timeout", "too slow")
        .call("c1", "tool", "{}")
        .result("c1", "ok");
    s.ask("m1").model_done("m1", "", Some((1, 1)), false).ask("m1").model_done(
        "m1",
        "",
        Some((2, 2)),
        false,
    );
    let graph = s.graph();
    assert_eq!(node(&graph, "tool:c1").status, Status::TimedOut);
    assert_eq!(node(&graph, "tool:c1#2").status, Status::Succeeded);
    assert_eq!(total(&graph), Some((3, 3)));
}

#[test]
fn usage_that_names_no_message_makes_no_call_beside_the_one_that_used_it() {
    let view = crate::testing::view(
        r#"
        turn.submitted  turn=u1 {"text":"Hi"}
        model.requested turn=u1 step=s1 message=m1 {}
        model.completed turn=u1 step=s1 message=m1 {"text":"Hello","isFinal":true}
        usage.updated   turn=u1 step=s1 {"inputTokens":7,"outputTokens":2}
        turn.completed  turn=u1 {}
        "#,
    );
    let calls: Vec<_> =
        view.graph.nodes().filter(|node| node.kind() == NodeKind::ModelCall).collect();
    assert_eq!(calls.len(), 1, "{calls:#?}");
    assert_eq!(
        calls[0].own_tokens.map(|tokens| (tokens.input, tokens.output)),
        Some((Some(7), Some(2)))
    );
}

fn check_bounds(graph: &ExecutionGraph) {
    let limits = graph.limits;
    assert!(graph.len() <= limits.nodes + limits.products, "{} nodes", graph.len());
    let size = serde_json::to_vec(graph).unwrap().len();
    assert!(size < 2 * 1024 * 1024, "{size} bytes");
    for edge in graph.edges() {
        assert!(graph.node(&edge.from).is_some(), "{edge:?} starts nowhere");
    }
    for node in graph.nodes() {
        if let Some(parent) = &node.parent {
            assert!(graph.node(parent).is_some(), "{} has no parent {parent}", node.id);
        }
    }
}

// verifies: H37
#[test]
fn long_sessions_stay_small_and_their_counts_exact() {
    let many_turns = turns(150);
    let graph = many_turns.graph();
    check_bounds(&graph);
    let derived = graph.derive();
    let counts = derived.total.counts;
    let kinds = |name: &str| {
        many_turns.events.iter().filter(|e| e.event_type().name() == name).count() as u64
    };
    assert_eq!(counts.turns, 150);
    assert_eq!(counts.tool_calls, kinds("tool.started"));
    assert_eq!(counts.tool_calls_failed, kinds("tool.failed"));
    assert_eq!(counts.model_calls, kinds("model.requested"));
    assert_eq!(counts.turns_failed, kinds("turn.failed"));
    let spent: u64 = (0..150_u64).map(|t| (1 + t % 3) * (1_000 + 100 * t) + 1_500).sum();
    assert_eq!(derived.total.rolled_up.unwrap().input, Some(spent));

    let one_turn = calls_in_steps(1_200).graph();
    check_bounds(&one_turn);
    let counts = one_turn.derive().total.counts;
    assert_eq!(
        (counts.turns, counts.tool_calls, counts.model_calls, counts.steps),
        (1, 1_200, 1_201, 1_201)
    );
}

#[test]
fn sources_that_never_close_anything_stay_bounded_too() {
    let mut s = Story::new("open");
    s.turn("t1", "go").step("s0");
    for n in 0..3_000 {
        s.call(&format!("c{n}"), "tool", "{}");
    }
    for n in 0..3_000 {
        s.agent(Some(&format!("ghost{n}"))).delta(&format!("m{n}"), "boo");
    }
    s.agent(None);
    for n in 0..2_000 {
        s.artifact(&format!("a{n}"), "c1", "file");
    }
    let graph = s.graph();
    check_bounds(&graph);
    let counts = graph.derive().total.counts;
    assert_eq!(
        (counts.tool_calls, counts.subagents, counts.model_calls, counts.artifacts),
        (3_000, 3_000, 3_000, 2_000)
    );
}
