//! Owns the graph as a checkpoint holds it: what the nodes say themselves and nothing that follows from it, every name
//! once. The JSON of `wire.rs` says more, for readers, and takes several times as long.

use std::borrow::Cow;
use std::collections::BTreeMap;

use event_spine::{ChainHash, SessionId};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::node::{EdgeKind, Folded, Incoming, Node, NodeId, Status, Tokens};
use super::state::{ExecutionGraph, GraphDiagnostic};
use super::table::Links;

/// A graph, written and read by a binary form.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedGraph<'a> {
    session_id: Option<SessionId>,
    sequence: u64,
    chain: Option<[u8; 32]>,
    /// The names of the nodes in their order, then those that nodes only mention.
    names: Vec<NodeId>,
    nodes: Vec<SavedNode<'a>>,
    agent_threads: Cow<'a, BTreeMap<String, NodeId>>,
    again: Cow<'a, BTreeMap<NodeId, u32>>,
    diagnostics: Cow<'a, [GraphDiagnostic]>,
    dropped_diagnostics: u64,
    unknown_events: u64,
    faults: u64,
    first_at: i64,
    last_at: i64,
}

/// A place in [`SavedGraph::names`].
type Name = u32;

#[derive(Serialize, Deserialize)]
struct SavedNode<'a> {
    status: Status,
    title: Cow<'a, str>,
    input: Option<Cow<'a, str>>,
    output: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    decided_by: Option<Cow<'a, str>>,
    parent: Option<Name>,
    lane: Option<Name>,
    band: Option<Name>,
    first_sequence: u64,
    last_sequence: u64,
    started_at: i64,
    ended_at: Option<i64>,
    duration_ms: Option<u64>,
    own_tokens: Option<Tokens>,
    reported_tokens: Option<Tokens>,
    failure_category: Option<Cow<'a, str>>,
    refs: Cow<'a, [String]>,
    revisions: u32,
    settled: bool,
    folded: Option<Box<Folded>>,
    collapsed: bool,
    incoming: Vec<(EdgeKind, Name, Option<Status>, u64)>,
    tail: Option<Name>,
}

/// Gives every name its place.
#[derive(Default)]
struct Names<'a> {
    places: HashMap<&'a NodeId, Name>,
    names: Vec<NodeId>,
}

impl<'a> Names<'a> {
    fn place(&mut self, id: &'a NodeId) -> Name {
        let names = &mut self.names;
        *self.places.entry(id).or_insert_with(|| {
            names.push(id.clone());
            (names.len() - 1) as Name
        })
    }

    fn node(&mut self, node: &'a Node) -> SavedNode<'a> {
        SavedNode {
            status: node.status,
            title: node.title.as_str().into(),
            input: node.input.as_deref().map(Cow::Borrowed),
            output: node.output.as_deref().map(Cow::Borrowed),
            model: node.model.as_deref().map(Cow::Borrowed),
            decided_by: node.decided_by.as_deref().map(Cow::Borrowed),
            parent: node.parent.as_ref().map(|id| self.place(id)),
            lane: node.lane.as_ref().map(|id| self.place(id)),
            band: node.band.as_ref().map(|id| self.place(id)),
            first_sequence: node.first_sequence,
            last_sequence: node.last_sequence,
            started_at: node.started_at,
            ended_at: node.ended_at,
            duration_ms: node.duration_ms,
            own_tokens: node.own_tokens,
            reported_tokens: node.reported_tokens,
            failure_category: node.failure_category.as_deref().map(Cow::Borrowed),
            refs: node.refs.as_slice().into(),
            revisions: node.revisions,
            settled: node.settled,
            folded: node.folded.clone(),
            collapsed: node.collapsed,
            incoming: node
                .incoming
                .iter()
                .map(|edge| (edge.kind, self.place(&edge.from), edge.status, edge.sequence))
                .collect(),
            tail: node.tail.as_ref().map(|id| self.place(id)),
        }
    }
}

impl<'a> From<&'a ExecutionGraph> for SavedGraph<'a> {
    fn from(graph: &'a ExecutionGraph) -> Self {
        let mut names = Names::default();
        for node in graph.nodes() {
            names.place(&node.id);
        }
        let nodes = graph.nodes().map(|node| names.node(node)).collect();
        Self {
            session_id: graph.session_id.clone(),
            sequence: graph.sequence,
            chain: graph.chain.map(|chain| chain.0),
            names: names.names,
            nodes,
            agent_threads: Cow::Borrowed(&graph.agent_threads),
            again: Cow::Borrowed(&graph.again),
            diagnostics: graph.diagnostics.as_slice().into(),
            dropped_diagnostics: graph.dropped_diagnostics,
            unknown_events: graph.unknown_events,
            faults: graph.faults,
            first_at: graph.first_at,
            last_at: graph.last_at,
        }
    }
}

