//! Owns which part each event goes to.

use event_spine::event::family::lifecycle::TurnSubmitted;
use event_spine::event::family::{
    ArtifactEvent, ContextEvent, EvidenceEvent, LifecycleEvent, MessageEvent, PolicyEvent,
    ReasoningEvent, TaskEvent, ToolEvent,
};
use event_spine::event::value::{PlanItem, Role};
use event_spine::{RecordedEvent, TurnId};

use super::state::{
    ArtifactPart, Body, ContextPart, ErrorPart, EvidencePart, MessagePart, Part, PartKey,
    PartState, PlanPart, ReasoningPart, Slot, TextPart, Transcript,
};
use super::text::{Stated, attachments, joined};
use crate::projection::Applied;
use crate::projections::actions::Action;
use crate::projections::shared::{spilled, spilled_under};
use crate::projections::tools::{ToolCall, call_can_begin_with, call_is_concerned_by};
use crate::text::Text;

/// Items of a plan that a view holds.
const PLAN_ITEMS: usize = 100;

impl Transcript {
    pub(super) fn lifecycle(
        &mut self,
        recorded: &RecordedEvent,
        event: &LifecycleEvent,
    ) -> Applied {
        match event {
            LifecycleEvent::TurnSubmitted(submitted) => self.submitted(recorded, submitted),
            LifecycleEvent::TurnCompleted(_) => self.end_turn(recorded, PartState::Final),
            LifecycleEvent::TurnFailed(failed) => {
                self.end_turn(recorded, PartState::Interrupted);
                self.add(
                    recorded,
                    Body::Error(ErrorPart {
                        category: failed.failure_category.clone(),
                        message: failed.error.clone().or_else(|| failed.detail.clone()),
                        recovery: failed.recovery.clone(),
                        retryable: None,
                    }),
                )
            }
            LifecycleEvent::TurnCanceled(_) => self.end_turn(recorded, PartState::Interrupted),
            LifecycleEvent::TurnStarted(_)
            | LifecycleEvent::RunStatus(_)
            | LifecycleEvent::QueueChanged(_) => Applied::Unchanged,
        }
    }

    fn submitted(&mut self, recorded: &RecordedEvent, submitted: &TurnSubmitted) -> Applied {
        let mut part = TextPart::new(submitted.role.unwrap_or(Role::User));
        let joined = joined(&submitted.parts);
        if let Some(text) = submitted.text.as_deref().or(joined.as_deref()) {
            part.text = Text::new(text, self.text_bytes);
        }
        part.attachments = attachments(&submitted.parts);
        part.content_ref = submitted.input_ref.clone().or_else(|| {
            let whole = spilled(recorded, "/text");
            whole.or_else(|| spilled_under(recorded, "/parts")).map(|whole| whole.id)
        });
        part.shortened = part.content_ref.is_some();
        self.add(recorded, part.into_body())
    }

    /// A turn is over: what still streams stands as it is, calls without a result are interrupted, and what waits for
    /// a person goes on waiting.
    fn end_turn(&mut self, recorded: &RecordedEvent, state: PartState) -> Applied {
        let Some(turn) = &recorded.draft.scope.turn_id else {
            return Applied::Unchanged;
        };
        let of_turn = |part: &Part| part.scope.turn_id.as_ref() == Some(turn);
        let closed = self.parts.update_open(
            |part| of_turn(part) && !matches!(part.body, Body::Action(_)),
            |part| match &mut part.body {
                Body::ToolCall(call) => {
                    call.interrupt(recorded);
                    part.state = PartState::Final;
                    part.last_sequence = recorded.sequence;
                }
                Body::AgentTask(_) | Body::AgentHandoff(_) => {} // they may outlive the turn
                _ => {
                    part.state = state;
                    part.last_sequence = recorded.sequence;
                }
            },
        );
        Applied::when(closed > 0)
    }

    pub(super) fn message(&mut self, recorded: &RecordedEvent, event: &MessageEvent) -> Applied {
        match event {
            MessageEvent::ModelRequested(_) => self.requested(recorded),
            MessageEvent::ModelDelta(delta) => {
                let role = delta.role.unwrap_or(Role::Assistant);
                match Slot::of_role(role) {
                    Slot::Reasoning => self.reason(recorded, &delta.delta),
                    slot => {
                        let blank = || TextPart::new(role).into_body();
                        self.delta(recorded, slot, &delta.delta, blank)
                    }
                }
            }
            MessageEvent::ModelCompleted(completed) => self.completed(recorded, completed),
            MessageEvent::ModelFailed(failed) => self.failed(recorded, failed),
            MessageEvent::MessagesSnapshot(snapshot) => self.snapshot(recorded, snapshot),
        }
    }

