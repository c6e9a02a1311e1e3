//! Owns the fold over the events of a pack: what is counted, listed and correlated. Its memory grows with what a pack
//! lists (turns, approvals, failures, products), not with the events.
//!
//! Next: [`judge`](super::judge), which says how complete it is.

mod policy;
mod products;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use event_spine::event::family::{
    ContextEvent, DiagnosticsEvent, Event, LifecycleEvent, MessageEvent, TaskEvent,
};
use event_spine::integrity::leaf;
use event_spine::{ChainHash, EventType, RecordedEvent, RefKind, SessionId};

use super::model::{
    Approval, Body, BoundaryEntry, KnownGap, Missing, PackRange, ProductEntry, Redaction, Refusal,
    Review, Timeline, ToolSummary, TurnEntry, TurnOutcome,
};
use crate::projections::graph::ExecutionGraph;

/// Longest error text in a list, in characters; the event has the whole.
const ERROR: usize = 300;

/// Everything that was gathered.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) session: SessionId,
    pub(super) range: PackRange,
    pub(super) genesis: Option<ChainHash>,
    /// Chain value at the last event that could be read.
    pub(super) last: Option<ChainHash>,
    /// Chain value before the next event; absent behind a missing stretch.
    chain: Option<ChainHash>,
    pub(super) verified: u64,
    pub(super) fault: Option<(u64, String)>,
    pub(super) ids: BTreeMap<&'static str, BTreeSet<String>>,
    pub(super) by_type: BTreeMap<String, u64>,
    pub(super) timeline: Timeline,
    pub(super) tools: ToolSummary,
    pub(super) approvals: Vec<Approval>,
    pub(super) refusals: Vec<Refusal>,
    pub(super) artifacts: BTreeMap<String, ProductEntry>,
    pub(super) evidence: BTreeMap<String, ProductEntry>,
    pub(super) reviews: Vec<Review>,
    pub(super) redactions: Vec<Redaction>,
    pub(super) bodies: BTreeMap<String, Body>,
    pub(super) gaps: Vec<KnownGap>,
    pub(super) uncorrelated: BTreeMap<&'static str, u64>,
    pub(super) traced: u64,
    pub(super) interruptions: Vec<(u64, String, bool)>,
    pub(super) graph: ExecutionGraph,
    turn_at: HashMap<String, usize>,
    approval_at: HashMap<String, usize>,
    open_calls: HashMap<String, String>,
}

impl Facts {
    pub(super) fn new(session: SessionId) -> Self {
        Self {
            session,
            range: PackRange { from: 1, ..PackRange::default() },
            genesis: None,
            last: None,
            chain: None,
            verified: 0,
            fault: None,
            ids: BTreeMap::new(),
            by_type: BTreeMap::new(),
            timeline: Timeline::default(),
            tools: ToolSummary::default(),
            approvals: Vec::new(),
            refusals: Vec::new(),
            artifacts: BTreeMap::new(),
            evidence: BTreeMap::new(),
            reviews: Vec::new(),
            redactions: Vec::new(),
            bodies: BTreeMap::new(),
            gaps: Vec::new(),
            uncorrelated: BTreeMap::new(),
            traced: 0,
            interruptions: Vec::new(),
            graph: ExecutionGraph::default(),
            turn_at: HashMap::new(),
            approval_at: HashMap::new(),
            open_calls: HashMap::new(),
        }
    }

    /// Takes a stretch that could not be read.
    pub(super) fn miss(&mut self, missing: Missing) {
        let detail = format!(
            "Events {} to {} cannot be read: {}.",
            missing.from, missing.to, missing.reason
        );
        self.gaps.push(KnownGap {
            code: "events_unreadable".into(),
            sequence: missing.from,
            detail,
        });
        self.range.to = missing.to;
        self.chain = None; // it goes on from the next event's own word
        self.range.missing.push(missing);
    }

