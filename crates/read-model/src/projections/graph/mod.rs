//! Owns the execution graph: what the agents did, as nodes and edges, with status, time and tokens on each.
//!
//! The state is bounded: the newest turns in full, older ones as one node each, the oldest as one node together, with
//! exact counts. Only what has ended is folded, unless a source leaves more open than the limit; what was folded while
//! it was open and is mentioned again counts twice. What has no known parent stands under an "unplaced" node with a diagnostic; nothing is dropped.
//!
//! Next: [`node`], then [`state`], then `apply`, one file per family; `render` draws it.

mod apply;
mod derive;
mod fold;
mod node;
mod place;
mod preview;
mod saved;
mod state;
mod table;
mod wire;

pub use apply::Graph;
pub use derive::{Derived, Figures};
pub use node::{
    Counts, Edge, EdgeKind, Folded, Node, NodeId, NodeIdError, NodeKind, Status, Tokens,
};
pub use state::{ExecutionGraph, GraphAt, GraphDiagnostic, GraphLimits};

#[cfg(test)]
pub(crate) mod tests;
