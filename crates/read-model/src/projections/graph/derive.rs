//! Owns what follows from the nodes: counts and tokens rolled up, the status to show, durations of steps.
//!
//! Tokens are rolled up once. What a source reports for a whole (a turn, a sub-agent) is a statement about the same
//! work as the calls below it, so the two are never added: the larger one stands. Sub-agents' own reports are not
//! contained in their parents', by the contract, so those are added.

use hashbrown::HashMap;

use super::node::{Counts, Node, NodeId, NodeKind, Status, Tokens};
use super::state::ExecutionGraph;
use super::table::{At, NodeTable};
use crate::moment::lasted_ms;

/// What follows for one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// The status to show: that of a step follows from its parts, a turn with an open approval waits.
    pub status: Status,
    /// Tokens of the node and everything below it; absent when nobody said.
    pub rolled_up: Option<Tokens>,
    /// Model calls at or below the node that did not say what they used: above 0 the tokens are a lower bound.
    pub calls_without_usage: u64,
    /// What is below the node.
    pub counts: Counts,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    lane: Tokens,
    agents: Tokens,
}

impl Figures {
    /// What the node adds to the whole that it is a part of: tokens of the lane, tokens of sub-agents.
    pub(super) fn for_whole(&self, kind: NodeKind) -> (Tokens, Tokens) {
        match kind {
            NodeKind::Subagent => (Tokens::default(), self.lane.plus(self.agents)),
            _ => (self.lane, self.agents),
        }
    }
}

/// What follows for all nodes of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    by_id: HashMap<NodeId, Figures>,
    /// The session as a whole.
    pub total: Figures,
}

impl Derived {
    /// What follows for one node.
    #[must_use]
    pub fn of(&self, id: &NodeId) -> Option<&Figures> {
        self.by_id.get(id)
    }

    /// The status to show for a node.
    #[must_use]
    pub fn status(&self, node: &Node) -> Status {
        self.of(&node.id).map_or(node.status, |figures| figures.status)
    }
}

/// What the parts of a node add up to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Below {
    counts: Counts,
    /// Of the lane itself.
    lane: Tokens,
    /// Of the sub-agents under it.
    agents: Tokens,
    unknown: u64,
    waiting: bool,
    open: bool,
    worst_call: Option<Status>,
    tools: u64,
    tools_ended_well: bool,
    last_turn: Option<Status>,
    from: Option<i64>,
    to: Option<i64>,
}

impl ExecutionGraph {
    /// Works out what follows from the nodes.
    #[must_use]
    pub fn derive(&self) -> Derived {
        let places = self.nodes.places(|_| true);
        let (figures, whole) = roll_up(&self.nodes, &places);
        let named = self.nodes().zip(figures);
        let by_id = named.filter_map(|(node, f)| Some((node.id.clone(), f?))).collect();
        let total = Figures {
            status: self.overall(&by_id),
            rolled_up: known(whole.lane.plus(whole.agents)),
            calls_without_usage: whole.unknown,
            counts: whole.counts,
            duration_ms: lasted_ms(self.first_at, self.last_at),
            lane: whole.lane,
            agents: whole.agents,
        };
        Derived { by_id, total }
    }

    /// The status of the session: of its newest main turn, or of what is there instead.
    fn overall(&self, by_id: &HashMap<NodeId, Figures>) -> Status {
        let turn = self.bands.back().or(self.summaries.back());
        let node = turn.or(self.primary.as_ref()).and_then(|id| by_id.get(id));
        node.map_or(Status::Unknown, |figures| figures.status)
    }
}

/// What follows for each node of a list, with those of its parts that are in the list, and for all of them together.
pub(super) fn roll_up(table: &NodeTable, list: &[At]) -> (Vec<Option<Figures>>, Below) {
    let wholes = table.wholes(list);
    let mut below = vec![Below::default(); list.len()];
    let mut all = vec![None; list.len()];
    let mut together = Below::default();
    for at in deepest_first(&wholes) {
        let Some(node) = list.get(at).and_then(|place| table.at(*place)) else {
            continue;
        };
        let mine = below.get(at).copied().unwrap_or_default();
        let figures = figures(node, &mine);
        let whole = wholes.get(at).copied().flatten().and_then(|whole| below.get_mut(whole));
        whole.unwrap_or(&mut together).take(node, &mine, &figures);
        if let Some(slot) = all.get_mut(at) {
            *slot = Some(figures);
        }
    }
    (all, together)
}

