//! Integration tests of the log, one file a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests"
)]

mod common;
mod crash;
mod damage;
mod faults;
mod files;
mod follow;
mod golden;
mod intake;
mod journal;
mod lock;
mod space;
mod torn;
