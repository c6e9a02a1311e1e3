//! Owns what is drawn, before anything has a place: bands (turns) of lanes (agents) of blocks (a model call with what
//! it led to). Like a score: lanes are staves, time runs to the right.
//!
//! Next: [`layout`](super::layout), which gives each block its place.

use std::collections::{HashMap, HashSet};

use crate::projections::graph::{
    Derived, Edge, EdgeKind, ExecutionGraph, Node, NodeId, NodeKind, Status,
};

/// A tool call with what stands before it and what came out of it.
#[derive(Debug, Default)]
pub(super) struct Row<'a> {
    pub(super) gates: Vec<&'a Node>,
    pub(super) tool: Option<&'a Node>,
    pub(super) products: Vec<&'a Node>,
}

/// What happens at one point of a lane.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// A model call, and the tool calls that it led to.
    Step { model: Option<&'a Node>, products: Vec<&'a Node>, rows: Vec<Row<'a>> },
    /// A boundary of the history.
    Boundary(&'a Node),
    /// Older parts of the lane, folded.
    Earlier(&'a Node),
    /// Products of the turn that name no call.
    Products(Vec<&'a Node>),
}

/// A piece of a lane that stays together.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) lane: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    step: Option<&'a NodeId>,
    pub(super) content: Content<'a>,
}

impl<'a> Block<'a> {
    /// The tool calls in it.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a NodeId> {
        let rows = match &self.content {
            Content::Step { rows, .. } => rows.as_slice(),
            Content::Boundary(_) | Content::Earlier(_) | Content::Products(_) => &[],
        };
        rows.iter().filter_map(|row| row.tool.map(|tool| &tool.id))
    }
}

/// The stave of one agent.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    pub(super) node: &'a Node,
    pub(super) depth: i32,
    /// Which accent colour, for sub-agents.
    pub(super) accent: Option<usize>,
}

/// A turn, or what stands outside all turns.
#[derive(Debug)]
pub(super) struct Band<'a> {
    pub(super) turn: Option<&'a Node>,
    pub(super) number: u64,
    pub(super) lanes: Vec<Lane<'a>>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// One thing below the other on the page.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Turns that are no longer kept one by one.
    Earlier(&'a Node),
    /// A turn whose parts are folded, and what of it is still open.
    Summary { turn: &'a Node, number: u64, open: Vec<&'a Node> },
    /// A turn in full.
    Band(Band<'a>),
    /// A boundary between turns.
    Boundary(&'a Node),
}

/// Everything that is drawn.
#[derive(Debug)]
pub(super) struct Score<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) tasks: Vec<&'a Node>,
    /// Runs and attempts of tasks.
    pub(super) executions: Vec<&'a Node>,
    pub(super) derived: Derived,
    /// Edges by where they point.
    pub(super) incoming: HashMap<&'a NodeId, Vec<Edge>>,
}

/// Nodes by what they belong to.
struct Index<'a> {
    by_band: HashMap<Option<&'a NodeId>, Vec<&'a Node>>,
    gates: HashMap<NodeId, Vec<&'a Node>>,
    products: HashMap<NodeId, Vec<&'a Node>>,
    drawn_below_maker: HashSet<&'a NodeId>,
}

/// Sorts a graph into what is drawn.
pub(super) fn score(graph: &ExecutionGraph) -> Score<'_> {
    let mut incoming: HashMap<&NodeId, Vec<Edge>> = HashMap::new();
    for node in graph.nodes() {
        incoming.insert(&node.id, graph.incoming(node).collect());
    }
    let index = index(graph, &incoming);
    let mut parts = turns(graph, &index);
    let outside = index.by_band.get(&None).cloned().unwrap_or_default();
    let (boundaries, outside): (Vec<&Node>, Vec<&Node>) =
        outside.into_iter().partition(|node| is_boundary(node.kind()));
    let boundaries = boundaries.into_iter();
    parts.extend(boundaries.map(|node| (node.first_sequence, Part::Boundary(node))));
    parts.sort_by_key(|(sequence, _)| *sequence);
    let mut parts: Vec<Part<'_>> = parts.into_iter().map(|(_, part)| part).collect();
    let unplaced = graph.node(&NodeId::new(NodeKind::Unplaced, "session"));
    let rest = band(graph, &index, unplaced, 0, &outside);
    if !rest.blocks.is_empty() || rest.lanes.iter().any(|lane| lane.accent.is_some()) {
        parts.push(Part::Band(rest));
    }
    let of = |kinds: [NodeKind; 2]| graph.nodes().filter(|n| kinds.contains(&n.kind())).collect();
    Score {
        parts,
        tasks: of([NodeKind::Task, NodeKind::Job]),
        executions: of([NodeKind::Run, NodeKind::Attempt]),
        derived: graph.derive(),
        incoming,
    }
}

