//! Owns the nodes and how they hang together: found by name at once, walked in the order in which they came to be,
//! parts known to their whole and ends of edges to their start, so that removing a few never means looking at all.
//!
//! ```text
//!   nodes     [ thread ][ turn ][      ][ step ][ model ][      ][ tool ]        a hole where one was removed
//!   by_name     tool:call_7 ─────────────────────────────────────▲
//!   links       whole, parts and ends of edges are places in `nodes`
//! ```
//! The invariant: every place in the links and in `by_name` is one of a node that is here. Places change when the
//! holes are packed away, after an event; only this file keeps any.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

use super::node::{EdgeKind, Incoming, Node, NodeId, NodeRef, Status};

/// Most edges that are kept at the node they point to: an artifact that a thousand calls touched keeps its newest makers.
const MOST_EDGES: usize = 24;

/// Where a node stands in the table, until the table is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At(u32);

impl At {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The other direction of what nodes say: follows from them, so it counts for nothing when graphs are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    /// What the node is a part of.
    whole: Option<At>,
    /// What the node is the whole of, oldest first.
    parts: Vec<At>,
    /// What its edges point to, each once.
    out: Vec<At>,
}

impl PartialEq for Links {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Links {}

/// A set of places.
pub(super) struct Marks(Vec<bool>);

impl Marks {
    pub(super) fn has(&self, at: At) -> bool {
        self.0.get(at.index()).is_some_and(|mark| *mark)
    }

    /// Adds a place; true when it was not in the set.
    pub(super) fn add(&mut self, at: At) -> bool {
        if self.0.len() <= at.index() {
            self.0.resize(at.index() + 1, false);
        }
        self.0.get_mut(at.index()).is_some_and(|mark| !std::mem::replace(mark, true))
    }
}

/// The nodes of a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeTable {
    nodes: Vec<Option<Node>>,
    /// How many of them are no holes.
    kept: usize,
    /// The place of every name, with its hash.
    by_name: HashTable<(u64, At)>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for NodeTable {
    fn eq(&self, other: &Self) -> bool {
        self.kept == other.kept && self.iter().eq(other.iter())
    }
}

impl NodeTable {
    pub(super) const fn len(&self) -> usize {
        self.kept
    }

    /// Where the node of a name is.
    pub(super) fn place(&self, id: NodeRef<'_>) -> Option<At> {
        let hash = self.hasher.hash_one(id);
        let is = |at: At| self.at(at).is_some_and(|node| node.id.as_ref() == id);
        let found = self.by_name.find(hash, |(known, at)| *known == hash && is(*at));
        found.map(|(_, at)| *at)
    }

    pub(super) fn place_of(&self, id: &NodeId) -> Option<At> {
        self.place(id.as_ref())
    }

    pub(super) fn at(&self, at: At) -> Option<&Node> {
        self.nodes.get(at.index())?.as_ref()
    }

    /// The node at a place, to change all but its parent and its edges.
    pub(super) fn at_mut(&mut self, at: At) -> Option<&mut Node> {
        self.nodes.get_mut(at.index())?.as_mut()
    }

    pub(super) fn contains(&self, id: NodeRef<'_>) -> bool {
        self.place(id).is_some()
    }

    pub(super) fn find(&self, id: NodeRef<'_>) -> Option<&Node> {
        self.at(self.place(id)?)
    }

    pub(super) fn get(&self, id: &NodeId) -> Option<&Node> {
        self.at(self.place_of(id)?)
    }

    /// One node, to change all but its parent and its edges.
    pub(super) fn get_mut(&mut self, id: &NodeId) -> Option<&mut Node> {
        self.at_mut(self.place_of(id)?)
    }

    /// The id of a name: that of the node, when it is here, so that the text is there once.
    pub(super) fn id(&self, id: NodeRef<'_>) -> NodeId {
        self.find(id).map_or_else(|| NodeId::new(id.kind, id.name), |node| node.id.clone())
    }

    /// All nodes, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.nodes.iter().flatten()
    }

    /// The places of the nodes that `pick` wants, oldest first.
    pub(super) fn places(&self, pick: impl Fn(&Node) -> bool) -> Vec<At> {
        let nodes = (0..).zip(&self.nodes);
        let picked = nodes.filter(|(_, node)| node.as_ref().is_some_and(&pick));
        picked.map(|(at, _)| At(at)).collect()
    }

    /// True when `one` came to be before `other`.
    pub(super) fn stands_before(&self, one: &NodeId, other: &NodeId) -> bool {
        self.place_of(one) < self.place_of(other)
    }