    fn reason(&mut self, recorded: &RecordedEvent, piece: &str) -> Applied {
        let blank = || Body::Reasoning(ReasoningPart::default());
        self.delta(recorded, Slot::Reasoning, piece, blank)
    }

    pub(super) fn reasoning(
        &mut self,
        recorded: &RecordedEvent,
        event: &ReasoningEvent,
    ) -> Applied {
        match event {
            ReasoningEvent::ReasoningDelta(delta) => self.reason(recorded, &delta.delta),
            ReasoningEvent::ReasoningSummary(summary) => {
                let place = self
                    .streamed(Slot::Reasoning, &recorded.draft.scope)
                    .first()
                    .copied()
                    .unwrap_or_else(|| {
                        let body = Body::Reasoning(ReasoningPart::default());
                        self.parts.push(Part::new(recorded, PartState::Streaming, body))
                    });
                if !summary.text.is_empty() {
                    self.put(place, &Stated::of(recorded, &summary.text));
                }
                self.parts.update_at(place, |part| {
                    if let Body::Reasoning(part) = &mut part.body {
                        part.is_summary = true;
                        part.encrypted |= summary.encrypted;
                    }
                });
                self.finish(place, recorded, PartState::Final);
                Applied::Changed
            }
            ReasoningEvent::PlanDelta(delta) => self.plan(recorded, PartState::Streaming, |plan| {
                if delta.replace {
                    plan.set(&delta.items);
                } else {
                    plan.merge(&delta.items);
                }
                delta.text.as_deref().map(|piece| (piece.to_owned(), false))
            }),
            ReasoningEvent::PlanFinal(stands) => self.plan(recorded, PartState::Final, |plan| {
                plan.set(&stands.items);
                stands.text.as_deref().map(|text| (text.to_owned(), true))
            }),
        }
    }

    /// Changes the plan of the turn. `change` gives a text and whether it is the whole of it.
    fn plan(
        &mut self,
        recorded: &RecordedEvent,
        state: PartState,
        change: impl FnOnce(&mut PlanPart) -> Option<(String, bool)>,
    ) -> Applied {
        let limit = self.text_bytes;
        let scope = &recorded.draft.scope;
        let place = self.streamed(Slot::Plan, scope).first().copied().unwrap_or_else(|| {
            let body = Body::Plan(PlanPart::default());
            self.parts.push(Part::new(recorded, PartState::Streaming, body))
        });
        self.parts.update_at(place, |part| {
            if let Body::Plan(plan) = &mut part.body {
                match change(plan) {
                    Some((text, true)) => plan.text.set(&text, limit),
                    Some((piece, false)) => plan.text.push(&piece, limit),
                    None => {}
                }
            }
            part.last_sequence = recorded.sequence;
        });
        if state == PartState::Final {
            self.finish(place, recorded, PartState::Final);
        }
        Applied::Changed
    }

    pub(super) fn tool(&mut self, recorded: &RecordedEvent, event: &ToolEvent) -> Applied {
        let Some(id) = &recorded.draft.scope.tool_call_id else {
            return Applied::Unchanged;
        };
        if !call_is_concerned_by(event) {
            return Applied::Unchanged;
        }
        let begins = matches!(event, ToolEvent::ToolStarted(_) | ToolEvent::ToolArgs(_));
        let found = self.parts.place(PartKey::Tool(id));
        let place = match found {
            Some(place) if !(begins && self.call_is_over(place)) => place,
            None if !call_can_begin_with(event) => return Applied::Unchanged,
            _ => {
                self.break_unnamed(&recorded.draft.scope);
                let call = Body::ToolCall(Box::new(ToolCall::new(recorded)));
                self.parts.push(Part::new(recorded, PartState::Streaming, call))
            }
        };
        let limit = self.preview_bytes;
        self.parts.update_at(place, |part| {
            if let Body::ToolCall(call) = &mut part.body {
                call.fold(recorded, event, limit);
                if call.status.is_end() {
                    part.state = PartState::Final;
                }
            }
            part.last_sequence = recorded.sequence;
        });
        Applied::Changed
    }

    fn call_is_over(&self, place: crate::window::Place) -> bool {
        self.parts
            .at(place)
            .is_some_and(|part| matches!(&part.body, Body::ToolCall(call) if call.status.is_end()))
    }

