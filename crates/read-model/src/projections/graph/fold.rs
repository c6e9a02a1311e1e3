//! Owns the bounds: old turns become one node each, the oldest become one node together. Counts and tokens stay exact.
//!
//! What is still open is not folded while there is something else to fold: an approval that waits, an agent that runs.
//! Artifacts, evidence and tasks outlive their turn; they have a limit of their own.

use std::collections::{HashMap, HashSet};

use super::node::{Counts, EdgeKind, Folded, Node, NodeId, NodeKind};
use super::state::{ExecutionGraph, GraphLimits, may_stay_open};

const LIMITS: GraphLimits = GraphLimits::STANDARD;

impl ExecutionGraph {
    /// Brings the graph back within its limits.
    pub(super) fn fold(&mut self) {
        while self.bands.len() > LIMITS.full_turns {
            let settled = self
                .bands
                .iter()
                .position(|id| self.nodes.get(id).is_none_or(|n| n.settled));
            let forced = self.bands.len() > 2 * LIMITS.full_turns;
            let newest = self.bands.len() - 1;
            match settled.filter(|at| *at < newest).or(forced.then_some(0)) {
                Some(at) => self.collapse_at(at),
                None => break,
            }
        }
        if self.newest_band_nodes > LIMITS.nodes_per_turn {
            self.fold_newest_band();
        }
        if self.products.len() > LIMITS.products {
            self.fold_products();
        }
        while self.nodes.len() > LIMITS.nodes && self.bands.len() > 1 {
            self.collapse_at(0);
        }
        if self.nodes.len() > LIMITS.nodes {
            self.fold_unplaced();
        }
        while self.summaries.len() > LIMITS.summary_turns {
            self.merge_oldest_summary();
        }
    }

    /// Makes a turn one node.
    fn collapse_at(&mut self, at: usize) {
        let Some(turn) = self.bands.remove(at) else {
            return;
        };
        self.summaries.push_back(turn.clone());
        let newest = self.bands.back().cloned();
        let members: Vec<NodeId> = self
            .nodes
            .iter()
            .filter(|node| node.band.as_ref() == Some(&turn) && node.id != turn)
            .map(|node| node.id.clone())
            .collect();
        let running: HashSet<NodeId> = members
            .iter()
            .filter(|id| id.kind() == NodeKind::Subagent)
            .filter(|id| self.nodes.get(id).is_some_and(|node| !node.settled))
            .cloned()
            .collect();
        let mut gone = Vec::new();
        for id in members {
            let Some(node) = self.nodes.get(&id) else {
                continue;
            };
            let in_running =
                running.contains(&id) || running.iter().any(|a| self.is_below(node, a));
            let waits = node.kind() == NodeKind::Action && !node.settled;
            let stays = in_running || waits || is_product(node.kind());
            if !stays {
                gone.push(id);
                continue;
            }
            let top = !in_running || running.contains(&id);
            if let Some(node) = self.nodes.get_mut(&id) {
                if in_running {
                    node.band = newest.clone(); // it goes on, so it is shown where it goes on
                }
                if top {
                    node.parent = Some(turn.clone());
                }
            }
        }
        self.fold_into(&turn, &gone);
        if let Some(node) = self.nodes.get_mut(&turn) {
            node.collapsed = true;
            node.tail = None;
        }
        self.recount_newest_band();
    }

    /// Folds the oldest parts of the newest turn until three quarters of its limit are left.
    fn fold_newest_band(&mut self) {
        let Some(band) = self.bands.back().cloned() else {
            return;
        };
        let keep = LIMITS.nodes_per_turn / 4 * 3;
        self.fold_units(keep, false, |node| {
            node.band.as_ref() == Some(&band) && node.id != band
        });
        self.recount_newest_band();
        if self.newest_band_nodes > LIMITS.nodes_per_turn {
            self.fold_units(keep, true, |node| {
                node.band.as_ref() == Some(&band) && node.id != band
            });
            self.recount_newest_band();
        }
    }

    /// Folds what stands outside all turns.
    fn fold_unplaced(&mut self) {
        let keep = LIMITS.nodes / 2;
        for force in [false, true] {
            if self.nodes.len() > LIMITS.nodes {
                self.fold_units(keep, force, |node| {
                    node.band.is_none()
                        && !is_product(node.kind())
                        && node.kind() != NodeKind::Thread
                });
            }
        }
        self.recount_newest_band();
    }

