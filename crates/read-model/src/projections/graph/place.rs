//! Owns where a node belongs: lane (thread or sub-agent), turn, step. What has no known parent goes under "unplaced".
//!
//! Sources differ in what they say: some events carry a call id, some only an agent id, some only a thread id. The
//! rules, in this order: the agent that the event names; else the agent whose conversation the thread is; else the
//! thread. A turn belongs to the lane whose event mentioned it first, and a step to its turn.

use super::node::{EdgeKind, Node, NodeId, NodeKind, NodeRef, Status};
use super::preview;
use super::state::{Cx, ExecutionGraph};

/// Where a new node goes.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) lane: Option<NodeId>,
    pub(super) band: Option<NodeId>,
    pub(super) parent: Option<NodeId>,
}

impl ExecutionGraph {
    /// The place for parts of a step: model calls, tool calls, approvals. `None` when their turn is folded away.
    pub(super) fn place(&mut self, cx: &Cx<'_>) -> Option<Place> {
        let place = self.place_in_turn(cx)?;
        let Some(step_id) = &cx.scope().step_id else {
            return Some(place);
        };
        let name = NodeRef { kind: NodeKind::Step, name: step_id.as_str() };
        if let Some(step) = self.nodes.find(name) {
            let parent = || Some(step.id.clone());
            let same_lane = step.lane == place.lane;
            return Some(if same_lane { Place { parent: parent(), ..place } } else { place });
        }
        let id = NodeId::new(NodeKind::Step, step_id.as_str());
        self.add(cx, id.clone(), &place, String::new());
        self.follow(cx, &place, &id);
        Some(Place { parent: Some(id), ..place })
    }

    /// The place for what belongs to a turn as a whole. `None` when the turn is folded away.
    pub(super) fn place_in_turn(&mut self, cx: &Cx<'_>) -> Option<Place> {
        let lane = self.lane(cx);
        let turn = self.turn(cx, &lane);
        let place = self.place_in_lane(&lane, turn);
        let collapsed = place.band.as_ref().and_then(|band| self.nodes.get(band));
        if collapsed.is_some_and(|band| band.collapsed) { None } else { Some(place) }
    }

    /// A place in a lane, under one of its turns or under the lane itself.
    pub(super) fn place_in_lane(&self, lane: &NodeId, turn: Option<NodeId>) -> Place {
        let band = match lane.kind() {
            NodeKind::Subagent => self.nodes.get(lane).and_then(|node| node.band.clone()),
            _ => turn.clone(),
        };
        Place { parent: turn.or_else(|| Some(lane.clone())), lane: Some(lane.clone()), band }
    }

    /// The lane of an event; a thread or agent that was never mentioned before comes to be here.
    pub(super) fn lane(&mut self, cx: &Cx<'_>) -> NodeId {
        if let Some(agent) = &cx.scope().subagent_id {
            return self.agent(cx, agent.as_str());
        }
        let thread = match &cx.scope().thread_id {
            Some(thread) => thread.as_str(),
            None => match &self.primary {
                Some(primary) => return primary.clone(),
                None => "main",
            },
        };
        if let Some(agent) = self.agent_threads.get(thread) {
            return agent.clone();
        }
        self.thread(cx, thread)
    }

    fn thread(&mut self, cx: &Cx<'_>, name: &str) -> NodeId {
        let wanted = NodeRef { kind: NodeKind::Thread, name };
        if let Some(node) = self.nodes.find(wanted) {
            return node.id.clone();
        }
        let id = NodeId::new(NodeKind::Thread, name);
        self.add(cx, id.clone(), &Place::default(), name.to_owned());
        self.primary.get_or_insert_with(|| id.clone());
        id
    }

    /// The turn that an event names, if it is one of this lane.
    fn turn(&mut self, cx: &Cx<'_>, lane: &NodeId) -> Option<NodeId> {
        let name = cx.scope().turn_id.as_ref()?.as_str();
        if let Some(node) = self.nodes.find(NodeRef { kind: NodeKind::Turn, name }) {
            return (node.lane.as_ref() == Some(lane)).then(|| node.id.clone());
        }
        let id = NodeId::new(NodeKind::Turn, name);
        let mut place = self.place_in_lane(lane, None);
        if lane.kind() == NodeKind::Thread {
            place.band = Some(id.clone());
            self.bands.push_back(id.clone());
            self.newest_band_nodes = 0;
        }
        self.add(cx, id.clone(), &place, String::new());
        self.follow(cx, &place, &id);
        Some(id)
    }

    /// Ties a turn or step to the one before it in the same lane.
    pub(super) fn follow(&mut self, cx: &Cx<'_>, place: &Place, id: &NodeId) {
        let Some(parent) = &place.parent else {
            return;
        };
        let before = self.nodes.get_mut(parent).and_then(|node| node.tail.replace(id.clone()));
        if let Some(before) = before {
            self.tie(cx, EdgeKind::Next, &before, id, None);
        }
    }