    /// Takes the next event.
    pub(super) fn take(&mut self, recorded: &RecordedEvent) {
        self.check_chain(recorded);
        let event = recorded.event();
        self.graph.apply(recorded, &event);
        self.range.to = recorded.sequence;
        self.range.events += 1;
        self.range.first_recorded_at.get_or_insert(recorded.recorded_at);
        self.range.last_recorded_at = Some(recorded.recorded_at);
        *self.by_type.entry(recorded.event_type().name().to_owned()).or_default() += 1;
        self.correlate(recorded);
        if matches!((recorded.event_type(), &event), (EventType::Known(_), Event::Unknown { .. })) {
            let detail = format!(
                "The payload of event {} does not have the shape of its type.",
                recorded.sequence
            );
            self.gaps.push(KnownGap {
                code: "payload_undecodable".into(),
                sequence: recorded.sequence,
                detail,
            });
        }
        match &event {
            Event::Lifecycle(event) => self.lifecycle(recorded, event),
            Event::Message(event) => self.message(recorded, event),
            Event::Tool(event) => self.tool(recorded, event),
            Event::Policy(event) => self.policy(recorded, event),
            Event::Artifact(event) => self.artifact(recorded, event),
            Event::Evidence(event) => self.evidence_event(recorded, event),
            Event::Context(event) => self.context(recorded, event),
            Event::Task(event) => self.task(recorded, event),
            Event::Diagnostics(event) => self.diagnostics(recorded, event),
            Event::Reasoning(_) | Event::Unknown { .. } => {} // in the pack as events, listed nowhere
        }
    }

    fn check_chain(&mut self, recorded: &RecordedEvent) {
        let genesis = ChainHash::genesis(&recorded.session_id);
        self.genesis.get_or_insert(genesis);
        let first = recorded.sequence == 1;
        let before = if first { Some(genesis) } else { self.chain };
        (self.chain, self.last) = (Some(recorded.chain), Some(recorded.chain));
        let Some(before) = before else {
            return; // behind a missing stretch: its chain value can only be taken as it is
        };
        let leaf = leaf(
            &recorded.session_id,
            recorded.sequence,
            recorded.recorded_at,
            &recorded.salt,
            &recorded.draft,
        );
        if before.next(&leaf) == recorded.chain {
            self.verified += 1;
        } else if self.fault.is_none() {
            let what = "its chain value does not follow from its content and the events before it";
            self.fault = Some((recorded.sequence, what.to_owned()));
        }
    }

    fn correlate(&mut self, recorded: &RecordedEvent) {
        let scope = recorded.scope();
        let ids = [
            ("recordedBy", Some(recorded.session_id.as_str())),
            ("runtimeIds", Some(recorded.draft.runtime_id.as_str())),
            ("threadIds", scope.thread_id.as_ref().map(|id| id.as_str())),
            ("turnIds", scope.turn_id.as_ref().map(|id| id.as_str())),
            ("taskIds", scope.task_id.as_ref().map(|id| id.as_str())),
            ("runIds", scope.run_id.as_ref().map(|id| id.as_str())),
            ("subagentIds", scope.subagent_id.as_ref().map(|id| id.as_str())),
            ("traceIds", scope.trace_id.as_ref().map(|id| id.as_str())),
        ];
        self.traced += u64::from(scope.trace_id.is_some());
        for (name, id) in ids {
            let Some(id) = id else {
                continue;
            };
            let known = self.ids.entry(name).or_default();
            if !known.contains(id) {
                known.insert(id.to_owned());
            }
        }
        for reference in recorded.draft.refs.to_vec() {
            let kind = match reference.kind {
                RefKind::Output => "output",
                RefKind::Raw => "raw",
                RefKind::Artifact | RefKind::Evidence | RefKind::Diagnostic | RefKind::Trace => {
                    continue;
                }
            };
            if reference.id.starts_with("blake3:") {
                self.bodies.entry(reference.id.clone()).or_insert_with(|| Body {
                    id: reference.id,
                    kind: kind.to_owned(),
                    media_type: reference.media_type,
                    size_bytes: reference.size_bytes,
                    first_sequence: recorded.sequence,
                    present: true,
                });
            }
        }
        if let Some(turn) = &scope.turn_id {
            self.turn(recorded, turn.as_str());
        }
    }

    /// The entry of the turn of an event; it begins with the first event that names it.
    fn turn(&mut self, recorded: &RecordedEvent, id: &str) -> Option<&mut TurnEntry> {
        let at = match self.turn_at.get(id) {
            Some(at) => *at,
            None => {
                self.timeline.turns.push(TurnEntry {
                    turn_id: id.to_owned(),
                    first_sequence: recorded.sequence,
                    last_sequence: recorded.sequence,
                    started_at: recorded.draft.timestamp.to_string(),
                    last_event_at: String::new(),
                    outcome: TurnOutcome::Open,
                    reason: None,
                    tool_calls: 0,
                });
                let at = self.timeline.turns.len() - 1;
                self.turn_at.insert(id.to_owned(), at);
                at
            }
        };
        let turn = self.timeline.turns.get_mut(at)?;
        turn.last_sequence = recorded.sequence;
        recorded.draft.timestamp.as_str().clone_into(&mut turn.last_event_at);
        Some(turn)
    }

