//! Owns the state of the transcript: the parts, what each can be, and what a part is found by.

use std::hash::{Hash, Hasher};

use event_spine::event::value::{PlanItem, Reconciliation, Role};
use event_spine::{
    ActionId, ArtifactId, EvidenceId, MessageId, PartId, RecordedEvent, Scope, SubagentId,
    ThreadId, ToolCallId, TurnId,
};
use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::projections::actions::{Action, ActionState};
use crate::projections::tools::ToolCall;
use crate::text::Text;
use crate::window::{Row, Window};

/// The conversation of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The parts, in the order of their first events.
    pub parts: Window<Part>,
    /// How final texts related to what was streamed.
    pub reconciled: Reconciled,
    #[serde(skip)]
    pub(super) text_bytes: usize,
    #[serde(skip)]
    pub(super) preview_bytes: usize,
}

/// How final texts related to what was streamed, over the whole session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconciled {
    /// Equal.
    pub confirmed: u64,
    /// Different in places.
    pub corrected: u64,
    /// Another text altogether.
    pub replaced: u64,
    /// Pieces that came after their text was final; they were not added.
    pub late_pieces: u64,
    /// Messages of a stated message list that could not be matched with anything; they were not added.
    pub unmatched: u64,
}

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// More of it may come.
    Streaming,
    /// It stands.
    Final,
    /// It was cut off; this is what there is of it.
    Interrupted,
    /// It was cut off and another try took its place.
    Superseded,
}

impl PartState {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Final => "final",
            Self::Interrupted => "interrupted",
            Self::Superseded => "superseded",
        }
    }
}

/// One part of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Its first event.
    pub first: Moment,
    /// Sequence of its newest event.
    pub last_sequence: u64,
    /// Where it belongs. A part with a `subagentId` is in the transcript of that sub-agent.
    pub scope: Scope,
    /// Where it stands.
    pub state: PartState,
    /// True when the conversation went back to before it.
    pub rolled_back: bool,
    /// What it is.
    pub body: Body,
}

/// What a part is. In JSON an object with one member, named by the kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// What a person or a program put in.
    UserText(TextPart),
    /// What the agent answers. Only answer text grows it.
    AssistantText(TextPart),
    /// Instructions of the product or the developer.
    SystemText(TextPart),
    /// Text of a role that is none of these, such as activity shown as a message.
    OtherText(TextPart),
    /// What the agent thinks, as far as its source shows it; folded away by default.
    Reasoning(ReasoningPart),
    /// The plan.
    Plan(PlanPart),
    /// A tool call with its arguments and the head of its output.
    ToolCall(Box<ToolCall>),
    /// A request to a person, with its answer.
    Action(Box<Action>),
    /// A product.
    ArtifactRef(ArtifactPart),
    /// A piece of evidence.
    EvidenceRef(EvidencePart),
    /// Another agent's work for this one.
    AgentTask(MessagePart),
    /// The conversation moved to another agent.
    AgentHandoff(MessagePart),
    /// A message between agents or from outside; never the speech of the user.
    WorkerNotification(MessagePart),
    /// The context of the conversation changed.
    ContextEvent(ContextPart),
    /// A turn or a model call failed.
    Error(ErrorPart),
}

/// A text of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub text: Text,
    /// What comes with the text and is none.
    pub attachments: Vec<Attachment>,
    /// Ref that holds the whole text, when it was too large to inline.
    pub content_ref: Option<String>,
    /// True when the events themselves hold only the ends of the text, or of a piece of it.
    pub shortened: bool,
    /// How the final text relates to the streamed one; absent while it streams and where nothing was streamed.
    pub reconciliation: Option<Reconciliation>,
    /// True for the answer that ends the turn.
    pub is_final_answer: bool,
    /// Why the model stopped, as given.
    pub finish_reason: Option<String>,
    /// Model that answered.
    pub model: Option<String>,
}

/// Something that comes with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// `image`, `file`, `audio` … as the source says.
    pub kind: String,
    /// Media type.
    pub media_type: Option<String>,
    /// Where it lies, unless that is the content itself.
    pub uri: Option<String>,
    /// Ref that holds it.
    pub content_ref: Option<String>,
}

/// Reasoning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningPart {
    /// The text.
    pub text: Text,
    /// True when this is the source's summary and not the reasoning itself.
    pub is_summary: bool,
    /// True when the source also holds an opaque form, which is not kept.
    pub encrypted: bool,
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanPart {
    /// The items, as far as a view holds them.
    #[serde(with = "crate::checkpoint::as_json")]
    pub items: Vec<PlanItem>,
    /// Items that are not here because the view is full.
    pub more_items: u64,
    /// The plan as prose.
    pub text: Text,
}

/// A product, as the conversation mentions it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactPart {
    /// What happened to it, in a word: `created`, `updated`, `deleted`, `failed`, `versioned`, `exported`.
    pub change: String,
    /// Title or path.
    pub title: Option<String>,
    /// Its version.
    pub version_id: Option<String>,
}

