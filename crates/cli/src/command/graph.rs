//! `spine graph`: the execution graph as a picture, or as text that other tools draw.

use std::io::Write as _;
use std::path::PathBuf;

use read_model::render::{dot, mermaid, svg};

use crate::app::App;
use crate::command::show::fold;
use crate::failure::{Answer, Failure};
use crate::file::write_result;
use crate::store;

/// Draw the execution graph of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine graph last --format svg -o run.svg
  spine graph last --format dot | dot -Tpng > run.png
  spine graph last --format mermaid         for Markdown pages")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `last`
    session: String,
    /// The form; svg when left out, json with --json
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,
    /// As it was after this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Write to this file, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A picture
    Svg,
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
    /// The graph itself
    Json,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let summary = store::find(&reader, &args.session)?;
    let view = fold(app, &reader, &summary, args.at)?;
    let form = match (args.format, app.json) {
        (None, true) | (Some(Form::Json), _) => Form::Json,
        (None, false) => Form::Svg,
        (Some(form), false) => form,
        (Some(_), true) => return Err(crate::failure::two_forms("--format")),
    };
    let mut text = match form {
        Form::Svg => svg(&view.graph),
        Form::Dot => dot(&view.graph),
        Form::Mermaid => mermaid(&view.graph),
        Form::Json => serde_json::to_string_pretty(&view.graph)?,
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match &args.output {
        None => app.out.exact().write_all(text.as_bytes())?,
        Some(target) => {
            write_result(&app.data, target, |to| Ok(to.write_all(text.as_bytes())?))?;
            app.note(format!("wrote {}", target.display()));
        }
    }
    Ok(Answer::Yes)
}