impl SavedGraph<'_> {
    /// The graph, with everything that follows from its nodes worked out again.
    pub(super) fn restore<E: serde::de::Error>(self) -> Result<ExecutionGraph, E> {
        let mut graph = ExecutionGraph {
            session_id: self.session_id,
            sequence: self.sequence,
            chain: self.chain.map(ChainHash),
            agent_threads: self.agent_threads.into_owned(),
            again: self.again.into_owned(),
            diagnostics: self.diagnostics.into_owned(),
            dropped_diagnostics: self.dropped_diagnostics,
            unknown_events: self.unknown_events,
            faults: self.faults,
            first_at: self.first_at,
            last_at: self.last_at,
            ..ExecutionGraph::default()
        };
        let names = self.names;
        let mut edges = Vec::new();
        for (at, saved) in self.nodes.into_iter().enumerate() {
            let (node, incoming) = saved.restore::<E>(at as Name, &names)?;
            if graph.nodes.contains(node.id.as_ref()) {
                return Err(E::custom(format!("node {} is there twice", node.id)));
            }
            edges.extend(incoming.into_iter().map(|edge| (node.id.clone(), edge)));
            graph.nodes.insert(node);
        }
        for (to, edge) in edges {
            graph.nodes.restore(&to, edge);
        }
        graph.index();
        Ok(graph)
    }
}

impl SavedNode<'_> {
    fn restore<E: serde::de::Error>(
        self,
        at: Name,
        names: &[NodeId],
    ) -> Result<(Node, Vec<Incoming>), E> {
        let name = |at: Name| {
            let known = names.get(at as usize).cloned();
            known.ok_or_else(|| E::custom(format!("there is no name {at} among {}", names.len())))
        };
        let edge = |(kind, from, status, sequence)| {
            Ok(Incoming { kind, from: name(from)?, status, sequence })
        };
        let incoming = self.incoming.into_iter().map(edge).collect::<Result<_, E>>()?;
        let node = Node {
            id: name(at)?,
            status: self.status,
            title: self.title.into_owned(),
            input: self.input.map(Cow::into_owned),
            output: self.output.map(Cow::into_owned),
            model: self.model.map(Cow::into_owned),
            decided_by: self.decided_by.map(Cow::into_owned),
            parent: self.parent.map(name).transpose()?,
            lane: self.lane.map(name).transpose()?,
            band: self.band.map(name).transpose()?,
            first_sequence: self.first_sequence,
            last_sequence: self.last_sequence,
            started_at: self.started_at,
            ended_at: self.ended_at,
            duration_ms: self.duration_ms,
            own_tokens: self.own_tokens,
            reported_tokens: self.reported_tokens,
            failure_category: self.failure_category.map(Cow::into_owned),
            refs: self.refs.into_owned(),
            revisions: self.revisions,
            settled: self.settled,
            folded: self.folded,
            collapsed: self.collapsed,
            incoming: Vec::new(),
            tail: self.tail.map(name).transpose()?,
            links: Links::default(),
        };
        Ok((node, incoming))
    }
}
