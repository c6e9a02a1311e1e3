//! Owns how an event changes what is remembered of its stream.
//!
//! What opens and closes is taken from the row of the type, so that a payload nobody can read still counts as the
//! start or the end that it is.

use event_spine::event::family::{MessageEvent, PolicyEvent, ToolEvent};
use event_spine::event::{Entity, Pairing};
use event_spine::{Event, MessageId, RunId, Scope, TaskId, Timestamp, TraceId};

use super::turn::{Guard, Message, OpenTool, Turn};
use super::{OpenAction, Print, Stream, digest, hash};
use crate::limit;
use crate::meaning;
use crate::place::Mark;
use crate::subject::Subject;

impl Stream {
    /// Takes note of an event that is no repeat.
    pub(crate) fn apply(&mut self, subject: &Subject, print: Option<Print>, mark: Mark) {
        let draft = &subject.event.draft;
        if let Some(Print { id, content }) = print {
            self.seen.entry(id).or_insert(content);
        }
        if let Some(sequence) = subject.event.sequence {
            self.first_sequence.get_or_insert(sequence);
            self.last_sequence = self.last_sequence.max(Some(sequence));
        }
        if subject.has_time
            && let Some(micros) = draft.timestamp.micros()
        {
            self.last_micros = Some(micros);
        }
        self.interrupted = meaning::interrupts(subject);
        for (_, body) in digest::large_strings(&draft.payload, limit::BODY) {
            self.bodies.insert(hash(body.as_str()));
        }
        if let Some(thread) = &draft.scope.thread_id {
            self.thread = Some(thread.clone());
        }
        let is_lifecycle = meaning::is_lifecycle(subject);
        self.know_turn(&draft.scope, is_lifecycle, mark);
        match subject.pairing() {
            Pairing::Opens(entity) => self.open(entity, subject, mark),
            Pairing::Closes(entity) => self.close(entity, subject, mark),
            Pairing::None => {}
        }
        if let Some(event) = subject.decoded() {
            self.within(&draft.scope, event, mark);
        }
    }

    /// Any event of a turn makes it known, except after its end. Its lifecycle says what else it belongs to.
    fn know_turn(&mut self, scope: &Scope, is_lifecycle: bool, mark: Mark) {
        let Some(id) = scope.turn_id.as_ref().filter(|id| !self.has_ended(id)) else {
            return;
        };
        let totals = &mut self.totals;
        let turn = self.turns.entry(id.clone()).or_insert_with(|| {
            totals.turns += 1;
            Turn { since: mark, ..Turn::default() }
        });
        if !is_lifecycle {
            return;
        }
        for (known, named) in [
            (&mut turn.task, scope.task_id.as_ref().map(TaskId::as_str)),
            (&mut turn.run, scope.run_id.as_ref().map(RunId::as_str)),
            (&mut turn.trace, scope.trace_id.as_ref().map(TraceId::as_str)),
        ] {
            if named.is_some() && known.as_deref() != named {
                *known = named.map(str::to_owned);
            }
        }
    }

    fn turn_mut(&mut self, scope: &Scope) -> Option<&mut Turn> {
        self.turns.get_mut(scope.turn_id.as_ref()?)
    }

    fn open(&mut self, entity: Entity, subject: &Subject, mark: Mark) {
        let scope = &subject.event.draft.scope;
        match entity {
            Entity::ToolCall => {
                self.totals.tool_calls += 1;
                let (Some(call), Some(turn)) = (&scope.tool_call_id, self.turn_mut(scope)) else {
                    return;
                };
                turn.tools.insert(call.clone(), OpenTool { since: mark, ..OpenTool::default() });
            }
            Entity::ModelCall => {
                if let Some(turn) = self.turn_mut(scope) {
                    // A new attempt at the same message starts it anew.
                    let message = Message { open: Some(mark), ..Message::default() };
                    turn.messages.insert(scope.message_id.clone(), message);
                }
            }
            Entity::Action => self.ask(subject, mark),
            Entity::Subagent => {
                if let Some(id) = &scope.subagent_id {
                    self.subagents.insert(id.clone());
                }
            }
            Entity::Turn | Entity::Compaction => {}
        }
    }

    fn close(&mut self, entity: Entity, subject: &Subject, mark: Mark) {
        let scope = &subject.event.draft.scope;
        match entity {
            Entity::Turn => {
                if let Some(id) = &scope.turn_id {
                    self.turns.remove(id);
                    self.ended.insert(hash(id.as_str()));
                    self.actions.retain(|_, action| action.turn.as_ref() != Some(id));
                }
            }
            Entity::ToolCall => {
                if let (Some(call), Some(turn)) = (&scope.tool_call_id, self.turn_mut(scope)) {
                    turn.tools.remove(call);
                }
            }
            Entity::ModelCall => {
                if let Some(turn) = self.turn_mut(scope) {
                    adopt(turn, scope.message_id.clone(), mark).open = None;
                }
            }
            Entity::Action => self.answer(subject, mark),
            Entity::Subagent => {
                if let Some(id) = &scope.subagent_id {
                    self.subagents.remove(id);
                }
            }
            Entity::Compaction => {}
        }
    }

