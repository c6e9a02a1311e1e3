//! Laws of the fold, over random histories: pure, total, idempotent, the same after being stored, exact in its counts.

use event_spine::event::value::*;
use proptest::prelude::*;

use super::super::*;
use super::gallery::{calls_in_steps, turns};
use super::story::Story;

/// Something that may happen, with small numbers for ids, so that things meet.
#[derive(Debug, Clone)]
enum Op {
    Agent(Option<u8>),
    Turn(u8),
    Step(u8),
    EndTurn(bool),
    Ask(u8),
    Delta(u8),
    Answer(u8, bool),
    Call(u8),
    Result(u8),
    Failed(u8),
    Required(u8, u8),
    Resolved(u8, bool),
    Artifact(u8, u8),
    Evidence(u8, u8),
    Spawn(u8, Option<u8>, Option<u8>, bool),
    AgentDone(u8, bool),
}

fn op() -> impl Strategy<Value = Op> {
    let id = 0_u8..6;
    prop_oneof![
        prop::option::of(0_u8..4).prop_map(Op::Agent),
        (0_u8..40).prop_map(Op::Turn),
        id.clone().prop_map(Op::Step),
        any::<bool>().prop_map(Op::EndTurn),
        id.clone().prop_map(Op::Ask),
        id.clone().prop_map(Op::Delta),
        (id.clone(), any::<bool>()).prop_map(|(a, b)| Op::Answer(a, b)),
        id.clone().prop_map(Op::Call),
        id.clone().prop_map(Op::Result),
        id.clone().prop_map(Op::Failed),
        (id.clone(), id.clone()).prop_map(|(a, b)| Op::Required(a, b)),
        (id.clone(), any::<bool>()).prop_map(|(a, b)| Op::Resolved(a, b)),
        (id.clone(), id.clone()).prop_map(|(a, b)| Op::Artifact(a, b)),
        (id.clone(), id.clone()).prop_map(|(a, b)| Op::Evidence(a, b)),
        (0_u8..4, prop::option::of(id.clone()), prop::option::of(0_u8..4), any::<bool>())
            .prop_map(|(a, b, c, d)| Op::Spawn(a, b, c, d)),
        (0_u8..4, any::<bool>()).prop_map(|(a, b)| Op::AgentDone(a, b)),
    ]
}

