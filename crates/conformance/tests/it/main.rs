//! The tests that use the crate as its consumers do.

mod payloads;
