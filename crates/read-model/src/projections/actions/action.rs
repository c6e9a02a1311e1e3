//! Owns one request to a person and what each event does to it. The transcript shows the same struct.

use event_spine::event::family::PolicyEvent;
use event_spine::event::family::policy as payload;
use event_spine::event::family::policy::Answer;
use event_spine::{ActionId, JsonText, RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::moment::{Elapsed, Moment};
use crate::projections::shared::readable;
use crate::text::Text;
use crate::window::Row;

/// Where an action stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// It waits for an answer.
    Pending,
    /// It was answered.
    Resolved,
    /// Nobody needs to answer any more.
    Cancelled,
    /// Nobody answered in time.
    Expired,
}

/// The answer to an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// What was decided.
    pub decision: String,
    /// `approved`, `rejected`, `denied`, `answered`.
    pub resolved_as: Option<String>,
    /// Who answered: `human`, `rule`, `session_memory`.
    pub source: Option<String>,
    /// Which person.
    pub decided_by: Option<String>,
    /// How long it holds: `once`, `session`, `always`.
    pub remember_scope: Option<String>,
    /// A structured answer, as text.
    pub response: Option<Text>,
    /// Arguments that replace the asked ones, as text.
    pub edited_arguments: Option<Text>,
    /// Why.
    pub reason: Option<String>,
}

impl Resolution {
    /// What the answer comes to.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer::of(&self.decision, self.resolved_as.as_deref())
    }
}

/// One request to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Where it belongs; `actionId` names it, `toolCallId` or `subagentId` say who asks.
    pub scope: Scope,
    /// `tool_permission`, `approval`, `question` …; absent when the request itself was never seen.
    pub action_type: Option<String>,
    /// Where it stands.
    pub state: ActionState,
    /// Short title for people.
    pub title: Option<String>,
    /// Why it is asked.
    pub reason: Option<String>,
    /// The tool that wants to run.
    pub tool_name: Option<String>,
    /// What it wants to run with, as text.
    pub arguments: Text,
    /// What an approval is bound to.
    pub arguments_hash: Option<String>,
    /// How dangerous it is, in the runtime's words.
    pub risk: Option<String>,
    /// The answers that are allowed.
    pub choices: Vec<String>,
    /// JSON Schema of a structured answer, unless it is too large for a view.
    pub response_schema: Option<JsonText>,
    /// After which time no answer counts, by the source's word. Only `action.expired` makes it so.
    pub expires_at: Option<String>,
    /// The rule that asks.
    pub rule_id: Option<String>,
    /// The answer.
    pub resolution: Option<Resolution>,
    /// Why it was cancelled.
    pub cancel_reason: Option<String>,
    /// How long it waited.
    pub waited: Elapsed,
    /// Answers, cancellations and requests that came after it was over, or again; they changed nothing.
    pub ignored: u32,
    /// True when it was closed and nothing says that it was asked.
    pub never_asked: bool,
    /// Its first event.
    pub first: Moment,
    /// When it was over.
    pub closed: Option<Moment>,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

impl Action {
    /// The action that the event is the first of.
    pub(crate) fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            action_type: None,
            state: ActionState::Pending,
            title: None,
            reason: None,
            tool_name: None,
            arguments: Text::default(),
            arguments_hash: None,
            risk: None,
            choices: Vec::new(),
            response_schema: None,
            expires_at: None,
            rule_id: None,
            resolution: None,
            cancel_reason: None,
            waited: Elapsed::OPEN,
            ignored: 0,
            never_asked: true,
            first: Moment::of(recorded),
            closed: None,
            last_sequence: recorded.sequence,
        }
    }

    /// Takes an event of this action.
    pub(crate) fn fold(&mut self, recorded: &RecordedEvent, event: &PolicyEvent, limit: usize) {
        let asks_again = matches!(event, PolicyEvent::ActionRequired(_)) && !self.never_asked;
        if self.state != ActionState::Pending || asks_again {
            self.ignored += 1;
            return;
        }
        match event {
            PolicyEvent::ActionRequired(required) => self.ask(required, limit),
            PolicyEvent::ActionResolved(resolved) => {
                let text = |json: &JsonText| Text::new(&readable(json), limit);
                self.resolution = Some(Resolution {
                    decision: resolved.decision.clone(),
                    resolved_as: resolved.resolved_as.clone(),
                    source: resolved.source.clone(),
                    decided_by: resolved.decided_by.clone(),
                    remember_scope: resolved.remember_scope.clone(),
                    response: resolved.response.as_ref().map(text),
                    edited_arguments: resolved.edited_arguments.as_ref().map(text),
                    reason: resolved.reason.clone(),
                });
                self.close(recorded, ActionState::Resolved);
            }
            PolicyEvent::ActionCancelled(cancelled) => {
                self.cancel_reason.clone_from(&cancelled.reason);
                self.close(recorded, ActionState::Cancelled);
            }
            PolicyEvent::ActionExpired(expired) => {
                if expired.expired_at.is_some() {
                    self.expires_at.clone_from(&expired.expired_at);
                }
                self.close(recorded, ActionState::Expired);
            }
            PolicyEvent::PermissionEvaluated(_)
            | PolicyEvent::PermissionDenied(_)
            | PolicyEvent::SandboxBlocked(_) => {}
        }
    }

    fn ask(&mut self, required: &payload::ActionRequired, limit: usize) {
        self.never_asked = false;
        self.action_type = Some(required.action_type.clone());
        self.title.clone_from(&required.title);
        self.reason.clone_from(&required.reason);
        self.tool_name.clone_from(&required.tool_name);
        if let Some(arguments) = &required.arguments {
            self.arguments.set(&readable(arguments), limit);
        }
        self.arguments_hash.clone_from(&required.arguments_hash);
        self.risk.clone_from(&required.risk);
        self.choices.clone_from(&required.choices);
        self.response_schema =
            required.response_schema.clone().filter(|schema| schema.as_str().len() <= limit);
        self.expires_at.clone_from(&required.expires_at);
        self.rule_id.clone_from(&required.rule_id);
    }

    fn close(&mut self, recorded: &RecordedEvent, state: ActionState) {
        self.state = state;
        self.last_sequence = recorded.sequence;
        self.closed = Some(Moment::of(recorded));
        if !self.never_asked {
            self.waited = Elapsed::between(&self.first.timestamp, &recorded.draft.timestamp);
        }
    }
}

impl Row for Action {
    type Key<'a> = &'a Option<ActionId>;

    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.action_id)
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        (self.state != ActionState::Pending).then_some(self.last_sequence)
    }

    fn weight(&self) -> usize {
        self.arguments.kept_bytes()
    }
}
