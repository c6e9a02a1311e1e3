//! The register of projections, in reading order: one folder each. `SessionView` lists them once more, as its fields.
//!
//! A folder holds the state that is served (its doc comments are the documentation of the JSON), the fold, and tests.

pub mod actions;
pub mod graph;
pub mod status;
pub mod timeline;
pub mod tools;
pub mod transcript;

mod shared;