    fn ask(&mut self, subject: &Subject, mark: Mark) {
        let scope = &subject.event.draft.scope;
        let Some(id) = &scope.action_id else { return };
        self.totals.actions += 1;
        if let (Some(call), Some(turn)) = (&scope.tool_call_id, self.turn_mut(scope)) {
            turn.guards.insert(call.clone(), Guard::Asked(mark));
        }
        let expires = match subject.decoded() {
            Some(Event::Policy(PolicyEvent::ActionRequired(asked))) => asked.expires_at.clone(),
            _ => None,
        };
        let action = OpenAction {
            since: mark,
            expires: expires.and_then(|at| Timestamp::verbatim(at).micros()),
            turn: scope.turn_id.clone(),
            tool_call: scope.tool_call_id.clone(),
        };
        self.actions.insert(id.clone(), action);
    }

    /// The first answer counts; an answer to what nobody asked changes nothing.
    fn answer(&mut self, subject: &Subject, mark: Mark) {
        let id = subject.event.draft.scope.action_id.as_ref();
        let Some(action) = id.and_then(|id| self.actions.remove(id)) else {
            return;
        };
        let allowed = matches!(
            subject.decoded(),
            Some(Event::Policy(PolicyEvent::ActionResolved(answer))) if !meaning::refuses(answer)
        );
        if let (Some(turn), Some(call)) = (action.turn, action.tool_call)
            && let Some(turn) = self.turns.get_mut(&turn)
        {
            turn.guards.insert(call, if allowed { Guard::Allowed } else { Guard::Refused(mark) });
        }
    }

    /// What happens between opening and closing.
    fn within(&mut self, scope: &Scope, event: &Event, mark: Mark) {
        let Some(turn) = self.turn_mut(scope) else {
            return;
        };
        match event {
            Event::Tool(event) => in_tool(turn, scope, event),
            Event::Message(event) => in_message(turn, scope, event, mark),
            Event::Policy(PolicyEvent::PermissionDenied(_)) => {
                if let Some(call) = &scope.tool_call_id {
                    turn.guards.insert(call.clone(), Guard::Refused(mark));
                }
            }
            Event::Policy(_)
            | Event::Lifecycle(_)
            | Event::Reasoning(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Task(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => {}
        }
    }
}

fn in_tool(turn: &mut Turn, scope: &Scope, event: &ToolEvent) {
    let tool = scope.tool_call_id.as_ref().and_then(|call| turn.tools.get_mut(call));
    match (tool, event) {
        (Some(tool), ToolEvent::ToolStarted(started)) => tool.name.clone_from(&started.tool_name),
        (Some(tool), ToolEvent::ToolProgress(progress)) => {
            tool.inline += meaning::inline_bytes(progress);
            tool.has_ref |= progress.output_ref.is_some();
        }
        (Some(tool), ToolEvent::OutputSpilled(_)) => tool.has_ref = true,
        (Some(tool), ToolEvent::OutputTruncated(_)) => tool.truncated = true,
        (
            _,
            ToolEvent::ToolStarted(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::ToolArgs(_)
            | ToolEvent::ToolResult(_)
            | ToolEvent::ToolFailed(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_),
        ) => {}
    }
}

fn in_message(turn: &mut Turn, scope: &Scope, event: &MessageEvent, mark: Mark) {
    match event {
        MessageEvent::ModelDelta(delta) => {
            let message = adopt(turn, scope.message_id.clone(), mark);
            let part = message.parts.entry(scope.part_id.clone()).or_default();
            part.streamed.push(&delta.delta);
        }
        MessageEvent::ModelCompleted(_) => {
            let message = adopt(turn, scope.message_id.clone(), mark);
            message.parts.entry(scope.part_id.clone()).or_default().settled = Some(mark);
            if scope.part_id.is_none() {
                for part in message.parts.values_mut() {
                    part.settled = Some(mark);
                }
            }
        }
        MessageEvent::ModelRequested(_)
        | MessageEvent::ModelFailed(_)
        | MessageEvent::MessagesSnapshot(_) => {}
    }
}

/// The message of an id. The first event that names a message takes over the unnamed request before it.
fn adopt(turn: &mut Turn, id: Option<MessageId>, mark: Mark) -> &mut Message {
    let unnamed = turn.messages.get(&None).is_some_and(|m| m.open.is_some() && m.parts.is_empty());
    if id.is_some()
        && unnamed
        && !turn.messages.contains_key(&id)
        && let Some(message) = turn.messages.remove(&None)
    {
        turn.messages.insert(id.clone(), message);
    }
    let new = || Message { open: Some(mark), ..Message::default() };
    turn.messages.entry(id).or_insert_with(new)
}
