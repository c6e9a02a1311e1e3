//! Owns the state of an open turn: its tool calls, model calls and messages, and what approvals bind.

use std::collections::BTreeMap;

use event_spine::{MessageId, PartId, ToolCallId};

use crate::place::Mark;

/// An open turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) since: Mark,
    pub(crate) tools: BTreeMap<ToolCallId, OpenTool>,
    /// Messages of the turn, streamed or final; the unnamed one is that of events without `messageId`.
    pub(crate) messages: BTreeMap<Option<MessageId>, Message>,
    pub(crate) guards: BTreeMap<ToolCallId, Guard>,
    /// Task, run and trace that its lifecycle events named.
    pub(crate) task: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) trace: Option<String>,
}

/// A tool call that runs.
#[derive(Debug, Default)]
pub(crate) struct OpenTool {
    pub(crate) since: Mark,
    pub(crate) name: String,
    /// Bytes of output that came inline.
    pub(crate) inline: u64,
    /// True once its output lies behind a ref.
    pub(crate) has_ref: bool,
    /// True once its source said that it cut the output.
    pub(crate) truncated: bool,
}

/// A message of the turn.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Set while its model call runs.
    pub(crate) open: Option<Mark>,
    pub(crate) parts: BTreeMap<Option<PartId>, Part>,
}

/// A part of a message.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) streamed: Streamed,
    /// Where its final text came.
    pub(crate) settled: Option<Mark>,
}

/// The streamed text of a part, as length and hash.
#[derive(Debug, Default)]
pub(crate) struct Streamed {
    pub(crate) bytes: usize,
    hasher: Box<blake3::Hasher>,
}

impl Streamed {
    pub(crate) fn push(&mut self, delta: &str) {
        self.bytes += delta.len();
        self.hasher.update(delta.as_bytes());
    }

    /// True when `text` is what was streamed.
    pub(crate) fn is(&self, text: &str) -> bool {
        text.len() == self.bytes && blake3::hash(text.as_bytes()) == self.hasher.finalize()
    }

    /// True when `text` is what was streamed, twice.
    pub(crate) fn is_half_of(&self, text: &str) -> bool {
        text.len() == self.bytes * 2
            && text.split_at_checked(self.bytes).is_some_and(|(a, b)| self.is(a) && self.is(b))
    }
}

/// What was decided about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It waits for an answer.
    Asked(Mark),
    /// It may run.
    Allowed,
    /// It must not run.
    Refused(Mark),
}

impl Part {
    pub(crate) fn was_streamed(&self) -> bool {
        self.streamed.bytes > 0
    }
}

impl Message {
    /// Where the final text of a part came. One that names no part settles all of the message.
    pub(crate) fn settled(&self, part: Option<&PartId>) -> Option<Mark> {
        let whole = self.parts.get(&None).and_then(|part| part.settled);
        whole.or_else(|| self.parts.get(&part.cloned())?.settled)
    }

    /// The streamed part that a final text for `part` settles: the named one, or the only one when none is named.
    pub(crate) fn streamed(&self, part: Option<&PartId>) -> Option<&Part> {
        let named = self.parts.get(&part.cloned());
        let only = || {
            let mut all = self.parts.values();
            all.next().filter(|_| part.is_none() && all.next().is_none())
        };
        named.or_else(only).filter(|part| part.was_streamed())
    }
}
