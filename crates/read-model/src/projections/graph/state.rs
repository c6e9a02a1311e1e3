//! Owns the state of the graph and the small moves that every family uses: add a node, tie an edge, settle.
//!
//! Next: [`place`](super::place), where a new node belongs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use event_spine::{ChainHash, RecordedEvent, Scope, SessionId};
use serde::{Deserialize, Serialize};

use super::node::{Edge, EdgeKind, Incoming, Node, NodeId, NodeKind, NodeRef, Status};
use super::place::Place;
use super::table::NodeTable;
use crate::Limits;
use crate::moment::{lasted_ms, micros};

/// How much is kept one by one. The counts stay exact whatever the limits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphLimits {
    /// Newest turns that are kept in full.
    pub full_turns: usize,
    /// Older turns that are kept as one node each.
    pub summary_turns: usize,
    /// Nodes under one turn; above it the oldest steps of that turn are folded.
    pub nodes_per_turn: usize,
    /// Nodes in all; above it turns are folded that would otherwise be kept in full.
    pub nodes: usize,
    /// Artifacts, pieces of evidence, tasks and jobs that are kept one by one, whatever turn they are from.
    pub products: usize,
    /// Diagnostics that are kept.
    pub diagnostics: usize,
}

impl From<&Limits> for GraphLimits {
    /// Everything in proportion to the items of a list: with the usual 200, twenty turns in full and 1,200 nodes.
    fn from(limits: &Limits) -> Self {
        let items = limits.items;
        Self {
            full_turns: (items / 10).max(1),
            summary_turns: (items / 2).max(1),
            nodes_per_turn: (items * 16 / 5).max(8),
            nodes: (items * 6).max(12),
            products: (items * 6 / 5).max(4),
            diagnostics: (items / 6).max(4),
        }
    }
}

impl Default for GraphLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

/// How far the graph has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphAt {
    /// The session.
    pub session_id: SessionId,
    /// Last event that was applied.
    pub sequence: u64,
    /// Chain value of the session at that event, in hex.
    pub chain: String,
}

/// Something that the graph cannot place or make sense of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphDiagnostic {
    /// Machine-readable code: `agent_without_start`, `parent_unknown`, `parent_cycle`, `usage_went_down`.
    pub code: String,
    /// The node it is about.
    pub node: NodeId,
    /// The event that showed it.
    pub sequence: u64,
    /// One sentence, for people.
    pub message: String,
}

/// The message whose text is arriving, so that a delta costs one comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hot {
    pub(super) message_id: Arc<str>,
    pub(super) node: NodeId,
    pub(super) full: bool,
}

/// What the agents of a session did. See the module for what is kept.
///
/// As JSON it is an object with `at`, `totals`, `nodes` and `edges`; the same JSON is read back as the same state.
#[derive(Debug, Clone, Default)]
pub struct ExecutionGraph {
    pub(super) session_id: Option<SessionId>,
    pub(super) sequence: u64,
    pub(super) chain: Option<ChainHash>,
    pub(super) nodes: NodeTable,
    pub(super) primary: Option<NodeId>,
    pub(super) open: Vec<NodeId>,
    pub(super) bands: VecDeque<NodeId>,
    pub(super) newest_band_nodes: usize,
    pub(super) summaries: VecDeque<NodeId>,
    pub(super) products: VecDeque<NodeId>,
    pub(super) agent_threads: BTreeMap<String, NodeId>,
    pub(super) again: BTreeMap<NodeId, u32>,
    pub(super) hot: Option<Hot>,
    pub(super) diagnostics: Vec<GraphDiagnostic>,
    pub(super) dropped_diagnostics: u64,
    pub(super) unknown_events: u64,
    pub(super) faults: u64,
    pub(super) first_at: i64,
    pub(super) last_at: i64,
    pub(super) limits: GraphLimits,
}

