//! The subcommands: each file holds the arguments of one and the function that runs it.

pub(crate) mod schema;

pub(crate) mod completions;
pub(crate) mod man;
