//! Owns one entry of the timeline and how it is found.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use event_spine::event::Entity;
use event_spine::{
    ActionId, JsonText, MessageId, PartId, RecordedEvent, Scope, SubagentId, ThreadId, ToolCallId,
    TurnId,
};
use serde::{Deserialize, Serialize};

use crate::moment::{Elapsed, Moment};
use crate::projections::tools::CallStatus;
use crate::window::Row;

/// How what an entry shows went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// It began and is not over.
    Open,
    /// It happened; there is nothing more to say.
    Done,
    /// It succeeded, by the word of its source.
    Succeeded,
    /// It failed.
    Failed,
    /// A rule or a person refused it.
    Denied,
    /// It was stopped, or nobody wanted it any more.
    Canceled,
    /// It was cut off; nobody knows how it went.
    Interrupted,
    /// It is over, and its source does not say how it went.
    Unknown,
}

impl EntryStatus {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Canceled => "canceled",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }

    pub(super) const fn of_call(status: CallStatus) -> Self {
        match status {
            CallStatus::InputStreaming
            | CallStatus::InputAvailable
            | CallStatus::InputInvalid
            | CallStatus::Running => Self::Open,
            CallStatus::Succeeded | CallStatus::PartialSucceeded => Self::Succeeded,
            CallStatus::Failed | CallStatus::TimedOut => Self::Failed,
            CallStatus::Denied | CallStatus::Rejected => Self::Denied,
            CallStatus::Cancelled => Self::Canceled,
            CallStatus::Interrupted => Self::Interrupted,
            CallStatus::Unknown => Self::Unknown,
        }
    }
}

impl std::fmt::Display for EntryStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// One entry: an event, or a run of pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The event, or the first one of the run.
    pub first: Moment,
    /// Sequence of the last event of the run.
    pub last_sequence: u64,
    /// How many events it stands for.
    pub events: u64,
    /// Their type.
    pub class: Cow<'static, str>,
    /// What happened, in a line.
    pub title: Cow<'static, str>,
    /// How it went.
    pub status: EntryStatus,
    /// How long what it opens or closes lasted.
    pub elapsed: Elapsed,
    /// Where it belongs.
    pub scope: Scope,
    /// What the event refers to, as in the event.
    pub refs: Option<JsonText>,
    /// What it opens, if it opens something.
    pub opens: Option<Entity>,
    /// Sequence of the event that closed it.
    pub closed_sequence: Option<u64>,
    /// True for a run of pieces.
    pub pieces: bool,
}

impl Entry {
    pub(super) fn whole(
        recorded: &RecordedEvent,
        title: Cow<'static, str>,
        status: EntryStatus,
    ) -> Self {
        Self {
            first: Moment::of(recorded),
            last_sequence: recorded.sequence,
            events: 1,
            class: match recorded.draft.event_type.descriptor() {
                Some(row) => Cow::Borrowed(row.name),
                None => Cow::Owned(recorded.draft.event_type.name().to_owned()),
            },
            title,
            status,
            elapsed: Elapsed::OPEN,
            scope: recorded.draft.scope.clone(),
            refs: recorded.draft.refs.as_json().cloned(),
            opens: None,
            closed_sequence: None,
            pieces: false,
        }
    }

    pub(super) fn piece(recorded: &RecordedEvent, title: Cow<'static, str>) -> Self {
        Self { pieces: true, ..Self::whole(recorded, title, EntryStatus::Done) }
    }

    /// True while what it opened is not over.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.opens.is_some() && self.closed_sequence.is_none()
    }

    /// True when the next event says in a line just what this one says, such as a state that is stated again and again.
    pub(super) fn repeats(&self, next: &Self) -> bool {
        let says_no_more = |entry: &Self| {
            !entry.pieces
                && entry.opens.is_none()
                && entry.status == EntryStatus::Done
                && entry.elapsed == Elapsed::OPEN
        };
        says_no_more(self)
            && says_no_more(next)
            && self.class == next.class
            && self.title == next.title
            && self.scope == next.scope
    }

    /// True when a piece of this class and scope that came after `since` goes on with this run.
    pub(super) fn takes_piece(&self, class: &str, scope: &Scope, since: u64) -> bool {
        self.pieces
            && self.first.sequence > since
            && self.scope.message_id == scope.message_id
            && self.scope.part_id == scope.part_id
            && self.scope.tool_call_id == scope.tool_call_id
            && self.scope.subagent_id == scope.subagent_id
            && self.scope.turn_id == scope.turn_id
            && self.class == class
    }
}

/// What an entry is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// What opened a turn.
    Turn(&'a TurnId),
    /// What opened a model call.
    Model(Option<&'a TurnId>, Option<&'a MessageId>),
    /// What opened a tool call.
    Tool(&'a ToolCallId),
    /// What opened an action.
    Action(&'a ActionId),
    /// What opened a sub-agent.
    Subagent(&'a SubagentId),
    /// What opened a compaction.
    Compaction(&'a ThreadId),
    /// A run of pieces.
    Run(RunKey<'a>),
}

/// What a run of pieces is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunKey<'a> {
    class: &'a str,
    turn: &'a Option<TurnId>,
    message: &'a Option<MessageId>,
    part: &'a Option<PartId>,
    tool: &'a Option<ToolCallId>,
    subagent: &'a Option<SubagentId>,
}

impl Hash for RunKey<'_> {
    /// A call and a message are of one turn, so the rest seldom tells two runs apart and costs most of the time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class.hash(state);
        self.part.hash(state);
        match (self.tool, self.message) {
            (Some(tool), _) => tool.hash(state),
            (None, Some(message)) => message.hash(state),
            (None, None) => (self.turn, self.subagent).hash(state),
        }
    }
}

impl<'a> Key<'a> {
    pub(super) fn pair(entity: Entity, scope: &'a Scope) -> Option<Self> {
        let turn = scope.turn_id.as_ref();
        Some(match entity {
            Entity::Turn => Self::Turn(turn?),
            Entity::ModelCall => Self::Model(turn, scope.message_id.as_ref()),
            Entity::ToolCall => Self::Tool(scope.tool_call_id.as_ref()?),
            Entity::Action => Self::Action(scope.action_id.as_ref()?),
            Entity::Subagent => Self::Subagent(scope.subagent_id.as_ref()?),
            Entity::Compaction => Self::Compaction(scope.thread_id.as_ref()?),
        })
    }

    pub(super) const fn run(class: &'a str, scope: &'a Scope) -> Self {
        Self::Run(RunKey {
            class,
            turn: &scope.turn_id,
            message: &scope.message_id,
            part: &scope.part_id,
            tool: &scope.tool_call_id,
            subagent: &scope.subagent_id,
        })
    }
}

impl Row for Entry {
    type Key<'a> = Key<'a>;

    fn key(&self) -> Option<Key<'_>> {
        match self.opens {
            Some(entity) => Key::pair(entity, &self.scope),
            None => self.pieces.then(|| Key::run(&self.class, &self.scope)),
        }
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        match self.opens {
            Some(_) => self.closed_sequence,
            None => Some(self.first.sequence),
        }
    }

    fn weight(&self) -> usize {
        self.title.len() + self.refs.as_ref().map_or(0, |refs| refs.as_str().len())
    }
}
