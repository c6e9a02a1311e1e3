//! What stands between Spine and other people's systems.
//!
//! `stream` turns the event streams of other runtimes into facts. Nothing here reads a clock, opens a file or writes to the log:
//! bytes go in, drafts come out.
//!
//! Next: [`stream`].

pub mod stream;
