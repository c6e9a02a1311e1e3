//! Owns the hash chain: what is covered, in which bytes. Fixed from the first byte, since stored history cannot change.
//!
//! ```text
//! payloadDigest = blake3(salt ‖ payload)                      with extra members: blake3(salt ‖ payload ‖ 00 ‖ extra)
//! leaf          = blake3("spine.leaf.v1"    ‖ JCS(envelope with recordedAt, refs, payloadDigest))
//! chain[n]      = blake3("spine.chain.v1"   ‖ chain[n-1] ‖ leaf[n])
//! chain[0]      = blake3("spine.session.v1" ‖ sessionId)      in a fork: the parent's chain at the fork
//! ```
//!
//! The envelope holds strings and safe integers only, so JCS (RFC 8785) is exact for it. A payload can be erased with
//! its salt and the chain still verifies.
//!
//! Next: [`codec`](crate::codec), how records lie on disk.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::canonical::write_string;
use crate::id::{
    ActionId, ArtifactId, AttemptId, EvidenceId, MessageId, PartId, RunId, SessionId, SpanId,
    StepId, SubagentId, TaskId, ThreadId, ToolCallId, TraceId, TurnId,
};
use crate::record::{EventDraft, RecordedEvent};
use crate::time::RecordedAt;

/// Sixteen random bytes beside each payload.
pub type Salt = [u8; 16];

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 32]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&blake3::Hash::from_bytes(self.0).to_hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = blake3::HexError;
            fn from_str(text: &str) -> Result<Self, blake3::HexError> {
                Ok(Self(*blake3::Hash::from_hex(text)?.as_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&blake3::Hash::from_bytes(self.0).to_hex())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?
                    .parse()
                    .map_err(serde::de::Error::custom)
            }
        }

        impl $name {
            /// The first eight hex digits, for people.
            #[must_use]
            pub fn short(&self) -> String {
                format!("{self:.8}")
            }
        }
    };
}

hash_type! {
    /// Digest of a payload with its salt.
    PayloadDigest
}
hash_type! {
    /// Hash of one event's envelope.
    LeafHash
}
hash_type! {
    /// Hash over a session's history up to an event.
    ChainHash
}

impl ChainHash {
    /// `chain[0]` of a session that is no fork.
    #[must_use]
    pub fn genesis(session_id: &SessionId) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"spine.session.v1");
        hasher.update(session_id.as_str().as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The chain value after one more leaf.
    #[must_use]
    pub fn next(&self, leaf: &LeafHash) -> Self {
        let mut input = [0_u8; 14 + 32 + 32];
        for (to, from) in
            input.iter_mut().zip(b"spine.chain.v1".iter().chain(&self.0).chain(&leaf.0))
        {
            *to = *from;
        }
        Self(*blake3::hash(&input).as_bytes())
    }
}

/// Digest of a payload and the extra members beside it.
#[must_use]
pub fn payload_digest(salt: &Salt, draft: &EventDraft) -> PayloadDigest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt);
    hasher.update(draft.payload.as_str().as_bytes());
    if let Some(extra) = &draft.extra {
        hasher.update(&[0]); // cannot occur in JSON text, so payload and extra members cannot be mistaken
        hasher.update(extra.as_str().as_bytes());
    }
    PayloadDigest(*hasher.finalize().as_bytes())
}

/// What the events of one batch have in common in their leaves, written out once.
pub(crate) struct LeafWriter {
    session: String,
    recorded_at: String,
    text: String,
}

impl LeafWriter {
    pub(crate) fn new(session_id: &SessionId, recorded_at: RecordedAt) -> Self {
        let mut session = String::new();
        write_string(session_id.as_str(), &mut session);
        let recorded_at = format!("\"{recorded_at}\"");
        Self { session, recorded_at, text: String::with_capacity(1024) }
    }

    /// The leaf of one event.
    pub(crate) fn leaf(&mut self, sequence: u64, salt: &Salt, draft: &EventDraft) -> LeafHash {
        let digest = payload_digest(salt, draft);
        self.text.clear();
        self.text.push_str("spine.leaf.v1");
        self.write_envelope(sequence, &digest, draft);
        LeafHash(*blake3::hash(self.text.as_bytes()).as_bytes())
    }