    /// Folds whole units (a step, a call without step, a sub-agent with its lane), oldest first, until `keep` of the
    /// nodes in scope are left. Without `force` a unit with something open in it stays.
    fn fold_units(&mut self, keep: usize, force: bool, in_scope: impl Fn(&Node) -> bool) {
        let scope: Vec<&Node> = self.nodes.iter().filter(|node| in_scope(node)).collect();
        let mut excess = scope.len().saturating_sub(keep);
        let units: Vec<NodeId> = scope
            .iter()
            .filter(|n| is_unit(n.kind()))
            .map(|n| n.id.clone())
            .collect();
        let children = self.children();
        let mut going: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut taken: HashSet<NodeId> = HashSet::new();
        for unit in units {
            if excess == 0 {
                break;
            }
            let parent = self.nodes.get(&unit).and_then(|node| node.parent.clone());
            let Some(parent) = parent.filter(|_| !taken.contains(&unit)) else {
                continue;
            };
            let members = subtree_ids(&children, &unit);
            if !force && members.iter().any(|id| self.is_open(id)) {
                continue;
            }
            let members: Vec<_> = members
                .into_iter()
                .filter(|id| !is_product(id.kind()))
                .collect();
            excess = excess.saturating_sub(members.len());
            taken.extend(members.iter().cloned());
            going.entry(parent).or_default().extend(members);
        }
        let mut going: Vec<_> = going.into_iter().collect();
        going.sort(); // one order in every run
        for (parent, ids) in going {
            let earlier = self.earlier_of(&parent);
            self.fold_into(&earlier, &ids);
        }
    }

    /// True when an event may still end the node.
    fn is_open(&self, id: &NodeId) -> bool {
        self.nodes
            .get(id)
            .is_some_and(|node| !node.settled && may_stay_open(node.kind()))
    }

    /// The node that stands for folded parts of `whole`.
    fn earlier_of(&mut self, whole: &NodeId) -> NodeId {
        let id = NodeId::new(NodeKind::Earlier, &whole.to_string());
        if !self.nodes.contains(id.as_ref()) {
            let like = self.nodes.get(whole);
            let lane = match whole.kind() {
                NodeKind::Thread | NodeKind::Subagent => Some(whole.clone()),
                _ => like.and_then(|node| node.lane.clone()),
            };
            let band = like.and_then(|node| node.band.clone());
            let mut node = Node::blank(id.clone(), "earlier", 0);
            (node.parent, node.lane, node.band) = (Some(whole.clone()), lane, band);
            self.nodes.insert(node);
        }
        id
    }

    /// Drops the products that were not touched for the longest time.
    fn fold_products(&mut self) {
        let mut by_touch: Vec<(bool, u64, NodeId)> = self
            .products
            .iter()
            .filter_map(|id| self.nodes.get(id))
            .map(|node| (node.status.is_open(), node.last_sequence, node.id.clone()))
            .collect();
        by_touch.sort();
        let children = self.children();
        let excess = by_touch.len().saturating_sub(LIMITS.products / 4 * 3);
        let mut gone: Vec<NodeId> = Vec::new();
        for (_, _, id) in by_touch.into_iter().take(excess) {
            gone.extend(subtree_ids(&children, &id));
        }
        let earlier = self.session_earlier();
        self.fold_into(&earlier, &gone);
        let nodes = &self.nodes;
        self.products.retain(|id| nodes.get(id).is_some());
        self.recount_newest_band();
    }

    fn session_earlier(&mut self) -> NodeId {
        let id = NodeId::new(NodeKind::Earlier, "session");
        if !self.nodes.contains(id.as_ref()) {
            self.nodes.insert(Node::blank(id.clone(), "earlier", 0));
        }
        id
    }

    fn merge_oldest_summary(&mut self) {
        let Some(turn) = self.summaries.pop_front() else {
            return;
        };
        let earlier = self.session_earlier();
        for node in self
            .nodes
            .iter_mut()
            .filter(|node| node.parent.as_ref() == Some(&turn))
        {
            node.parent = Some(earlier.clone());
        }
        for node in self
            .nodes
            .iter_mut()
            .filter(|node| node.band.as_ref() == Some(&turn))
        {
            node.band = None;
        }
        self.fold_into(&earlier, std::slice::from_ref(&turn));
        self.drop_empty_threads();
    }

    fn drop_empty_threads(&mut self) {
        let used: HashSet<NodeId> = self
            .nodes
            .iter()
            .filter_map(|node| node.lane.clone())
            .collect();
        let empty: Vec<NodeId> = self
            .nodes
            .iter()
            .filter(|node| node.kind() == NodeKind::Thread && !used.contains(&node.id))
            .filter(|node| self.primary.as_ref() != Some(&node.id))
            .map(|node| node.id.clone())
            .collect();
        for id in empty {
            self.nodes.remove(&id);
        }
    }

