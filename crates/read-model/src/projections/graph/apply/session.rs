//! Owns what boundaries of the history and diagnostics do to the graph: compaction, rollback, fork, broken streams,
//! usage.

use event_spine::event::family::context::HistoryCompacted;
use event_spine::event::family::{ContextEvent, DiagnosticsEvent};
use event_spine::event::value::UsageSource;

use crate::projections::graph::node::{NodeId, NodeKind, Status, Tokens};
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn context(&mut self, cx: &Cx<'_>, event: &ContextEvent) {
        match event {
            ContextEvent::CompactionStarted(e) => {
                let id = compaction_id(cx, e.compaction_id.as_deref());
                self.boundary(cx, &id, "compaction", e.trigger.as_deref());
            }
            ContextEvent::CompactionCompleted(e) => {
                let said = Some("changed nothing".to_owned());
                let (id, trigger) = (e.compaction_id.as_deref(), e.trigger.as_deref());
                self.compacted(cx, id, trigger, Status::Succeeded, said);
            }
            ContextEvent::CompactionFailed(e) => {
                let error = preview::some_line(Some(&e.error), preview::PREVIEW);
                let (id, trigger) = (e.compaction_id.as_deref(), e.trigger.as_deref());
                self.compacted(cx, id, trigger, Status::Failed, error);
            }
            ContextEvent::HistoryCompacted(e) => {
                let (id, trigger) = (e.compaction_id.as_deref(), e.trigger.as_deref());
                self.compacted(cx, id, trigger, Status::Succeeded, sizes(e));
            }
            ContextEvent::HistoryRolledBack(e) => {
                let id = numbered(NodeKind::Rollback, cx);
                self.boundary(cx, &id, "rolled back", e.reason.as_deref());
                let said = e.to_sequence.map(|to| format!("to event {to}"));
                self.end_boundary(cx, &id, Status::Succeeded, said);
            }
            ContextEvent::StreamInterrupted(e) => {
                let id = numbered(NodeKind::Interruption, cx);
                self.boundary(cx, &id, "stream interrupted", Some(&e.reason));
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.status = Status::Interrupted;
                }
            }
            ContextEvent::StreamRepaired(e) => {
                let open = self.open.iter().rev().find(|id| id.kind() == NodeKind::Interruption);
                let Some(id) = open.cloned() else {
                    return;
                };
                let lost = e.lost.filter(|lost| *lost > 0);
                let status = if lost.is_some() { Status::Partial } else { Status::Succeeded };
                let said = lost.map(|lost| format!("repaired, {lost} events lost"));
                self.end_boundary(cx, &id, status, said.or_else(|| Some("repaired".into())));
            }
            ContextEvent::SessionForked(e) => {
                let id = numbered(NodeKind::Fork, cx);
                self.boundary(cx, &id, "forked", e.reason.as_deref());
                let said = format!("from {} at event {}", e.parent_session_id, e.parent_sequence);
                self.end_boundary(cx, &id, Status::Succeeded, Some(preview::line(&said, 120)));
            }
            // What the model sees beside the history, and foreign states, are other views'.
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::ContextMissing(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_) => {}
        }
    }

    /// Makes the node of a boundary, in the turn or lane of the event.
    fn boundary(&mut self, cx: &Cx<'_>, id: &NodeId, title: &str, why: Option<&str>) {
        if self.nodes.contains(id.as_ref()) {
            return;
        }
        let Some(place) = self.place_in_turn(cx) else {
            return;
        };
        self.add(cx, id.clone(), &place, title.to_owned());
        self.follow(cx, &place, id);
        if let Some(node) = self.nodes.get_mut(id) {
            node.input = preview::some_line(why, preview::PREVIEW);
        }
    }

    fn end_boundary(&mut self, cx: &Cx<'_>, id: &NodeId, status: Status, said: Option<String>) {
        self.settle(cx, id, status, None);
        if let Some(node) = self.nodes.get_mut(id) {
            node.output = said;
        }
    }

    fn compacted(
        &mut self,
        cx: &Cx<'_>,
        id: Option<&str>,
        trigger: Option<&str>,
        status: Status,
        said: Option<String>,
    ) {
        let id = self.open_compaction(cx, id);
        self.boundary(cx, &id, "compaction", trigger);
        self.end_boundary(cx, &id, status, said);
    }

    /// The compaction that an event ends: by its id, else the one that is running.
    fn open_compaction(&self, cx: &Cx<'_>, id: Option<&str>) -> NodeId {
        let running =
            || self.open.iter().rev().find(|id| id.kind() == NodeKind::Compaction).cloned();
        match id {
            Some(_) => compaction_id(cx, id),
            None => running().unwrap_or_else(|| compaction_id(cx, None)),
        }
    }

    pub(super) fn diagnostics_event(&mut self, cx: &Cx<'_>, event: &DiagnosticsEvent) {
        match event {
            DiagnosticsEvent::UsageUpdated(e) => {
                let tokens = Tokens {
                    input: e.input_tokens,
                    output: e.output_tokens,
                    cached_input: e.cached_input_tokens,
                    reasoning: e.reasoning_tokens,
                    estimated: estimated(e.input_source, e.output_source),
                };
                self.usage(cx, tokens, e.model.as_deref());
            }
            DiagnosticsEvent::LedgerReconciled(e) => {
                let known = |source, tokens| (source != UsageSource::Unknown).then_some(tokens);
                let tokens = Tokens {
                    input: known(e.input_source, e.input_tokens),
                    output: known(e.output_source, e.output_tokens),
                    estimated: estimated(Some(e.input_source), Some(e.output_source)),
                    ..Tokens::default()
                };
                self.usage(cx, tokens, e.model.as_deref());
            }
            DiagnosticsEvent::Fault(e) => {
                self.faults += 1;
                let tool = cx.scope().tool_call_id.as_ref();
                let tool = tool.map(|name| self.current(NodeKind::ToolCall, name.as_str()));
                let turn = cx.scope().turn_id.as_ref();
                let turn = turn.map(|name| NodeId::new(NodeKind::Turn, name.as_str()));
                let found =
                    [tool, turn].into_iter().flatten().find(|id| self.nodes.contains(id.as_ref()));
                if let Some(node) = found.and_then(|id| self.nodes.get_mut(&id)) {
                    node.failure_category.get_or_insert_with(|| preview::line(&e.code, 80));
                }
            }
            // Measurements and warnings are the diagnostics view's.
            DiagnosticsEvent::Warning(_)
            | DiagnosticsEvent::MetricsChanged(_)
            | DiagnosticsEvent::BudgetChecked(_)
            | DiagnosticsEvent::ProgressEvaluated(_)
            | DiagnosticsEvent::RateLimitHit(_) => {}
        }
    }

    /// Tokens stated apart from the model call that used them: by its message, else the newest call of the lane. Where
    /// no call was recorded the tokens tell of one, and nobody knows how it went.
    fn usage(&mut self, cx: &Cx<'_>, tokens: Tokens, model: Option<&str>) {
        let known = if let Some(message) = &cx.scope().message_id {
            let id = self.current(NodeKind::ModelCall, message.as_str());
            self.nodes.contains(id.as_ref()).then_some(id)
        } else {
            let lane = self.lane(cx);
            self.open_in(&lane, NodeKind::ModelCall).or_else(|| self.newest_call(&lane))
        };
        let call = known.or_else(|| {
            let id = self.model_call(cx)?;
            self.settle(cx, &id, Status::Unknown, None);
            Some(id)
        });
        let Some(id) = call else {
            return;
        };
        self.own_tokens(cx, &id, tokens);
        if let (Some(node), Some(model)) = (self.nodes.get_mut(&id), model) {
            node.model.get_or_insert_with(|| model.to_owned());
        }
    }

    fn newest_call(&self, lane: &NodeId) -> Option<NodeId> {
        let mut newest_first = self.nodes.iter().rev().take(256);
        newest_first
            .find(|node| node.kind() == NodeKind::ModelCall && node.lane.as_ref() == Some(lane))
            .map(|node| node.id.clone())
    }

    /// Keeps what a model call used. A second statement about the same call replaces an estimate, never adds to the
    /// first, and never makes it smaller.
    pub(super) fn own_tokens(&mut self, cx: &Cx<'_>, id: &NodeId, tokens: Tokens) {
        let Some(node) = self.nodes.get_mut(id) else {
            return;
        };
        let Some(before) = node.own_tokens.filter(|own| !own.estimated || tokens.estimated) else {
            node.own_tokens =
                Some(tokens).filter(|tokens| !tokens.is_unknown()).or(node.own_tokens);
            return;
        };
        if tokens.estimated && !before.estimated {
            return;
        }
        node.own_tokens = Some(before.at_least(tokens));
        let shrinks =
            |new: Option<u64>, old: Option<u64>| new.is_some_and(|n| old.is_some_and(|o| n < o));
        if shrinks(tokens.input, before.input) || shrinks(tokens.output, before.output) {
            let message =
                format!("A later count of {id} was smaller than the one before; it is ignored.");
            self.note(cx, "usage_went_down", id, message);
        }
    }
}

/// What a compaction brought.
fn sizes(e: &HistoryCompacted) -> Option<String> {
    match (e.before_tokens, e.after_tokens, e.before_chars, e.after_chars) {
        (Some(from), Some(to), _, _) => Some(format!("{from} → {to} tokens")),
        (_, _, Some(from), Some(to)) => Some(format!("{from} → {to} characters")),
        _ => preview::some_line(e.summary.as_deref(), preview::PREVIEW),
    }
}

fn estimated(input: Option<UsageSource>, output: Option<UsageSource>) -> bool {
    [input, output].contains(&Some(UsageSource::Estimated))
}

fn compaction_id(cx: &Cx<'_>, id: Option<&str>) -> NodeId {
    match id {
        Some(id) => NodeId::new(NodeKind::Compaction, id),
        None => numbered(NodeKind::Compaction, cx),
    }
}

/// What its source gives no id is named by the event that shows it.
pub(super) fn numbered(kind: NodeKind, cx: &Cx<'_>) -> NodeId {
    NodeId::new(kind, &format!("@{}", cx.sequence))
}