/// The main turns, older ones folded, with the sequence that each begins at.
fn turns<'a>(graph: &'a ExecutionGraph, index: &Index<'a>) -> Vec<(u64, Part<'a>)> {
    let mut parts: Vec<(u64, Part<'_>)> = Vec::new();
    let mut number = 0;
    if let Some(earlier) = graph.node(&NodeId::new(NodeKind::Earlier, "session")) {
        number = earlier.folded.as_ref().map_or(0, |folded| folded.counts.turns);
        parts.push((0, Part::Earlier(earlier)));
    }
    let is_main = |n: &&Node| n.collapsed || n.band.as_ref() == Some(&n.id);
    for turn in graph.nodes().filter(|n| n.kind() == NodeKind::Turn).filter(is_main) {
        number += 1;
        let members = index.by_band.get(&Some(&turn.id)).cloned().unwrap_or_default();
        let part = if turn.collapsed {
            let open = members.into_iter().filter(|n| n.kind() == NodeKind::Action).collect();
            Part::Summary { turn, number, open }
        } else {
            Part::Band(band(graph, index, Some(turn), number, &members))
        };
        parts.push((turn.first_sequence, part));
    }
    parts
}

fn index<'a>(graph: &'a ExecutionGraph, incoming: &HashMap<&'a NodeId, Vec<Edge>>) -> Index<'a> {
    let mut index = Index {
        by_band: HashMap::new(),
        gates: HashMap::new(),
        products: HashMap::new(),
        drawn_below_maker: HashSet::new(),
    };
    for node in graph.nodes() {
        if node.band.as_ref() != Some(&node.id) {
            index.by_band.entry(node.band.as_ref()).or_default().push(node);
        }
        for edge in incoming.get(&node.id).into_iter().flatten() {
            match edge.kind {
                EdgeKind::Gates => {
                    let gate = graph.node(&edge.from);
                    index.gates.entry(node.id.clone()).or_default().extend(gate);
                }
                EdgeKind::Produced if !index.drawn_below_maker.contains(&node.id) => {
                    let maker = graph.node(&edge.from).filter(|maker| makes(maker.kind()));
                    if let Some(maker) = maker {
                        index.products.entry(maker.id.clone()).or_default().push(node);
                        index.drawn_below_maker.insert(&node.id);
                    }
                }
                _ => {}
            }
        }
    }
    index
}

const fn makes(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::ToolCall | NodeKind::ModelCall)
}

const fn is_boundary(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Compaction | NodeKind::Rollback | NodeKind::Fork | NodeKind::Interruption
    )
}

fn band<'a>(
    graph: &'a ExecutionGraph,
    index: &Index<'a>,
    turn: Option<&'a Node>,
    number: u64,
    members: &[&'a Node],
) -> Band<'a> {
    let lanes = lanes(graph, turn, members);
    let gating: HashSet<&NodeId> = members
        .iter()
        .filter_map(|node| index.gates.get(&node.id))
        .flatten()
        .map(|gate| &gate.id)
        .collect();
    let mut blocks = Vec::new();
    for (at, lane) in lanes.iter().enumerate() {
        let in_lane = members.iter().filter(|node| node.lane.as_ref() == Some(&lane.node.id));
        let mut loose = Vec::new();
        let mut stave = Stave { lane: at, blocks: Vec::new() };
        for node in in_lane {
            let end = if node.settled { node.last_sequence } else { u64::MAX };
            match node.kind() {
                NodeKind::ModelCall => stave.model(node, end, index),
                NodeKind::ToolCall => stave.tool(node, end, index),
                NodeKind::Action if !gating.contains(&node.id) => stave.action(node, end),
                NodeKind::Artifact | NodeKind::Evidence
                    if !index.drawn_below_maker.contains(&node.id) =>
                {
                    loose.push(*node);
                }
                NodeKind::Earlier => {
                    stave.push(node.first_sequence, node.last_sequence, Content::Earlier(node))
                }
                kind if is_boundary(kind) => {
                    stave.push(node.first_sequence, end, Content::Boundary(node))
                }
                _ => {} // the whole that others are drawn in, or drawn with the call it belongs to
            }
        }
        if let Some(first) = loose.first() {
            let last = loose.last().map_or(0, |node| node.last_sequence);
            stave.push(first.first_sequence, last, Content::Products(loose));
        }
        blocks.append(&mut stave.blocks);
    }
    blocks.sort_by_key(|block| (block.start, block.lane));
    Band { turn, number, lanes, blocks }
}

