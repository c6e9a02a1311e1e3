//! The tests that use the crate as its consumers do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests"
)]

mod invalid;
mod pages;
mod payloads;