/// A piece of evidence, as the conversation mentions it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidencePart {
    /// Title or kind.
    pub title: Option<String>,
    /// Where it stands, or what was judged, in a word.
    pub status: Option<String>,
    /// Where the source lies.
    pub location: Option<String>,
}

/// Something about another agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagePart {
    /// Name of the agent, or who sent it.
    pub from: Option<String>,
    /// Who is meant.
    pub to: Option<String>,
    /// What it was asked, or what the message says.
    pub text: Text,
    /// Where the agent stands, in a word: `running`, `completed`, `failed`, or the source's own.
    pub status: Option<String>,
    /// What came out.
    pub result: Option<Text>,
}

/// A change of the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextPart {
    /// What changed: `attached`, `detached`, `missing`, `compacted`, `rolled_back`, `forked`.
    pub what: String,
    /// What was added, removed or missing, or why.
    pub name: Option<String>,
    /// What stands for the part of the history that was taken out.
    pub summary: Option<Text>,
}

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorPart {
    /// Machine-readable category.
    pub category: String,
    /// The error as the source worded it.
    pub message: Option<String>,
    /// What a person can do about it.
    pub recovery: Option<String>,
    /// True when trying again can help.
    pub retryable: Option<bool>,
}

/// What a part is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartKey<'a> {
    /// A text that streams.
    Voice(VoiceKey<'a>),
    /// A tool call.
    Tool(&'a ToolCallId),
    /// A request to a person.
    Action(&'a ActionId),
    /// A product, once a turn.
    Artifact(&'a ArtifactId, &'a Option<TurnId>),
    /// A piece of evidence, once a turn.
    Evidence(&'a EvidenceId, &'a Option<TurnId>),
    /// Another agent.
    Agent(&'a SubagentId),
}

/// What a text that streams is found by: who speaks, where, in which message and part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoiceKey<'a> {
    slot: Slot,
    message: &'a Option<MessageId>,
    part: &'a Option<PartId>,
    turn: &'a Option<TurnId>,
    subagent: &'a Option<SubagentId>,
    thread: &'a Option<ThreadId>,
}

/// What of a voice streams; slots never run into each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    User,
    Assistant,
    System,
    Other,
    Reasoning,
    Plan,
}

impl Slot {
    pub(super) const fn of_role(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::System | Role::Developer => Self::System,
            Role::Reasoning => Self::Reasoning,
            Role::Tool | Role::Activity | Role::Unknown => Self::Other,
        }
    }
}

impl Hash for VoiceKey<'_> {
    /// A message is of one turn and thread, so the rest seldom tells two voices apart and costs most of the time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slot.hash(state);
        self.part.hash(state);
        match self.message {
            Some(message) => message.hash(state),
            None => (self.turn, self.subagent).hash(state),
        }
    }
}

impl<'a> PartKey<'a> {
    pub(super) const fn voice(slot: Slot, scope: &'a Scope) -> Self {
        Self::Voice(VoiceKey {
            slot,
            message: &scope.message_id,
            part: &scope.part_id,
            turn: &scope.turn_id,
            subagent: &scope.subagent_id,
            thread: &scope.thread_id,
        })
    }
}

impl Body {
    /// The kind, as in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::UserText(_) => "user_text",
            Self::AssistantText(_) => "assistant_text",
            Self::SystemText(_) => "system_text",
            Self::OtherText(_) => "other_text",
            Self::Reasoning(_) => "reasoning",
            Self::Plan(_) => "plan",
            Self::ToolCall(_) => "tool_call",
            Self::Action(_) => "action",
            Self::ArtifactRef(_) => "artifact_ref",
            Self::EvidenceRef(_) => "evidence_ref",
            Self::AgentTask(_) => "agent_task",
            Self::AgentHandoff(_) => "agent_handoff",
            Self::WorkerNotification(_) => "worker_notification",
            Self::ContextEvent(_) => "context_event",
            Self::Error(_) => "error",
        }
    }

    /// The text that streams in it, if one does.
    #[must_use]
    pub const fn text(&self) -> Option<&Text> {
        match self {
            Self::UserText(part)
            | Self::AssistantText(part)
            | Self::SystemText(part)
            | Self::OtherText(part) => Some(&part.text),
            Self::Reasoning(part) => Some(&part.text),
            Self::Plan(part) => Some(&part.text),
            Self::ToolCall(_)
            | Self::Action(_)
            | Self::ArtifactRef(_)
            | Self::EvidenceRef(_)
            | Self::AgentTask(_)
            | Self::AgentHandoff(_)
            | Self::WorkerNotification(_)
            | Self::ContextEvent(_)
            | Self::Error(_) => None,
        }
    }

    pub(super) fn text_mut(&mut self) -> Option<&mut Text> {
        match self {
            Self::UserText(part)
            | Self::AssistantText(part)
            | Self::SystemText(part)
            | Self::OtherText(part) => Some(&mut part.text),
            Self::Reasoning(part) => Some(&mut part.text),
            Self::Plan(part) => Some(&mut part.text),
            Self::ToolCall(_)
            | Self::Action(_)
            | Self::ArtifactRef(_)
            | Self::EvidenceRef(_)
            | Self::AgentTask(_)
            | Self::AgentHandoff(_)
            | Self::WorkerNotification(_)
            | Self::ContextEvent(_)
            | Self::Error(_) => None,
        }
    }

    pub(super) const fn text_part(&self) -> Option<&TextPart> {
        match self {
            Self::UserText(part)
            | Self::AssistantText(part)
            | Self::SystemText(part)
            | Self::OtherText(part) => Some(part),
            _ => None,
        }
    }

    pub(super) fn text_part_mut(&mut self) -> Option<&mut TextPart> {
        match self {
            Self::UserText(part)
            | Self::AssistantText(part)
            | Self::SystemText(part)
            | Self::OtherText(part) => Some(part),
            _ => None,
        }
    }

    pub(super) const fn slot(&self) -> Option<Slot> {
        match self {
            Self::UserText(_) => Some(Slot::User),
            Self::AssistantText(_) => Some(Slot::Assistant),
            Self::SystemText(_) => Some(Slot::System),
            Self::OtherText(_) => Some(Slot::Other),
            Self::Reasoning(_) => Some(Slot::Reasoning),
            Self::Plan(_) => Some(Slot::Plan),
            Self::ToolCall(_)
            | Self::Action(_)
            | Self::ArtifactRef(_)
            | Self::EvidenceRef(_)
            | Self::AgentTask(_)
            | Self::AgentHandoff(_)
            | Self::WorkerNotification(_)
            | Self::ContextEvent(_)
            | Self::Error(_) => None,
        }
    }
}

