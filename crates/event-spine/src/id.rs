//! Owns the identifiers of the contract: one newtype per kind of thing, one text form, one rule for what is an id.
//!
//! An id is opaque text. Ids that this system mints are a prefix and a ULID (`evt_01J…`); ids that a foreign runtime
//! minted are kept verbatim, and ids that an adapter has to invent are a hash of what they stand for, so that
//! adapting the same input twice gives the same ids.
//!
//! Next: [`scope`](crate::Scope), the ids an event carries.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest id that is accepted, in bytes. Longer ones are refused, since every index keeps ids in memory.
pub const MAX_ID_BYTES: usize = 256;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text is empty.
    #[error("an id must not be empty")]
    Empty,
    /// The text is longer than [`MAX_ID_BYTES`].
    #[error("an id may have at most {MAX_ID_BYTES} bytes, this one has {bytes}")]
    TooLong {
        /// Length of the refused text in bytes.
        bytes: usize,
    },
    /// The text has a control character, which would break terminals, file names and line formats.
    #[error("an id must not contain control characters")]
    ControlCharacter,
}

/// Checks that `text` can be an id.
///
/// # Errors
/// Says which rule the text breaks.
pub fn check_id(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_ID_BYTES {
        return Err(IdError::TooLong { bytes: text.len() });
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::ControlCharacter);
    }
    Ok(())
}

/// Derives an id from what it stands for: the prefix, then 26 characters of a BLAKE3 hash over the parts.
///
/// The parts are length-prefixed before hashing, so `["ab", "c"]` and `["a", "bc"]` differ.
#[must_use]
pub fn derived_id(prefix: &str, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"spine.id.v1");
    hasher.update(prefix.as_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0_u8; 16];
    hasher.finalize_xof().fill(&mut bytes);
    format!("{prefix}{}", ulid::Ulid::from(u128::from_be_bytes(bytes)).to_string())
}

macro_rules! id_types {
    ($( $(#[$doc:meta])* $name:ident, $prefix:literal; )*) => { $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// What the ids of this kind that we mint start with. Foreign ids may start with anything.
            pub const PREFIX: &'static str = $prefix;

            /// Takes a text as an id, verbatim.
            ///
            /// # Errors
            /// The text is empty, longer than [`MAX_ID_BYTES`] or has a control character.
            pub fn parse(text: impl AsRef<str> + Into<Arc<str>>) -> Result<Self, IdError> {
                check_id(text.as_ref())?;
                Ok(Self(text.into()))
            }

            /// Derives an id from what it stands for, the same for the same parts; see [`derived_id`].
            #[must_use]
            pub fn derived(parts: &[&str]) -> Self {
                Self(derived_id($prefix, parts).into())
            }

            /// Mints an id from a ULID.
            #[must_use]
            pub fn minted(ulid: ulid::Ulid) -> Self {
                Self(format!("{}{}", $prefix, ulid.to_string()).into())
            }

            /// The text of the id.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Shares the text without checking it again: for text that has already passed [`check_id`].
            pub(crate) fn trusted(text: Arc<str>) -> Self {
                Self(text)
            }

            /// The shared text.
            #[allow(dead_code, reason = "the macro gives every id the same face; the codec needs only some of them")]
            pub(crate) fn shared(&self) -> &Arc<str> {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(text).map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX_ID_BYTES })
            }
        }
    )* };
}

id_types! {
    /// A runtime instance or service that produces events.
    RuntimeId, "rt_";
    /// A durable work container: one stream of the log.
    SessionId, "sess_";
    /// One event, unique for ever within its session.
    EventId, "evt_";
    /// A conversation inside a session.
    ThreadId, "thread_";
    /// One submitted input and everything done to answer it.
    TurnId, "turn_";
    /// A unit of work that can outlive a turn.
    TaskId, "task_";
    /// One execution of a task.
    RunId, "run_";
    /// One attempt of a run; a retry is a new attempt.
    AttemptId, "att_";
    /// One round of model call and tools inside a turn.
    StepId, "step_";
    /// One message of the conversation.
    MessageId, "msg_";
    /// One part of a message: answer text, reasoning, a tool preview.
    PartId, "part_";
    /// One tool call.
    ToolCallId, "call_";
    /// One request to a human: approval, input, permission.
    ActionId, "act_";
    /// One product a user can see.
    ArtifactId, "art_";
    /// One piece of evidence.
    EvidenceId, "evd_";
    /// A sub-agent.
    SubagentId, "agent_";
    /// A distributed trace the event belongs to (W3C trace id where there is one).
    TraceId, "trace_";
    /// A span inside a trace.
    SpanId, "span_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_cannot_be_an_id() {
        let check = |text: &str, expected: Result<(), IdError>| {
            assert_eq!(SessionId::parse(text).map(|_| ()), expected, "{text:?}");
        };
        check("sess_1", Ok(()));
        check("überall ok", Ok(()));
        check("", Err(IdError::Empty));
        check("a\nb", Err(IdError::ControlCharacter));
        check(&"x".repeat(257), Err(IdError::TooLong { bytes: 257 }));
    }

    #[test]
    fn derived_ids_depend_on_every_part_and_its_borders() {
        assert_eq!(TurnId::derived(&["a", "b"]), TurnId::derived(&["a", "b"]));
        assert_ne!(TurnId::derived(&["ab", "c"]), TurnId::derived(&["a", "bc"]));
        assert!(TurnId::derived(&["a"]).as_str().starts_with("turn_"));
        assert_eq!(TurnId::derived(&["a"]).as_str().len(), "turn_".len() + 26);
    }
}