    /// The parts of a node, oldest first.
    pub(super) fn parts<'a>(
        &'a self,
        whole: &'a Node,
    ) -> impl DoubleEndedIterator<Item = &'a Node> + 'a {
        whole.links.parts.iter().filter_map(|at| self.at(*at))
    }

    /// Where the parts of a node are, oldest first.
    pub(super) fn parts_at(&self, whole: At) -> &[At] {
        self.at(whole).map(|node| node.links.parts.as_slice()).unwrap_or_default()
    }

    /// What a node is a part of.
    pub(super) fn whole_at(&self, part: At) -> Option<At> {
        self.at(part)?.links.whole
    }

    /// An empty set.
    pub(super) fn marks(&self) -> Marks {
        Marks(vec![false; self.nodes.len()])
    }

    /// For each node of a list, where in the list its whole stands.
    pub(super) fn wholes(&self, list: &[At]) -> Vec<Option<usize>> {
        let mut positions: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (position, at) in list.iter().enumerate() {
            if let Some(slot) = positions.get_mut(at.index()) {
                *slot = Some(position);
            }
        }
        let of = |whole: At| positions.get(whole.index()).copied().flatten();
        list.iter().map(|at| self.whole_at(*at).and_then(of)).collect()
    }

    /// Adds a new node at the end.
    pub(super) fn insert(&mut self, mut node: Node) -> At {
        debug_assert!(!self.contains(node.id.as_ref()), "{} is there already", node.id);
        let at = At(self.nodes.len() as u32);
        let hash = self.hasher.hash_one(node.id.as_ref());
        self.by_name.insert_unique(hash, (hash, at), |(hash, _)| *hash);
        node.links = Links::default();
        node.links.whole = node.parent.as_ref().and_then(|whole| self.place_of(whole));
        if let Some(whole) = node.links.whole.and_then(|whole| self.at_mut(whole)) {
            whole.links.parts.push(at);
        }
        self.nodes.push(Some(node));
        self.kept += 1;
        at
    }

    /// Makes a node a part of another whole.
    pub(super) fn set_parent(&mut self, id: &NodeId, whole: &NodeId) {
        if let (Some(at), Some(whole)) = (self.place_of(id), self.place_of(whole)) {
            self.move_to(at, whole);
        }
    }

    /// Makes the node at a place a part of another whole.
    pub(super) fn move_to(&mut self, at: At, whole: At) {
        let name = self.at(whole).map(|node| node.id.clone());
        let Some(node) = self.at_mut(at) else {
            return;
        };
        node.parent = name;
        let before = node.links.whole.replace(whole);
        if let Some(before) = before.and_then(|before| self.at_mut(before)) {
            before.links.parts.retain(|part| *part != at);
        }
        if let Some(whole) = self.at_mut(whole) {
            // Parts stand in the order of the nodes, as they do after being read.
            let parts = &mut whole.links.parts;
            parts.insert(parts.partition_point(|part| *part < at), at);
        }
    }

    /// Ties an edge between two nodes that are there, or renews its status when they are tied already.
    pub(super) fn tie(&mut self, to: &NodeId, edge: Incoming) {
        let (Some(start), Some(end)) = (self.place_of(&edge.from), self.place_of(to)) else {
            return;
        };
        let Some(node) = self.at_mut(end).filter(|_| start != end) else {
            return;
        };
        let known = node.incoming.iter_mut().find(|e| e.kind == edge.kind && e.from == edge.from);
        if let Some(known) = known {
            known.status = edge.status;
            return;
        }
        let oldest = (node.incoming.len() >= MOST_EDGES).then(|| node.incoming.remove(0));
        node.incoming.reserve_exact(1); // most nodes have one or two
        node.incoming.push(edge);
        if let Some(oldest) =
            oldest.filter(|gone| node.incoming.iter().all(|e| e.from != gone.from))
        {
            self.cut(&oldest.from, end);
        }
        self.point(start, end);
    }

    /// Remembers at the start of an edge where it points.
    fn point(&mut self, start: At, end: At) {
        if let Some(start) = self.at_mut(start)
            && !start.links.out.contains(&end)
        {
            start.links.out.push(end);
        }
    }

    /// Forgets at the start of edges that they point to a node.
    fn cut(&mut self, start: &NodeId, end: At) {
        if let Some(start) = self.get_mut(start) {
            start.links.out.retain(|to| *to != end);
        }
    }

    /// Writes a status into all edges of a kind that start at a node.
    pub(super) fn renew(&mut self, kind: EdgeKind, from: &NodeId, status: Status) {
        let ends = self.get(from).map(|node| node.links.out.clone()).unwrap_or_default();
        for end in ends {
            let edges = self.at_mut(end).map(|node| node.incoming.iter_mut());
            for edge in edges.into_iter().flatten().filter(|e| e.kind == kind && e.from == *from) {
                edge.status = Some(status);
            }
        }
    }

    /// The tool calls that an approval lets through or stops.
    pub(super) fn gated_by(&self, action: &NodeId) -> Vec<NodeId> {
        let ends = self.get(action).map(|node| node.links.out.as_slice()).unwrap_or_default();
        let gated = |node: &&Node| {
            node.incoming.iter().any(|e| e.kind == EdgeKind::Gates && e.from == *action)
        };
        let ends = ends.iter().filter_map(|end| self.at(*end));
        ends.filter(gated).map(|node| node.id.clone()).collect()
    }

    /// Puts back an edge that was read, when all nodes are there.
    pub(super) fn restore(&mut self, to: &NodeId, edge: Incoming) {
        let Some(end) = self.place_of(to) else {
            return;
        };
        if let Some(start) = self.place_of(&edge.from) {
            self.point(start, end);
        }
        if let Some(node) = self.at_mut(end) {
            node.incoming.push(edge);
        }
    }

    /// Works out the parts of all nodes again, for nodes that were read.
    pub(super) fn link_parts(&mut self) {
        for node in self.nodes.iter_mut().flatten() {
            node.links.parts.clear();
        }
        for at in self.places(|node| node.parent.is_some()) {
            let whole = self.at(at).and_then(|node| self.place_of(node.parent.as_ref()?));
            if let Some(node) = self.at_mut(at) {
                node.links.whole = whole;
            }
            if let Some(whole) = whole.and_then(|whole| self.at_mut(whole)) {
                whole.links.parts.push(at);
            }
        }
    }

    /// A node and everything below it, whole before part.
    pub(super) fn subtree(&self, top: At) -> Vec<At> {
        let mut found = Vec::with_capacity(64);
        found.push(top);
        let mut next = 0;
        while let Some(at) = found.get(next) {
            found.extend_from_slice(self.parts_at(*at));
            next += 1;
        }
        found
    }

    /// Removes nodes. Edges that told where something came from start at `instead` from then on; the others go.
    pub(super) fn remove_all(&mut self, gone: &[At], instead: Option<At>) -> Vec<Node> {
        let mut going = self.marks();
        let mut removed = Vec::with_capacity(gone.len());
        for at in gone {
            let Some(node) = self.nodes.get_mut(at.index()).and_then(Option::take) else {
                continue;
            };
            going.add(*at);
            self.kept -= 1;
            let hash = self.hasher.hash_one(node.id.as_ref());
            if let Ok(entry) = self.by_name.find_entry(hash, |(_, known)| known == at) {
                entry.remove();
            }
            removed.push((*at, node));
        }
        let mut wholes: Vec<At> = Vec::new();
        for (at, node) in &removed {
            wholes.extend(node.links.whole);
            for part in &node.links.parts {
                if let Some(part) = self.at_mut(*part) {
                    part.links.whole = None;
                }
            }
            for to in node.links.out.iter().filter(|to| !going.has(**to)) {
                self.redirect(*to, &node.id, instead);
            }
            for edge in &node.incoming {
                self.cut(&edge.from, *at);
            }
        }
        wholes.sort_unstable();
        wholes.dedup();
        for whole in wholes {
            if let Some(whole) = self.at_mut(whole) {
                whole.links.parts.retain(|part| !going.has(*part));
            }
        }
        removed.into_iter().map(|(_, node)| node).collect()
    }

    fn redirect(&mut self, to: At, gone: &NodeId, instead: Option<At>) {
        let start = instead.filter(|at| *at != to);
        let start = start.and_then(|at| Some((at, self.at(at)?.id.clone())));
        let Some(node) = self.at_mut(to) else {
            return;
        };
        let tells_origin =
            |kind| matches!(kind, EdgeKind::Produced | EdgeKind::Spawned | EdgeKind::Handoff);
        let mut moved = false;
        let mut at = 0;
        while let Some(edge) = node.incoming.get(at) {
            if edge.from != *gone {
                at += 1;
                continue;
            }
            let mut edge = node.incoming.remove(at);
            let Some((_, id)) = start.as_ref().filter(|_| tells_origin(edge.kind)) else {
                continue;
            };
            if node.incoming.iter().all(|e| e.kind != edge.kind || e.from != *id) {
                edge.from = id.clone();
                node.incoming.insert(at, edge);
                (moved, at) = (true, at + 1);
            }
        }
        if let Some((start, _)) = start.filter(|_| moved) {
            self.point(start, to);
        }
    }

    /// Closes the holes once they are more than the nodes. All places change.
    pub(super) fn pack(&mut self) {
        if self.nodes.len() <= 2 * self.kept + 64 {
            return;
        }
        let mut moved: Vec<Option<At>> = Vec::with_capacity(self.nodes.len());
        let mut next = 0;
        for node in &self.nodes {
            moved.push(node.is_some().then_some(At(next)));
            next += u32::from(node.is_some());
        }
        let now = |at: &At| moved.get(at.index()).copied().flatten();
        self.nodes.retain(Option::is_some);
        for node in self.nodes.iter_mut().flatten() {
            let links = &mut node.links;
            links.whole = links.whole.and_then(|at| now(&at));
            links.parts = links.parts.iter().filter_map(now).collect();
            links.out = links.out.iter().filter_map(now).collect();
        }
        for (_, at) in self.by_name.iter_mut() {
            *at = now(at).unwrap_or(*at);
        }
    }
}
