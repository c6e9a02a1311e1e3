//! The register of projections, in reading order: one folder each. `SessionView` lists them once more, as its fields.
//!
//! A folder holds the state that is served (its doc comments are the documentation of the JSON), the fold, and tests.

pub mod transcript;
pub mod status;
pub mod timeline;
pub mod tools;
pub mod actions;
pub mod tasks;
pub mod graph;
pub mod artifacts;
pub mod evidence;
pub mod usage;
pub mod context;
pub mod queue;
pub mod diagnostics;

mod shared;
