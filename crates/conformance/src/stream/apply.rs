//! Owns how an event changes what is remembered of its stream.

use event_spine::event::family::{MessageEvent, PolicyEvent, ToolEvent};
use event_spine::event::{Entity, Pairing};
use event_spine::{Event, MessageId, Scope};

use super::turn::{Guard, Message, OpenTool, Turn};
use super::{Content, OpenAction, Stream, digest, hash, id_hash};
use crate::limit;
use crate::meaning;
use crate::place::Mark;
use crate::subject::Subject;

impl Stream {
    /// Takes note of an event that is no repeat.
    pub(crate) fn apply(&mut self, subject: &Subject, mark: Mark) {
        let draft = &subject.event.draft;
        if subject.has_id {
            self.seen
                .entry(id_hash(subject))
                .or_insert_with(|| Content::of(subject));
        }
        if let Some(sequence) = subject.event.sequence {
            self.last_sequence = self.last_sequence.max(Some(sequence));
        }
        if subject.has_time
            && let Some(micros) = draft.timestamp.micros()
        {
            self.last_micros = Some(micros);
        }
        self.interrupted = subject.type_name() == "stream.interrupted";
        for (_, body) in digest::large_strings(&draft.payload, limit::BODY) {
            self.bodies.insert(hash(body.as_str()));
        }
        if let Some(thread) = &draft.scope.thread_id {
            self.thread = Some(thread.clone());
        }
        self.open_turn(&draft.scope, mark);
        if let Some(event) = subject.decoded() {
            self.change(&draft.scope, event, mark);
        }
        self.change_subagent(subject, mark);
        self.close_turn(subject);
    }

    /// Any event of a turn makes it known, except after its end.
    fn open_turn(&mut self, scope: &Scope, mark: Mark) {
        let Some(id) = scope.turn_id.as_ref().filter(|id| !self.has_ended(id)) else {
            return;
        };
        let totals = &mut self.totals;
        let turn = self.turns.entry(id.clone()).or_insert_with(|| {
            totals.turns += 1;
            Turn {
                since: Some(mark),
                ..Turn::default()
            }
        });
        turn.task = scope.task_id.clone().or(turn.task.take());
        turn.run = scope.run_id.clone().or(turn.run.take());
        turn.trace = scope.trace_id.clone().or(turn.trace.take());
    }

    fn close_turn(&mut self, subject: &Subject) {
        if !meaning::ends_turn(subject) {
            return;
        }
        if let Some(id) = &subject.event.draft.scope.turn_id {
            self.turns.remove(id);
            self.ended.insert(hash(id.as_str()));
            self.actions
                .retain(|_, action| action.turn.as_ref() != Some(id));
        }
    }

    fn turn_mut(&mut self, scope: &Scope) -> Option<&mut Turn> {
        self.turns.get_mut(scope.turn_id.as_ref()?)
    }

