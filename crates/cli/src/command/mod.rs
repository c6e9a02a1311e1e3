//! The subcommands: each file holds the arguments of one and the function that runs it.

pub(crate) mod demo;
pub(crate) mod ingest;

pub(crate) mod events;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod graph;
pub(crate) mod export;
pub(crate) mod fork;

pub(crate) mod check;
pub(crate) mod replay;
pub(crate) mod verify;

pub(crate) mod doctor;
pub(crate) mod salvage;
pub(crate) mod stats;

pub(crate) mod schema;

pub(crate) mod completions;
pub(crate) mod man;
