//! `spine events`: the facts of a session as JSON lines, exactly as in the log.

use std::io::Write as _;
use std::time::Duration;

use event_spine::wire::{WriteOptions, write_event};
use event_spine::{Cursor, Entry, LogReader, ReadMode};
use event_spine::{RecordedEvent, SessionId};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::store;

/// Print the events of a session as JSON lines, exactly as in the log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine events last | jq -r .type
  spine events last --follow                new events as they are recorded, until Ctrl-C
  spine events last --integrity             with the hashes that an auditor needs")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `last`
    session: String,
    /// First sequence to print
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    from: u64,
    /// Last sequence to print
    #[arg(long, value_name = "SEQ", conflicts_with = "follow")]
    to: Option<u64>,
    /// Keep printing what is recorded from now on
    #[arg(short, long)]
    follow: bool,
    /// Add `integrity {leaf, chain, salt}` to each event
    #[arg(long)]
    integrity: bool,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let found = store::find(&reader, &args.session)?;
    let (session, newest) = (found.session_id, found.head.sequence);
    let to = args.to.unwrap_or(if args.follow { u64::MAX } else { newest });
    if args.from > to || (args.from > newest && !args.follow) {
        let from = args.from;
        return Err(Failure::input(format!(
            "{session} has no events from {from} to {to}; its events are 1 to {newest}"
        )));
    }
    let mut lines =
        Lines { options: WriteOptions { integrity: args.integrity }, line: String::new() };
    if args.follow {
        follow(app, &reader, &session, args, &mut lines)
    } else {
        list(app, &reader, &session, args, &mut lines)
    }
}

struct Lines {
    options: WriteOptions,
    line: String,
}

impl Lines {
    fn write(&mut self, app: &mut App, event: &RecordedEvent) -> Result<(), Failure> {
        self.line.clear();
        write_event(event, self.options, &mut self.line);
        self.line.push('\n');
        app.out.exact().write_all(self.line.as_bytes())?;
        Ok(())
    }
}

fn list(
    app: &mut App,
    reader: &LogReader,
    session: &SessionId,
    args: &Args,
    lines: &mut Lines,
) -> Result<Answer, Failure> {
    let mut answer = Answer::Yes;
    let to = args.to.unwrap_or(u64::MAX);
    for entry in reader.read(session, args.from..=to, ReadMode::Tolerant)? {
        match entry? {
            Entry::Event(event) => lines.write(app, &event)?,
            Entry::Gap(gap) => {
                app.note(format!(
                    "sequence {} to {} cannot be read: {}",
                    gap.from, gap.to, gap.reason
                ));
                answer = Answer::No;
            }
        }
    }
    Ok(answer)
}

fn follow(
    app: &mut App,
    reader: &LogReader,
    session: &SessionId,
    args: &Args,
    lines: &mut Lines,
) -> Result<Answer, Failure> {
    let after = Cursor { sequence: args.from.saturating_sub(1), chain: None };
    let mut events = reader.follow(session, after)?;
    loop {
        // What is there already is written in one go; whoever waits sees each event at once.
        match events.next_timeout(Duration::ZERO)? {
            Some(event) => lines.write(app, &event)?,
            None => {
                app.out.flush()?;
                if let Some(event) = events.next_timeout(Duration::from_secs(60))? {
                    lines.write(app, &event)?;
                }
            }
        }
    }
}
