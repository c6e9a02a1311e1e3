//! Owns fixtures: a stream, and what must come out of it. They are found by walking folders; no list of them is kept.
//!
//! A fixture is a folder with `fixture.json` and the stream in `events.jsonl`; or a file `<name>.fixture.json` beside the
//! stream that its `input` names, in any format that can be read; or one JSON document that holds its `events`.
//!
//! Next: `run`, the stages a fixture goes through; `shown`, what is looked at in the end.

mod find;
mod run;
mod shown;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use find::{FixtureError, find, load};
pub use run::{Diagnostic, FixtureReport, Stage, Suite, run, run_folder};
pub use shown::{Shown, SubagentCounts};

/// A stream, and what must come out of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fixture {
    /// Name, unique among the fixtures of a provider.
    pub id: String,
    /// Version of the event schema that it is written in.
    pub schema_version: String,
    /// What it shows.
    #[serde(default)]
    pub title: String,
    /// Whose stream it is: `native`, or the name of a runtime.
    #[serde(default = "native")]
    pub provider: String,
    /// The file with the stream, beside the fixture. Absent when the events stand in the fixture itself.
    #[serde(default)]
    pub input: Option<String>,
    /// How the stream is written, if not in RuntimeEvents.
    #[serde(default)]
    pub format: Option<String>,
    /// The events, where they stand in the fixture itself.
    #[serde(default)]
    pub events: Vec<Box<RawValue>>,
    /// What is there before the stream, for a reader to begin with. Kept for other tools; the log begins empty here.
    #[serde(default)]
    pub initial_read_model: Option<Value>,
    /// Members that the read model has in the end, among others.
    #[serde(default)]
    pub final_read_model: Option<Value>,
    /// What must come out.
    #[serde(default)]
    pub expected: Expected,
    /// What must hold on the way.
    #[serde(default)]
    pub stops: Vec<Stop>,
    /// Where it was found.
    #[serde(skip)]
    pub path: PathBuf,
}

fn native() -> String {
    "native".to_owned()
}

/// What must come out of a fixture. Only what is given is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// Runtime status: `completed`, `failed`, `waiting` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How complete the read model is: `live`, `stale` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hydration: Option<String>,
    /// Parts of the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_part_count: Option<u64>,
    /// Entries of the timeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline_entry_count: Option<u64>,
    /// Nodes of the execution graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph_node_count: Option<u64>,
    /// Actions that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_action_count: Option<u64>,
    /// Artifacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_count: Option<u64>,
    /// Pieces of evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_count: Option<u64>,
    /// Sub-agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagents: Option<SubagentCounts>,
    /// Codes of the diagnostics that are shown, sorted, each once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<String>>,
    /// Rules that the stream breaks, by name: what is found beside them fails the fixture, and so does their absence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What must hold once the first event of a type is in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Stop {
    /// The type.
    pub after: String,
    /// What must hold then.
    #[serde(flatten)]
    pub expected: BTreeMap<String, Value>,
}
