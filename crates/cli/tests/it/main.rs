//! Runs the built command as a person would: arguments and stdin in, stdout, stderr and exit status out.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests"
)]

mod run;

mod bad_input;
mod commands;
mod damage;
mod ingest;
mod reference;
mod shown;