    fn lifecycle(&mut self, recorded: &RecordedEvent, event: &LifecycleEvent) {
        let (outcome, reason) = match event {
            LifecycleEvent::TurnCompleted(e) => (TurnOutcome::Completed, e.reason.clone()),
            LifecycleEvent::TurnFailed(e) => {
                (TurnOutcome::Failed, Some(e.failure_category.clone()))
            }
            LifecycleEvent::TurnCanceled(e) => (TurnOutcome::Canceled, e.reason.clone()),
            LifecycleEvent::TurnSubmitted(_)
            | LifecycleEvent::TurnStarted(_)
            | LifecycleEvent::RunStatus(_)
            | LifecycleEvent::QueueChanged(_) => return,
        };
        let Some(id) = recorded.scope().turn_id.clone() else {
            return;
        };
        if let Some(turn) = self.turn(recorded, id.as_str()) {
            (turn.outcome, turn.reason) = (outcome, reason);
        }
    }

    fn message(&mut self, recorded: &RecordedEvent, event: &MessageEvent) {
        match event {
            MessageEvent::ModelRequested(_)
            | MessageEvent::ModelCompleted(_)
            | MessageEvent::ModelFailed(_) => {
                if recorded.scope().message_id.is_none() {
                    *self.uncorrelated.entry("model").or_default() += 1;
                }
            }
            MessageEvent::ModelDelta(_) | MessageEvent::MessagesSnapshot(_) => {}
        }
    }

    fn task(&mut self, recorded: &RecordedEvent, event: &TaskEvent) {
        match event {
            TaskEvent::SubagentStarted(e) => {
                let placed = e.parent_subagent_id.is_some() || e.parent_tool_call_id.is_some();
                if !placed && recorded.scope().turn_id.is_none() {
                    *self.uncorrelated.entry("subagent").or_default() += 1;
                }
            }
            TaskEvent::TaskCreated(_)
            | TaskEvent::TaskUpdated(_)
            | TaskEvent::SubagentStatus(_)
            | TaskEvent::SubagentCompleted(_)
            | TaskEvent::SubagentFailed(_)
            | TaskEvent::JobQueued(_)
            | TaskEvent::ChannelMessage(_) => {}
        }
    }

    fn diagnostics(&mut self, recorded: &RecordedEvent, event: &DiagnosticsEvent) {
        match event {
            DiagnosticsEvent::UsageUpdated(_) | DiagnosticsEvent::LedgerReconciled(_) => {
                let scope = recorded.scope();
                if scope.message_id.is_none() && scope.step_id.is_none() {
                    *self.uncorrelated.entry("usage").or_default() += 1;
                }
            }
            DiagnosticsEvent::Warning(_)
            | DiagnosticsEvent::Fault(_)
            | DiagnosticsEvent::MetricsChanged(_)
            | DiagnosticsEvent::BudgetChecked(_)
            | DiagnosticsEvent::ProgressEvaluated(_)
            | DiagnosticsEvent::RateLimitHit(_) => {}
        }
    }

    fn context(&mut self, recorded: &RecordedEvent, event: &ContextEvent) {
        let detail = match event {
            ContextEvent::HistoryCompacted(e) => match (e.before_tokens, e.after_tokens) {
                (Some(from), Some(to)) => format!("from {from} to {to} tokens"),
                _ => "sizes not stated".to_owned(),
            },
            ContextEvent::CompactionFailed(e) => head(&e.error),
            ContextEvent::HistoryRolledBack(e) => {
                e.to_sequence.map_or_else(String::new, |to| format!("to event {to}"))
            }
            ContextEvent::SessionForked(e) => {
                format!("from {} at event {}", e.parent_session_id, e.parent_sequence)
            }
            ContextEvent::StreamInterrupted(e) => {
                self.interruptions.push((recorded.sequence, head(&e.reason), false));
                head(&e.reason)
            }
            ContextEvent::StreamRepaired(e) => {
                if let Some(open) = self.interruptions.iter_mut().rev().find(|i| !i.2) {
                    open.2 = e.lost.unwrap_or(0) == 0;
                }
                e.detail.as_deref().map(head).unwrap_or_default()
            }
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::ContextMissing(_)
            | ContextEvent::CompactionStarted(_)
            | ContextEvent::CompactionCompleted(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_) => return,
        };
        let event_type = recorded.event_type().name().to_owned();
        let sequence = recorded.sequence;
        self.timeline.boundaries.push(BoundaryEntry { sequence, event_type, detail });
    }
}

pub(super) fn head(text: &str) -> String {
    match text.char_indices().nth(ERROR) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