    /// Removes nodes and keeps their counts and tokens at `into`.
    fn fold_into(&mut self, into: &NodeId, gone: &[NodeId]) {
        let mut folded = self
            .nodes
            .get(into)
            .and_then(|n| n.folded.as_deref().copied());
        let sum = folded.get_or_insert_default();
        self.add_up(gone, sum);
        let (mut from, mut to) = (u64::MAX, 0);
        let mut removed = HashSet::with_capacity(gone.len());
        for id in gone {
            if let Some(node) = self.nodes.remove(id) {
                from = from.min(node.first_sequence);
                to = to.max(node.last_sequence);
                self.forget(&node.id);
                removed.insert(node.id);
            }
        }
        self.open.retain(|id| !removed.contains(id));
        if self
            .hot
            .as_ref()
            .is_some_and(|hot| removed.contains(&hot.node))
        {
            self.hot = None;
        }
        for node in self.nodes.iter_mut() {
            for edge in &mut node.incoming {
                if edge.kind == EdgeKind::Produced && removed.contains(&edge.from) {
                    edge.from = into.clone(); // it is still known where it came from, if not which call
                }
            }
            node.incoming.retain(|edge| !removed.contains(&edge.from));
            node.incoming
                .dedup_by(|a, b| a.kind == b.kind && a.from == b.from);
            if node
                .parent
                .as_ref()
                .is_some_and(|parent| removed.contains(parent))
            {
                node.parent = Some(into.clone());
            }
        }
        if let Some(node) = self.nodes.get_mut(into) {
            node.folded = folded.map(Box::new);
            if node.kind() == NodeKind::Earlier && from != u64::MAX {
                let first = if node.first_sequence == 0 {
                    from
                } else {
                    node.first_sequence
                };
                node.first_sequence = first.min(from);
                node.last_sequence = node.last_sequence.max(to);
            }
        }
    }

    /// Adds up counts and tokens of nodes that go together, each figure once.
    fn add_up(&self, gone: &[NodeId], sum: &mut Folded) {
        let going: HashSet<&NodeId> = gone.iter().collect();
        let derived = self.derive();
        for node in gone.iter().filter_map(|id| self.nodes.get(id)) {
            sum.counts.add(&Counts::of(node.kind(), node.status));
            if let Some(inner) = &node.folded {
                sum.counts.add(&inner.counts);
            }
            let whole_goes = node
                .parent
                .as_ref()
                .is_some_and(|parent| going.contains(parent));
            if whole_goes {
                continue; // its tokens are in the figure of the whole
            }
            let Some(figures) = derived.of(&node.id) else {
                continue;
            };
            let (lane, agents) = figures.for_whole(node.kind());
            sum.tokens = sum.tokens.plus(lane);
            sum.agent_tokens = sum.agent_tokens.plus(agents);
            sum.calls_without_usage += figures.calls_without_usage;
        }
    }

    /// Drops what was remembered about a node's name.
    fn forget(&mut self, id: &NodeId) {
        if let Some((name, count)) = id.name().rsplit_once('#') {
            let first = NodeId::new(id.kind(), name);
            if self
                .again
                .get(&first)
                .is_some_and(|n| n.to_string() == count)
            {
                self.again.remove(&first);
            }
        }
        if id.kind() == NodeKind::Subagent {
            self.agent_threads.retain(|_, agent| agent != id);
        }
    }

    pub(super) fn recount_newest_band(&mut self) {
        let band = self.bands.back();
        let in_band = self
            .nodes
            .iter()
            .filter(|node| band.is_some() && node.band.as_ref() == band);
        self.newest_band_nodes = in_band.count();
    }

    fn children(&self) -> HashMap<NodeId, Vec<NodeId>> {
        let mut children: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for node in self.nodes.iter() {
            if let Some(parent) = &node.parent {
                children
                    .entry(parent.clone())
                    .or_default()
                    .push(node.id.clone());
            }
        }
        children
    }
}

/// A node with everything below it.
fn subtree_ids(children: &HashMap<NodeId, Vec<NodeId>>, top: &NodeId) -> Vec<NodeId> {
    let mut found = vec![top.clone()];
    let mut at = 0;
    while let Some(id) = found.get(at).cloned() {
        found.extend(children.get(&id).into_iter().flatten().cloned());
        at += 1;
    }
    found
}

/// What may be folded as a whole.
const fn is_unit(kind: NodeKind) -> bool {
    match kind {
        NodeKind::Step
        | NodeKind::ModelCall
        | NodeKind::ToolCall
        | NodeKind::Action
        | NodeKind::Subagent
        | NodeKind::Compaction
        | NodeKind::Rollback
        | NodeKind::Fork
        | NodeKind::Interruption
        | NodeKind::Turn => true,
        NodeKind::Thread
        | NodeKind::Task
        | NodeKind::Run
        | NodeKind::Attempt
        | NodeKind::Job
        | NodeKind::Artifact
        | NodeKind::Evidence
        | NodeKind::Unplaced
        | NodeKind::Earlier => false,
    }
}

/// What outlives its turn.
const fn is_product(kind: NodeKind) -> bool {
    match kind {
        NodeKind::Task
        | NodeKind::Run
        | NodeKind::Attempt
        | NodeKind::Job
        | NodeKind::Artifact
        | NodeKind::Evidence => true,
        NodeKind::Thread
        | NodeKind::Turn
        | NodeKind::Step
        | NodeKind::ModelCall
        | NodeKind::ToolCall
        | NodeKind::Action
        | NodeKind::Subagent
        | NodeKind::Compaction
        | NodeKind::Rollback
        | NodeKind::Fork
        | NodeKind::Interruption
        | NodeKind::Unplaced
        | NodeKind::Earlier => false,
    }
}
