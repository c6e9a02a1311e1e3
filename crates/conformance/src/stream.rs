//! Owns what has to be remembered of a stream to judge its next event. One state serves all rules.
//!
//! Memory is bounded by what is open (turns, and in them tool calls, model calls and actions) plus 16 bytes for each
//! event id seen, 8 for each turn that ended and 8 for each large body. Nothing else grows with the stream.
//!
//! Next: [`turn`], the state of a turn; [`apply`], how an event changes it.

mod apply;
mod digest;
pub(crate) mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use event_spine::{ActionId, SubagentId, ThreadId, ToolCallId, TurnId};

pub(crate) use digest::{hash, large_strings};
use turn::Turn;

use crate::place::Mark;
use crate::subject::Subject;

/// What is known of a stream before its next event.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    seen: HashMap<u64, Content>,
    pub(crate) first_sequence: Option<u64>,
    pub(crate) last_sequence: Option<u64>,
    pub(crate) last_micros: Option<i64>,
    /// The event before this one said that the source broke off.
    pub(crate) interrupted: bool,
    /// The last thread that an event named.
    pub(crate) thread: Option<ThreadId>,
    pub(crate) turns: BTreeMap<TurnId, Turn>,
    ended: HashSet<u64>,
    pub(crate) actions: BTreeMap<ActionId, OpenAction>,
    pub(crate) subagents: BTreeSet<SubagentId>,
    bodies: HashSet<u64>,
    pub(crate) totals: Totals,
}

/// An action that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenAction {
    pub(crate) since: Mark,
    /// When no answer counts any more, in microseconds since 1970 UTC.
    pub(crate) expires: Option<i64>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) tool_call: Option<ToolCallId>,
}

/// How many things a stream has had.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) turns: u64,
    pub(crate) tool_calls: u64,
    pub(crate) actions: u64,
}

/// Enough of an event to tell a repeat from another event under the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Content {
    fact: u32,
    place: u32,
}

/// What is kept of an event to know it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Print {
    id: u64,
    content: Content,
}

/// What the id of an event says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    New,
    /// The same event again.
    Repeat,
    /// The same fact at another place in the stream.
    SecondPlace,
    /// Another fact under the same id.
    OtherContent,
}

impl Stream {
    /// Compares the event with the one that used its id before.
    pub(crate) fn identity(&self, print: Option<Print>) -> Identity {
        let Some(Print { id, content }) = print else {
            return Identity::New;
        };
        match self.seen.get(&id) {
            None => Identity::New,
            Some(seen) if seen.fact != content.fact => Identity::OtherContent,
            Some(seen) if seen.place != content.place => Identity::SecondPlace,
            Some(_) => Identity::Repeat,
        }
    }

    /// The turn of the event, if it is known and has not ended.
    pub(crate) fn turn_of(&self, subject: &Subject) -> Option<&Turn> {
        self.turns.get(subject.event.draft.scope.turn_id.as_ref()?)
    }

    /// The only open turn, if there is exactly one.
    pub(crate) fn only_turn(&self) -> Option<(&TurnId, &Turn)> {
        let mut turns = self.turns.iter();
        turns.next().filter(|_| turns.next().is_none())
    }

    /// True when the turn has had its end.
    pub(crate) fn has_ended(&self, turn: &TurnId) -> bool {
        self.ended.contains(&hash(turn.as_str()))
    }

    /// True when a body of this content was in the stream before.
    pub(crate) fn has_body(&self, body: &str) -> bool {
        self.bodies.contains(&hash(body))
    }
}

impl Print {
    /// The print of an event; nothing when it has no id.
    pub(crate) fn of(subject: &Subject) -> Option<Self> {
        let half = |whole: u64| (whole ^ (whole >> 32)) as u32;
        subject.has_id.then(|| Self {
            id: hash(subject.event.draft.event_id.as_str()),
            content: Content {
                fact: half(digest::fact(&subject.event.draft)),
                place: half(hash(&subject.event.sequence)),
            },
        })
    }
}
