//! Owns the JSON of the graph: nodes and edges as two flat lists, with what follows from them written out.
//!
//! The same JSON is read back as the same state, so whoever gets it can go on from it. Checkpoints hold the short form
//! of `saved.rs`.

use std::collections::BTreeMap;

use event_spine::{ChainHash, RecordedAt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::derive::Derived;
use super::node::{
    Counts, Edge, EdgeKind, Folded, Incoming, Node, NodeId, NodeKind, Status, Tokens,
};
use super::saved::SavedGraph;
use super::state::{ExecutionGraph, GraphAt, GraphDiagnostic, may_stay_open};
use super::table::Links;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GraphJson {
    at: Option<GraphAt>,
    status: Status,
    totals: Totals,
    first_at: Option<String>,
    last_at: Option<String>,
    nodes: Vec<NodeJson>,
    edges: Vec<Edge>,
    diagnostics: Vec<GraphDiagnostic>,
    dropped_diagnostics: u64,
    unknown_events: u64,
    faults: u64,
    agent_threads: BTreeMap<String, NodeId>,
    repeated: BTreeMap<NodeId, u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    counts: Counts,
    tokens: Option<Tokens>,
    calls_without_usage: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeJson {
    id: NodeId,
    kind: NodeKind,
    status: Status,
    own_status: Status,
    settled: bool,
    collapsed: bool,
    title: String,
    input: Option<String>,
    output: Option<String>,
    model: Option<String>,
    decided_by: Option<String>,
    parent: Option<NodeId>,
    lane: Option<NodeId>,
    turn: Option<NodeId>,
    first_sequence: u64,
    last_sequence: u64,
    started_at: Option<String>,
    ended_at: Option<String>,
    duration_ms: Option<u64>,
    own_duration_ms: Option<u64>,
    tokens: TokensJson,
    failure_category: Option<String>,
    refs: Vec<String>,
    revisions: u32,
    below: Counts,
    folded: Option<Folded>,
    last_part: Option<NodeId>,
}

/// Each figure says what it is: of the node alone, as its source reports it for the whole, or rolled up by us.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokensJson {
    own: Option<Tokens>,
    reported: Option<Tokens>,
    rolled_up: Option<Tokens>,
    calls_without_usage: u64,
}

impl Serialize for ExecutionGraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return SavedGraph::from(self).serialize(serializer);
        }
        let derived = self.derive();
        GraphJson {
            at: self.at(),
            status: derived.total.status,
            totals: Totals {
                counts: derived.total.counts,
                tokens: derived.total.rolled_up,
                calls_without_usage: derived.total.calls_without_usage,
            },
            first_at: time(self.first_at),
            last_at: time(self.last_at),
            nodes: self.nodes.iter().map(|node| node_json(node, &derived)).collect(),
            edges: self.edges().collect(),
            diagnostics: self.diagnostics.clone(),
            dropped_diagnostics: self.dropped_diagnostics,
            unknown_events: self.unknown_events,
            faults: self.faults,
            agent_threads: self.agent_threads.clone(),
            repeated: self.again.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExecutionGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return SavedGraph::deserialize(deserializer)?.restore();
        }
        let json = GraphJson::deserialize(deserializer)?;
        let mut graph = Self {
            agent_threads: json.agent_threads,
            again: json.repeated,
            diagnostics: json.diagnostics,
            dropped_diagnostics: json.dropped_diagnostics,
            unknown_events: json.unknown_events,
            faults: json.faults,
            first_at: micros(json.first_at.as_deref()),
            last_at: micros(json.last_at.as_deref()),
            ..Self::default()
        };
        if let Some(at) = json.at {
            graph.session_id = Some(at.session_id);
            graph.sequence = at.sequence;
            let chain = at.chain.parse::<ChainHash>().map_err(serde::de::Error::custom)?;
            graph.chain = Some(chain);
        }
        for node in json.nodes.into_iter().map(Node::from) {
            if graph.nodes.contains(node.id.as_ref()) {
                return Err(serde::de::Error::custom(format!("node {} is there twice", node.id)));
            }
            graph.nodes.insert(node);
        }
        for edge in json.edges {
            let Edge { from, to, kind, status, sequence } = edge;
            if kind != EdgeKind::Contains {
                graph.nodes.restore(&to, Incoming { kind, from, status, sequence });
            }
        }
        graph.index();
        Ok(graph)
    }
}