    /// Appends the canonical JSON of an envelope: its members in the order of RFC 8785.
    fn write_envelope(&mut self, sequence: u64, digest: &PayloadDigest, draft: &EventDraft) {
        self.text.push('{');
        self.write_action_to_refs(digest, draft);
        self.write_run_to_session(sequence, draft);
        self.write_span_to_type(draft);
        self.text.push('}');
    }

    fn write_action_to_refs(&mut self, digest: &PayloadDigest, draft: &EventDraft) {
        let (scope, out) = (&draft.scope, &mut self.text);
        id("\"actionId\":", scope.action_id.as_ref().map(ActionId::shared), out);
        id("\"artifactId\":", scope.artifact_id.as_ref().map(ArtifactId::shared), out);
        id("\"attemptId\":", scope.attempt_id.as_ref().map(AttemptId::shared), out);
        id("\"eventId\":", Some(draft.event_id.shared()), out);
        id("\"evidenceId\":", scope.evidence_id.as_ref().map(EvidenceId::shared), out);
        id("\"messageId\":", scope.message_id.as_ref().map(MessageId::shared), out);
        id("\"parentTaskId\":", scope.parent_task_id.as_ref().map(TaskId::shared), out);
        id("\"partId\":", scope.part_id.as_ref().map(PartId::shared), out);
        out.push_str("\"payloadDigest\":\"");
        out.push_str(&blake3::Hash::from_bytes(digest.0).to_hex());
        out.push_str("\",\"recordedAt\":");
        out.push_str(&self.recorded_at);
        out.push(',');
        if let Some(refs) = draft.refs.as_json() {
            out.push_str("\"refs\":");
            out.push_str(refs.as_str());
            out.push(',');
        }
    }

    fn write_run_to_session(&mut self, sequence: u64, draft: &EventDraft) {
        let out = &mut self.text;
        let run = draft.scope.run_id.as_ref();
        id("\"runId\":", run.map(RunId::shared), out);
        id("\"runtimeId\":", Some(draft.runtime_id.shared()), out);
        id("\"schemaVersion\":", Some(&draft.schema_version), out);
        out.push_str("\"sequence\":");
        write_number(sequence, out);
        out.push_str(",\"sessionId\":");
        out.push_str(&self.session);
        out.push(',');
    }

    fn write_span_to_type(&mut self, draft: &EventDraft) {
        let (scope, out) = (&draft.scope, &mut self.text);
        id("\"spanId\":", scope.span_id.as_ref().map(SpanId::shared), out);
        id("\"stepId\":", scope.step_id.as_ref().map(StepId::shared), out);
        id("\"subagentId\":", scope.subagent_id.as_ref().map(SubagentId::shared), out);
        id("\"taskId\":", scope.task_id.as_ref().map(TaskId::shared), out);
        id("\"threadId\":", scope.thread_id.as_ref().map(ThreadId::shared), out);
        out.push_str("\"timestamp\":");
        write_string(draft.timestamp.as_str(), out);
        out.push(',');
        id("\"toolCallId\":", scope.tool_call_id.as_ref().map(ToolCallId::shared), out);
        id("\"traceId\":", scope.trace_id.as_ref().map(TraceId::shared), out);
        id("\"turnId\":", scope.turn_id.as_ref().map(TurnId::shared), out);
        out.push_str("\"type\":");
        write_string(draft.event_type.name(), out);
    }
}

/// Appends an id that is there as a member, with the comma behind it.
fn id(name: &str, id: Option<&Arc<str>>, out: &mut String) {
    if let Some(id) = id {
        out.push_str(name);
        write_string(id, out);
        out.push(',');
    }
}

/// The leaf of one event. For many of one batch, [`LeafWriter`] writes what they share once.
#[must_use]
pub fn leaf(
    session_id: &SessionId,
    sequence: u64,
    recorded_at: RecordedAt,
    salt: &Salt,
    draft: &EventDraft,
) -> LeafHash {
    LeafWriter::new(session_id, recorded_at).leaf(sequence, salt, draft)
}

