//! Owns the work: records of about 512 bytes with the fields and the text of a real event.
//!
//! Peers store a record as postcard with the payload as JSON text, as Spine does; sequences and keys are the store's.

use anyhow::Result;
use event_spine::event::EventType;
use event_spine::{
    EventDraft, EventId, JsonText, MessageId, Refs, RuntimeId, SCHEMA_VERSION, Scope, SessionId,
    StepId, ThreadId, Timestamp, ToolCallId, TurnId,
};
use serde::{Deserialize, Serialize};

/// What one event says, whoever stores it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) runtime_id: String,
    pub(crate) event_id: String,
    pub(crate) timestamp: String,
    pub(crate) event_type: String,
    pub(crate) thread_id: String,
    pub(crate) turn_id: String,
    pub(crate) step_id: String,
    pub(crate) tool_call_id: Option<String>,
    pub(crate) message_id: Option<String>,
    pub(crate) payload: String,
}

/// Events of one session that go in together.
pub(crate) struct Append {
    pub(crate) session: u64,
    /// Sequence of the first.
    pub(crate) first: u64,
    pub(crate) records: Vec<Record>,
}

/// Events of a turn, in the sessions that are folded.
const TURN: u64 = 256;

/// Words that compress about as well as prose.
const WORDS: &[&str] = &[
    "the",
    "log",
    "reads",
    "a",
    "frame",
    "and",
    "checks",
    "its",
    "length",
    "before",
    "it",
    "trusts",
    "offset",
    "cargo",
    "build",
    "finished",
    "warning",
    "unused",
    "variable",
    "src/main.rs",
    "error",
    "expected",
    "found",
    "struct",
    "test",
    "result",
    "ok",
    "passed",
    "failed",
    "in",
    "session",
    "model",
    "tool",
    "write",
    "file",
    "line",
];

impl Record {
    /// A barrier fact of about 512 bytes: the result of a tool.
    pub(crate) fn tool_result(session: u64, sequence: u64) -> Self {
        let payload = format!(
            "{{\"status\":\"succeeded\",\"output\":\"{}\",\"durationMs\":12}}",
            text(session, sequence, 230)
        );
        let mut record = Self::new(session, sequence, "tool.result", payload);
        record.tool_call_id = Some(format!("call_{session:08x}{sequence:016x}"));
        record
    }

    /// A buffered fact: a piece of an answer.
    pub(crate) fn delta(session: u64, sequence: u64) -> Self {
        let payload = format!("{{\"delta\":\"{} \"}}", text(session, sequence, 24));
        let mut record = Self::new(session, sequence, "model.delta", payload);
        record.message_id = Some(format!("msg_{session:08x}{:012x}", sequence / 200));
        record
    }

    /// An event of a session that is nearly all deltas: turns of one streamed answer each.
    pub(crate) fn of_answers(session: u64, sequence: u64) -> Self {
        let within = (sequence - 1) % TURN;
        let mut record = match within {
            0 | 1 => return Self::turn_edge(session, sequence, within),
            2 => Self::new(
                session,
                sequence,
                "model.requested",
                r#"{"provider":"p","model":"m"}"#.into(),
            ),
            n if n == TURN - 2 => {
                let usage = r#"{"final":true,"usage":{"inputTokens":900,"outputTokens":250}}"#;
                Self::new(session, sequence, "model.completed", usage.into())
            }
            n if n == TURN - 1 => return Self::turn_edge(session, sequence, n),
            _ => Self::delta(session, sequence),
        };
        record.message_id = Some(format!("msg_{session:08x}{:012x}", (sequence - 1) / TURN));
        record
    }

