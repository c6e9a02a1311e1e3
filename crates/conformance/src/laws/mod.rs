//! Owns the laws that implementations must keep, written against their public face, for tests of any crate to run.
//!
//! Next: [`store`], the laws of a log over any store.

mod broken;
pub mod store;

pub use broken::{Broken, Law};