/// The leaves of recorded events, in order, on as many cores as it pays for.
#[must_use]
pub fn leaves(events: &[RecordedEvent]) -> Vec<LeafHash> {
    crate::parallel::map_chunks(events, |chunk| {
        let mut leaves = Vec::with_capacity(chunk.len());
        let mut writer: Option<(&RecordedEvent, LeafWriter)> = None;
        for event in chunk {
            let shared = writer.as_ref().is_some_and(|(of, _)| {
                of.recorded_at == event.recorded_at && of.session_id == event.session_id
            });
            if !shared {
                writer = Some((event, LeafWriter::new(&event.session_id, event.recorded_at)));
            }
            if let Some((_, writer)) = &mut writer {
                leaves.push(writer.leaf(event.sequence, &event.salt, &event.draft));
            }
        }
        leaves
    })
}

/// Appends a number in decimal.
fn write_number(number: u64, out: &mut String) {
    let mut digits = [0_u8; 20];
    let mut rest = number;
    let mut at = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        at -= 1;
        if rest == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(digits.get(at..).unwrap_or_default()).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventType;
    use crate::json::JsonText;
    use crate::refs::{Ref, RefKind, Refs};
    use crate::scope::Scope;
    use crate::time::Timestamp;

    fn draft() -> EventDraft {
        let mut scope = Scope::default();
        for name in Scope::WIRE_NAMES {
            scope.set(name, &format!("{name} \"quoted\" \u{1f600}")).unwrap();
        }
        EventDraft {
            schema_version: "0.1".into(),
            runtime_id: "rt_1".parse().unwrap(),
            event_id: "evt_1".parse().unwrap(),
            timestamp: Timestamp::verbatim("2026-06-09T10:00:00.000Z"),
            event_type: EventType::named("tool.started"),
            scope,
            refs: Refs::from_list(&[Ref::new(RefKind::Output, "blake3:00")]).unwrap(),
            payload: JsonText::parse(r#"{"toolName":"x","n":1.10}"#).unwrap().0,
            extra: None,
        }
    }

    /// The envelope as any JSON library would write it canonically: sorted by generic code.
    #[test]
    fn the_envelope_is_canonical_json_with_every_member() {
        let draft = draft();
        let mut writer = LeafWriter::new(&"sess_1".parse().unwrap(), RecordedAt(7));
        writer.leaf(120, &[3; 16], &draft);
        let json = writer.text.strip_prefix("spine.leaf.v1").unwrap();
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let mut canonical = String::new();
        crate::canonical::write_value(&value, &mut canonical).unwrap();
        assert_eq!(json, canonical);
        assert_eq!(value.as_object().unwrap().len(), Scope::WIRE_NAMES.len() + 10);
        assert_eq!(value["sequence"], 120);
        assert_eq!(value["turnId"], draft.scope.turn_id.as_ref().unwrap().as_str());
    }

    /// Stored history depends on these bytes: they never change.
    #[test]
    fn hashes_are_frozen() {
        let session = "sess_1".parse().unwrap();
        let leaf = leaf(&session, 1, RecordedAt(1_780_000_000_000_000), &[9; 16], &draft());
        let chain = ChainHash::genesis(&session).next(&leaf);
        insta::assert_snapshot!(format!("{leaf}\n{chain}"));
    }

    #[test]
    fn leaves_of_many_are_the_leaves_of_each() {
        let events: Vec<_> = (1..=700)
            .map(|sequence| RecordedEvent {
                session_id: if sequence < 300 { "a" } else { "b" }.parse().unwrap(),
                sequence,
                recorded_at: RecordedAt(i64::try_from(sequence / 10).unwrap()),
                salt: [1; 16],
                chain: ChainHash([0; 32]),
                draft: draft(),
            })
            .collect();
        let each: Vec<_> = events
            .iter()
            .map(|e| leaf(&e.session_id, e.sequence, e.recorded_at, &e.salt, &e.draft))
            .collect();
        assert_eq!(leaves(&events), each);
    }
}
