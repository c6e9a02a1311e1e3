//! Tests of the execution graph.

pub(crate) mod gallery;
pub(crate) mod story;
