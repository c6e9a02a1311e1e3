//! Owns the nodes and how they hang together: found by name at once, walked in the order in which they came to be,
//! parts known to their whole and ends of edges to their start, so that removing a few never means looking at all.

use std::collections::{BTreeMap, HashSet};

use hashbrown::HashMap;

use super::node::{EdgeKind, Incoming, Node, NodeId, NodeRef, Status};

/// Most edges that are kept at the node they point to: an artifact that a thousand calls touched keeps its newest makers.
const MOST_EDGES: usize = 24;

/// The other direction of what nodes say: follows from them, so it counts for nothing when graphs are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    /// What the node is the whole of, oldest first.
    pub(super) parts: Vec<NodeId>,
    /// What its edges point to.
    out: Vec<NodeId>,
}

impl PartialEq for Links {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Links {}

/// The nodes of a graph.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeTable {
    by_order: BTreeMap<u64, Node>,
    by_name: HashMap<NodeId, u64>,
    next_order: u64,
}

impl PartialEq for NodeTable {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl NodeTable {
    pub(super) fn len(&self) -> usize {
        self.by_order.len()
    }

    pub(super) fn contains(&self, id: NodeRef<'_>) -> bool {
        self.by_name.contains_key(&id)
    }

    pub(super) fn find(&self, id: NodeRef<'_>) -> Option<&Node> {
        self.by_order.get(self.by_name.get(&id)?)
    }

    pub(super) fn get(&self, id: &NodeId) -> Option<&Node> {
        self.by_order.get(self.by_name.get(id)?)
    }

    /// One node, to change all but its parent and its edges.
    pub(super) fn get_mut(&mut self, id: &NodeId) -> Option<&mut Node> {
        self.by_order.get_mut(self.by_name.get(id)?)
    }

    /// All nodes, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.by_order.values()
    }

    /// True when `one` came to be before `other`.
    pub(super) fn stands_before(&self, one: &NodeId, other: &NodeId) -> bool {
        self.by_name.get(one) < self.by_name.get(other)
    }

    /// Adds a new node at the end.
    pub(super) fn insert(&mut self, node: Node) {
        debug_assert!(!self.contains(node.id.as_ref()), "{} is there already", node.id);
        let order = self.next_order;
        self.next_order += 1;
        self.by_name.insert(node.id.clone(), order);
        if let Some(whole) = node.parent.clone()
            && let Some(whole) = self.get_mut(&whole)
        {
            whole.links.parts.push(node.id.clone());
        }
        self.by_order.insert(order, node);
    }

