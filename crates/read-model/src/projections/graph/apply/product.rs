//! Owns what artifacts and evidence do to the graph.

use event_spine::event::family::{ArtifactEvent, EvidenceEvent};
use event_spine::event::value::{ArtifactChange, EvidenceStatus, Verdict};

use super::tool::keep_ref;
use crate::projections::graph::node::{EdgeKind, Node, NodeId, NodeKind, Status};
use crate::projections::graph::place::Place;
use crate::projections::graph::preview;
use crate::projections::graph::state::{Cx, ExecutionGraph};

impl ExecutionGraph {
    pub(super) fn artifact(&mut self, cx: &Cx<'_>, event: &ArtifactEvent) {
        let Some(name) = cx.scope().artifact_id.as_ref() else {
            return;
        };
        let makes = !matches!(event, ArtifactEvent::ArtifactExported(_));
        let id = self.product(cx, NodeKind::Artifact, name.as_str(), makes);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        match event {
            ArtifactEvent::ArtifactChanged(e) => {
                node.status = match e.change {
                    ArtifactChange::Created | ArtifactChange::Updated => Status::Succeeded,
                    ArtifactChange::Deleted => Status::Cancelled,
                    ArtifactChange::Failed => Status::Failed,
                    ArtifactChange::Unknown => Status::Unknown,
                };
                name_product(node, e.title.as_deref().or(e.path.as_deref()));
                let about = e.preview.as_deref().or(e.path.as_deref()).or(e.kind.as_deref());
                node.input = preview::some_line(about, preview::PREVIEW).or(node.input.take());
                keep_ref(node, e.read_ref.as_ref());
                node.revisions += 1;
            }
            ArtifactEvent::ArtifactVersioned(e) => {
                name_product(node, e.title.as_deref());
                node.output = preview::some_line(Some(&e.version_id), preview::TITLE);
                keep_ref(node, e.read_ref.as_ref());
                node.revisions += 1;
            }
            ArtifactEvent::ArtifactExported(e) => {
                node.output = preview::some_line(Some(&e.target), preview::PREVIEW);
            }
        }
    }

    pub(super) fn evidence(&mut self, cx: &Cx<'_>, event: &EvidenceEvent) {
        let Some(name) = cx.scope().evidence_id.as_ref() else {
            return;
        };
        let makes = matches!(event, EvidenceEvent::EvidenceChanged(_));
        let id = self.product(cx, NodeKind::Evidence, name.as_str(), makes);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        match event {
            EvidenceEvent::EvidenceChanged(e) => {
                node.status = match e.status {
                    Some(EvidenceStatus::Collecting) => Status::Running,
                    Some(EvidenceStatus::Ready | EvidenceStatus::Verified) => Status::Succeeded,
                    Some(EvidenceStatus::Partial) => Status::Partial,
                    Some(EvidenceStatus::Disputed | EvidenceStatus::Invalid) => Status::Failed,
                    Some(EvidenceStatus::Stale | EvidenceStatus::Unknown) | None => Status::Unknown,
                };
                name_product(node, e.title.as_deref().or(e.location.as_deref()));
                let about = e.claim.as_deref().or(e.summary.as_deref()).or(e.location.as_deref());
                node.input = preview::some_line(about, preview::PREVIEW).or(node.input.take());
                node.revisions += 1;
            }
            EvidenceEvent::EvidenceExported(e) => {
                node.output = preview::some_line(e.target.as_deref(), preview::PREVIEW);
                if node.revisions == 0 {
                    node.status = Status::Succeeded; // known by its export alone
                }
            }
            EvidenceEvent::ReviewVerdict(e) => {
                node.status = match e.verdict {
                    Verdict::Approved | Verdict::Waived => Status::Succeeded,
                    Verdict::Rejected => Status::Denied,
                    Verdict::NeedsChanges => Status::Partial,
                    Verdict::Escalated => Status::Waiting,
                    Verdict::Informational | Verdict::Unknown => node.status,
                };
                node.output = preview::some_line(Some(e.verdict.as_str()), preview::TITLE);
                node.decided_by = preview::some_line(e.reviewer.as_deref(), preview::TITLE);
            }
        }
    }

    /// Finds or makes the node of a product and ties it to the call, or else the turn, that made this version of it.
    fn product(&mut self, cx: &Cx<'_>, kind: NodeKind, name: &str, makes: bool) -> NodeId {
        let id = NodeId::new(kind, name);
        let maker = self.maker(cx);
        if !self.nodes.contains(id.as_ref()) {
            let place = self.product_place(cx, maker.as_ref());
            self.add(cx, id.clone(), &place, preview::line(name, preview::TITLE));
            if let Some(node) = self.nodes.get_mut(&id) {
                node.status = Status::Unknown;
            }
            self.products.push_back(id.clone());
        }
        if let Some(node) = self.nodes.get_mut(&id) {
            node.last_sequence = cx.sequence;
        }
        if let Some(maker) = maker.filter(|_| makes) {
            self.tie(cx, EdgeKind::Produced, &maker, &id, None);
        }
        id
    }

    /// The call that an event names, else the model call, else the turn.
    fn maker(&self, cx: &Cx<'_>) -> Option<NodeId> {
        let scope = cx.scope();
        let tool =
            scope.tool_call_id.as_ref().map(|n| self.current(NodeKind::ToolCall, n.as_str()));
        let model =
            scope.message_id.as_ref().map(|n| self.current(NodeKind::ModelCall, n.as_str()));
        let turn = scope.turn_id.as_ref().map(|n| NodeId::new(NodeKind::Turn, n.as_str()));
        [tool, model, turn].into_iter().flatten().find(|id| self.nodes.contains(id.as_ref()))
    }

    fn product_place(&mut self, cx: &Cx<'_>, maker: Option<&NodeId>) -> Place {
        if let Some(maker) = maker.and_then(|maker| self.nodes.get(maker))
            && maker.kind() != NodeKind::Turn
        {
            let (lane, band, parent) =
                (maker.lane.clone(), maker.band.clone(), maker.parent.clone());
            return Place { lane, band, parent };
        }
        let scoped = cx.scope().turn_id.is_some() || cx.scope().subagent_id.is_some();
        if scoped { self.place_in_turn(cx).unwrap_or_default() } else { Place::default() }
    }
}

fn name_product(node: &mut Node, title: Option<&str>) {
    if let Some(title) = preview::some_line(title, preview::TITLE) {
        node.title = title;
    }
}
