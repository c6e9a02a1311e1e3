//! Owns reading Codex rollouts: the files in which Codex keeps its sessions, of 2025 and 2026.
//!
//! A rollout keeps two records of almost everything: what went to and came from the model (`response_item`), and what the user
//! interface was told (`event_msg`). They are joined by the ids of items and calls, and where there are none, by their order.
//!
//! Next: [`frame`] for the lines, [`state`] for what is remembered, then [`events`] and [`items`], the two records.

mod agents;
mod context;
mod cx;
mod events;
mod frame;
mod items;
mod people;
mod state;
#[cfg(test)]
mod tests;
mod tools;
mod turn;
mod usage;

use std::collections::HashMap;

use event_spine::event::EventType;
use event_spine::{EventDraft, JsonText, RuntimeId, SessionId, SubagentId, Timestamp};
use serde_json::Value;

use super::draft::Drafter;
use super::{
    AdaptErrorKind, Adapted, AdapterContext, EndOfInput, Format, Frame, SessionDraft, StreamAdapter,
};
use cx::{Cx, Place};
use frame::{Kind, Line, text};
use state::{Thread, session_id, thread_id};

const VERSION: u32 = 1;
const SYSTEM: &str = "codex";

/// The adapter of Codex rollouts.
pub struct Codex {
    drafter: Drafter,
    forced: Option<SessionId>,
    /// What stands for the session of a file that names none.
    unnamed: String,
    thread: Option<Thread>,
    lines: u64,
    last_ordinal: Option<u64>,
    /// Agents that the log knows, and the events that told of them.
    known_agents: HashMap<SubagentId, EventDraft>,
}

pub(super) fn recognises(frame: &Value) -> bool {
    frame::is_line(frame)
}

impl Codex {
    /// A fresh adapter.
    #[must_use]
    pub fn new(context: AdapterContext) -> Self {
        let runtime = RuntimeId::parse(SYSTEM).unwrap_or_else(|_| RuntimeId::derived(&[SYSTEM]));
        Self {
            drafter: Drafter::new(SYSTEM, VERSION, runtime, &context),
            unnamed: context.raw.unwrap_or_else(|| "unnamed-session".to_owned()),
            forced: context.session,
            thread: None,
            lines: 0,
            last_ordinal: None,
            known_agents: HashMap::new(),
        }
    }