/// Parts before their whole, and equals in the order given. `wholes` says where the whole of each stands.
fn deepest_first(wholes: &[Option<usize>]) -> Vec<usize> {
    let whole = |at: usize| wholes.get(at).copied().flatten();
    let mut depths: Vec<Option<usize>> = vec![None; wholes.len()];
    let mut path = Vec::new();
    for at in 0..wholes.len() {
        path.clear();
        let mut up = Some(at);
        let mut depth = 0;
        // A path is no longer than the list, unless what was read goes round in a circle.
        while let Some(at) = up.filter(|_| path.len() <= wholes.len()) {
            if let Some(known) = depths.get(at).copied().flatten() {
                depth = known + 1;
                break;
            }
            path.push(at);
            up = whole(at);
        }
        for (down, at) in path.iter().rev().enumerate() {
            if let Some(slot) = depths.get_mut(*at) {
                *slot = Some(depth + down);
            }
        }
    }
    let mut order: Vec<usize> = (0..wholes.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(depths.get(*at).copied().flatten()));
    order
}

fn figures(node: &Node, below: &Below) -> Figures {
    let mut counts = below.counts;
    let mut unknown = below.unknown;
    let (mut lane, mut agents) = (below.lane, below.agents);
    if let Some(folded) = &node.folded {
        counts.add(&folded.counts);
        lane = lane.plus(folded.tokens);
        agents = agents.plus(folded.agent_tokens);
        unknown += folded.calls_without_usage;
    }
    let reported = node.reported_tokens.unwrap_or_default();
    match node.kind() {
        NodeKind::ModelCall => {
            unknown += u64::from(node.own_tokens.is_none());
            lane = node.own_tokens.unwrap_or_default();
        }
        NodeKind::Subagent => lane = lane.at_least(reported),
        _ if reported.is_unknown() => {}
        _ => {
            // The source speaks for the whole, sub-agents included; what is known of the parts may be more.
            let parts = if lane.is_unknown() { agents } else { lane.plus(agents) };
            (lane, agents) = (reported.at_least(parts), Tokens::default());
        }
    }
    if node.reported_tokens.is_some_and(|tokens| !tokens.is_unknown()) {
        unknown = 0; // the source spoke for the whole
    }
    let measured = below.from.zip(below.to).and_then(|(from, to)| lasted_ms(from, to));
    Figures {
        status: shown(node, below),
        rolled_up: known(lane.plus(agents)),
        calls_without_usage: unknown,
        counts,
        duration_ms: node.duration_ms.or(measured.filter(|_| node.kind() == NodeKind::Step)),
        lane,
        agents,
    }
}

fn known(tokens: Tokens) -> Option<Tokens> {
    (!tokens.is_unknown()).then_some(tokens)
}

fn shown(node: &Node, below: &Below) -> Status {
    match node.kind() {
        NodeKind::Step if below.waiting => Status::Waiting,
        NodeKind::Step if below.open => Status::Running,
        NodeKind::Step => match below.worst_call {
            Some(status) => status,
            None if below.tools == 0 => Status::Unknown,
            None if below.tools_ended_well => Status::Succeeded,
            None => Status::Failed,
        },
        NodeKind::Turn | NodeKind::Subagent if node.status.is_open() && below.waiting => {
            Status::Waiting
        }
        NodeKind::Thread => below.last_turn.unwrap_or(Status::Unknown),
        NodeKind::Earlier => Status::Succeeded,
        _ => node.status,
    }
}

impl Below {
    /// Adds one part, with all that is below it.
    fn take(&mut self, node: &Node, below: &Self, figures: &Figures) {
        self.counts.add(&Counts::of(node.kind(), node.status));
        self.counts.add(&figures.counts);
        self.unknown += figures.calls_without_usage;
        let (lane, agents) = figures.for_whole(node.kind());
        self.lane = self.lane.plus(lane);
        self.agents = self.agents.plus(agents);
        let own_waiting = node.kind() == NodeKind::Action && node.status == Status::Waiting;
        self.waiting |= own_waiting || (below.waiting && figures.status.is_open());
        self.state(node, figures.status);
        let end = node.ended_at.or(below.to);
        self.from = min(self.from, Some(node.started_at));
        self.to = self.to.max(end);
    }

    fn state(&mut self, node: &Node, status: Status) {
        match node.kind() {
            NodeKind::ModelCall => {
                self.open |= status.is_open();
                self.worst_call = Some(status); // the newest attempt counts
            }
            NodeKind::ToolCall => {
                self.open |= status.is_open();
                self.tools += 1;
                self.tools_ended_well |= !matches!(status, Status::Failed | Status::TimedOut);
            }
            NodeKind::Turn => self.last_turn = Some(status),
            _ => {}
        }
    }
}

fn min(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (known, None) | (None, known) => known,
    }
}
