//! Owns how a command ends: the two answers, and the failures with their one sentence and exit status.

use std::io::{self, Write as _};
use std::process::ExitCode;

use event_spine::{AppendError, OpenError, ReadError, reason};

use crate::output::{BAD, Paint, harmless};

/// What a command that ran to its end has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Fine, equal, whole, conformant: exit status 0.
    Yes,
    /// It differs, is broken, is not conformant: exit status 1.
    No,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Why a command did not run to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Usage, input or surroundings: one sentence that says what, where, and what to do. Exit status 2.
    Input(String),
    /// Another process holds what is needed. Exit status 3.
    InUse(String),
    /// Whoever read our output has gone. That is their right: nothing is printed and the status is 0.
    ReaderGone,
}

impl Failure {
    /// A failure of input, in one sentence.
    pub(crate) fn input(sentence: impl Into<String>) -> Self {
        Self::Input(sentence.into())
    }

    /// Prints the sentence to stderr and gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (status, sentence) = match self {
            Self::ReaderGone => return ExitCode::SUCCESS,
            Self::Input(sentence) => (2, sentence),
            Self::InUse(sentence) => (3, sentence),
        };
        let paint = Paint::for_stderr();
        // When stderr is closed too there is nobody left to tell.
        let error = paint.paint(BAD, "error:");
        let _ = writeln!(io::stderr(), "{error} {}", harmless(&sentence));
        ExitCode::from(status)
    }
}

/// `--json` and another form at once.
pub(crate) fn two_forms(option: &str) -> Failure {
    Failure::input(format!("--json and {option} name two forms of the result; give one of them"))
}

impl From<io::Error> for Failure {
    /// For errors of writing results; whoever opens a file names it in a sentence of its own.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => Self::Input(format!("cannot write the output: {error}")),
        }
    }
}

/// An error and its causes in one sentence.
pub(crate) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        let io = io.or_else(|| error.downcast_ref::<std::sync::Arc<io::Error>>().map(|io| &**io));
        let said = io.map_or_else(|| error.to_string(), reason);
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    // A cause may come from elsewhere with line breaks in it.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::InUse { dir, pid } => {
                let who = pid
                    .map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                let dir = dir.display();
                Self::InUse(format!(
                    "{dir} is in use by {who}; wait for it to end, and read meanwhile as much as you like"
                ))
            }
            _ => Self::Input(sentence(&error)),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Input(sentence(&error))
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Self {
        if let AppendError::Conflict { session, event_id, sequence } = &error {
            return Self::Input(format!(
                "event {event_id} of session {session} is at sequence {sequence} with other content: this is \
                 another recording under the same ids; `--session ID` stores it as a session of its own"
            ));
        }
        Self::Input(sentence(&error))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(io::ErrorKind::BrokenPipe) => Self::ReaderGone,
            _ => Self::Input(format!("cannot write the output as JSON: {error}")),
        }
    }
}