fn tell(ops: &[Op]) -> Story {
    let mut s = Story::new("random");
    s.turn("t0", "begin");
    for op in ops {
        let name = |prefix: &str, n: &u8| format!("{prefix}{n}");
        match op {
            Op::Agent(n) => s.agent(n.map(|n| name("agent", &n)).as_deref()),
            Op::Turn(n) => s.turn(&name("t", n), "more"),
            Op::Step(n) => s.step(&name("s", n)),
            Op::EndTurn(true) => s.done(),
            Op::EndTurn(false) => s.fail("runtime_error", "it broke"),
            Op::Ask(n) => s.ask(&name("m", n)),
            Op::Delta(n) => s.delta(&name("m", n), "text "),
            Op::Answer(n, last) => s.model_done(&name("m", n), "text", Some((10, 5)), *last),
            Op::Call(n) => s.call(&name("c", n), "tool", r#"{"a":1}"#),
            Op::Result(n) => s.result(&name("c", n), "ok"),
            Op::Failed(n) => s.failed(&name("c", n), "execution_failed", "no"),
            Op::Required(a, c) => s.required(&name("act", a), &name("c", c), "tool", "{}"),
            Op::Resolved(a, yes) => {
                s.resolved(&name("act", a), if *yes { "approve" } else { "deny" }, "mia")
            }
            Op::Artifact(a, c) => s.artifact(&name("art", a), &name("c", c), "file"),
            Op::Evidence(a, c) => {
                s.evidence(&name("e", a), &name("c", c), "check", EvidenceStatus::Ready)
            }
            Op::Spawn(a, call, parent, handoff) => {
                let (call, parent) =
                    (call.map(|n| name("c", &n)), parent.map(|n| name("agent", &n)));
                s.start_agent(
                    &name("agent", a),
                    "helper",
                    call.as_deref(),
                    parent.as_deref(),
                    *handoff,
                )
            }
            Op::AgentDone(a, tokens) => {
                s.agent_done(&name("agent", a), tokens.then_some((100, 50)))
            }
        };
    }
    s
}

/// The usual limits, and ones so small that everything is folded all the time.
fn limits() -> impl Strategy<Value = GraphLimits> {
    let of = |items| GraphLimits::from(&crate::Limits { items, ..crate::Limits::default() });
    prop_oneof![Just(of(200)), Just(of(3)), Just(of(12)), Just(of(30))]
}

fn fold(story: &Story, limits: GraphLimits) -> ExecutionGraph {
    let mut graph = ExecutionGraph { limits, ..ExecutionGraph::default() };
    for event in &story.events {
        graph.apply(event, &event.event());
    }
    graph
}

fn json(graph: &ExecutionGraph) -> String {
    serde_json::to_string(graph).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    // verifies: R1 R69
    #[test]
    fn storing_and_repeating_change_nothing(
        ops in prop::collection::vec(op(), 0..220),
        cuts in prop::collection::vec(0_usize..400, 0..4),
        limits in limits(),
    ) {
        let story = tell(&ops);
        let whole = fold(&story, limits);
        let mut pieced = ExecutionGraph { limits, ..ExecutionGraph::default() };
        for (at, event) in story.events.iter().enumerate() {
            pieced.apply(event, &event.event());
            if at % 3 == 0 {
                let before = pieced.clone();
                for again in &story.events[at.saturating_sub(4)..=at] {
                    prop_assert_eq!(pieced.apply(again, &again.event()), crate::Applied::Duplicate);
                }
                prop_assert_eq!(&pieced, &before);
            }
            if cuts.contains(&at) {
                let stored = json(&pieced);
                let read: ExecutionGraph = serde_json::from_str(&stored).unwrap();
                prop_assert_eq!(&read, &pieced);
                let saved = postcard::to_stdvec(&pieced).unwrap();
                let read: ExecutionGraph =
                    if at % 2 == 0 { postcard::from_bytes(&saved).unwrap() } else { read };
                prop_assert_eq!(&read, &pieced);
                pieced = ExecutionGraph { limits, ..read };
            }
        }
        prop_assert_eq!(&pieced, &whole);
        prop_assert_eq!(json(&pieced), json(&whole));
    }

    #[test]
    fn every_node_has_its_place_and_every_picture_parses(ops in prop::collection::vec(op(), 0..220), limits in limits()) {
        let graph = fold(&tell(&ops), limits);
        for node in graph.nodes() {
            if let Some(parent) = &node.parent {
                prop_assert!(graph.node(parent).is_some(), "{} has no parent {}", node.id, parent);
            }
            prop_assert!(!graph.is_below(node, &node.id), "{} is a part of itself", node.id);
        }
        for edge in graph.edges() {
            prop_assert!(graph.node(&edge.from).is_some() && graph.node(&edge.to).is_some(), "{edge:?} hangs loose");
        }
        let counts = graph.derive().total.counts;
        let kept = |kind| graph.nodes().filter(|n| n.kind() == kind).count() as u64;
        prop_assert!(counts.tool_calls >= kept(NodeKind::ToolCall));
        prop_assert!(counts.turns >= kept(NodeKind::Turn));
        let picture = crate::render::svg(&graph);
        prop_assert!(roxmltree::Document::parse(&picture).is_ok());
    }

    // verifies: H32 H37
    #[test]
    fn folding_loses_no_count_and_no_token(n in 1_usize..60, in_steps in any::<bool>(), limits in limits()) {
        let story = if in_steps { calls_in_steps(n * 4) } else { turns(n) };
        let (small, large) = (fold(&story, limits).derive(), fold(&story, GraphLimits::default()).derive());
        prop_assert_eq!(small.total.counts, large.total.counts);
        prop_assert_eq!(small.total.rolled_up, large.total.rolled_up);
        prop_assert_eq!(small.total.calls_without_usage, large.total.calls_without_usage);
    }
}