    /// An event of a session that is nearly all tool calls: start, progress, result, one call after another.
    pub(crate) fn of_tools(session: u64, sequence: u64) -> Self {
        let within = (sequence - 1) % TURN;
        if within < 2 || within == TURN - 1 || within == TURN - 2 {
            return Self::turn_edge(session, sequence, within);
        }
        let call =
            format!("call_{session:08x}{:016x}", (sequence - 1) / TURN * TURN + (within - 2) / 3);
        let mut record = match (within - 2) % 3 {
            0 => {
                let payload = format!(
                    r#"{{"toolName":"bash","toolKind":"command","args":{{"command":"{}"}}}}"#,
                    text(session, sequence, 60)
                );
                Self::new(session, sequence, "tool.started", payload)
            }
            1 => {
                let payload =
                    format!(r#"{{"preview":"{}","stream":"stdout"}}"#, text(session, sequence, 80));
                Self::new(session, sequence, "tool.progress", payload)
            }
            _ => Self::tool_result(session, sequence),
        };
        record.tool_call_id = Some(call);
        record
    }

    fn turn_edge(session: u64, sequence: u64, within: u64) -> Self {
        let (name, payload) = match within {
            0 => ("turn.submitted", r#"{"text":"read the log and say what failed"}"#),
            1 => ("turn.started", r#"{"model":"m"}"#),
            n if n == TURN - 1 => ("turn.completed", r#"{"reason":"accepted"}"#),
            _ => ("run.status", r#"{"phase":"execute"}"#),
        };
        Self::new(session, sequence, name, payload.into())
    }

    /// An event of any type of the catalog.
    pub(crate) fn new(session: u64, sequence: u64, event_type: &str, payload: String) -> Self {
        let turn = sequence.saturating_sub(1) / TURN;
        Self {
            runtime_id: "rt_01JX0000000000000000000000".into(),
            event_id: format!("evt_{session:08x}{sequence:018x}"),
            timestamp: format!(
                "2026-06-01T{:02}:{:02}:{:02}.{:03}Z",
                turn / 3600 % 24,
                turn / 60 % 60,
                turn % 60,
                sequence % 1000
            ),
            event_type: event_type.into(),
            thread_id: format!("thread_{session:08x}000000000000000001"),
            turn_id: format!("turn_{session:08x}{turn:018x}"),
            step_id: format!("step_{session:08x}{:018x}", sequence / 16),
            tool_call_id: None,
            message_id: None,
            payload,
        }
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        Ok(postcard::to_stdvec(self)?)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        Ok(postcard::from_bytes(bytes)?)
    }

    /// The same as a draft.
    pub(crate) fn draft(self) -> Result<EventDraft> {
        Ok(EventDraft {
            schema_version: SCHEMA_VERSION.into(),
            runtime_id: RuntimeId::parse(self.runtime_id)?,
            event_id: EventId::parse(self.event_id)?,
            timestamp: Timestamp::verbatim(self.timestamp),
            event_type: EventType::named(&self.event_type),
            scope: Scope {
                thread_id: Some(ThreadId::parse(self.thread_id)?),
                turn_id: Some(TurnId::parse(self.turn_id)?),
                step_id: Some(StepId::parse(self.step_id)?),
                tool_call_id: self.tool_call_id.map(ToolCallId::parse).transpose()?,
                message_id: self.message_id.map(MessageId::parse).transpose()?,
                ..Scope::default()
            },
            refs: Refs::NONE,
            payload: JsonText::parse(&self.payload)?.0,
            extra: None,
        })
    }
}

/// The id of a session.
pub(crate) fn session_id(session: u64) -> Result<SessionId> {
    Ok(SessionId::parse(format!("sess_{session:016x}"))?)
}

/// Text of about so many bytes, the same for the same numbers.
fn text(session: u64, sequence: u64, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 16);
    let mut state = session.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ sequence;
    while out.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(state >> 33).unwrap_or(0) % WORDS.len();
        out.push_str(WORDS.get(at).copied().unwrap_or_default());
        out.push(' ');
    }
    out.truncate(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_about_512_bytes_and_survives() {
        let record = Record::tool_result(3, 77);
        let bytes = record.encode().unwrap();
        assert!((480..=544).contains(&bytes.len()), "{}", bytes.len());
        assert_eq!(Record::decode(&bytes).unwrap().payload, record.payload);
    }

    #[test]
    fn records_are_facts_that_the_log_takes() {
        let records = (1..=2 * TURN).flat_map(|n| {
            [
                Record::tool_result(1, n),
                Record::delta(1, n),
                Record::of_answers(1, n),
                Record::of_tools(1, n),
            ]
        });
        for record in records {
            let draft = record.draft().unwrap();
            assert!(draft.event_type.descriptor().is_some());
            draft.event().unwrap();
            assert_eq!(
                draft.event_type.descriptor().unwrap().scope.missing(&draft.scope).count(),
                0
            );
        }
    }
}
