//! Owns the measurements: Spine beside peers that do the same work with the same durability, in one run.
//!
//! `run` is the whole of it; every store is measured in a child process of its own, so that memory is per store.
//! Rounds are interleaved and their order rotates, so that a busy machine slows all alike: read the ratios first.
//!
//! Next: `record.rs` the work, `peer/` the stores, `task/` what is measured, `run.rs` rounds, `report.rs` tables.
#![forbid(unsafe_code)]

mod machine;
mod peer;
mod powerloss;
mod record;
mod report;
mod run;
mod task;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measures Spine beside other stores.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure everything and print a table.
    Run(run::Options),
    /// Measure one thing on one store; the other commands start this one.
    #[command(hide = true)]
    Child(task::Child),
    /// Write until killed and tell what was acknowledged; `cargo xtask powerloss` starts it.
    #[command(hide = true)]
    Write {
        /// Data folder.
        #[arg(long)]
        dir: PathBuf,
        /// `barrier`, or `relaxed` for a control that must lose facts.
        #[arg(long)]
        sync: String,
        /// Size of a segment.
        #[arg(long)]
        segment_kib: u64,
    },
    /// Check a data folder against what was acknowledged; `cargo xtask powerloss` starts it.
    #[command(hide = true)]
    Check {
        /// Data folder.
        #[arg(long)]
        dir: PathBuf,
        /// What the writer printed.
        #[arg(long)]
        acknowledged: PathBuf,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Child(child) => child.run(),
        Command::Write { dir, sync, segment_kib } => {
            powerloss::write(&dir, &sync, segment_kib * 1024)
        }
        Command::Check { dir, acknowledged } => powerloss::check(&dir, &acknowledged),
    }
}
