//! Owns the shape of the command line: global options, the list of subcommands, and what becomes the exit status.
//!
//! Next: [`command`], one file for each subcommand.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand};

use crate::app::App;
use crate::command;
use crate::failure::{Answer, Failure};

const AFTER_HELP: &str = "\
Examples:
  spine demo                                the whole story in a few seconds, no key, no network
  spine ingest ~/.codex/sessions/rollout.jsonl
  spine show last                           the newest session as a transcript
  spine verify                              has anybody changed the history?

Exit status: 0 fine, 1 the answer is \"no\" (differs, broken, not conformant), 2 usage or input error, 3 in use.";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::BrightWhite.on_default().bold())
    .usage(AnsiColor::BrightWhite.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Green.on_default());

/// The flight recorder of AI agents: every fact in one log that nobody can change unnoticed.
#[derive(Debug, Parser)]
#[command(name = "spine", version, styles = STYLES, after_help = AFTER_HELP, max_term_width = 100)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options that every subcommand takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The data folder [default: .spine]
    #[arg(long, global = true, value_name = "DIR", env = "SPINE_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results only: no hints, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: full ids, exact times, durations
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(command::demo::Args),
    Ingest(command::ingest::Args),
    Sessions(command::sessions::Args),
    Show(command::show::Args),
    Events(command::events::Args),
    Graph(command::graph::Args),
    Replay(command::replay::Args),
    Export(command::export::Args),
    Fork(command::fork::Args),
    Check(command::check::Args),
    Verify(command::verify::Args),
    Stats(command::stats::Args),
    Doctor(command::doctor::Args),
    Salvage(command::salvage::Args),
    Schema(command::schema::Args),
    Completions(command::completions::Args),
    Man(command::man::Args),
}

impl Command {
    fn run(self, app: &mut App) -> Result<Answer, Failure> {
        match self {
            Self::Demo(args) => command::demo::run(app, &args),
            Self::Ingest(args) => command::ingest::run(app, &args),
            Self::Sessions(args) => command::sessions::run(app, &args),
            Self::Show(args) => command::show::run(app, &args),
            Self::Events(args) => command::events::run(app, &args),
            Self::Graph(args) => command::graph::run(app, &args),
            Self::Replay(args) => command::replay::run(app, &args),
            Self::Export(args) => command::export::run(app, &args),
            Self::Fork(args) => command::fork::run(app, &args),
            Self::Check(args) => command::check::run(app, &args),
            Self::Verify(args) => command::verify::run(app, &args),
            Self::Stats(args) => command::stats::run(app, &args),
            Self::Doctor(args) => command::doctor::run(app, &args),
            Self::Salvage(args) => command::salvage::run(app, &args),
            Self::Schema(args) => command::schema::run(app, &args),
            Self::Completions(args) => command::completions::run(app, &args),
            Self::Man(args) => command::man::run(app, &args),
        }
    }
}

/// Reads the command line, runs the command, and turns its outcome into an exit status.
pub(crate) fn main() -> ExitCode {
    let Cli { global, command } = Cli::parse();
    let outcome = App::new(global).and_then(|mut app| {
        let answer = command.run(&mut app)?;
        app.out.flush()?;
        Ok(answer)
    });
    match outcome {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}