impl TextPart {
    pub(super) fn new(role: Role) -> Self {
        Self {
            role,
            text: Text::default(),
            attachments: Vec::new(),
            content_ref: None,
            shortened: false,
            reconciliation: None,
            is_final_answer: false,
            finish_reason: None,
            model: None,
        }
    }

    pub(super) fn into_body(self) -> Body {
        match Slot::of_role(self.role) {
            Slot::User => Body::UserText(self),
            Slot::Assistant => Body::AssistantText(self),
            Slot::System => Body::SystemText(self),
            Slot::Other | Slot::Reasoning | Slot::Plan => Body::OtherText(self),
        }
    }
}

impl Part {
    pub(super) fn new(recorded: &RecordedEvent, state: PartState, body: Body) -> Self {
        Self {
            first: Moment::of(recorded),
            last_sequence: recorded.sequence,
            scope: recorded.draft.scope.clone(),
            state,
            rolled_back: false,
            body,
        }
    }

    /// True when a text of this slot and scope is the same part.
    pub(super) fn is_voice(&self, slot: Slot, scope: &Scope) -> bool {
        self.scope.message_id == scope.message_id
            && self.scope.part_id == scope.part_id
            && self.is_speaker(slot, scope)
    }

    /// True when a text of this slot and scope is by the same speaker in the same turn.
    pub(super) fn is_speaker(&self, slot: Slot, scope: &Scope) -> bool {
        self.scope.turn_id == scope.turn_id
            && self.scope.subagent_id == scope.subagent_id
            && self.scope.thread_id == scope.thread_id
            && self.body.slot() == Some(slot)
    }
}

impl Row for Part {
    type Key<'a> = PartKey<'a>;

    fn key(&self) -> Option<PartKey<'_>> {
        let scope = &self.scope;
        let turn = &scope.turn_id;
        match &self.body {
            // An input without an id is whole, and two of them in one turn are two parts.
            Body::UserText(_) if scope.message_id.is_none() => None,
            Body::UserText(_)
            | Body::AssistantText(_)
            | Body::SystemText(_)
            | Body::OtherText(_)
            | Body::Reasoning(_)
            | Body::Plan(_) => Some(PartKey::voice(self.body.slot()?, scope)),
            Body::ToolCall(_) => scope.tool_call_id.as_ref().map(PartKey::Tool),
            Body::Action(_) => scope.action_id.as_ref().map(PartKey::Action),
            Body::ArtifactRef(_) => Some(PartKey::Artifact(scope.artifact_id.as_ref()?, turn)),
            Body::EvidenceRef(_) => Some(PartKey::Evidence(scope.evidence_id.as_ref()?, turn)),
            Body::AgentTask(_) | Body::AgentHandoff(_) => {
                scope.subagent_id.as_ref().map(PartKey::Agent)
            }
            Body::WorkerNotification(_) | Body::ContextEvent(_) | Body::Error(_) => None,
        }
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        let open = match &self.body {
            Body::ToolCall(call) => !call.status.is_end(),
            Body::Action(action) => action.state == ActionState::Pending,
            _ => self.state == PartState::Streaming,
        };
        (!open).then_some(self.last_sequence)
    }

    fn weight(&self) -> usize {
        match &self.body {
            Body::ToolCall(call) => call.weight(),
            Body::Action(action) => action.weight(),
            body => body.text().map_or(0, Text::kept_bytes),
        }
    }
}
