//! Owns the register of families, in the order of the contract. One file per family: payload structs, then rows.
//!
//! Payloads are the boundary between code and wire, so they are plain structs in camelCase. Fields that are not always
//! known are optional and are left out when absent; members that a struct does not name survive in the stored text.
//! `tidy` refuses attributes that a stored format cannot carry (`flatten`, `untagged`).
//!
//! Next: [`tool`], one family in full.

use super::define::event_families;
use super::descriptor::EventDescriptor;

/// What every family file needs.
mod prelude {
    pub(super) use std::sync::LazyLock;

    pub(super) use schemars::JsonSchema;
    pub(super) use serde::{Deserialize, Serialize};

    pub(super) use super::Event;
    pub(super) use crate::event::define::event_family;
    pub(super) use crate::event::descriptor::{
        Alias, Durability, Entity, EventDescriptor, EventPayload, Family, Origin, Pairing,
    };
    pub(super) use crate::event::value::*;
    pub(super) use crate::json::JsonText;
    pub(super) use crate::scope::ScopeKind;
}

event_families! {
    lifecycle: Lifecycle(LifecycleEvent),
    message: Message(MessageEvent),
    reasoning: Reasoning(ReasoningEvent),
    tool: Tool(ToolEvent),
    policy: Policy(PolicyEvent),
    artifact: Artifact(ArtifactEvent),
    evidence: Evidence(EvidenceEvent),
    task: Task(TaskEvent),
    context: Context(ContextEvent),
    diagnostics: Diagnostics(DiagnosticsEvent),
}
