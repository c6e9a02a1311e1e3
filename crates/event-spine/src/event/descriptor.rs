//! Owns what is known of an event type: the columns of a row, the catalog of all rows, and finding a row by its name.
//!
//! Next: [`family`](super::family), where the rows are.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::family::{Event, FAMILIES};
use crate::json::JsonText;
use crate::scope::ScopeKind;

/// The ten families of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Family {
    /// Turns, runs and the queue.
    Lifecycle,
    /// Model text and final answers.
    Message,
    /// Explainable process and plans.
    #[serde(rename = "Reasoning / Plan")]
    Reasoning,
    /// Tools, commands, browsers, files, workflow steps.
    #[serde(rename = "Tool / Process")]
    Tool,
    /// Approval, input, permission, sandbox.
    #[serde(rename = "Human / Policy")]
    Policy,
    /// Products a user can see.
    Artifact,
    /// Replay, review, export.
    Evidence,
    /// Tasks, sub-agents, background jobs, handoff.
    #[serde(rename = "Task / Agent")]
    Task,
    /// History, compaction, snapshots, repair.
    #[serde(rename = "Context / Hydration")]
    Context,
    /// Warnings, errors, metrics.
    Diagnostics,
}

impl Family {
    /// The name as the contract writes it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Lifecycle => "Lifecycle",
            Self::Message => "Message",
            Self::Reasoning => "Reasoning / Plan",
            Self::Tool => "Tool / Process",
            Self::Policy => "Human / Policy",
            Self::Artifact => "Artifact",
            Self::Evidence => "Evidence",
            Self::Task => "Task / Agent",
            Self::Context => "Context / Hydration",
            Self::Diagnostics => "Diagnostics",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// How safe an event must be before anyone is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// On disk, by a real `fdatasync`, before the acknowledgement.
    Barrier,
    /// Handed to the operating system at once, synced with the next barrier or within a second.
    Buffered,
}

/// A thing that one event opens and another closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entity {
    /// A turn, by `turnId`.
    Turn,
    /// A model call, by `messageId`.
    ModelCall,
    /// A tool call, by `toolCallId`.
    ToolCall,
    /// A request to a human, by `actionId`.
    Action,
    /// A sub-agent, by `subagentId`.
    Subagent,
    /// A compaction of the history; one at a time per thread.
    Compaction,
}

/// What an event does to the life of an [`Entity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// Nothing.
    None,
    /// It begins. A second opening while it is open is a violation.
    Opens(Entity),
    /// It ends.
    Closes(Entity),
}

/// Which document a type comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Named by the contract document.
    Contract,
    /// Registered beside it: needed by the flow document, by other generations of the standard, or by the log itself.
    Registered,
}

/// Another name under which a type is read; it is written under its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// The other name.
    pub name: &'static str,
    /// When set, the alias holds only if the payload's `decision` is one of these.
    pub when_decision: Option<&'static [&'static str]>,
}

/// Everything that is known of one event type.
pub struct EventDescriptor {
    /// Wire name, `family.what_happened`.
    pub name: &'static str,
    /// Family.
    pub family: Family,
    /// The ids its events must carry.
    pub scope: ScopeKind,
    /// How safe its events must be before they are acknowledged.
    pub durability: Durability,
    /// What it opens or closes.
    pub pairing: Pairing,
    /// Which document it comes from.
    pub origin: Origin,
    /// Other names under which it is read.
    pub aliases: &'static [Alias],
    /// The event of the flow document's runtime (neo-code) that corresponds, if one does.
    pub neo_code: Option<&'static str>,
    /// JSON Schema of the payload; its `description` is the documentation of the type.
    pub schema: fn() -> schemars::Schema,
    pub(super) decode: fn(&str) -> Result<Event, serde_json::Error>,
}

impl fmt::Debug for EventDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A payload struct knows its row.
pub trait EventPayload: Serialize + DeserializeOwned {
    /// The row of the type.
    fn descriptor() -> &'static EventDescriptor;
}

/// All rows, in the order of the documentation.
pub static CATALOG: LazyLock<Vec<&'static EventDescriptor>> =
    LazyLock::new(|| FAMILIES.iter().flat_map(|rows| rows.iter().copied()).collect());

static BY_NAME: LazyLock<HashMap<&'static str, &'static EventDescriptor>> =
    LazyLock::new(|| CATALOG.iter().map(|row| (row.name, *row)).collect());

static BY_ALIAS: LazyLock<HashMap<&'static str, Vec<(&'static Alias, &'static EventDescriptor)>>> =
    LazyLock::new(|| {
        let mut by_alias: HashMap<_, Vec<_>> = HashMap::new();
        for row in CATALOG.iter() {
            for alias in row.aliases {
                by_alias.entry(alias.name).or_default().push((alias, *row));
            }
        }
        by_alias
    });

/// The type of an event: a row of the catalog, or a name that the catalog does not have, kept as it is.
#[derive(Clone)]
pub enum EventType {
    /// A row of the catalog.
    Known(&'static EventDescriptor),
    /// A name without a row. The event is kept whole and flagged; it never kills a session.
    Unknown(Arc<str>),
}

impl EventType {
    /// Finds the type by its exact wire name; aliases are not looked at (see [`resolve`]).
    #[must_use]
    pub fn named(name: &str) -> Self {
        BY_NAME.get(name).map_or_else(|| Self::Unknown(name.into()), |row| Self::Known(row))
    }

    /// The wire name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Known(row) => row.name,
            Self::Unknown(name) => name,
        }
    }

    /// The row, if there is one.
    #[must_use]
    pub fn descriptor(&self) -> Option<&'static EventDescriptor> {
        match self {
            Self::Known(row) => Some(row),
            Self::Unknown(_) => None,
        }
    }

    /// How safe an event of this type must be. Unknown types are barriers: nobody can say that they may be lost.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.descriptor().map_or(Durability::Barrier, |row| row.durability)
    }

    /// Reads a payload of this type.
    ///
    /// # Errors
    /// The type is known and the payload does not have its shape.
    pub fn decode(&self, payload: &JsonText) -> Result<Event, DecodeError> {
        match self {
            Self::Unknown(name) => {
                Ok(Event::Unknown { name: name.clone(), payload: payload.clone() })
            }
            Self::Known(row) => (row.decode)(payload.as_str()).map_err(|source| DecodeError {
                event_type: row.name,
                detail: source.to_string(),
                column: source.column(),
            }),
        }
    }
}

impl PartialEq for EventType {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for EventType {}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A payload does not have the shape of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("payload of {event_type}: {detail}")]
pub struct DecodeError {
    /// Wire name of the type.
    pub event_type: &'static str,
    /// What is wrong, with line and column in the payload text.
    pub detail: String,
    /// Column in the payload text, 1 first: the end of the member at fault, or of the object that lacks one.
    pub column: usize,
}

/// Finds the type a stream means by `name`: the row of that name, else the row that reads it as an alias.
///
/// Some aliases depend on what was decided, so the payload is looked at for those.
#[must_use]
pub fn resolve(name: &str, payload: &JsonText) -> EventType {
    #[derive(Deserialize)]
    struct Decision {
        decision: Option<String>,
    }
    let known = EventType::named(name);
    if matches!(known, EventType::Known(_)) {
        return known;
    }
    for (alias, row) in BY_ALIAS.get(name).into_iter().flatten() {
        let holds = alias.when_decision.is_none_or(|wanted| {
            payload
                .read::<Decision>()
                .ok()
                .and_then(|d| d.decision)
                .is_some_and(|decision| wanted.contains(&decision.as_str()))
        });
        if holds {
            return EventType::Known(row);
        }
    }
    known
}
