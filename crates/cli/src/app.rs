//! Owns what every command is given: the global options, stdout, notes on stderr, and the clock and entropy of the process.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use event_spine::RuntimeId;

use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{DIM, Out, Paint, harmless};
use crate::system::{SystemClock, SystemEntropy};

/// A running command's surroundings.
pub(crate) struct App {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// Somebody named it.
    pub(crate) data_given: bool,
    /// Results as JSON.
    pub(crate) json: bool,
    /// No notes.
    pub(crate) quiet: bool,
    /// Full ids, exact times.
    pub(crate) verbose: bool,
    /// Stdout.
    pub(crate) out: Out,
    /// Tells the log's time.
    pub(crate) clock: Arc<SystemClock>,
    /// Gives salts and minted ids.
    pub(crate) entropy: Arc<SystemEntropy>,
    notes: Paint,
}

impl App {
    /// Takes the global options.
    pub(crate) fn new(global: Global) -> Result<Self, Failure> {
        Ok(Self {
            data_given: global.data.is_some(),
            data: global.data.unwrap_or_else(|| PathBuf::from(".spine")),
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            out: Out::new(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy::new()?),
            notes: Paint::for_stderr(),
        })
    }

    /// Who speaks when the command itself has something to record.
    pub(crate) fn runtime(&self) -> Result<RuntimeId, Failure> {
        RuntimeId::parse("spine").map_err(|e| Failure::input(e.to_string()))
    }

    /// Says something beside the result, on stderr, unless `--quiet`.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            // A closed stderr must not cost the result.
            let _ = writeln!(io::stderr(), "{}", self.notes.paint(DIM, harmless(text.as_ref())));
        }
    }
}
