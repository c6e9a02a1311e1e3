//! Owns progress bars: on stderr, on a terminal only, and only for what takes longer than a second.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(1);

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Events,
}

/// How far a long piece of work is.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// Not shown yet, and it may be.
    waiting: bool,
}

impl Progress {
    /// Begins; `total` is `None` when nobody knows how much there is.
    pub(crate) fn new(quiet: bool, what: &'static str, unit: Unit, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match (unit, total) {
            (Unit::Bytes, Some(_)) => {
                "{msg} {bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta}"
            }
            (Unit::Bytes, None) => "{msg} {spinner} {bytes} {binary_bytes_per_sec}",
            (Unit::Events, Some(_)) => {
                "{msg} {bar:30} {human_pos}/{human_len} events {per_sec} {eta}"
            }
            (Unit::Events, None) => "{msg} {spinner} {human_pos} events {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar.set_message(what);
        Self { bar, started: Instant::now(), waiting: !quiet && io::stderr().is_terminal() }
    }

    /// So much more is done.
    pub(crate) fn advance(&mut self, amount: u64) {
        self.bar.inc(amount);
        if self.waiting && self.started.elapsed() > PATIENCE {
            self.waiting = false;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// How long it has been.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
