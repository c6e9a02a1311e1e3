//! The tests that use the crate as its consumers do.

mod invalid;
mod pages;
mod payloads;
