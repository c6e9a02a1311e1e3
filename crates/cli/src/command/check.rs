//! `spine check`: does a recording or a session keep the contract?

use std::io::{BufReader, Write as _};
use std::path::Path;

use conformance::{Checker, Finding, Options, Report, Severity, check_lines};
use event_spine::{Entry, ReadMode};
use providers::stream::{Format, Framing};

use crate::app::App;
use crate::command::ingest::format;
use crate::failure::{Answer, Failure};
use crate::intake::{BATCH, Plan};
use crate::output::{BAD, DIM, GOOD, WARN};
use crate::progress::{Progress, Unit};
use crate::source::{Source, is_file_name};
use crate::store;

/// Check a recording or a session against the contract
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine check run.jsonl
  spine check last --format junit > check.xml
  spine check run.jsonl --json | jq '.[].code'

Exit status: 0 when no rule is broken (degraded facts and notes do not count), 1 when one is.")]
pub(crate) struct Args {
    /// A recording, `-` for standard input, or a session (its id, the beginning of it, or `last`)
    #[arg(value_name = "FILE|SESSION")]
    what: String,
    /// How to print the findings; text when left out, json with --json
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,
    /// Format of the recording; recognised when left out
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<Format>,
    /// The stream is whole: what is still open at its end breaks a rule
    #[arg(long)]
    whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// One finding a line, then the sum
    Text,
    /// The findings as a JSON array (also what --json prints)
    Json,
    /// One JSON object: the verdict, counts, findings
    Report,
    /// For build servers
    Junit,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let form = match (args.format, app.json) {
        (None, true) => Form::Json,
        (None, false) => Form::Text,
        (Some(form @ (Form::Json | Form::Report)), _) | (Some(form), false) => form,
        (Some(Form::Text | Form::Junit), true) => {
            return Err(crate::failure::two_forms("--format"));
        }
    };
    let whole = args.whole;
    let path = Path::new(&args.what);
    let (name, report) = if args.what == "-" || path.exists() || is_file_name(path) {
        (args.what.clone(), recording(app, path, args.from, whole)?)
    } else {
        let found = store::find(&store::reader(app)?, &args.what)?.session_id;
        (found.to_string(), session(app, found.as_str(), whole)?)
    };
    match form {
        Form::Text => text(app, &report)?,
        Form::Json => app.out.json(&report.findings_json())?,
        Form::Report => app.out.json(&report)?,
        Form::Junit => {
            let xml = report
                .to_junit(&name)
                .map_err(|e| Failure::input(format!("cannot write JUnit: {e}")))?;
            app.out.exact().write_all(xml.as_bytes())?;
        }
    }
    Ok(report.passed.into())
}

fn recording(app: &App, path: &Path, from: Option<Format>, whole: bool) -> Result<Report, Failure> {
    let mut source = Source::open(path, &*app.clock)?;
    let options = Options { whole, ..Options::default() };
    let format = match from.or_else(|| Format::detect(&source.head)) {
        Some(format) => format,
        // Events with faults are what this command is for; what is no JSON at all holds no events.
        None if begins_with_json(&source.head) => Format::RuntimeEvent,
        None => return Err(crate::intake::unrecognised(&source)),
    };
    if format == Format::RuntimeEvent {
        let name = source.name.clone();
        let reader = source.reader().map(|from| BufReader::with_capacity(256 * 1024, from));
        return reader.and_then(|reader| check_lines(reader, options)).map_err(|e| {
            Failure::input(format!("cannot read {name}: {}", event_spine::reason(&e)))
        });
    }
    let mut checker = Checker::new(Options { foreign: true, ..options });
    let plan = Plan { format, session: None, lenient: true, paused: !whole, batch: BATCH };
    let mut progress = Progress::new(app.quiet, "checking", Unit::Bytes, Some(source.size));
    plan.adapt(&mut source, &mut progress, |batch| {
        for fault in &batch.faults {
            checker.unreadable(fault.line, &fault.kind.to_string());
        }
        for made in &batch.drafts {
            checker.draft(&made.session_id, &made.draft);
        }
        Ok(())
    })?;
    Ok(checker.finish())
}

fn begins_with_json(head: &[u8]) -> bool {
    let value = match Framing::detect(head) {
        Framing::Document => return head.trim_ascii_start().starts_with(b"["),
        Framing::Lines | Framing::Sse => {
            head.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty())
        }
    };
    value.is_some_and(|line| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok())
}

pub(crate) fn session(app: &App, typed: &str, whole: bool) -> Result<Report, Failure> {
    let reader = store::reader(app)?;
    let session = store::find(&reader, typed)?;
    let mut checker = Checker::new(Options { whole, ..Options::default() });
    let mut progress =
        Progress::new(app.quiet, "checking", Unit::Events, Some(session.head.sequence));
    for entry in reader.read(&session.session_id, .., ReadMode::Tolerant)? {
        progress.advance(1);
        match entry? {
            Entry::Event(event) => checker.recorded(&event),
            Entry::Gap(gap) => app.note(format!(
                "sequence {} to {} cannot be read: {}",
                gap.from, gap.to, gap.reason
            )),
        }
    }
    Ok(checker.finish())
}

fn text(app: &mut App, report: &Report) -> Result<(), Failure> {
    for finding in &report.findings {
        line(app, finding)?;
    }
    if report.dropped > 0 {
        writeln!(app.out, "… and {} more", report.dropped)?;
    }
    let errors = report.total(Severity::Error);
    let style = match (errors, report.total(Severity::Degraded)) {
        (0, 0) => GOOD,
        (0, _) => WARN,
        _ => BAD,
    };
    let verdict = app.out.paint(style, report.level);
    let counted = |severity, noun: &str| crate::text::counted(report.total(severity), noun);
    let detail = format!(
        "{}, {}, {} in {}",
        counted(Severity::Error, "error"),
        counted(Severity::Degraded, "degraded fact"),
        counted(Severity::Note, "note"),
        crate::text::counted(report.counts.events, "event"),
    );
    let detail = app.out.paint(DIM, detail);
    writeln!(app.out, "{verdict}  {detail}")?;
    Ok(())
}

fn line(app: &mut App, finding: &Finding) -> Result<(), Failure> {
    let place = match (finding.line, finding.sequence, finding.frame) {
        (Some(line), _, _) => format!("line {line}"),
        (None, Some(sequence), _) => format!("seq {sequence}"),
        (None, None, Some(frame)) => format!("frame {frame}"),
        (None, None, None) => "end".to_owned(),
    };
    let style = match finding.severity {
        Severity::Error => BAD,
        Severity::Degraded => WARN,
        Severity::Note => DIM,
    };
    let severity = app.out.paint(style, format!("{:8}", finding.severity.as_str()));
    let rule = app.out.paint(DIM, format!("{} {}", finding.rule, finding.code));
    let path = if finding.path.is_empty() { String::new() } else { format!("{}: ", finding.path) };
    writeln!(app.out, "{place:>9}  {severity}  {path}{}  {rule}", finding.message)?;
    Ok(())
}
