//! `spine completions`: completion scripts for shells.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::app::App;
use crate::cli::Cli;
use crate::failure::{Answer, Failure};

/// Print a completion script for your shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine completions bash > ~/.local/share/bash-completion/completions/spine
  spine completions zsh > ~/.zfunc/_spine
  spine completions fish > ~/.config/fish/completions/spine.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    // Into memory first: the generator panics when a write fails, and a closed pipe is no reason to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spine", &mut script);
    app.out.exact().write_all(&script)?;
    Ok(Answer::Yes)
}
