//! Owns what tool calls do to the graph.

use event_spine::event::family::ToolEvent;
use event_spine::event::family::tool::{ToolFailed, ToolResult, ToolStarted};
use event_spine::event::value::ToolStatus;
use event_spine::{JsonText, RefKind};

use crate::projections::graph::node::{EdgeKind, Node, NodeId, NodeKind, Status};
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn tool(&mut self, cx: &Cx<'_>, event: &ToolEvent) {
        match event {
            ToolEvent::ToolStarted(e) => self.tool_started(cx, e),
            ToolEvent::ToolArgs(e) => {
                let Some(id) = self.tool_call(cx, e.tool_name.as_deref(), Status::Queued) else {
                    return;
                };
                if let Some(node) = self.nodes.get_mut(&id) {
                    let whole = e.args.as_ref().and_then(preview::json);
                    let raw = || preview::some_line(e.raw.as_deref(), preview::PREVIEW);
                    node.input = whole.or_else(raw).or(node.input.take());
                }
            }
            ToolEvent::ToolProgress(_) => {
                self.tool_call(cx, None, Status::Running);
            }
            ToolEvent::ToolResult(e) => self.tool_result(cx, e),
            ToolEvent::ToolFailed(e) => self.tool_failed(cx, e),
            ToolEvent::OutputSpilled(e) => {
                if let Some(id) = self.tool_call(cx, None, Status::Running)
                    && let Some(node) = self.nodes.get_mut(&id)
                {
                    keep_ref(node, Some(&e.output_ref));
                }
            }
            // What became of an output changes no node.
            ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_) => {}
        }
    }

    fn tool_started(&mut self, cx: &Cx<'_>, e: &ToolStarted) {
        let Some(name) = cx.scope().tool_call_id.as_ref() else {
            return;
        };
        let current = self.current(NodeKind::ToolCall, name.as_str());
        if self.nodes.get(&current).is_some_and(|node| node.settled) {
            self.another(NodeKind::ToolCall, name.as_str());
        }
        let Some(id) = self.tool_call(cx, Some(&e.tool_name), Status::Running) else {
            return;
        };
        let at = cx.at();
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.status = Status::Running;
        node.started_at = at; // waiting for an approval is not running
        node.last_sequence = cx.sequence;
        node.input = e.args.as_ref().and_then(preview::json).or(node.input.take());
        if let Some(title) = preview::some_line(e.title.as_deref(), preview::TITLE) {
            node.input.get_or_insert(title);
        }
        keep_ref(node, e.args_ref.as_ref());
        for input in cx.recorded.draft.refs.to_vec() {
            let kind = match input.kind {
                RefKind::Artifact => NodeKind::Artifact,
                RefKind::Evidence => NodeKind::Evidence,
                RefKind::Output | RefKind::Diagnostic | RefKind::Trace | RefKind::Raw => continue,
            };
            self.tie(cx, EdgeKind::Consumed, &NodeId::new(kind, &input.id), &id, None);
        }
    }

    fn tool_result(&mut self, cx: &Cx<'_>, e: &ToolResult) {
        let Some(id) = self.tool_call(cx, e.tool_name.as_deref(), Status::Running) else {
            return;
        };
        // Success is never made up: a source that does not say how it ended leaves it unknown.
        let status = e.status.map_or(Status::Unknown, of_tool_status);
        self.settle(cx, &id, status, e.duration_ms);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.output = output(e.preview.as_deref(), e.output.as_ref(), None);
            keep_ref(node, e.output_ref.as_ref());
        }
    }

    fn tool_failed(&mut self, cx: &Cx<'_>, e: &ToolFailed) {
        let Some(id) = self.tool_call(cx, e.tool_name.as_deref(), Status::Running) else {
            return;
        };
        let refused = self.nodes.get(&id).is_some_and(|node| node.status == Status::Denied);
        let stated = e.status.map(of_tool_status).filter(|status| *status != Status::Unknown);
        let status = match stated.unwrap_or_else(|| of_category(&e.failure_category)) {
            Status::Failed | Status::Succeeded | Status::Partial if refused => Status::Denied,
            Status::Succeeded | Status::Partial => Status::Failed,
            other => other,
        };
        self.settle(cx, &id, status, e.duration_ms);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.failure_category = Some(preview::line(&e.failure_category, preview::TITLE));
            node.output = output(e.preview.as_deref(), e.output.as_ref(), e.error.as_deref())
                .or(node.output.take());
            keep_ref(node, e.output_ref.as_ref());
        }
    }

    /// The tool call that an event is about; it comes to be at its first mention.
    pub(super) fn tool_call(
        &mut self,
        cx: &Cx<'_>,
        tool_name: Option<&str>,
        status: Status,
    ) -> Option<NodeId> {
        let name = cx.scope().tool_call_id.as_ref()?.as_str();
        let id = self.current(NodeKind::ToolCall, name);
        if let Some(node) = self.nodes.get_mut(&id) {
            if let (true, Some(tool_name)) = (node.title.is_empty(), tool_name) {
                node.title = preview::line(tool_name, preview::TITLE);
            }
            return Some(id);
        }
        let place = self.place(cx)?;
        let title = tool_name.map(|name| preview::line(name, preview::TITLE)).unwrap_or_default();
        self.add(cx, id.clone(), &place, title);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.status = status;
        }
        self.tie_to_model_call(cx, &place.parent, &id);
        Some(id)
    }

    /// The model call of the same step asked for the tool call.
    fn tie_to_model_call(&mut self, cx: &Cx<'_>, parent: &Option<NodeId>, tool: &NodeId) {
        let asked = cx
            .scope()
            .message_id
            .as_ref()
            .map(|message| self.current(NodeKind::ModelCall, message.as_str()));
        let asked = asked.filter(|id| self.nodes.contains(id.as_ref()));
        let newest = || {
            let whole = parent.as_ref().and_then(|whole| self.nodes.get(whole))?;
            let mut newest_first = self.nodes.parts(whole).rev();
            let call = newest_first.find(|part| part.kind() == NodeKind::ModelCall)?;
            Some(call.id.clone())
        };
        if let Some(model) = asked.or_else(newest) {
            self.tie(cx, EdgeKind::Causes, &model, tool, None);
        }
    }
}

