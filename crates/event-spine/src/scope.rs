//! Owns the scope of an event: which ids it carries, and which of them its type demands.
//!
//! The table of the contract ("作用域 ID") stands in [`ScopeKind::missing`], once; drafts, the log and the
//! conformance rules all ask it.
//!
//! Next: [`event`](crate::event), the rows that name a [`ScopeKind`] each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{
    ActionId, ArtifactId, AttemptId, EvidenceId, MessageId, PartId, RunId, SpanId, StepId,
    SubagentId, TaskId, ThreadId, ToolCallId, TraceId, TurnId,
};

macro_rules! scope {
    ($( $(#[doc = $doc:literal])* $field:ident : $ty:ty, $wire:literal; )*) => {
        /// The ids that say where an event belongs. On the wire they stand at the top level of the envelope.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
        pub struct Scope {
            $( $(#[doc = $doc])* pub $field: Option<$ty>, )*
        }

        impl Scope {
            /// Wire names of all scope ids, in the order of the fields, which is also the stored order.
            pub const WIRE_NAMES: &'static [&'static str] = &[$($wire),*];

            /// What each id stands for, in the order of [`Scope::WIRE_NAMES`]: schemas and tables say it too.
            pub const TEXTS: &'static [&'static str] = &[$( concat!($($doc),*) ),*];

            /// The ids that are present, with their wire names, in the order of [`Scope::WIRE_NAMES`].
            pub fn present(&self) -> impl Iterator<Item = (&'static str, &str)> {
                [$( ($wire, self.$field.as_ref().map(<$ty>::as_str)), )*]
                    .into_iter()
                    .filter_map(|(name, id)| id.map(|id| (name, id)))
            }

            /// One id by its wire name.
            #[must_use]
            pub fn get(&self, wire: &str) -> Option<&str> {
                match wire {
                    $( $wire => self.$field.as_ref().map(<$ty>::as_str), )*
                    _ => None,
                }
            }

            /// Sets one id by its wire name; `Ok(false)` when no scope id has that name.
            ///
            /// # Errors
            /// The text is not an id.
            pub fn set(&mut self, wire: &str, text: &str) -> Result<bool, crate::id::IdError> {
                match wire {
                    $( $wire => self.$field = Some(<$ty>::parse(text)?), )*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// The present ids as (position, shared text), for the codec.
            pub(crate) fn shared(&self) -> impl Iterator<Item = (usize, &std::sync::Arc<str>)> {
                [$( self.$field.as_ref().map(<$ty>::shared), )*]
                    .into_iter()
                    .enumerate()
                    .filter_map(|(at, id)| id.map(|id| (at, id)))
            }

            /// Sets the id at a position from text that has been checked before; `false` when there is no such position.
            pub(crate) fn set_trusted(&mut self, position: usize, text: std::sync::Arc<str>) -> bool {
                let mut at = 0;
                $(
                    if at == position {
                        self.$field = Some(<$ty>::trusted(text));
                        return true;
                    }
                    at += 1;
                )*
                let _ = (at, text);
                false
            }
        }
    };
}

// New ids are appended: the position is part of the stored format.
scope! {
    /// Conversation.
    thread_id: ThreadId, "threadId";
    /// Turn.
    turn_id: TurnId, "turnId";
    /// Task.
    task_id: TaskId, "taskId";
    /// Execution of the task.
    run_id: RunId, "runId";
    /// Attempt of the run.
    attempt_id: AttemptId, "attemptId";
    /// Round of model call and tools.
    step_id: StepId, "stepId";
    /// Message.
    message_id: MessageId, "messageId";
    /// Part of the message.
    part_id: PartId, "partId";
    /// Tool call.
    tool_call_id: ToolCallId, "toolCallId";
    /// Request to a human.
    action_id: ActionId, "actionId";
    /// Product.
    artifact_id: ArtifactId, "artifactId";
    /// Evidence.
    evidence_id: EvidenceId, "evidenceId";
    /// Sub-agent that did it.
    subagent_id: SubagentId, "subagentId";
    /// Task that the task or sub-agent belongs to.
    parent_task_id: TaskId, "parentTaskId";
    /// Distributed trace.
    trace_id: TraceId, "traceId";
    /// Span of the trace.
    span_id: SpanId, "spanId";
}

impl Serialize for Scope {
    /// Writes the ids that are present under their wire names; into a binary form which are there, and the ids.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_map(self.present());
        }
        let mask = self.shared().fold(0_u32, |mask, (position, _)| mask | 1 << position);
        let ids: Vec<&str> = self.present().map(|(_, id)| id).collect();
        (mask, ids).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut scope = Self::default();
        if !deserializer.is_human_readable() {
            let (mask, ids) = <(u32, Vec<Arc<str>>)>::deserialize(deserializer)?;
            let positions = (0..u32::BITS as usize).filter(|position| mask >> position & 1 == 1);
            for (position, id) in positions.zip(ids) {
                crate::id::check_id(&id).map_err(serde::de::Error::custom)?;
                scope.set_trusted(position, id);
            }
            return Ok(scope);
        }
        let ids = BTreeMap::<String, String>::deserialize(deserializer)?;
        for (name, id) in &ids {
            scope.set(name, id).map_err(serde::de::Error::custom)?;
        }
        Ok(scope)
    }
}

/// What ids the events of a type must carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// Nothing beyond the session.
    Session,
    /// `threadId`.
    Thread,
    /// `threadId`, `turnId`.
    Turn,
    /// `taskId`; with an execution attempt in the payload also `runId` or `attemptId`.
    Task,
    /// `threadId`, `turnId`, `stepId`, `toolCallId`.
    Tool,
    /// `threadId`, `turnId`, `actionId`.
    Action,
    /// `threadId`, `turnId`, and one of `toolCallId`, `actionId`, `taskId`: what was denied.
    Policy,
    /// `artifactId`.
    Artifact,
    /// `evidenceId`; the correlation ids that are known go with it.
    Evidence,
    /// `subagentId`.
    Subagent,
}

/// A scope id that a type demands and an event lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MissingScope {
    /// The wire names of which at least one must be there.
    pub one_of: &'static [&'static str],
}

