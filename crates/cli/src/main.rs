//! The command `spine`. Everything starts in [`cli`]; each subcommand is one file of [`command`].

// Modules stand in reading order.
mod cli;
mod command;

mod app;
mod brief;
mod failure;
mod file;
mod folder;
mod intake;
mod output;
mod progress;
mod raw;
mod render;
mod source;
mod store;
mod system;
mod tally;
mod text;
mod when;

fn main() -> std::process::ExitCode {
    cli::main()
}
