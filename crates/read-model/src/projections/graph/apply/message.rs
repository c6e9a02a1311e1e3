//! Owns what model calls do to the graph.

use event_spine::event::family::MessageEvent;
use event_spine::event::value::Role;

use super::parts_line;
use super::session::numbered;
use crate::projections::graph::node::{NodeId, NodeKind, NodeRef, Status, Tokens};
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph, Hot};

impl ExecutionGraph {
    pub(super) fn message(&mut self, cx: &Cx<'_>, event: &MessageEvent) {
        match event {
            MessageEvent::ModelRequested(e) => {
                let Some(id) = self.begin_model_call(cx) else {
                    return;
                };
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.model = e.model.clone().or(node.model.take());
                }
            }
            MessageEvent::ModelDelta(e) => {
                if is_model_speech(e.role) {
                    self.model_delta(cx, &e.delta);
                }
            }
            MessageEvent::ModelCompleted(e) => {
                if !is_model_speech(e.role) {
                    return;
                }
                let Some(id) = self.model_call(cx) else {
                    return;
                };
                self.settle(cx, &id, Status::Succeeded, None);
                let Some(node) = self.nodes.get_mut(&id) else {
                    return;
                };
                node.model = e.model.clone().or(node.model.take());
                node.output = parts_line(e.text.as_deref(), &e.parts).or(node.output.take());
                if e.is_final {
                    node.title = "answer".to_owned();
                }
                let (answer, turn) = (node.output.clone(), node.band.clone());
                if let Some(usage) = &e.usage {
                    self.own_tokens(cx, &id, Tokens::from(usage));
                }
                if e.is_final {
                    self.answer(&turn, answer);
                }
            }
            MessageEvent::ModelFailed(e) => {
                let Some(id) = self.model_call(cx) else {
                    return;
                };
                let interrupted = e.failure_category == "stream_interrupted";
                let status = if interrupted { Status::Interrupted } else { Status::Failed };
                self.settle(cx, &id, status, None);
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.failure_category =
                        Some(preview::line(&e.failure_category, preview::TITLE));
                    let error = e.error.as_deref().or(e.partial_text.as_deref());
                    node.output =
                        preview::some_line(error, preview::PREVIEW).or(node.output.take());
                }
            }
            // It restates what the other events said, but for an input that no event has told so far.
            MessageEvent::MessagesSnapshot(e) => {
                if let Some((_, question)) = e.question() {
                    self.learn_input(cx, question.text.as_deref());
                }
            }
        }
    }

    /// Opens a model call. The same message asked for again, after it ended, is a new attempt.
    fn begin_model_call(&mut self, cx: &Cx<'_>) -> Option<NodeId> {
        let Some(name) = message_name(cx) else {
            return self.add_model_call(cx, numbered(NodeKind::ModelCall, cx));
        };
        let current = self.current(NodeKind::ModelCall, name);
        if self.nodes.get(&current).is_some_and(|node| node.settled) {
            let next = self.another(NodeKind::ModelCall, name);
            return self.add_model_call(cx, next);
        }
        if self.nodes.contains(current.as_ref()) {
            return Some(current);
        }
        self.add_model_call(cx, current)
    }

    /// The model call that an event is about; it comes to be when no request was recorded.
    pub(super) fn model_call(&mut self, cx: &Cx<'_>) -> Option<NodeId> {
        let Some(name) = message_name(cx) else {
            let lane = self.lane(cx);
            let open = self.open_in(&lane, NodeKind::ModelCall);
            return open.or_else(|| self.add_model_call(cx, numbered(NodeKind::ModelCall, cx)));
        };
        let current = self.current(NodeKind::ModelCall, name);
        if self.nodes.contains(current.as_ref()) {
            return Some(current);
        }
        self.add_model_call(cx, current)
    }

    fn add_model_call(&mut self, cx: &Cx<'_>, id: NodeId) -> Option<NodeId> {
        let place = self.place(cx)?;
        self.add(cx, id.clone(), &place, String::new());
        if place.parent.as_ref().is_some_and(|parent| parent.kind() != NodeKind::Step) {
            self.follow(cx, &place, &id);
        }
        Some(id)
    }

    /// The newest node of a kind that is still open in a lane.
    pub(super) fn open_in(&self, lane: &NodeId, kind: NodeKind) -> Option<NodeId> {
        let in_lane =
            |id: &&NodeId| self.nodes.get(id).is_some_and(|n| n.lane.as_ref() == Some(lane));
        self.open.iter().rev().filter(|id| id.kind() == kind).find(in_lane).cloned()
    }

    fn model_delta(&mut self, cx: &Cx<'_>, delta: &str) {
        let message = cx.scope().message_id.as_ref().map(|id| id.as_str());
        let known = self.hot.as_ref().filter(|hot| Some(&*hot.message_id) == message);
        let id = match known {
            Some(hot) if hot.full => return,
            Some(hot) => hot.node.clone(),
            None => match self.model_call(cx) {
                Some(id) => id,
                None => return,
            },
        };
        let Some(node) = self.nodes.get_mut(&id) else {
            self.hot = None;
            return;
        };
        let full = node.settled
            || preview::extend(node.output.get_or_insert_default(), delta, preview::PREVIEW);
        self.hot = message.map(|message_id| Hot { message_id: message_id.into(), node: id, full });
    }

    /// Shows the final answer at the turn as well.
    fn answer(&mut self, turn: &Option<NodeId>, answer: Option<String>) {
        let turn = turn.as_ref().and_then(|turn| self.nodes.get_mut(turn));
        if let (Some(turn), Some(answer)) = (turn, answer) {
            turn.output = Some(answer);
        }
    }

    /// The node that now stands for a source's id: ids come back when something is tried again.
    pub(super) fn current(&self, kind: NodeKind, name: &str) -> NodeId {
        let first = self.nodes.id(NodeRef { kind, name });
        match self.again.get(&first) {
            Some(count) => self.nodes.id(NodeRef { kind, name: &format!("{name}#{count}") }),
            None => first,
        }
    }

    /// Names the next node for a source's id.
    pub(super) fn another(&mut self, kind: NodeKind, name: &str) -> NodeId {
        self.hot = None; // it may point to the node that the name stood for until now
        let first = NodeId::new(kind, name);
        let mut count = self.again.get(&first).copied().unwrap_or(1);
        loop {
            // When the newest was folded away the count began again, but older ones may still be there.
            count += 1;
            let next = NodeId::new(kind, &format!("{name}#{count}"));
            if !self.nodes.contains(next.as_ref()) {
                self.again.insert(first, count);
                return next;
            }
        }
    }

    /// True when the first node of a source's id is kept.
    pub(super) fn has(&self, kind: NodeKind, name: &str) -> bool {
        self.nodes.contains(NodeRef { kind, name })
    }
}

/// What names a model call: its message; for a source that gives none, its step.
fn message_name<'a>(cx: &Cx<'a>) -> Option<&'a str> {
    let scope = cx.scope();
    let message = scope.message_id.as_ref().map(|id| id.as_str());
    message.or_else(|| scope.step_id.as_ref().map(|id| id.as_str()))
}

/// True for what a model says; messages of people, tools and products pass through the same family.
fn is_model_speech(role: Option<Role>) -> bool {
    match role {
        None | Some(Role::Assistant | Role::Unknown) => true,
        Some(
            Role::User
            | Role::System
            | Role::Developer
            | Role::Tool
            | Role::Reasoning
            | Role::Activity,
        ) => false,
    }
}
