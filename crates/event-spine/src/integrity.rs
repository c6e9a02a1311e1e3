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

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::canonical::write_string;
use crate::id::SessionId;
use crate::record::EventDraft;
use crate::scope::Scope;
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
        for (to, from) in input
            .iter_mut()
            .zip(b"spine.chain.v1".iter().chain(&self.0).chain(&leaf.0))
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

/// Names of the envelope members that are hashed, in canonical order, with the scope ids among them.
const MEMBERS: [&str; 25] = [
    "actionId",
    "artifactId",
    "attemptId",
    "eventId",
    "evidenceId",
    "messageId",
    "parentTaskId",
    "partId",
    "payloadDigest",
    "recordedAt",
    "refs",
    "runId",
    "runtimeId",
    "schemaVersion",
    "sequence",
    "sessionId",
    "spanId",
    "stepId",
    "subagentId",
    "taskId",
    "threadId",
    "timestamp",
    "toolCallId",
    "traceId",
    "turnId",
];

/// Appends the canonical JSON of an envelope: what the leaf covers. `type` comes last but for `turnId`, see below.
fn write_envelope(
    session_id: &SessionId,
    sequence: u64,
    recorded_at: RecordedAt,
    digest: &PayloadDigest,
    draft: &EventDraft,
    out: &mut String,
) {
    out.push('{');
    let mut first = true;
    let mut member = |name: &str, out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
    };
    for name in MEMBERS {
        match name {
            "eventId" => {
                member(name, out);
                write_string(draft.event_id.as_str(), out);
            }
            "payloadDigest" => {
                member(name, out);
                write_string(&digest.to_string(), out);
            }
            "recordedAt" => {
                member(name, out);
                write_string(&recorded_at.to_string(), out);
            }
            "refs" => {
                if let Some(refs) = draft.refs.as_json() {
                    member(name, out);
                    out.push_str(refs.as_str());
                }
            }
            "runtimeId" => {
                member(name, out);
                write_string(draft.runtime_id.as_str(), out);
            }
            "schemaVersion" => {
                member(name, out);
                write_string(&draft.schema_version, out);
            }
            "sequence" => {
                member(name, out);
                out.push_str(&sequence.to_string());
            }
            "sessionId" => {
                member(name, out);
                write_string(session_id.as_str(), out);
            }
            "timestamp" => {
                member(name, out);
                write_string(draft.timestamp.as_str(), out);
            }
            "turnId" => {
                if let Some(id) = &draft.scope.turn_id {
                    member(name, out);
                    write_string(id.as_str(), out);
                }
                member("type", out); // sorts after `turnId`
                write_string(draft.event_type.name(), out);
            }
            scope_id => {
                if let Some(id) = draft.scope.get(scope_id) {
                    member(scope_id, out);
                    write_string(id, out);
                }
            }
        }
    }
    out.push('}');
}

/// The leaf of an event.
#[must_use]
pub fn leaf(
    session_id: &SessionId,
    sequence: u64,
    recorded_at: RecordedAt,
    salt: &Salt,
    draft: &EventDraft,
) -> LeafHash {
    let digest = payload_digest(salt, draft);
    let mut text = String::with_capacity(768);
    text.push_str("spine.leaf.v1");
    write_envelope(session_id, sequence, recorded_at, &digest, draft, &mut text);
    LeafHash(*blake3::hash(text.as_bytes()).as_bytes())
}

const _: () = assert!(
    Scope::WIRE_NAMES.len() == 16,
    "a new scope id must be added to MEMBERS"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_order_is_the_sorted_order_and_names_every_scope_id() {
        let mut sorted = MEMBERS.to_vec();
        sorted.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
        assert_eq!(sorted, MEMBERS);
        assert!("turnId" < "type");
        for name in Scope::WIRE_NAMES {
            assert!(MEMBERS.contains(name), "{name}");
        }
    }
}
