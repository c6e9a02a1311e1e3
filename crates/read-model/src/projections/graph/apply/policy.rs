//! Owns what approvals and refusals do to the graph.

use event_spine::event::family::PolicyEvent;
use event_spine::event::family::policy::{ActionRequired, ActionResolved, Answer};

use crate::projections::graph::node::{EdgeKind, NodeId, NodeKind, Status};
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn policy(&mut self, cx: &Cx<'_>, event: &PolicyEvent) {
        match event {
            PolicyEvent::ActionRequired(e) => self.action_required(cx, e),
            PolicyEvent::ActionResolved(e) => self.action_resolved(cx, e),
            PolicyEvent::ActionCancelled(e) => {
                self.end_action(
                    cx,
                    Status::Cancelled,
                    e.reason.as_deref(),
                    e.cancelled_by.as_deref(),
                );
            }
            PolicyEvent::ActionExpired(_) => self.end_action(cx, Status::Expired, None, None),
            PolicyEvent::PermissionDenied(e) => {
                let tool = e.tool_name.as_deref();
                self.refuse(cx, tool, "permission_denied", &e.reason, Status::Denied);
            }
            PolicyEvent::SandboxBlocked(e) => {
                self.refuse(cx, None, "sandbox_violation", &e.reason, Status::Blocked);
            }
            // A rule that let something pass is the policy view's; what it lets pass shows itself.
            PolicyEvent::PermissionEvaluated(_) => {}
        }
    }

    fn action_required(&mut self, cx: &Cx<'_>, e: &ActionRequired) {
        let Some(name) = cx.scope().action_id.as_ref() else {
            return;
        };
        let mut id = self.current(NodeKind::Action, name.as_str());
        if self.nodes.get(&id).is_some_and(|node| node.settled) {
            id = self.another(NodeKind::Action, name.as_str());
        }
        if !self.nodes.contains(id.as_ref()) {
            let Some(place) = self.place(cx) else {
                return;
            };
            let title = e.title.as_deref().unwrap_or(&e.action_type);
            self.add(cx, id.clone(), &place, preview::line(title, preview::TITLE));
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.status = Status::Waiting;
            let arguments = e.arguments.as_ref().and_then(preview::json);
            let reason = || preview::some_line(e.reason.as_deref(), preview::PREVIEW);
            node.input = arguments.or_else(reason);
        }
        let Some(tool) = self.tool_call(cx, e.tool_name.as_deref(), Status::Waiting) else {
            return;
        };
        if let Some(node) = self.nodes.get_mut(&tool).filter(|node| !node.settled) {
            node.status = Status::Waiting;
            if node.input.is_none() {
                node.input = e.arguments.as_ref().and_then(preview::json);
            }
        }
        self.tie(cx, EdgeKind::Gates, &id, &tool, Some(Status::Waiting));
    }

    fn action_resolved(&mut self, cx: &Cx<'_>, e: &ActionResolved) {
        let status = match e.answer() {
            Answer::Granted => Status::Succeeded,
            Answer::Refused => Status::Denied,
            Answer::Cancelled => Status::Cancelled,
            Answer::Expired => Status::Expired,
            Answer::Unknown => Status::Unknown,
        };
        let decided_by = e.decided_by.as_deref().or(e.source.as_deref());
        let said = e.reason.as_deref().unwrap_or(&e.decision);
        self.end_action(cx, status, Some(said), decided_by);
    }

    fn end_action(
        &mut self,
        cx: &Cx<'_>,
        status: Status,
        said: Option<&str>,
        decided_by: Option<&str>,
    ) {
        let Some(name) = cx.scope().action_id.as_ref() else {
            return;
        };
        let id = self.current(NodeKind::Action, name.as_str());
        if !self.nodes.contains(id.as_ref()) {
            let Some(place) = self.place(cx) else {
                return;
            };
            self.add(cx, id.clone(), &place, String::new());
        }
        if self.nodes.get(&id).is_some_and(|n| n.settled && n.status != Status::Interrupted) {
            return; // decided once; a second answer changes nothing
        }
        self.settle(cx, &id, status, None);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.output = preview::some_line(said, preview::PREVIEW);
            node.decided_by = preview::some_line(decided_by, preview::TITLE);
        }
        self.open_gate(&id, status);
    }

    /// Writes the answer into the tool call that waited for it.
    fn open_gate(&mut self, action: &NodeId, status: Status) {
        self.nodes.renew(EdgeKind::Gates, action, status);
        for call in self.nodes.gated_by(action) {
            let Some(node) = self.nodes.get_mut(&call).filter(|node| !node.settled) else {
                continue;
            };
            if node.status == Status::Waiting {
                node.status = match status {
                    Status::Succeeded => Status::Queued,
                    other => other,
                };
            }
        }
    }

    /// A rule or the sandbox stopped a tool call, or the approval it was asked for.
    fn refuse(
        &mut self,
        cx: &Cx<'_>,
        tool_name: Option<&str>,
        category: &str,
        reason: &str,
        status: Status,
    ) {
        let Some(id) = self.tool_call(cx, tool_name, status) else {
            return;
        };
        let Some(node) = self.nodes.get_mut(&id).filter(|node| !node.settled) else {
            return;
        };
        node.status = status;
        node.last_sequence = cx.sequence;
        node.failure_category = Some(category.to_owned());
        node.output = preview::some_line(Some(reason), preview::PREVIEW);
    }
}