impl PartialEq for ExecutionGraph {
    /// Compares what the graph says; indexes and caches follow from that.
    fn eq(&self, other: &Self) -> bool {
        self.session_id == other.session_id
            && self.sequence == other.sequence
            && self.chain == other.chain
            && self.nodes == other.nodes
            && self.agent_threads == other.agent_threads
            && self.again == other.again
            && self.diagnostics == other.diagnostics
            && self.dropped_diagnostics == other.dropped_diagnostics
            && self.unknown_events == other.unknown_events
            && self.faults == other.faults
            && (self.first_at, self.last_at) == (other.first_at, other.last_at)
    }
}

/// The event being applied, with what every rule asks of it.
pub(super) struct Cx<'a> {
    pub(super) recorded: &'a RecordedEvent,
    pub(super) sequence: u64,
    at: std::cell::OnceCell<i64>,
}

impl<'a> Cx<'a> {
    pub(super) fn new(recorded: &'a RecordedEvent) -> Self {
        Self { recorded, sequence: recorded.sequence, at: std::cell::OnceCell::new() }
    }

    pub(super) fn scope(&self) -> &'a Scope {
        self.recorded.scope()
    }

    /// The producer's time, or the log's where the producer's cannot be read.
    pub(super) fn at(&self) -> i64 {
        // A year that RFC 3339 cannot write would not come back from JSON.
        const YEARS_1_TO_9999: (i64, i64) = (-62_135_596_800_000_000, 253_402_207_200_000_000);
        let read = || micros(&self.recorded.draft.timestamp).unwrap_or(self.recorded.recorded_at.0);
        *self.at.get_or_init(|| read().clamp(YEARS_1_TO_9999.0, YEARS_1_TO_9999.1))
    }
}

impl ExecutionGraph {
    /// How far the graph has read; `None` before the first event.
    #[must_use]
    pub fn at(&self) -> Option<GraphAt> {
        Some(GraphAt {
            session_id: self.session_id.clone()?,
            sequence: self.sequence,
            chain: self.chain?.to_string(),
        })
    }

