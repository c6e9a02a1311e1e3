//! What masking promises: rows of what goes and what stays, the laws, and the streams.

mod goes;
mod laws;
mod stays;
mod streams;

use std::sync::Arc;

use super::*;
use crate::event::EventType;
use crate::id::{EventId, RuntimeId};
use crate::scope::Scope;
use crate::time::Timestamp;

fn masker() -> Masker {
    Masker::new([7; 32])
}

fn session() -> SessionId {
    SessionId::parse("sess_1").unwrap()
}

/// A draft of a type with a payload; nothing checks here whether they fit.
fn draft(event_type: &str, payload: &str) -> EventDraft {
    let mut scope = Scope::default();
    scope.set("threadId", "thread_1").unwrap();
    scope.set("messageId", "msg_1").unwrap();
    EventDraft {
        schema_version: "0.1".into(),
        runtime_id: RuntimeId::parse("rt_test").unwrap(),
        event_id: EventId::parse("evt_1").unwrap(),
        timestamp: Timestamp::verbatim("2026-06-09T10:00:00Z"),
        event_type: EventType::named(event_type),
        scope,
        refs: Refs::NONE,
        payload: JsonText::parse(payload).unwrap().0,
        extra: None,
    }
}

/// A payload after masking, as text.
fn masked_payload(payload: &str) -> String {
    let masked = masker().mask(&session(), draft("tool.result", payload));
    masked.draft.payload.as_str().to_owned()
}

/// A text after masking, placeholders cut to their rules: `[password]`.
fn brief(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[masked:") {
        let (inside, after) = after.split_once(']').unwrap();
        let (rule, _) = inside.split_once(':').unwrap();
        out += &format!("{before}[{rule}]");
        rest = after;
    }
    out + rest
}

/// Letters and digits that look random and are the same in every run: none of them is a secret of anybody.
fn made_up(class: fn(u8) -> bool, len: usize) -> String {
    let alphabet: Vec<char> = (b'0'..=b'z').filter(|b| class(*b)).map(char::from).collect();
    let mut state = 0x2545_F491_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]
    };
    (0..len).map(|_| next()).collect()
}
