//! `spine export`: a session in another form, to stdout or to a file that is whole or not there.

use std::io::Write;
use std::path::PathBuf;

use event_spine::wire::{WriteOptions, write_event};
use event_spine::{Clock as _, Entry, LogReader, ReadMode, RecordedAt, SessionId};
use read_model::evidence_pack::{PackError, PackOptions, write_pack};

use crate::app::App;
use crate::failure::{Answer, Failure, sentence};
use crate::file::write_result;
use crate::store;

/// Write a session in another form
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine export last --as runtime-event > run.jsonl      ingests again, anywhere
  spine export last --as evidence -o evidence.json      for an auditor: `spine verify evidence.json`")]
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
    /// The evidence pack: what happened, who allowed it, what is not known, every fact with its proof
    Evidence,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let session = store::find(&reader, &args.session)?.session_id;
    let now = app.clock.now();
    let write = |to: &mut dyn Write| match args.form {
        Form::RuntimeEvent => runtime_events(&reader, &session, to),
        Form::Evidence => evidence(&reader, &session, now, to),
    };
    match &args.output {
        None => write(app.out.exact())?,
        Some(target) => {
            write_result(&app.data, target, write)?;
            app.note(format!("wrote {}", target.display()));
        }
    }
    Ok(Answer::Yes)
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

/// Where the log is damaged, the pack names it and is partial: an auditor wants what there is.
fn evidence(
    reader: &LogReader,
    session: &SessionId,
    now: RecordedAt,
    to: &mut dyn Write,
) -> Result<(), Failure> {
    match write_pack(reader, session, &PackOptions::new(now), to) {
        Ok(_) => Ok(()), // its checksum ends the file: not even a line break may follow
        Err(PackError::Write(error)) => Err(error.into()),
        Err(other) => Err(Failure::input(sentence(&other))),
    }
}
