//! Owns the nodes: found by name at once, walked in the order in which they came to be.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::node::{Node, NodeId, NodeRef};

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

    pub(super) fn get_mut(&mut self, id: &NodeId) -> Option<&mut Node> {
        self.by_order.get_mut(self.by_name.get(id)?)
    }

    /// Adds a node at the end. A node of the same name keeps its place and is replaced.
    pub(super) fn insert(&mut self, node: Node) {
        let order = self
            .by_name
            .get(&node.id)
            .copied()
            .unwrap_or(self.next_order);
        self.next_order = self.next_order.max(order + 1);
        self.by_name.insert(node.id.clone(), order);
        self.by_order.insert(order, node);
    }

    pub(super) fn remove(&mut self, id: &NodeId) -> Option<Node> {
        self.by_order.remove(&self.by_name.remove(id)?)
    }

    /// All nodes, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.by_order.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.by_order.values_mut()
    }
}