    /// Does something in the thread of the file; makes one up when the file has no head.
    fn in_thread(&mut self, place: Place, act: impl FnOnce(&mut Cx<'_>)) -> Vec<SessionDraft> {
        let thread = self.thread.get_or_insert_with(|| {
            let session = self
                .forced
                .clone()
                .unwrap_or_else(|| SessionId::derived(&[SYSTEM, &self.unnamed]));
            Thread::new(session, thread_id(&self.unnamed))
        });
        let mut cx = Cx::new(&self.drafter, thread, place);
        act(&mut cx);
        cx.out
    }

    fn place(&mut self, frame: &Frame, line: Option<&Line>) -> Place {
        self.lines += 1;
        let ordinal = line.and_then(|line| line.ordinal);
        let key = match ordinal {
            // A number that does not rise is no place.
            Some(ordinal) if self.last_ordinal.is_none_or(|last| ordinal > last) => {
                self.last_ordinal = Some(ordinal);
                format!("o{ordinal}")
            }
            _ => format!("f{}", frame.number),
        };
        Place {
            frame: frame.number,
            key,
            time: line
                .and_then(|line| line.timestamp.clone())
                .map(Timestamp::verbatim),
        }
    }

    fn begin(&mut self, payload: &Value) -> bool {
        if self.thread.is_some() {
            return false;
        }
        let Some(id) = text(payload, "id") else {
            return false;
        };
        // The threads of sub-agents belong to the session of the thread that started them.
        let session = self
            .forced
            .clone()
            .unwrap_or_else(|| session_id(text(payload, "session_id").unwrap_or(id)));
        let mut thread = Thread::new(session, thread_id(id));
        thread.known_agents = std::mem::take(&mut self.known_agents);
        self.thread = Some(thread);
        true
    }

    fn take(&mut self, frame: &Frame, line: &Line) -> Vec<SessionDraft> {
        let first = line.kind == Kind::SessionMeta && self.begin(&line.payload);
        let place = self.place(frame, Some(line));
        let payload = &line.payload;
        self.in_thread(place, |cx| {
            cx.thread.bare |= line.bare;
            let known = match &line.kind {
                Kind::EventMsg => events::take(cx, payload),
                Kind::ResponseItem => items::take(cx, payload),
                Kind::SessionMeta => {
                    context::session(cx, payload, first);
                    true
                }
                Kind::TurnContext => {
                    context::turn_context(cx, payload);
                    true
                }
                Kind::WorldState => {
                    context::world(cx, payload);
                    true
                }
                Kind::TokenUsage => {
                    usage::record(cx, payload);
                    true
                }
                Kind::Compacted => {
                    context::compacted(cx, "record", payload);
                    true
                }
                Kind::AgentMessage => {
                    context::between_agents(cx, payload);
                    true
                }
                Kind::Other(_) => false,
            };
            if !known {
                let name = match &line.kind {
                    Kind::Other(name) => name.clone(),
                    _ => text(payload, "type").unwrap_or_default().to_owned(),
                };
                cx.warn("unknown_frame", Some(name), Some(payload));
            }
        })
    }

    fn keep(&mut self, frame: &Frame, value: Option<&Value>, code: &str) -> Vec<SessionDraft> {
        let place = self.place(frame, None);
        self.in_thread(place, |cx| cx.warn(code, None, value))
    }
}

impl StreamAdapter for Codex {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn recall(&mut self, _session: &SessionId, recorded: &EventDraft) {
        if let (EventType::Known(row), Some(agent)) =
            (&recorded.event_type, &recorded.scope.subagent_id)
            && row.name == "subagent.started"
        {
            self.known_agents.insert(agent.clone(), recorded.clone());
        }
    }

    fn push(&mut self, frame: &Frame) -> Adapted {
        let (parsed, repairs) = match JsonText::parse(&frame.text) {
            Ok(parsed) => parsed,
            Err(e) => {
                let kind = AdaptErrorKind::NotJson {
                    detail: e.to_string(),
                };
                return Adapted {
                    drafts: self.keep(frame, None, "malformed_frame"),
                    fault: Some(frame.error(kind)),
                };
            }
        };
        let value: Value = parsed.read().unwrap_or(Value::Null);
        let Some(line) = Line::read(value.clone()) else {
            let detail = "not a line of a Codex rollout: it has no `type` and `payload`".to_owned();
            return Adapted {
                drafts: self.keep(frame, Some(&value), "unknown_frame"),
                fault: Some(frame.error(AdaptErrorKind::NotAFrame { detail })),
            };
        };
        Adapted {
            drafts: self.take(frame, &line),
            fault: (repairs.lone_surrogates > 0).then(|| {
                frame.error(AdaptErrorKind::LoneSurrogates {
                    count: repairs.lone_surrogates,
                })
            }),
        }
    }

    fn finish(&mut self, end: EndOfInput) -> Vec<SessionDraft> {
        if self.thread.is_none() {
            return Vec::new();
        }
        let place = context::end_place(self.lines);
        self.in_thread(place, |cx| {
            context::let_go_of_all(cx);
            match end {
                EndOfInput::Paused => {}
                EndOfInput::Closed => turn::end_of_input(cx, false),
                EndOfInput::Cut => turn::end_of_input(cx, true),
            }
        })
    }

    fn session_id(&self) -> Option<&SessionId> {
        self.thread.as_ref().map(|thread| &thread.session)
    }
}
