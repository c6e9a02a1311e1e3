//! The tests that use the crate as its consumers do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of this crate is tests"
)]

mod support;

mod adapters;
mod fixtures;
mod invalid;
mod pages;
mod parts;
mod payloads;
mod requirements_envelope;
mod requirements_families;
mod requirements_fixtures;
mod requirements_order;
mod requirements_scope;
mod schemas;
mod store_laws;
