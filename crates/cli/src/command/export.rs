//! `spine export`: a session in another form, to stdout or to a file that is whole or not there.

use std::io::Write;
use std::path::PathBuf;

use event_spine::SessionId;
use event_spine::wire::{WriteOptions, write_event};
use event_spine::{Entry, LogReader, ReadMode};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::file::write_atomically;
use crate::store;

/// Write a session in another form
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine export last --as runtime-event > run.jsonl      ingests again, anywhere
  spine export last --as runtime-event -o run.jsonl     the file is whole or not there")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `last`
    session: String,
    /// The form
    #[arg(long = "as", value_name = "FORM")]
    form: Form,
    /// Write to this file, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// RuntimeEvents as JSON lines, with the hashes that prove them
    RuntimeEvent,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let session = store::find(&reader, &args.session)?.session_id;
    let form = args.form;
    match &args.output {
        None => write(&reader, &session, form, &mut app.out)?,
        Some(target) => {
            write_atomically(target, |to| write(&reader, &session, form, to))?;
            app.note(format!("wrote {}", target.display()));
        }
    }
    Ok(Answer::Yes)
}

fn write(
    reader: &LogReader,
    session: &SessionId,
    form: Form,
    to: &mut dyn Write,
) -> Result<(), Failure> {
    match form {
        Form::RuntimeEvent => runtime_events(reader, session, to),
    }
}

/// An export is complete or it fails: a gap is no export.
fn runtime_events(
    reader: &LogReader,
    session: &SessionId,
    to: &mut dyn Write,
) -> Result<(), Failure> {
    let mut line = String::new();
    for entry in reader.read(session, .., ReadMode::Strict)? {
        let Entry::Event(event) = entry? else {
            continue;
        };
        line.clear();
        write_event(&event, WriteOptions { integrity: true }, &mut line);
        line.push('\n');
        to.write_all(line.as_bytes())?;
    }
    Ok(())
}