/// The blocks of one lane, in order.
struct Stave<'a> {
    lane: usize,
    blocks: Vec<Block<'a>>,
}

impl<'a> Stave<'a> {
    fn push(&mut self, start: u64, end: u64, content: Content<'a>) {
        self.blocks.push(Block { lane: self.lane, start, end, step: None, content });
    }

    fn model(&mut self, node: &'a Node, end: u64, index: &Index<'a>) {
        let products = index.products.get(&node.id).cloned().unwrap_or_default();
        let content = Content::Step { model: Some(node), products, rows: Vec::new() };
        self.push(node.first_sequence, end, content);
        if let Some(block) = self.blocks.last_mut() {
            block.step = node.parent.as_ref().filter(|id| id.kind() == NodeKind::Step);
        }
    }

    fn tool(&mut self, node: &'a Node, end: u64, index: &Index<'a>) {
        let products = index.products.get(&node.id).cloned().unwrap_or_default();
        let gates = index.gates.get(&node.id).cloned().unwrap_or_default();
        let start = gates.iter().map(|gate| gate.first_sequence).min().unwrap_or(u64::MAX);
        let row = Row { gates, tool: Some(node), products };
        self.row(node, start.min(node.first_sequence), end, row);
    }

    fn action(&mut self, node: &'a Node, end: u64) {
        let row = Row { gates: vec![node], ..Row::default() };
        self.row(node, node.first_sequence, end, row);
    }

    /// Puts a row into the block of its step, or of the model call before it, or into one of its own.
    fn row(&mut self, node: &'a Node, start: u64, end: u64, row: Row<'a>) {
        let step = node.parent.as_ref().filter(|id| id.kind() == NodeKind::Step);
        if let Some(block) = self.blocks.last_mut()
            && block.step == step
            && let Content::Step { rows, .. } = &mut block.content
        {
            rows.push(row);
            block.end = block.end.max(end);
            return;
        }
        let content = Content::Step { model: None, products: Vec::new(), rows: vec![row] };
        self.push(start, end, content);
        if let Some(block) = self.blocks.last_mut() {
            block.step = step;
        }
    }
}

/// The lanes of a band: the main one first, then each sub-agent under the one that started it.
fn lanes<'a>(
    graph: &'a ExecutionGraph,
    turn: Option<&'a Node>,
    members: &[&'a Node],
) -> Vec<Lane<'a>> {
    let mut roots: Vec<&Node> = Vec::new();
    let mut agents: Vec<&Node> = Vec::new();
    let push = |list: &mut Vec<&'a Node>, node: &'a Node| {
        if !list.iter().any(|known| known.id == node.id) {
            list.push(node);
        }
    };
    if let Some(lane) = turn.and_then(|t| t.lane.as_ref()).and_then(|id| graph.node(id)) {
        push(&mut roots, lane);
    }
    for node in members {
        if node.kind() == NodeKind::Subagent {
            push(&mut agents, node);
        }
        match node.lane.as_ref().and_then(|id| graph.node(id)) {
            Some(lane) if lane.kind() == NodeKind::Subagent => push(&mut agents, lane),
            Some(lane) => push(&mut roots, lane),
            None => {}
        }
    }
    let mut lanes: Vec<Lane<'_>> =
        roots.into_iter().map(|node| Lane { node, depth: 0, accent: None }).collect();
    let names: HashSet<&NodeId> = agents.iter().map(|agent| &agent.id).collect();
    let above = |agent: &&Node| agent.lane.as_ref().is_none_or(|lane| !names.contains(lane));
    let mut stack: Vec<(&Node, i32)> =
        agents.iter().rev().filter(|a| above(a)).map(|a| (*a, 1)).collect();
    while let Some((node, depth)) = stack.pop() {
        if lanes.iter().any(|lane| lane.node.id == node.id) {
            continue;
        }
        lanes.push(Lane { node, depth, accent: Some(lanes.len()) });
        let below = agents.iter().rev().filter(|agent| agent.lane.as_ref() == Some(&node.id));
        stack.extend(below.map(|agent| (*agent, depth + 1)));
    }
    lanes
}

impl Score<'_> {
    /// True when lanes need names: there is more than the one of the main agent.
    pub(super) fn has_agents(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Band(band) => {
                band.lanes.len() > 1 || band.lanes.iter().any(|l| l.accent.is_some())
            }
            Part::Earlier(_) | Part::Summary { .. } | Part::Boundary(_) => false,
        })
    }

    /// The status to show for a node.
    pub(super) fn status(&self, node: &Node) -> Status {
        self.derived.status(node)
    }
}