    pub(super) fn policy(&mut self, recorded: &RecordedEvent, event: &PolicyEvent) -> Applied {
        match event {
            PolicyEvent::ActionRequired(_)
            | PolicyEvent::ActionResolved(_)
            | PolicyEvent::ActionCancelled(_)
            | PolicyEvent::ActionExpired(_) => {}
            // A denied tool shows as the end of its call; the decisions stand in the view of actions.
            PolicyEvent::PermissionEvaluated(_)
            | PolicyEvent::PermissionDenied(_)
            | PolicyEvent::SandboxBlocked(_) => return Applied::Unchanged,
        }
        let Some(id) = &recorded.draft.scope.action_id else {
            return Applied::Unchanged;
        };
        let asks = matches!(event, PolicyEvent::ActionRequired(_));
        let found = self.parts.place(PartKey::Action(id));
        let is_over = found
            .and_then(|place| self.parts.at(place))
            .is_some_and(|part| part.state != PartState::Streaming);
        let place = match found {
            Some(place) if !(asks && is_over) => place,
            _ => {
                let action = Body::Action(Box::new(Action::new(recorded)));
                self.parts.push(Part::new(recorded, PartState::Streaming, action))
            }
        };
        let limit = self.preview_bytes;
        self.parts.update_at(place, |part| {
            if let Body::Action(action) = &mut part.body {
                action.fold(recorded, event, limit);
                if action.closed.is_some() && part.state == PartState::Streaming {
                    part.state = PartState::Final;
                    part.last_sequence = recorded.sequence;
                }
            }
        });
        Applied::Changed
    }

    pub(super) fn artifact(&mut self, recorded: &RecordedEvent, event: &ArtifactEvent) -> Applied {
        let Some(id) = &recorded.draft.scope.artifact_id else {
            return Applied::Unchanged;
        };
        let turn = &recorded.draft.scope.turn_id;
        let news = match event {
            ArtifactEvent::ArtifactChanged(changed) => ArtifactPart {
                change: changed.change.as_str().into(),
                title: changed.title.clone().or_else(|| changed.path.clone()),
                version_id: changed.version_id.clone(),
            },
            ArtifactEvent::ArtifactVersioned(versioned) => ArtifactPart {
                change: "versioned".into(),
                title: versioned.title.clone(),
                version_id: Some(versioned.version_id.clone()),
            },
            ArtifactEvent::ArtifactExported(exported) => ArtifactPart {
                change: "exported".into(),
                title: None,
                version_id: exported.version_id.clone(),
            },
        };
        let known = self.parts.place(PartKey::Artifact(id, turn));
        let updated = self.parts.update_at(known, |part| {
            if let Body::ArtifactRef(part) = &mut part.body {
                part.change.clone_from(&news.change);
                part.title = news.title.clone().or_else(|| part.title.take());
                part.version_id = news.version_id.clone().or_else(|| part.version_id.take());
            }
            part.last_sequence = recorded.sequence;
        });
        match updated {
            Some(()) => Applied::Changed,
            None => self.add(recorded, Body::ArtifactRef(news)),
        }
    }

    pub(super) fn evidence(&mut self, recorded: &RecordedEvent, event: &EvidenceEvent) -> Applied {
        let Some(id) = &recorded.draft.scope.evidence_id else {
            return Applied::Unchanged;
        };
        let turn = &recorded.draft.scope.turn_id;
        let news = match event {
            EvidenceEvent::EvidenceChanged(changed) => EvidencePart {
                title: changed.title.clone().or_else(|| changed.kind.clone()),
                status: changed.status.map(|status| status.as_str().into()),
                location: changed.location.clone(),
            },
            EvidenceEvent::EvidenceExported(exported) => EvidencePart {
                title: None,
                status: Some("exported".into()),
                location: exported.target.clone(),
            },
            EvidenceEvent::ReviewVerdict(verdict) => EvidencePart {
                title: None,
                status: Some(verdict.verdict.as_str().into()),
                location: None,
            },
        };
        let known = self.parts.place(PartKey::Evidence(id, turn));
        let updated = self.parts.update_at(known, |part| {
            if let Body::EvidenceRef(part) = &mut part.body {
                part.title = news.title.clone().or_else(|| part.title.take());
                part.status = news.status.clone().or_else(|| part.status.take());
                part.location = news.location.clone().or_else(|| part.location.take());
            }
            part.last_sequence = recorded.sequence;
        });
        match updated {
            Some(()) => Applied::Changed,
            None => self.add(recorded, Body::EvidenceRef(news)),
        }
    }

