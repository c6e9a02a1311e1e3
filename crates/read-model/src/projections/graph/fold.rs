//! Owns the bounds: old turns become one node each, the oldest become one node together. Counts and tokens stay exact.
//!
//! What is still open is not folded while there is something else to fold: an approval that waits, an agent that runs.
//! Artifacts, evidence and tasks outlive their turn; they have a limit of their own.

use std::collections::BTreeMap;

use super::derive::roll_up;
use super::node::{Counts, Folded, Node, NodeId, NodeKind, NodeRef};
use super::state::{ExecutionGraph, may_stay_open};
use super::table::At;

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
        self.nodes.pack();
    }

    /// Makes a turn one node.
    fn collapse_at(&mut self, at: usize) {
        let Some(turn) = self.bands.remove(at) else {
            return;
        };
        // A later turn may fold before an earlier one that is open; the oldest is still the first to go on.
        let place = self.summaries.partition_point(|id| self.nodes.stands_before(id, &turn));
        self.summaries.insert(place, turn.clone());
        let Some(top) = self.nodes.place_of(&turn) else {
            return;
        };
        let newest = self.bands.back().cloned();
        let newest_at = newest.as_ref().and_then(|id| self.nodes.place_of(id));
        let mut gone = Vec::new();
        let mut stays = self.nodes.marks();
        let mut recount = newest.is_none();
        for at in self.nodes.subtree(top).into_iter().skip(1) {
            let goes_on = self.nodes.whole_at(at).is_some_and(|whole| stays.has(whole));
            let Some(node) = self.nodes.at_mut(at) else {
                continue;
            };
            let running = node.kind() == NodeKind::Subagent && !node.settled;
            let waits = node.kind() == NodeKind::Action && !node.settled;
            recount |= node.band == newest;
            if let Some(newest_at) = newest_at.filter(|_| goes_on || running) {
                node.band.clone_from(&newest); // it goes on, so it is shown where it goes on
                recount = true;
                if !goes_on {
                    self.nodes.move_to(at, newest_at);
                }
                stays.add(at);
            } else if waits || is_product(node.kind()) {
                self.nodes.move_to(at, top);
            } else {
                gone.push(at);
            }
        }
        self.fold_into(top, &gone);
        if let Some(node) = self.nodes.at_mut(top) {
            node.collapsed = true;
            node.tail = None;
        }
        if recount {
            self.recount_newest_band();
        }
    }

    /// Folds the oldest parts of the newest turn until three quarters of its limit are left.
    fn fold_newest_band(&mut self) {
        let Some(band) = self.bands.back().cloned() else {
            return;
        };
        for force in [false, true] {
            if self.newest_band_nodes > self.limits.nodes_per_turn {
                let scope = self.nodes.places(|n| n.band.as_ref() == Some(&band) && n.id != band);
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
            let scope = self.nodes.places(|n| {
                n.band.is_none() && !is_product(n.kind()) && n.kind() != NodeKind::Thread
            });
            self.fold_units(self.limits.nodes / 2, force, scope);
        }
        self.recount_newest_band();
    }

    /// Folds whole units (a step, a call without step, a sub-agent with its lane), oldest first, until `keep` of the
    /// nodes in `scope` are left. Without `force` a unit with something open in it stays.
    fn fold_units(&mut self, keep: usize, force: bool, mut scope: Vec<At>) {
        let mut excess = scope.len().saturating_sub(keep);
        let kind = |at: &At| self.nodes.at(*at).map(Node::kind);
        scope.retain(|at| kind(at).is_some_and(is_unit));
        scope.sort_by_cached_key(|at| self.nodes.at(*at).map(|node| node.first_sequence));
        let mut going: BTreeMap<NodeId, Vec<At>> = BTreeMap::new();
        let mut taken = self.nodes.marks();
        for unit in scope {
            if excess == 0 {
                break;
            }
            let whole = self.nodes.at(unit).and_then(|node| node.parent.clone());
            let Some(whole) = whole.filter(|_| !taken.has(unit)) else {
                continue;
            };
            let mut members = self.nodes.subtree(unit);
            members.retain(|at| !kind(at).is_some_and(is_product) && !taken.has(*at));
            if !force && members.iter().any(|at| self.is_open(*at)) {
                continue;
            }
            excess = excess.saturating_sub(members.len());
            for at in &members {
                taken.add(*at);
            }
            going.entry(whole).or_default().extend(members);
        }
        // A whole that goes as well takes its parts with it.
        let goes = |whole: &NodeId| self.nodes.place_of(whole).filter(|at| taken.has(*at));
        let inside: Vec<(NodeId, At)> =
            going.keys().filter_map(|whole| Some((whole.clone(), goes(whole)?))).collect();
        for (whole, at) in inside {
            let Some(parts) = going.remove(&whole) else {
                continue;
            };
            if let Some(outer) = going.values_mut().find(|places| places.contains(&at)) {
                outer.extend(parts);
            }
        }
        for (whole, places) in going {
            let earlier = self.earlier_of(&whole);
            self.fold_into(earlier, &places);
        }
    }

    /// True when an event may still end the node.
    fn is_open(&self, at: At) -> bool {
        self.nodes.at(at).is_some_and(|node| !node.settled && may_stay_open(node.kind()))
    }

    /// The node that stands for folded parts of `whole`.
    fn earlier_of(&mut self, whole: &NodeId) -> At {
        let name = whole.to_string();
        let known = self.nodes.place(NodeRef { kind: NodeKind::Earlier, name: &name });
        known.unwrap_or_else(|| {
            let like = self.nodes.get(whole);
            let lane = match whole.kind() {
                NodeKind::Thread | NodeKind::Subagent => Some(whole.clone()),
                _ => like.and_then(|node| node.lane.clone()),
            };
            let band = like.and_then(|node| node.band.clone());
            let mut node = Node::blank(NodeId::new(NodeKind::Earlier, &name), "earlier", 0);
            (node.parent, node.lane, node.band) = (Some(whole.clone()), lane, band);
            self.nodes.insert(node)
        })
    }

    /// Drops the products that were not touched for the longest time.
    fn fold_products(&mut self) {
        let nodes = self.products.iter().filter_map(|id| self.nodes.get(id));
        let mut by_touch: Vec<(bool, u64, NodeId)> =
            nodes.map(|n| (n.status.is_open(), n.last_sequence, n.id.clone())).collect();
        by_touch.sort();
        let excess = by_touch.len().saturating_sub(self.limits.products / 4 * 3);
        let mut gone: Vec<At> = Vec::new();
        let mut taken = self.nodes.marks();
        for (_, _, id) in by_touch.into_iter().take(excess) {
            let members = self.nodes.place_of(&id).map(|at| self.nodes.subtree(at));
            gone.extend(members.into_iter().flatten().filter(|at| taken.add(*at)));
        }
        let earlier = self.session_earlier();
        self.fold_into(earlier, &gone);
        self.products.retain(|id| self.nodes.contains(id.as_ref()));
        self.recount_newest_band();
    }

    fn session_earlier(&mut self) -> At {
        let known = self.nodes.place(NodeRef { kind: NodeKind::Earlier, name: "session" });
        known.unwrap_or_else(|| {
            let id = NodeId::new(NodeKind::Earlier, "session");
            self.nodes.insert(Node::blank(id, "earlier", 0))
        })
    }

    fn merge_oldest_summary(&mut self) {
        let Some(turn) = self.summaries.pop_front() else {
            return;
        };
        let earlier = self.session_earlier();
        let Some(top) = self.nodes.place_of(&turn) else {
            return;
        };
        let thread = self.nodes.whole_at(top);
        let newest = self.bands.back();
        let mut left_newest = false;
        for at in self.nodes.subtree(top).into_iter().skip(1) {
            if self.nodes.whole_at(at) == Some(top) {
                self.nodes.move_to(at, earlier);
            }
            if let Some(node) = self.nodes.at_mut(at) {
                left_newest |= node.band.is_some() && node.band.as_ref() == newest;
                node.band = None;
            }
        }
        self.fold_into(earlier, &[top]);
        let empty = thread.filter(|at| {
            let node = self.nodes.at(*at).filter(|node| node.kind() == NodeKind::Thread);
            node.is_some_and(|node| self.primary.as_ref() != Some(&node.id))
                && self.nodes.parts_at(*at).is_empty()
        });
        if let Some(thread) = empty {
            self.nodes.remove_all(&[thread], Some(earlier));
        }
        if left_newest {
            self.recount_newest_band();
        }
    }

    /// Removes nodes and keeps their counts and tokens at `into`. What is left of their parts becomes a part of `into`.
    fn fold_into(&mut self, into: At, gone: &[At]) {
        if gone.is_empty() {
            return;
        }
        let folded = self.nodes.at(into).and_then(|node| node.folded.as_deref());
        let sum = self.add_up(gone, folded.copied().unwrap_or_default());
        let mut going = self.nodes.marks();
        for at in gone {
            going.add(*at);
        }
        let parts = gone.iter().flat_map(|at| self.nodes.parts_at(*at));
        let left: Vec<At> = parts.filter(|part| !going.has(**part)).copied().collect();
        for part in left {
            self.nodes.move_to(part, into);
        }
        let removed = self.nodes.remove_all(gone, Some(into));
        for node in &removed {
            self.forget(&node.id);
        }
        self.open.retain(|id| self.nodes.contains(id.as_ref()));
        if self.hot.as_ref().is_some_and(|hot| !self.nodes.contains(hot.node.as_ref())) {
            self.hot = None;
        }
        let from = removed.iter().map(|node| node.first_sequence).min();
        let to = removed.iter().map(|node| node.last_sequence).max();
        if let Some(node) = self.nodes.at_mut(into) {
            node.folded = Some(Box::new(sum));
            if let (NodeKind::Earlier, Some(from), Some(to)) = (node.kind(), from, to) {
                let first = if node.first_sequence == 0 { from } else { node.first_sequence };
                node.first_sequence = first.min(from);
                node.last_sequence = node.last_sequence.max(to);
            }
        }
    }

    /// Adds counts and tokens of nodes that go together, each figure once.
    fn add_up(&self, gone: &[At], mut sum: Folded) -> Folded {
        let (figures, _) = roll_up(&self.nodes, gone);
        for ((at, figures), whole) in gone.iter().zip(figures).zip(self.nodes.wholes(gone)) {
            let Some(node) = self.nodes.at(*at) else {
                continue;
            };
            sum.counts.add(&Counts::of(node.kind(), node.status));
            if let Some(inner) = &node.folded {
                sum.counts.add(&inner.counts);
            }
            // Tokens of a part are in the figure of its whole.
            if let Some(figures) = figures.filter(|_| whole.is_none()) {
                let (lane, agents) = figures.for_whole(node.kind());
                sum.tokens = sum.tokens.plus(lane);
                sum.agent_tokens = sum.agent_tokens.plus(agents);
                sum.calls_without_usage += figures.calls_without_usage;
            }
        }
        sum
    }

    /// Drops what was remembered about a node's name.
    fn forget(&mut self, id: &NodeId) {
        if !self.again.is_empty()
            && let Some((name, count)) = id.name().rsplit_once('#')
        {
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