    /// Makes a node a part of another whole, or of none.
    pub(super) fn set_parent(&mut self, id: &NodeId, whole: Option<&NodeId>) {
        let Some(node) = self.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut node.parent, whole.cloned());
        if let Some(before) = before.and_then(|before| self.get_mut(&before)) {
            before.links.parts.retain(|part| part != id);
        }
        let Some(whole) = whole else {
            return;
        };
        // Parts stand in the order of the nodes, as they do after being read.
        let parts = self.get(whole).map(|node| node.links.parts.as_slice()).unwrap_or_default();
        let at = parts.partition_point(|part| self.stands_before(part, id));
        if let Some(whole) = self.get_mut(whole) {
            whole.links.parts.insert(at, id.clone());
        }
    }

    /// Ties an edge between two nodes that are there, or renews its status when they are tied already.
    pub(super) fn tie(&mut self, to: &NodeId, edge: Incoming) {
        if edge.from == *to || !self.contains(edge.from.as_ref()) {
            return;
        }
        let Some(node) = self.get_mut(to) else {
            return;
        };
        let known = node.incoming.iter_mut().find(|e| e.kind == edge.kind && e.from == edge.from);
        if let Some(known) = known {
            known.status = edge.status;
            return;
        }
        if node.incoming.len() >= MOST_EDGES {
            node.incoming.remove(0);
        }
        let from = edge.from.clone();
        node.incoming.push(edge);
        if let Some(start) = self.get_mut(&from)
            && !start.links.out.contains(to)
        {
            start.links.out.push(to.clone());
        }
    }

    /// Writes a status into all edges of a kind that start at a node.
    pub(super) fn renew(&mut self, kind: EdgeKind, from: &NodeId, status: Status) {
        let ends = self.get(from).map(|node| node.links.out.clone()).unwrap_or_default();
        for end in ends {
            let edges = self.get_mut(&end).map(|node| node.incoming.iter_mut());
            for edge in edges.into_iter().flatten().filter(|e| e.kind == kind && e.from == *from) {
                edge.status = Some(status);
            }
        }
    }

    /// The tool calls that an approval lets through or stops.
    pub(super) fn gated_by(&self, action: &NodeId) -> Vec<NodeId> {
        let mut ends = self.get(action).map(|node| node.links.out.clone()).unwrap_or_default();
        ends.retain(|end| {
            let edges = self.get(end).map(|node| node.incoming.iter());
            edges.into_iter().flatten().any(|e| e.kind == EdgeKind::Gates && e.from == *action)
        });
        ends
    }

    /// Puts back an edge that was read, when all nodes are there.
    pub(super) fn restore(&mut self, to: &NodeId, edge: Incoming) {
        if let Some(start) = self.get_mut(&edge.from) {
            start.links.out.push(to.clone());
        }
        if let Some(node) = self.get_mut(to) {
            node.incoming.push(edge);
        }
    }

    /// Works out the parts of all nodes again, for nodes that were read.
    pub(super) fn link_parts(&mut self) {
        let pairs: Vec<_> =
            self.iter().filter_map(|n| Some((n.parent.clone()?, n.id.clone()))).collect();
        for node in self.by_order.values_mut() {
            node.links.parts.clear();
        }
        for (whole, part) in pairs {
            if let Some(whole) = self.get_mut(&whole) {
                whole.links.parts.push(part);
            }
        }
    }

    /// A node and everything below it, whole before part.
    pub(super) fn subtree(&self, top: &NodeId) -> Vec<NodeId> {
        let mut found = vec![top.clone()];
        let mut at = 0;
        while let Some(id) = found.get(at) {
            let parts = self.get(id).map(|node| node.links.parts.clone()).unwrap_or_default();
            found.extend(parts);
            at += 1;
        }
        found
    }

    /// Removes nodes. Edges that told where something came from start at `instead` from then on; the others go.
    pub(super) fn remove_all(&mut self, gone: &[NodeId], instead: &NodeId) -> Vec<Node> {
        let mut removed = Vec::with_capacity(gone.len());
        let names: HashSet<&NodeId> = gone.iter().collect();
        let mut wholes: HashSet<NodeId> = HashSet::new();
        for id in gone {
            let Some(node) = self.by_name.remove(id).and_then(|order| self.by_order.remove(&order))
            else {
                continue;
            };
            wholes.extend(node.parent.clone().filter(|whole| !names.contains(whole)));
            for to in node.links.out.iter().filter(|to| !names.contains(to)) {
                self.redirect(to, id, instead);
            }
            removed.push(node);
        }
        for whole in wholes {
            if let Some(whole) = self.get_mut(&whole) {
                whole.links.parts.retain(|part| !names.contains(part));
            }
        }
        removed
    }

    fn redirect(&mut self, to: &NodeId, gone: &NodeId, instead: &NodeId) {
        let Some(node) = self.get_mut(to) else {
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
            let known = node.incoming.iter().any(|e| e.kind == edge.kind && e.from == *instead);
            if tells_origin(edge.kind) && instead != to && !known {
                edge.from = instead.clone();
                node.incoming.insert(at, edge);
                (moved, at) = (true, at + 1);
            }
        }
        if moved
            && let Some(start) = self.get_mut(instead)
            && !start.links.out.contains(to)
        {
            start.links.out.push(to.clone());
        }
    }
}
