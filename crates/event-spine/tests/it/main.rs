//! Integration tests of the log, one file a subject.

mod common;
mod journal;
