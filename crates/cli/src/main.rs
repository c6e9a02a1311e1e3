//! The command `spine`. Everything starts in [`cli`]; each subcommand is one file of [`command`].

// Modules stand in reading order.
mod cli;
mod command;

mod app;
mod failure;
mod output;
mod system;
mod when;

fn main() -> std::process::ExitCode {
    cli::main()
}