    /// All nodes, oldest first.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.nodes.iter()
    }

    /// How many nodes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True before the first node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 0
    }

    /// One node.
    #[must_use]
    pub fn node(&self, id: &NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// All edges, in the order of the nodes that they point to; first the one from the whole to its part.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.nodes.iter().flat_map(|node| {
            let contains = node.parent.iter().map(|parent| Edge {
                from: parent.clone(),
                to: node.id.clone(),
                kind: EdgeKind::Contains,
                status: None,
                sequence: node.first_sequence,
            });
            contains.chain(self.incoming(node))
        })
    }

    /// The edges that point to a node, without the one from its whole.
    pub fn incoming<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Edge> + 'a {
        node.incoming.iter().map(|edge| Edge {
            from: edge.from.clone(),
            to: node.id.clone(),
            kind: edge.kind,
            status: edge.status,
            sequence: edge.sequence,
        })
    }

    /// What cannot be placed or made sense of, oldest first.
    #[must_use]
    pub fn diagnostics(&self) -> &[GraphDiagnostic] {
        &self.diagnostics
    }

    /// Events of types without a row: counted, not drawn.
    #[must_use]
    pub fn unknown_events(&self) -> u64 {
        self.unknown_events
    }

    /// Producer times of the first and the last event that the graph looked at, in microseconds since 1970 UTC.
    #[must_use]
    pub fn span(&self) -> (i64, i64) {
        (self.first_at, self.last_at)
    }

    /// Adds a node to where it belongs.
    pub(super) fn add(&mut self, cx: &Cx<'_>, id: NodeId, place: &Place, title: impl Into<String>) {
        let mut node = Node::blank(id, title, cx.sequence);
        node.parent.clone_from(&place.parent);
        node.lane.clone_from(&place.lane);
        node.band.clone_from(&place.band);
        node.started_at = cx.at();
        if node.band.is_some() && node.band.as_ref() == self.bands.back() {
            self.newest_band_nodes += 1;
        }
        if may_stay_open(node.kind()) {
            self.open.push(node.id.clone());
        }
        self.touch_time(cx.at());
        self.nodes.insert(node);
    }

    pub(super) fn touch_time(&mut self, at: i64) {
        if self.first_at == 0 {
            self.first_at = at;
        }
        self.last_at = self.last_at.max(at);
    }

    /// Ties an edge, or renews it when the two are tied already.
    pub(super) fn tie(
        &mut self,
        cx: &Cx<'_>,
        kind: EdgeKind,
        from: &NodeId,
        to: &NodeId,
        status: Option<Status>,
    ) {
        let (from, sequence) = (from.clone(), cx.sequence);
        self.nodes.tie(to, Incoming { kind, from, status, sequence });
    }

    /// Makes a node end.
    pub(super) fn settle(
        &mut self,
        cx: &Cx<'_>,
        id: &NodeId,
        status: Status,
        duration_ms: Option<u64>,
    ) {
        let at = cx.at();
        let Some(node) = self.nodes.get_mut(id) else {
            return;
        };
        node.status = status;
        node.settled = true;
        node.ended_at = Some(at);
        node.last_sequence = cx.sequence;
        node.duration_ms = duration_ms.or_else(|| lasted_ms(node.started_at, at));
        self.open.retain(|open| open != id);
        self.touch_time(at);
    }

    /// Ends as "interrupted" what is still open in a lane and, when named, under a turn of it.
    pub(super) fn interrupt(&mut self, cx: &Cx<'_>, lane: &NodeId, turn: Option<&NodeId>) {
        let open: Vec<_> = self
            .open
            .iter()
            .filter(|id| {
                matches!(id.kind(), NodeKind::ModelCall | NodeKind::ToolCall | NodeKind::Action)
            })
            .filter_map(|id| self.nodes.get(id))
            .filter(|node| node.lane.as_ref() == Some(lane))
            .filter(|node| turn.is_none_or(|turn| self.is_below(node, turn)))
            .map(|node| node.id.clone())
            .collect();
        for id in open {
            self.settle(cx, &id, Status::Interrupted, None);
        }
    }

    /// True when `node` is a part of `whole`, at any depth.
    pub(super) fn is_below(&self, node: &Node, whole: &NodeId) -> bool {
        let mut parent = node.parent.as_ref();
        while let Some(id) = parent {
            if id == whole {
                return true;
            }
            parent = self.nodes.get(id).and_then(|node| node.parent.as_ref());
        }
        false
    }

    /// Notes something that does not fit.
    pub(super) fn note(&mut self, cx: &Cx<'_>, code: &str, node: &NodeId, message: String) {
        if self.diagnostics.iter().any(|d| d.code == code && d.node == *node) {
            return;
        }
        if self.diagnostics.len() >= self.limits.diagnostics {
            self.dropped_diagnostics += 1;
            return;
        }
        let (code, node, sequence) = (code.to_owned(), node.clone(), cx.sequence);
        self.diagnostics.push(GraphDiagnostic { code, node, sequence, message });
    }
}

/// True for kinds that an event ends; the others end with what they are part of.
pub(super) const fn may_stay_open(kind: NodeKind) -> bool {
    match kind {
        NodeKind::Turn
        | NodeKind::ModelCall
        | NodeKind::ToolCall
        | NodeKind::Action
        | NodeKind::Subagent
        | NodeKind::Compaction
        | NodeKind::Interruption => true,
        NodeKind::Thread
        | NodeKind::Step
        | NodeKind::Task
        | NodeKind::Run
        | NodeKind::Attempt
        | NodeKind::Job
        | NodeKind::Artifact
        | NodeKind::Evidence
        | NodeKind::Rollback
        | NodeKind::Fork
        | NodeKind::Unplaced
        | NodeKind::Earlier => false,
    }
}

impl NodeId {
    pub(super) fn as_ref(&self) -> NodeRef<'_> {
        NodeRef { kind: self.kind(), name: self.name() }
    }
}
