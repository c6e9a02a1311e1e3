//! `spine man`: manual pages in roff.

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::app::App;
use crate::cli::Cli;
use crate::failure::{Answer, Failure};

/// Print a manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine man | man -l -                      read it
  spine man ingest > spine-ingest.1         the page of one command")]
pub(crate) struct Args {
    /// The command whose page to print; without it the page of `spine`
    command: Option<String>,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let mut spine = Cli::command();
    spine.build();
    let page = match &args.command {
        None => spine,
        Some(name) => {
            let command = spine.find_subcommand(name).ok_or_else(|| {
                Failure::input(format!("there is no command `{name}`; `spine --help` lists them"))
            })?;
            // A page is named after the whole command, as `man git-log` is.
            let title: &'static str = format!("spine-{name}").leak();
            command.clone().name(title)
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff)?;
    app.out.exact().write_all(&roff)?;
    Ok(Answer::Yes)
}