impl fmt::Display for MissingScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.one_of.join(" or "))
    }
}

impl ScopeKind {
    /// The demands of this kind: each group needs at least one of its ids.
    #[must_use]
    pub const fn required(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Session => &[],
            Self::Thread => &[&["threadId"]],
            Self::Turn => &[&["threadId"], &["turnId"]],
            Self::Task => &[&["taskId"]],
            Self::Tool => &[&["threadId"], &["turnId"], &["stepId"], &["toolCallId"]],
            Self::Action => &[&["threadId"], &["turnId"], &["actionId"]],
            Self::Policy => &[&["threadId"], &["turnId"], &["toolCallId", "actionId", "taskId"]],
            Self::Artifact => &[&["artifactId"]],
            Self::Evidence => &[&["evidenceId"]],
            Self::Subagent => &[&["subagentId"]],
        }
    }

    /// The demands that `scope` does not meet, in the order of [`ScopeKind::required`].
    pub fn missing(self, scope: &Scope) -> impl Iterator<Item = MissingScope> {
        self.required()
            .iter()
            .filter(|group| group.iter().all(|name| scope.get(name).is_none()))
            .map(|one_of| MissingScope { one_of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_names_real_scope_ids_and_is_satisfied_by_them() {
        use ScopeKind as K;
        for kind in [
            K::Session,
            K::Thread,
            K::Turn,
            K::Task,
            K::Tool,
            K::Action,
            K::Policy,
            K::Artifact,
            K::Evidence,
            K::Subagent,
        ] {
            let mut scope = Scope::default();
            assert_eq!(kind.missing(&scope).count(), kind.required().len());
            for group in kind.required() {
                assert!(scope.set(group.last().unwrap(), "x").unwrap(), "{group:?}");
            }
            assert_eq!(kind.missing(&scope).count(), 0, "{kind:?}");
        }
    }

    #[test]
    fn both_written_forms_read_back() {
        let mut scope = Scope::default();
        let check = |scope: &Scope| {
            let json = serde_json::to_string(scope).unwrap();
            assert_eq!(&serde_json::from_str::<Scope>(&json).unwrap(), scope);
            let binary = postcard::to_stdvec(scope).unwrap();
            assert_eq!(&postcard::from_bytes::<Scope>(&binary).unwrap(), scope);
        };
        check(&scope);
        for (at, name) in Scope::WIRE_NAMES.iter().enumerate() {
            scope.set(name, &format!("id_{at}")).unwrap();
            check(&scope);
        }
        let empty_id = postcard::to_stdvec(&(1_u32, vec![""])).unwrap();
        assert!(postcard::from_bytes::<Scope>(&empty_id).is_err(), "what is read is checked");
    }

    #[test]
    fn positions_and_names_agree() {
        let mut scope = Scope::default();
        for (at, name) in Scope::WIRE_NAMES.iter().enumerate() {
            assert!(scope.set_trusted(at, (*name).into()));
            assert_eq!(scope.get(name), Some(*name));
        }
        assert!(!scope.set_trusted(Scope::WIRE_NAMES.len(), "x".into()));
        let names: Vec<_> = scope.present().map(|(name, _)| name).collect();
        assert_eq!(names, Scope::WIRE_NAMES);
    }
}
