//! Owns the bounds: old turns become one node each, the oldest become one node together. Counts and tokens stay exact.
//!
//! What is still open is not folded while there is something else to fold: an approval that waits, an agent that runs.
//! Artifacts, evidence and tasks outlive their turn; they have a limit of their own.

use std::collections::{BTreeMap, HashSet};

use super::derive::derive_some;
use super::node::{Counts, Folded, Node, NodeId, NodeKind};
use super::state::{ExecutionGraph, may_stay_open};

impl ExecutionGraph {
    /// Brings the graph back within its limits.
    pub(super) fn fold(&mut self) {
        while self.bands.len() > self.limits.full_turns {
            let settled = |id| self.nodes.get(id).is_none_or(|turn| turn.settled);
            let oldest = self.bands.iter().position(settled).filter(|at| at + 1 < self.bands.len());
            let forced = self.bands.len() > 2 * self.limits.full_turns;
            match oldest.or(forced.then_some(0)) {
                Some(at) => self.collapse_at(at),
                None => break,
            }
        }
        if self.newest_band_nodes > self.limits.nodes_per_turn {
            self.fold_newest_band();
        }
        if self.products.len() > self.limits.products {
            self.fold_products();
        }
        while self.nodes.len() > self.limits.nodes && self.bands.len() > 1 {
            self.collapse_at(0);
        }
        if self.nodes.len() > self.limits.nodes {
            self.fold_outside_turns();
        }
        while self.summaries.len() > self.limits.summary_turns {
            self.merge_oldest_summary();
        }
    }