/// Keeps the newest refs of a node.
pub(super) fn keep_ref(node: &mut Node, id: Option<&String>) {
    const MOST: usize = 8;
    let Some(id) = id else {
        return;
    };
    if node.refs.contains(id) {
        return;
    }
    if node.refs.len() >= MOST {
        node.refs.remove(0);
    }
    node.refs.push(id.clone());
}

fn output(preview: Option<&str>, output: Option<&JsonText>, error: Option<&str>) -> Option<String> {
    preview::some_line(error, preview::PREVIEW)
        .or_else(|| preview::some_line(preview, preview::PREVIEW))
        .or_else(|| output.and_then(preview::json))
}

const fn of_tool_status(status: ToolStatus) -> Status {
    match status {
        ToolStatus::Succeeded => Status::Succeeded,
        ToolStatus::PartialSucceeded => Status::Partial,
        ToolStatus::Failed => Status::Failed,
        ToolStatus::Denied | ToolStatus::Rejected => Status::Denied,
        ToolStatus::Cancelled => Status::Cancelled,
        ToolStatus::TimedOut => Status::TimedOut,
        ToolStatus::Interrupted => Status::Interrupted,
        ToolStatus::Unknown => Status::Unknown,
    }
}

/// How a call ended, by the category of its failure, for sources that give no status.
fn of_category(category: &str) -> Status {
    match category {
        "permission_denied" | "approval_rejected" | "policy_blocked" | "blocked_tool"
        | "hook_blocked" | "sandbox_violation" => Status::Denied,
        "cancelled" | "canceled" | "sibling_canceled" => Status::Cancelled,
        "timeout" | "timed_out" => Status::TimedOut,
        "interrupted" | "lost" => Status::Interrupted,
        _ => Status::Failed,
    }
}
