//! Owns what tasks, sub-agents, jobs and messages between agents do to the graph.

use event_spine::event::family::TaskEvent;
use event_spine::event::family::task::{ChannelMessage, SubagentStarted, TaskCreated, TaskUpdated};
use event_spine::event::value::TaskStatus;

use crate::projections::graph::node::{EdgeKind, Node, NodeId, NodeKind, Status, Tokens};
use crate::projections::graph::place::Place;
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn task(&mut self, cx: &Cx<'_>, event: &TaskEvent) {
        match event {
            TaskEvent::TaskCreated(e) => self.task_created(cx, e),
            TaskEvent::TaskUpdated(e) => self.task_updated(cx, e),
            TaskEvent::SubagentStarted(e) => self.subagent_started(cx, e),
            TaskEvent::SubagentStatus(e) => {
                let status = of_word(&e.status);
                self.with_agent(cx, |node| {
                    if !node.settled && status != Status::Unknown {
                        node.status = status;
                    }
                    node.output = preview::some_line(e.message.as_deref(), preview::PREVIEW)
                        .or(node.output.take());
                });
            }
            TaskEvent::SubagentCompleted(e) => {
                let output = e.output.as_ref().and_then(preview::json);
                let said = preview::some_line(e.summary.as_deref(), preview::PREVIEW).or(output);
                self.end_agent(cx, Status::Succeeded, |node| {
                    node.output = said.or(node.output.take());
                    node.reported_tokens = e.usage.as_ref().map(Tokens::from);
                });
            }
            TaskEvent::SubagentFailed(e) => self.end_agent(cx, Status::Failed, |node| {
                node.failure_category = Some(preview::line(&e.failure_category, preview::TITLE));
                node.output = preview::some_line(e.error.as_deref(), preview::PREVIEW);
            }),
            TaskEvent::JobQueued(e) => {
                let id = NodeId::new(NodeKind::Job, &e.job_id);
                let title = e.title.as_deref().unwrap_or(&e.job_id);
                self.work_item(cx, &id, preview::line(title, preview::TITLE), Status::Queued);
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.input = preview::some_line(e.reason.as_deref(), preview::PREVIEW);
                }
            }
            TaskEvent::ChannelMessage(e) => self.channel_message(cx, e),
        }
    }

    fn task_created(&mut self, cx: &Cx<'_>, e: &TaskCreated) {
        let Some(id) = task_id(cx) else {
            return;
        };
        let title = e.label.as_deref().or(e.objective.as_deref()).unwrap_or(id.name());
        let status = e.status.map_or(Status::Queued, of_task_status);
        self.work_item(cx, &id, preview::line(title, preview::TITLE), status);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.input = preview::some_line(e.objective.as_deref(), preview::PREVIEW);
        }
        self.parent_task(cx, &id);
        for name in &e.depends_on {
            let first = NodeId::new(NodeKind::Task, name);
            if !self.nodes.contains(first.as_ref()) {
                // Named before its own event: it exists, and nothing else is known of it.
                self.work_item(cx, &first, preview::line(name, preview::TITLE), Status::Unknown);
            }
            let met = self.nodes.get(&first).map(|node| node.status);
            self.tie(cx, EdgeKind::DependsOn, &first, &id, met);
        }
        if let Some(call) = cx.scope().tool_call_id.as_ref() {
            let call = self.current(NodeKind::ToolCall, call.as_str());
            self.tie(cx, EdgeKind::Causes, &call, &id, None);
        }
        self.execution(cx, &id, status);
    }

    fn task_updated(&mut self, cx: &Cx<'_>, e: &TaskUpdated) {
        let Some(id) = task_id(cx) else {
            return;
        };
        if !self.nodes.contains(id.as_ref()) {
            self.work_item(cx, &id, preview::line(id.name(), preview::TITLE), Status::Unknown);
        }
        self.parent_task(cx, &id);
        let status = e.status.map(of_task_status);
        let title = preview::some_line(e.label.as_deref(), preview::TITLE);
        let error = preview::some_line(e.error.as_deref(), preview::PREVIEW);
        let said = e.summary.as_deref().or(e.progress.as_deref());
        let said = error.or_else(|| preview::some_line(said, preview::PREVIEW));
        self.move_on(cx, &id, status, |node| {
            node.title = title.unwrap_or_else(|| std::mem::take(&mut node.title));
            node.output = said.clone().or(node.output.take());
        });
        if let Some(status) = status {
            self.nodes.renew(EdgeKind::DependsOn, &id, status);
            self.execution(cx, &id, status);
        }
    }

    /// The run and the attempt that the state of a task is about: a retry is a new attempt, nothing is overwritten.
    fn execution(&mut self, cx: &Cx<'_>, task: &NodeId, status: Status) {
        let run = cx.scope().run_id.as_ref().map(|n| NodeId::new(NodeKind::Run, n.as_str()));
        let attempt =
            cx.scope().attempt_id.as_ref().map(|n| NodeId::new(NodeKind::Attempt, n.as_str()));
        let mut whole = task.clone();
        for id in [run, attempt].into_iter().flatten() {
            if !self.nodes.contains(id.as_ref()) {
                let place = Place { parent: Some(whole.clone()), ..Place::default() };
                let title = preview::line(id.name(), preview::TITLE);
                self.add(cx, id.clone(), &place, title);
                self.products.push_back(id.clone());
                self.follow(cx, &place, &id);
            }
            self.move_on(cx, &id, Some(status), |_| {});
            whole = id;
        }
    }

    fn move_on(
        &mut self,
        cx: &Cx<'_>,
        id: &NodeId,
        status: Option<Status>,
        change: impl FnOnce(&mut Node),
    ) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.last_sequence = cx.sequence;
            change(node);
        }
        match status {
            Some(status) if status.is_open() || status == Status::Unknown => {
                if let Some(node) = self.nodes.get_mut(id) {
                    node.status = status;
                    node.settled = false;
                }
            }
            Some(status) => self.settle(cx, id, status, None),
            None => {}
        }
    }

    fn parent_task(&mut self, cx: &Cx<'_>, id: &NodeId) {
        let Some(parent) = cx.scope().parent_task_id.as_ref() else {
            return;
        };
        let parent = NodeId::new(NodeKind::Task, parent.as_str());
        if !self.nodes.contains(parent.as_ref()) {
            let title = preview::line(parent.name(), preview::TITLE);
            self.work_item(cx, &parent, title, Status::Unknown);
        }
        let below = self.nodes.get(&parent).is_some_and(|node| self.is_below(node, id));
        if below || parent == *id {
            self.note(
                cx,
                "parent_cycle",
                id,
                format!("{id} is said to be a part of its own part."),
            );
        } else {
            self.nodes.set_parent(id, &parent);
        }
    }

    /// Makes the node of a task or job, outside the lanes: it can outlive the turn that it came from.
    fn work_item(&mut self, cx: &Cx<'_>, id: &NodeId, title: String, status: Status) {
        if !self.nodes.contains(id.as_ref()) {
            self.add(cx, id.clone(), &Place::default(), title);
            self.products.push_back(id.clone());
            if let Some(node) = self.nodes.get_mut(id) {
                node.status = status;
                node.settled = !status.is_open();
            }
        } else if let Some(node) = self.nodes.get_mut(id) {
            node.title = title;
            if !node.settled || node.status == Status::Unknown {
                node.status = status;
            }
        }
    }

    fn subagent_started(&mut self, cx: &Cx<'_>, e: &SubagentStarted) {
        let Some(name) = cx.scope().subagent_id.as_ref() else {
            return;
        };
        let id = self.agent(cx, name.as_str());
        let shown = e.name.as_deref().or(e.role.as_deref());
        let at = cx.at();
        if let Some(node) = self.nodes.get_mut(&id) {
            if let Some(title) = preview::some_line(shown, preview::TITLE) {
                node.title = title;
            }
            node.input = preview::some_line(e.objective.as_deref(), preview::PREVIEW);
            node.model = e.model.clone();
            node.status = Status::Running;
            node.settled = false;
            node.started_at = node.started_at.min(at);
        }
        if !self.open.contains(&id) {
            self.open.push(id.clone());
        }
        let own = e.child_thread_id.as_deref();
        let refused = own.filter(|thread| !self.adopt_thread(thread, &id));
        let (parent, starter) = self.parent_of_agent(cx, &id, e);
        let Some(parent) = parent else {
            return;
        };
        self.move_agent(cx, &id, &parent);
        let kind = if e.handoff { EdgeKind::Handoff } else { EdgeKind::Spawned };
        self.tie(cx, kind, &starter.unwrap_or(parent), &id, Some(Status::Running));
        if let Some(thread) = refused {
            let message = format!("{id} is said to work in thread {thread}, where it was started.");
            self.note(cx, "parent_cycle", &id, message);
        }
    }

    /// The node below which a sub-agent stands, and the one that the edge starts at.
    fn parent_of_agent(
        &mut self,
        cx: &Cx<'_>,
        id: &NodeId,
        e: &SubagentStarted,
    ) -> (Option<NodeId>, Option<NodeId>) {
        let call = e.parent_tool_call_id.as_ref();
        let call = call.map(|name| self.current(NodeKind::ToolCall, name));
        let call = call.filter(|call| self.nodes.contains(call.as_ref()));
        if let Some(parent) = &e.parent_subagent_id {
            let known = NodeId::new(NodeKind::Subagent, parent);
            if !self.nodes.contains(known.as_ref()) {
                let message =
                    format!("{id} was started by sub-agent {parent}, which is not known.");
                self.note(cx, "parent_unknown", id, message);
                self.agent(cx, parent); // unplaced until an event starts it
            }
            let in_lane = |call: &NodeId| {
                self.nodes.get(call).is_some_and(|node| node.lane.as_ref() == Some(&known))
            };
            let whole = call.clone().filter(in_lane).unwrap_or(known);
            return (Some(whole), call);
        }
        if let Some(call) = call {
            return (Some(call.clone()), Some(call));
        }
        if let Some(name) = &e.parent_tool_call_id {
            let message = format!("{id} was started by tool call {name}, which is not known.");
            self.note(cx, "parent_unknown", id, message);
        }
        // No parent named: the main agent started it. Its own events may still name it, so ask the thread and turn.
        let turn = cx.scope().turn_id.as_ref().map(|n| NodeId::new(NodeKind::Turn, n.as_str()));
        let turn = turn.filter(|turn| {
            self.nodes.get(turn).is_some_and(|n| n.lane.as_ref().is_some_and(|lane| lane != id))
        });
        let parent = turn.or_else(|| self.bands.back().cloned()).or_else(|| self.primary.clone());
        (parent, None)
    }

    fn with_agent(&mut self, cx: &Cx<'_>, change: impl FnOnce(&mut Node)) -> Option<NodeId> {
        let name = cx.scope().subagent_id.as_ref()?;
        let id = self.agent(cx, name.as_str());
        let node = self.nodes.get_mut(&id)?;
        change(node);
        node.last_sequence = cx.sequence;
        Some(id)
    }

    fn end_agent(&mut self, cx: &Cx<'_>, status: Status, change: impl FnOnce(&mut Node)) {
        let Some(id) = self.with_agent(cx, change) else {
            return;
        };
        self.settle(cx, &id, status, None);
        self.interrupt(cx, &id, None);
        if let Some(node) = self.nodes.get_mut(&id) {
            for edge in &mut node.incoming {
                if matches!(edge.kind, EdgeKind::Spawned | EdgeKind::Handoff) {
                    edge.status = Some(status);
                }
            }
        }
    }

    /// A message between agents is an edge, not a node; a handoff is one of its own kind.
    fn channel_message(&mut self, cx: &Cx<'_>, e: &ChannelMessage) {
        let from = e.from.as_deref().and_then(|name| self.agent_named(name));
        let from = from.unwrap_or_else(|| self.lane(cx));
        let Some(to) = e.to.as_deref() else {
            return;
        };
        let to = match self.agent_named(to) {
            Some(to) => to,
            None => self.agent(cx, to), // somebody was addressed whom nobody started: unplaced, not dropped
        };
        let handoff = e.kind.as_deref() == Some("handoff");
        let kind = if handoff { EdgeKind::Handoff } else { EdgeKind::Message };
        self.tie(cx, kind, &from, &to, None);
    }

    /// A lane by the id or the name of its agent.
    fn agent_named(&self, name: &str) -> Option<NodeId> {
        for kind in [NodeKind::Subagent, NodeKind::Thread] {
            if self.has(kind, name) {
                return Some(NodeId::new(kind, name));
            }
        }
        if name == "main" {
            return self.primary.clone();
        }
        let mut agents = self.nodes.iter().rev().filter(|node| node.kind() == NodeKind::Subagent);
        agents.find(|node| node.title == name).map(|node| node.id.clone())
    }
}