    pub(super) fn task(&mut self, recorded: &RecordedEvent, event: &TaskEvent) -> Applied {
        let limit = self.preview_bytes;
        match event {
            TaskEvent::SubagentStarted(started) => {
                let part = MessagePart {
                    from: started.name.clone(),
                    to: None,
                    text: Text::new(started.objective.as_deref().unwrap_or_default(), limit),
                    status: Some("running".into()),
                    result: None,
                };
                let body = match started.handoff {
                    true => Body::AgentHandoff(part),
                    false => Body::AgentTask(part),
                };
                let running = Part::new(recorded, PartState::Streaming, body);
                self.parts.push(running);
                Applied::Changed
            }
            TaskEvent::SubagentStatus(status) => self.agent(recorded, &status.status, None, false),
            TaskEvent::SubagentCompleted(completed) => {
                self.agent(recorded, "completed", completed.summary.as_deref(), true)
            }
            TaskEvent::SubagentFailed(failed) => {
                let error = failed.error.as_deref().unwrap_or(&failed.failure_category);
                self.agent(recorded, "failed", Some(error), true)
            }
            TaskEvent::ChannelMessage(message) => self.add(
                recorded,
                Body::WorkerNotification(MessagePart {
                    from: message.from.clone(),
                    to: message.to.clone(),
                    text: Text::new(message.text.as_deref().unwrap_or_default(), limit),
                    status: message.kind.clone(),
                    result: None,
                }),
            ),
            TaskEvent::TaskCreated(_) | TaskEvent::TaskUpdated(_) | TaskEvent::JobQueued(_) => {
                Applied::Unchanged
            }
        }
    }

    fn agent(
        &mut self,
        recorded: &RecordedEvent,
        status: &str,
        result: Option<&str>,
        over: bool,
    ) -> Applied {
        let limit = self.preview_bytes;
        let Some(id) = &recorded.draft.scope.subagent_id else {
            return Applied::Unchanged;
        };
        let updated = self.parts.update_at(self.parts.place(PartKey::Agent(id)), |part| {
            if let Body::AgentTask(agent) | Body::AgentHandoff(agent) = &mut part.body {
                agent.status = Some(status.into());
                if let Some(result) = result {
                    agent.result = Some(Text::new(result, limit));
                }
            }
            if over {
                part.state = PartState::Final;
            }
            part.last_sequence = recorded.sequence;
        });
        Applied::when(updated.is_some())
    }

    pub(super) fn context(&mut self, recorded: &RecordedEvent, event: &ContextEvent) -> Applied {
        let part = |what: &str, name: Option<&String>| ContextPart {
            what: what.into(),
            name: name.cloned(),
            summary: None,
        };
        let part = match event {
            ContextEvent::ContextAttached(e) => {
                part("attached", e.name.as_ref().or(e.skill_id.as_ref()).or(Some(&e.kind)))
            }
            ContextEvent::ContextDetached(e) => {
                part("detached", e.name.as_ref().or(e.skill_id.as_ref()).or(Some(&e.kind)))
            }
            ContextEvent::ContextMissing(e) => {
                part("missing", e.name.as_ref().or(e.skill_id.as_ref()).or(Some(&e.kind)))
            }
            ContextEvent::HistoryCompacted(e) => ContextPart {
                summary: e.summary.as_deref().map(|text| Text::new(text, self.preview_bytes)),
                ..part("compacted", e.trigger.as_ref())
            },
            ContextEvent::HistoryRolledBack(e) => {
                if let Some(to) = e.to_sequence {
                    let undone = |part: &Part| part.first.sequence > to;
                    self.parts.update_all(undone, |part| part.rolled_back = true);
                }
                part("rolled_back", e.reason.as_ref())
            }
            ContextEvent::SessionForked(e) => part("forked", Some(&e.parent_session_id)),
            // These concern the read model itself, or the source's own state; other views show them.
            ContextEvent::CompactionStarted(_)
            | ContextEvent::CompactionCompleted(_)
            | ContextEvent::CompactionFailed(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_)
            | ContextEvent::StreamInterrupted(_)
            | ContextEvent::StreamRepaired(_) => return Applied::Unchanged,
        };
        self.add(recorded, Body::ContextEvent(part))
    }

    /// Adds a part that is whole.
    pub(super) fn add(&mut self, recorded: &RecordedEvent, body: Body) -> Applied {
        self.parts.push(Part::new(recorded, PartState::Final, body));
        Applied::Changed
    }

    /// The parts of a turn that are here.
    pub fn turn<'a>(&'a self, turn: &'a TurnId) -> impl Iterator<Item = &'a Part> {
        self.parts.iter().filter(move |part| part.scope.turn_id.as_ref() == Some(turn))
    }
}

impl PlanPart {
    fn set(&mut self, items: &[PlanItem]) {
        self.items.clear();
        self.more_items = 0;
        self.merge(items);
    }

    /// Changes the items that are known by their id, or by their text where they have none, and adds the others.
    fn merge(&mut self, items: &[PlanItem]) {
        for item in items {
            let same = |known: &&mut PlanItem| match (&known.id, &item.id) {
                (Some(known), Some(id)) => known == id,
                (None, None) => known.text == item.text,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if let Some(known) = self.items.iter_mut().find(same) {
                known.clone_from(item);
            } else if self.items.len() < PLAN_ITEMS {
                self.items.push(item.clone());
            } else {
                self.more_items += 1;
            }
        }
    }
}
