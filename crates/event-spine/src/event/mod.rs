//! Owns the vocabulary: what a fact can say. One row per event type, in `family/<family>.rs`; everything else derives.
//!
//! To add a type: write its payload struct (its doc comment is the documentation) and its row in one family file, then
//! run `cargo xtask codegen`. The compiler and the catalog tests name what else has to look at it.
//!
//! Next: [`family`], the list; then [`Scope`](crate::Scope) and [`EventDraft`](crate::EventDraft).

mod define;
mod descriptor;
pub mod family;
pub mod value;

pub use descriptor::{
    Alias, CATALOG, DecodeError, Durability, Entity, EventDescriptor, EventPayload, EventType,
    Family, Origin, Pairing, resolve,
};
pub use family::Event;

#[cfg(test)]
mod tests;
