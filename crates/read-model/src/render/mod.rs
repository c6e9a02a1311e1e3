//! Owns how the execution graph is shown: as a picture, and as text for other programs that draw.
//!
//! Next: [`svg`], the picture; `text` measures what goes into it.

mod dot;
mod mermaid;
mod svg;
mod text;

pub use dot::dot;
pub use mermaid::mermaid;
pub use svg::svg;

#[cfg(test)]
mod tests;