impl ExecutionGraph {
    /// Works out the indexes that follow from the nodes.
    pub(super) fn index(&mut self) {
        self.nodes.link_parts();
        for node in self.nodes.iter() {
            let id = &node.id;
            if may_stay_open(node.kind()) && !node.settled {
                self.open.push(id.clone());
            }
            match node.kind() {
                NodeKind::Thread if self.primary.is_none() => self.primary = Some(id.clone()),
                NodeKind::Turn if node.collapsed => self.summaries.push_back(id.clone()),
                NodeKind::Turn if node.band.as_ref() == Some(id) => {
                    self.bands.push_back(id.clone())
                }
                NodeKind::Artifact
                | NodeKind::Evidence
                | NodeKind::Task
                | NodeKind::Run
                | NodeKind::Attempt
                | NodeKind::Job => self.products.push_back(id.clone()),
                _ => {}
            }
        }
        self.recount_newest_band();
    }
}

fn node_json(node: &Node, derived: &Derived) -> NodeJson {
    let figures = derived.of(&node.id);
    NodeJson {
        id: node.id.clone(),
        kind: node.kind(),
        status: derived.status(node),
        own_status: node.status,
        settled: node.settled,
        collapsed: node.collapsed,
        title: node.title.clone(),
        input: node.input.clone(),
        output: node.output.clone(),
        model: node.model.clone(),
        decided_by: node.decided_by.clone(),
        parent: node.parent.clone(),
        lane: node.lane.clone(),
        turn: node.band.clone(),
        first_sequence: node.first_sequence,
        last_sequence: node.last_sequence,
        started_at: time(node.started_at),
        ended_at: node.ended_at.and_then(time),
        duration_ms: figures.and_then(|f| f.duration_ms),
        own_duration_ms: node.duration_ms,
        tokens: TokensJson {
            own: node.own_tokens,
            reported: node.reported_tokens,
            rolled_up: figures.and_then(|f| f.rolled_up),
            calls_without_usage: figures.map_or(0, |f| f.calls_without_usage),
        },
        failure_category: node.failure_category.clone(),
        refs: node.refs.clone(),
        revisions: node.revisions,
        below: figures.map(|f| f.counts).unwrap_or_default(),
        folded: node.folded.as_deref().copied(),
        last_part: node.tail.clone(),
    }
}

impl From<NodeJson> for Node {
    fn from(json: NodeJson) -> Self {
        Self {
            status: json.own_status,
            title: json.title,
            input: json.input,
            output: json.output,
            model: json.model,
            decided_by: json.decided_by,
            parent: json.parent,
            lane: json.lane,
            band: json.turn,
            first_sequence: json.first_sequence,
            last_sequence: json.last_sequence,
            started_at: micros(json.started_at.as_deref()),
            ended_at: json.ended_at.as_deref().map(|at| micros(Some(at))),
            duration_ms: json.own_duration_ms,
            own_tokens: json.tokens.own,
            reported_tokens: json.tokens.reported,
            failure_category: json.failure_category,
            refs: json.refs,
            revisions: json.revisions,
            settled: json.settled,
            folded: json.folded.map(Box::new),
            collapsed: json.collapsed,
            incoming: Vec::new(),
            tail: json.last_part,
            links: Links::default(),
            id: json.id,
        }
    }
}

/// A time as text; 0 is "not known".
fn time(micros: i64) -> Option<String> {
    (micros != 0).then(|| RecordedAt(micros).to_string())
}

fn micros(text: Option<&str>) -> i64 {
    text.and_then(|text| text.parse::<RecordedAt>().ok()).map_or(0, |at| at.0)
}
