//! What it means to keep the contract: rules over streams of facts, reports, fixtures, and the laws that stores,
//! adapters and projections must pass.
//!
//! ```
//! use conformance::{Options, check_lines};
//!
//! let line = r#"{"schemaVersion":"0.1","runtimeId":"rt","sessionId":"sess_1","eventId":"evt_1","sequence":1,
//!     "timestamp":"2026-06-09T10:00:00Z","type":"tool.started","threadId":"t","turnId":"u",
//!     "payload":{"toolName":"write_file"}}"#.replace('\n', "");
//! let report = check_lines(line.as_bytes(), Options::default()).unwrap();
//! assert!(!report.passed);
//! assert_eq!(report.findings[0].code, "missing_scope_id");
//! ```
//!
//! Next: [`rule`], the register; `check`, which runs it over a stream; [`fixture`], streams with what must come out of them;
//! [`laws`].

// Modules stand in reading order.
mod check;
mod finding;
pub mod fixture;
mod input;
pub mod laws;
mod limit;
mod meaning;
mod place;
mod pointer;
mod report;
pub mod rule;
mod secret;
mod stream;
mod subject;

pub use check::{Checker, Options, check_events, check_lines};
pub use finding::{Finding, Severity};
pub use input::MAX_LINE_BYTES;
pub use report::{Counts, Level, Report};
