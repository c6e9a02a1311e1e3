//! Owns what a rule or a sandbox decided without asking anybody.

use event_spine::event::family::PolicyEvent;
use event_spine::{RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::window::Row;

/// What sort of decision it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDecisionKind {
    /// A permission rule was applied.
    PermissionEvaluated,
    /// A permission rule refused.
    PermissionDenied,
    /// The sandbox stopped an operation.
    SandboxBlocked,
}

/// One decision of a rule or a sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDecision {
    /// What it was about.
    pub scope: Scope,
    /// What sort of decision it was.
    pub kind: PolicyDecisionKind,
    /// What was decided, in the source's words: `allow`, `deny`, `ask`, `sandboxed`, `blocked`.
    pub decision: String,
    /// The tool.
    pub tool_name: Option<String>,
    /// Where the rule stands.
    pub source: Option<String>,
    /// The rule.
    pub rule_id: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What was tried, for a sandbox.
    pub operation: Option<String>,
    /// What was to be touched.
    pub target: Option<String>,
    /// The sandbox profile in force.
    pub sandbox_mode: Option<String>,
    /// When.
    pub at: Moment,
}

impl PolicyDecision {
    /// The decision that the event is, if it is one.
    pub(super) fn of(recorded: &RecordedEvent, event: &PolicyEvent) -> Option<Self> {
        let blank = Self {
            scope: recorded.draft.scope.clone(),
            kind: PolicyDecisionKind::PermissionEvaluated,
            decision: String::new(),
            tool_name: None,
            source: None,
            rule_id: None,
            reason: None,
            operation: None,
            target: None,
            sandbox_mode: None,
            at: Moment::of(recorded),
        };
        match event {
            PolicyEvent::PermissionEvaluated(evaluated) => Some(Self {
                decision: evaluated.decision.clone(),
                tool_name: evaluated.tool_name.clone(),
                source: evaluated.source.clone(),
                rule_id: evaluated.rule_id.clone(),
                reason: evaluated.reason.clone(),
                ..blank
            }),
            PolicyEvent::PermissionDenied(denied) => Some(Self {
                kind: PolicyDecisionKind::PermissionDenied,
                decision: "deny".into(),
                tool_name: denied.tool_name.clone(),
                source: denied.source.clone(),
                rule_id: denied.rule_id.clone(),
                reason: Some(denied.reason.clone()),
                target: denied.target.clone(),
                ..blank
            }),
            PolicyEvent::SandboxBlocked(blocked) => Some(Self {
                kind: PolicyDecisionKind::SandboxBlocked,
                decision: "blocked".into(),
                reason: Some(blocked.reason.clone()),
                operation: blocked.operation.clone(),
                target: blocked.target.clone(),
                sandbox_mode: blocked.sandbox_mode.clone(),
                ..blank
            }),
            PolicyEvent::ActionRequired(_)
            | PolicyEvent::ActionResolved(_)
            | PolicyEvent::ActionCancelled(_)
            | PolicyEvent::ActionExpired(_) => None,
        }
    }
}

impl Row for PolicyDecision {
    type Key<'a> = ();

    fn key(&self) -> Option<()> {
        None
    }

    fn first(&self) -> u64 {
        self.at.sequence
    }

    fn settled(&self) -> Option<u64> {
        Some(self.at.sequence)
    }
}
