//! Integration tests of the log, one file a subject.

mod common;
mod crash;
mod damage;
mod faults;
mod follow;
mod golden;
mod journal;
mod lock;
mod space;
mod torn;