    /// Makes a turn one node.
    fn collapse_at(&mut self, at: usize) {
        let Some(turn) = self.bands.remove(at) else {
            return;
        };
        // A later turn may fold before an earlier one that is open; the oldest is still the first to go on.
        let place = self.summaries.partition_point(|id| self.nodes.stands_before(id, &turn));
        self.summaries.insert(place, turn.clone());
        let newest = self.bands.back().cloned();
        let mut gone = Vec::new();
        let mut stays: HashSet<NodeId> = HashSet::new();
        for id in self.nodes.subtree(&turn).into_iter().skip(1) {
            let Some(node) = self.nodes.get(&id) else {
                continue;
            };
            let goes_on = node.parent.as_ref().is_some_and(|whole| stays.contains(whole));
            let running = node.kind() == NodeKind::Subagent && !node.settled && newest.is_some();
            if goes_on || running {
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.band.clone_from(&newest); // it goes on, so it is shown where it goes on
                }
                if !goes_on {
                    self.nodes.set_parent(&id, newest.as_ref());
                }
                stays.insert(id);
                continue;
            }
            let waits = node.kind() == NodeKind::Action && !node.settled;
            if waits || is_product(node.kind()) {
                self.nodes.set_parent(&id, Some(&turn));
            } else {
                gone.push(id);
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
        for force in [false, true] {
            if self.newest_band_nodes > self.limits.nodes_per_turn {
                let inside = |n: &&Node| n.band.as_ref() == Some(&band) && n.id != band;
                let scope = self.nodes.iter().filter(inside).map(|n| n.id.clone()).collect();
                self.fold_units(self.limits.nodes_per_turn / 4 * 3, force, scope);
                self.recount_newest_band();
            }
        }
    }

    /// Folds what stands outside all turns.
    fn fold_outside_turns(&mut self) {
        for force in [false, true] {
            if self.nodes.len() <= self.limits.nodes {
                break;
            }
            let outside = |n: &&Node| {
                n.band.is_none() && !is_product(n.kind()) && n.kind() != NodeKind::Thread
            };
            let scope = self.nodes.iter().filter(outside).map(|n| n.id.clone()).collect();
            self.fold_units(self.limits.nodes / 2, force, scope);
        }
        self.recount_newest_band();
    }

    /// Folds whole units (a step, a call without step, a sub-agent with its lane), oldest first, until `keep` of the
    /// nodes in `scope` are left. Without `force` a unit with something open in it stays.
    fn fold_units(&mut self, keep: usize, force: bool, mut scope: Vec<NodeId>) {
        let mut excess = scope.len().saturating_sub(keep);
        scope.retain(|id| is_unit(id.kind()));
        scope.sort_by_key(|id| self.nodes.get(id).map(|node| node.first_sequence));
        let mut going: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut taken: HashSet<NodeId> = HashSet::new();
        for unit in scope {
            if excess == 0 {
                break;
            }
            let whole = self.nodes.get(&unit).and_then(|node| node.parent.clone());
            let Some(whole) = whole.filter(|_| !taken.contains(&unit)) else {
                continue;
            };
            let mut members = self.nodes.subtree(&unit);
            members.retain(|id| !is_product(id.kind()) && !taken.contains(id));
            if !force && members.iter().any(|id| self.is_open(id)) {
                continue;
            }
            excess = excess.saturating_sub(members.len());
            taken.extend(members.iter().cloned());
            going.entry(whole).or_default().extend(members);
        }
        // A whole that goes as well takes its parts with it.
        let inside: Vec<NodeId> =
            going.keys().filter(|whole| taken.contains(whole)).cloned().collect();
        for whole in inside {
            let Some(parts) = going.remove(&whole) else {
                continue;
            };
            if let Some(outer) = going.values_mut().find(|ids| ids.contains(&whole)) {
                outer.extend(parts);
            }
        }
        for (whole, ids) in going {
            let earlier = self.earlier_of(&whole);
            self.fold_into(&earlier, &ids);
        }
    }

    /// True when an event may still end the node.
    fn is_open(&self, id: &NodeId) -> bool {
        self.nodes.get(id).is_some_and(|node| !node.settled && may_stay_open(node.kind()))
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
        let nodes = self.products.iter().filter_map(|id| self.nodes.get(id));
        let mut by_touch: Vec<(bool, u64, NodeId)> =
            nodes.map(|n| (n.status.is_open(), n.last_sequence, n.id.clone())).collect();
        by_touch.sort();
        let excess = by_touch.len().saturating_sub(self.limits.products / 4 * 3);
        let mut gone: Vec<NodeId> = Vec::new();
        let mut taken: HashSet<NodeId> = HashSet::new();
        for (_, _, id) in by_touch.into_iter().take(excess) {
            let members = self.nodes.subtree(&id).into_iter();
            gone.extend(members.filter(|id| taken.insert(id.clone())));
        }
        let earlier = self.session_earlier();
        self.fold_into(&earlier, &gone);
        self.products.retain(|id| !taken.contains(id));
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
        let thread = self.nodes.get(&turn).and_then(|node| node.parent.clone());
        for id in self.nodes.subtree(&turn).into_iter().skip(1) {
            let top = self.nodes.get(&id).is_some_and(|n| n.parent.as_ref() == Some(&turn));
            if top {
                self.nodes.set_parent(&id, Some(&earlier));
            }
            if let Some(node) = self.nodes.get_mut(&id) {
                node.band = None;
            }
        }
        self.fold_into(&earlier, std::slice::from_ref(&turn));
        let empty = thread.filter(|id| {
            let node = self.nodes.get(id).filter(|node| node.kind() == NodeKind::Thread);
            node.is_some_and(|node| node.links.parts.is_empty())
                && self.primary.as_ref() != Some(id)
        });
        if let Some(thread) = empty {
            self.nodes.remove_all(std::slice::from_ref(&thread), &earlier);
        }
        self.recount_newest_band();
    }

    /// Removes nodes and keeps their counts and tokens at `into`. What is left of their parts becomes a part of `into`.
    fn fold_into(&mut self, into: &NodeId, gone: &[NodeId]) {
        if gone.is_empty() {
            return;
        }
        let mut sum =
            self.nodes.get(into).and_then(|n| n.folded.as_deref().copied()).unwrap_or_default();
        self.add_up(gone, &mut sum);
        let names: HashSet<&NodeId> = gone.iter().collect();
        let left: Vec<NodeId> = gone
            .iter()
            .filter_map(|id| self.nodes.get(id))
            .flat_map(|node| node.links.parts.iter())
            .filter(|part| !names.contains(part))
            .cloned()
            .collect();
        for part in left {
            self.nodes.set_parent(&part, Some(into));
        }
        let removed = self.nodes.remove_all(gone, into);
        for node in &removed {
            self.forget(&node.id);
        }
        self.open.retain(|id| !names.contains(id));
        if self.hot.as_ref().is_some_and(|hot| names.contains(&hot.node)) {
            self.hot = None;
        }
        let from = removed.iter().map(|node| node.first_sequence).min();
        let to = removed.iter().map(|node| node.last_sequence).max();
        if let Some(node) = self.nodes.get_mut(into) {
            node.folded = Some(Box::new(sum));
            if let (NodeKind::Earlier, Some(from), Some(to)) = (node.kind(), from, to) {
                let first = if node.first_sequence == 0 { from } else { node.first_sequence };
                node.first_sequence = first.min(from);
                node.last_sequence = node.last_sequence.max(to);
            }
        }
    }

    /// Adds up counts and tokens of nodes that go together, each figure once.
    fn add_up(&self, gone: &[NodeId], sum: &mut Folded) {
        let going: HashSet<&NodeId> = gone.iter().collect();
        let nodes = || gone.iter().filter_map(|id| self.nodes.get(id));
        let figures = derive_some(nodes().collect());
        for node in nodes() {
            sum.counts.add(&Counts::of(node.kind(), node.status));
            if let Some(inner) = &node.folded {
                sum.counts.add(&inner.counts);
            }
            let whole_goes = node.parent.as_ref().is_some_and(|whole| going.contains(whole));
            if whole_goes {
                continue; // its tokens are in the figure of the whole
            }
            if let Some(figures) = figures.get(&node.id) {
                let (lane, agents) = figures.for_whole(node.kind());
                sum.tokens = sum.tokens.plus(lane);
                sum.agent_tokens = sum.agent_tokens.plus(agents);
                sum.calls_without_usage += figures.calls_without_usage;
            }
        }
    }

    /// Drops what was remembered about a node's name.
    fn forget(&mut self, id: &NodeId) {
        if let Some((name, count)) = id.name().rsplit_once('#') {
            let first = NodeId::new(id.kind(), name);
            if self.again.get(&first).is_some_and(|n| n.to_string() == count) {
                self.again.remove(&first);
            }
        }
        if id.kind() == NodeKind::Subagent {
            self.agent_threads.retain(|_, agent| agent != id);
        }
    }

    pub(super) fn recount_newest_band(&mut self) {
        let newest = self.bands.back();
        let in_newest = |node: &&Node| newest.is_some() && node.band.as_ref() == newest;
        self.newest_band_nodes = self.nodes.iter().filter(in_newest).count();
    }
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