    fn change(&mut self, scope: &Scope, event: &Event, mark: Mark) {
        match event {
            Event::Tool(event) => self.change_tool(scope, event, mark),
            Event::Message(event) => self.change_message(scope, event, mark),
            Event::Policy(event) => self.change_action(scope, event, mark),
            Event::Lifecycle(_)
            | Event::Task(_)
            | Event::Reasoning(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Context(_)
            | Event::Diagnostics(_)
            | Event::Unknown { .. } => {}
        }
    }

    fn change_tool(&mut self, scope: &Scope, event: &ToolEvent, mark: Mark) {
        let Some(call) = &scope.tool_call_id else {
            return;
        };
        if matches!(event, ToolEvent::ToolStarted(_)) {
            self.totals.tool_calls += 1;
        }
        let Some(turn) = self.turn_mut(scope) else {
            return;
        };
        match event {
            ToolEvent::ToolStarted(started) => {
                let name = started.tool_name.clone();
                turn.tools.insert(
                    call.clone(),
                    OpenTool {
                        since: mark,
                        name,
                        inline: 0,
                    },
                );
            }
            ToolEvent::ToolProgress(progress) => {
                if let Some(tool) = turn.tools.get_mut(call) {
                    tool.inline += meaning::inline_bytes(progress);
                }
            }
            ToolEvent::ToolResult(_) | ToolEvent::ToolFailed(_) => {
                turn.tools.remove(call);
            }
            ToolEvent::ToolArgs(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputRedacted(_)
            | ToolEvent::OutputExpired(_) => {}
        }
    }

    fn change_message(&mut self, scope: &Scope, event: &MessageEvent, mark: Mark) {
        let Some(turn) = self.turn_mut(scope) else {
            return;
        };
        let id = scope.message_id.clone();
        match event {
            MessageEvent::ModelRequested(_) => {
                // A new attempt at the same message starts it anew.
                turn.messages.insert(
                    id,
                    Message {
                        open: Some(mark),
                        ..Message::default()
                    },
                );
            }
            MessageEvent::ModelDelta(delta) => {
                let message = adopt(turn, id, mark);
                let part = message.parts.entry(scope.part_id.clone()).or_default();
                part.streamed.push(&delta.delta);
            }
            MessageEvent::ModelCompleted(_) => {
                let message = adopt(turn, id, mark);
                message.open = None;
                match &scope.part_id {
                    Some(part) => {
                        message.parts.entry(Some(part.clone())).or_default().settled = Some(mark);
                    }
                    None => {
                        message.parts.entry(None).or_default();
                        for part in message.parts.values_mut() {
                            part.settled = Some(mark);
                        }
                    }
                }
            }
            MessageEvent::ModelFailed(_) => adopt(turn, id, mark).open = None,
            MessageEvent::MessagesSnapshot(_) => {}
        }
    }

    fn change_action(&mut self, scope: &Scope, event: &PolicyEvent, mark: Mark) {
        match event {
            PolicyEvent::ActionRequired(_) => {
                let Some(id) = &scope.action_id else { return };
                self.totals.actions += 1;
                if let (Some(call), Some(turn)) = (&scope.tool_call_id, self.turn_mut(scope)) {
                    turn.guards.insert(call.clone(), Guard::Asked(mark));
                }
                let action = OpenAction {
                    since: mark,
                    turn: scope.turn_id.clone(),
                    tool_call: scope.tool_call_id.clone(),
                };
                self.actions.insert(id.clone(), action);
            }
            PolicyEvent::ActionResolved(resolved) => {
                let allowed = !meaning::refuses(resolved);
                self.answer(
                    scope,
                    if allowed {
                        Guard::Allowed
                    } else {
                        Guard::Refused(mark)
                    },
                );
            }
            PolicyEvent::ActionCancelled(_) | PolicyEvent::ActionExpired(_) => {
                self.answer(scope, Guard::Refused(mark));
            }
            PolicyEvent::PermissionDenied(_) => {
                if let (Some(call), Some(turn)) = (&scope.tool_call_id, self.turn_mut(scope)) {
                    turn.guards.insert(call.clone(), Guard::Refused(mark));
                }
            }
            PolicyEvent::PermissionEvaluated(_) | PolicyEvent::SandboxBlocked(_) => {}
        }
    }

    /// The first answer counts; an answer to what nobody asked changes nothing.
    fn answer(&mut self, scope: &Scope, guard: Guard) {
        let Some(action) = scope
            .action_id
            .as_ref()
            .and_then(|id| self.actions.remove(id))
        else {
            return;
        };
        if let (Some(turn), Some(call)) = (action.turn, action.tool_call)
            && let Some(turn) = self.turns.get_mut(&turn)
        {
            turn.guards.insert(call, guard);
        }
    }

    fn change_subagent(&mut self, subject: &Subject, mark: Mark) {
        let Some(id) = &subject.event.draft.scope.subagent_id else {
            return;
        };
        match subject.pairing() {
            Pairing::Opens(Entity::Subagent) => {
                self.subagents.insert(id.clone(), mark);
            }
            Pairing::Closes(Entity::Subagent) => {
                self.subagents.remove(id);
            }
            Pairing::None | Pairing::Opens(_) | Pairing::Closes(_) => {}
        }
    }
}

/// The message of an id. The first event that names a message takes over the unnamed request before it.
fn adopt(turn: &mut Turn, id: Option<MessageId>, mark: Mark) -> &mut Message {
    if id.is_some()
        && !turn.messages.contains_key(&id)
        && turn
            .messages
            .get(&None)
            .is_some_and(|message| message.open.is_some() && message.parts.is_empty())
        && let Some(message) = turn.messages.remove(&None)
    {
        turn.messages.insert(id.clone(), message);
    }
    turn.messages.entry(id).or_insert_with(|| Message {
        open: Some(mark),
        ..Message::default()
    })
}