fn task_id(cx: &Cx<'_>) -> Option<NodeId> {
    cx.scope().task_id.as_ref().map(|task| NodeId::new(NodeKind::Task, task.as_str()))
}

const fn of_task_status(status: TaskStatus) -> Status {
    match status {
        TaskStatus::Draft | TaskStatus::Accepted | TaskStatus::Queued => Status::Queued,
        TaskStatus::Preparing
        | TaskStatus::Running
        | TaskStatus::Retrying
        | TaskStatus::Cancelling => Status::Running,
        TaskStatus::Waiting | TaskStatus::WaitingInput | TaskStatus::WaitingPermission => {
            Status::Waiting
        }
        TaskStatus::WaitingResource | TaskStatus::Blocked | TaskStatus::Paused => Status::Blocked,
        TaskStatus::Cancelled => Status::Cancelled,
        TaskStatus::TimedOut => Status::TimedOut,
        TaskStatus::Failed => Status::Failed,
        TaskStatus::Lost => Status::Interrupted,
        TaskStatus::Completed | TaskStatus::Archived => Status::Succeeded,
        TaskStatus::Stale | TaskStatus::Unknown => Status::Unknown,
    }
}

/// The status of a sub-agent, in the words that sources use.
fn of_word(word: &str) -> Status {
    match word {
        "queued" | "pending" | "created" => Status::Queued,
        "running" | "active" | "in_progress" | "busy" | "working" => Status::Running,
        "waiting" | "waiting_input" | "waiting_permission" | "input_required" => Status::Waiting,
        "blocked" | "paused" | "suspended" => Status::Blocked,
        _ => Status::Unknown,
    }
}
