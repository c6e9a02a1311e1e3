//! Owns the project's own commands: the gate that every change passes, generated files, house rules, measurements.
//!
//! `cargo xtask test` is what CI runs. Nothing here is part of the product.
//!
//! Next: `gate.rs`, the steps in order; then `codegen/`, `tidy/`, `layering.rs`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these are commands for people; what they print is their result"
)]

mod bench;
mod codegen;
mod command;
mod gate;
mod layering;
mod powerloss;
mod repo;
mod requirements;
mod rust_source;
mod tidy;
mod typescript;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use repo::Repo;

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the whole gate, the same that CI runs.
    Test {
        /// Run one step only; may be given several times.
        #[arg(long, value_name = "STEP")]
        only: Vec<gate::Step>,
    },
    /// Write the generated files: schemas, TypeScript types, tables.
    Codegen {
        /// Compare instead of writing; fails when a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Check the house rules that a compiler does not.
    Tidy,
    /// Check that no crate knows what it must not know.
    Layering,
    /// Measure Spine beside other stores and write docs/benchmarks.md; takes a quarter of an hour.
    Bench {
        /// For the measuring program; `-- --help` lists what it knows.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Recover logs from copies of a disk that was written; needs root and loop devices.
    Powerloss {
        /// How many times.
        #[arg(long, default_value_t = 10)]
        runs: u32,
        /// Use this build of the program in `benches/` instead of making one.
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Compile the TypeScript types with `tsc --strict`.
    Typescript,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> anyhow::Result<()> {
    let repo = Repo::open()?;
    match task {
        Task::Test { only } => gate::run(&repo, &only),
        Task::Codegen { check: true } => codegen::check(&repo),
        Task::Codegen { check: false } => codegen::write(&repo),
        Task::Tidy => tidy::run(&repo),
        Task::Layering => layering::run(&repo),
        Task::Bench { arguments } => bench::run(&repo, &arguments),
        Task::Powerloss { runs, program } => powerloss::run(&repo, runs, program),
        Task::Typescript => typescript::run(&repo),
    }
}