    /// The lane of a sub-agent. One that no event has started stands under "unplaced" until one does.
    pub(super) fn agent(&mut self, cx: &Cx<'_>, name: &str) -> NodeId {
        if let Some(node) = self.nodes.find(NodeRef { kind: NodeKind::Subagent, name }) {
            return node.id.clone();
        }
        let id = NodeId::new(NodeKind::Subagent, name);
        let unplaced = self.unplaced(cx);
        let place = Place { parent: Some(unplaced), ..Place::default() };
        self.add(cx, id.clone(), &place, preview::line(name, preview::TITLE));
        let message = format!("No event started sub-agent {name}, so its parent is not known.");
        self.note(cx, "agent_without_start", &id, message);
        id
    }

    /// The node that holds what has no known parent.
    pub(super) fn unplaced(&mut self, cx: &Cx<'_>) -> NodeId {
        let id = NodeId::new(NodeKind::Unplaced, "session");
        if !self.nodes.contains(id.as_ref()) {
            self.add(cx, id.clone(), &Place::default(), "Unplaced".to_owned());
            if let Some(node) = self.nodes.get_mut(&id) {
                node.status = Status::Unknown;
            }
        }
        id
    }

    /// Moves a sub-agent, with all that stands under it, below another node. A move that would make it a part of
    /// itself is refused and leaves it unplaced.
    pub(super) fn move_agent(&mut self, cx: &Cx<'_>, agent: &NodeId, parent: &NodeId) {
        let cycle = parent == agent
            || self.nodes.get(parent).is_some_and(|node| self.is_below(node, agent));
        if cycle {
            let message =
                format!("{agent} is said to be started by {parent}, which it started itself.");
            self.note(cx, "parent_cycle", agent, message);
            return;
        }
        let band = self.nodes.get(parent).and_then(|node| {
            if node.kind() == NodeKind::Turn { Some(node.id.clone()) } else { node.band.clone() }
        });
        let lane = self.nodes.get(parent).and_then(|node| match node.kind() {
            NodeKind::Thread | NodeKind::Subagent => Some(node.id.clone()),
            _ => node.lane.clone(),
        });
        self.nodes.set_parent(agent, parent);
        if let Some(node) = self.nodes.get_mut(agent) {
            node.lane = lane;
        }
        self.diagnostics.retain(|d| d.node != *agent);
        self.move_band(agent, band.as_ref());
        self.drop_empty_unplaced();
        self.recount_newest_band();
    }

    /// Writes the band of an agent into itself and everything below it.
    fn move_band(&mut self, agent: &NodeId, band: Option<&NodeId>) {
        let Some(agent) = self.nodes.place_of(agent) else {
            return;
        };
        for at in self.nodes.subtree(agent) {
            if let Some(node) = self.nodes.at_mut(at) {
                node.band = band.cloned();
            }
        }
    }

    fn drop_empty_unplaced(&mut self) {
        let unplaced = self.nodes.place(NodeRef { kind: NodeKind::Unplaced, name: "session" });
        if let Some(unplaced) = unplaced.filter(|at| self.nodes.parts_at(*at).is_empty()) {
            self.nodes.remove_all(&[unplaced], None);
        }
    }

    /// Gives a conversation to the sub-agent it turns out to be of, with all that was recorded of it before.
    /// False for one that the sub-agent itself stands in: that one stays as it is.
    pub(super) fn adopt_thread(&mut self, thread: &str, agent: &NodeId) -> bool {
        let id = NodeId::new(NodeKind::Thread, thread);
        let is_primary = self.primary.as_ref() == Some(&id);
        let stands_in_it = |node: &Node| self.is_below(node, &id);
        if !is_primary && self.nodes.get(agent).is_some_and(stands_in_it) {
            return false;
        }
        self.agent_threads.insert(thread.to_owned(), agent.clone());
        let (Some(from), Some(to)) = (self.nodes.place_of(&id), self.nodes.place_of(agent)) else {
            return true;
        };
        if is_primary {
            return true;
        }
        let band = self.nodes.get(agent).and_then(|node| node.band.clone());
        for at in self.nodes.subtree(from).into_iter().skip(1) {
            let Some(node) = self.nodes.at_mut(at) else {
                continue;
            };
            if node.lane.as_ref() == Some(&id) {
                node.lane = Some(agent.clone());
            }
            if node.kind() == NodeKind::Turn {
                let turn = &node.id;
                self.bands.retain(|band| band != turn);
                self.summaries.retain(|summary| summary != turn);
            }
            if self.nodes.whole_at(at) == Some(from) {
                self.nodes.move_to(at, to);
            }
        }
        self.nodes.remove_all(&[from], Some(to));
        self.move_band(agent, band.as_ref());
        self.recount_newest_band();
        true
    }
}
