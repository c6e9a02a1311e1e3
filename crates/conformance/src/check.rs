//! Owns running the rules over a stream: line by line or event by event, nothing kept but what rules must remember.
//!
//! Next: `stream`, what is remembered; [`Report`], what comes out.

use std::collections::HashMap;
use std::io::{self, BufRead};

use event_spine::wire::WireEvent;
use event_spine::{EventDraft, RecordedEvent, SessionId};

use crate::input::{self, Item};
use crate::place::Place;
use crate::report::Report;
use crate::rule::{Look, Out, RULES};
use crate::stream::{Identity, Print, Stream};
use crate::subject::{self, Fault, Reading, Subject};

/// How strictly to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The stream is whole: what is open at its end is a fault. Otherwise an unfinished stream breaks no rule, and
    /// closing is looked at where a turn ends.
    pub whole: bool,
    /// The stream is another runtime's, as it came: where the contract lets the end of a turn close its tools, that
    /// is a degraded fact and no fault.
    pub foreign: bool,
    /// How many findings are kept with their words; all are counted.
    pub keep: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { whole: false, foreign: false, keep: 10_000 }
    }
}

/// Judges streams as their events come.
#[derive(Debug, Default)]
pub struct Checker {
    options: Options,
    streams: HashMap<String, Stream>,
    last_session: Option<SessionId>,
    report: Report,
}

impl Checker {
    /// Starts.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// Judges a line of a file: the text of one event. Lines of several sessions may mix.
    pub fn line(&mut self, number: u64, text: &str) {
        let reading = subject::read(text, self.last_session.as_ref());
        let place = Place {
            line: Some(number),
            frame: None,
            event_id: reading
                .subject
                .as_ref()
                .filter(|subject| subject.has_id)
                .map(|subject| subject.event.draft.event_id.as_str().to_owned()),
            sequence: reading.subject.as_ref().and_then(|subject| subject.event.sequence),
        };
        self.report.counts.lines += 1;
        let session = reading.subject.as_ref().map(|s| s.event.session_id.clone());
        let key = session.as_ref().map_or("", SessionId::as_str).to_owned();
        self.judge(&key, &place, &reading);
        self.last_session = session.or(self.last_session.take());
    }

    /// Judges a line that is no text.
    pub fn unreadable(&mut self, number: u64, why: &str) {
        self.report.counts.lines += 1;
        let faults = vec![Fault { path: String::new(), message: why.to_owned() }];
        let place = Place { line: Some(number), ..Place::default() };
        self.judge("", &place, &Reading { faults, subject: None });
    }

    /// Judges the next event of a log's session. All recorded events given to one checker count as one stream, since
    /// the shared prefix of a fork keeps its parent's session id.
    pub fn recorded(&mut self, event: &RecordedEvent) {
        let event = WireEvent {
            session_id: event.session_id.clone(),
            sequence: Some(event.sequence),
            draft: event.draft.clone(),
            repairs: event_spine::Repairs::default(),
        };
        self.sound("", event);
    }

    /// Judges a fact that is not in a log yet, such as an adapter gives; its place in the stream is not looked at.
    pub fn draft(&mut self, session: &SessionId, draft: &EventDraft) {
        let event = WireEvent {
            session_id: session.clone(),
            sequence: None,
            draft: draft.clone(),
            repairs: event_spine::Repairs::default(),
        };
        self.sound(session.as_str(), event);
    }

    fn sound(&mut self, stream: &str, event: WireEvent) {
        let place = Place {
            line: None,
            frame: if event.sequence.is_none() { frame(&event.draft) } else { None },
            event_id: Some(event.draft.event_id.as_str().to_owned()),
            sequence: event.sequence,
        };
        let reading = Reading { faults: Vec::new(), subject: Some(Subject::sound(event)) };
        self.judge(stream, &place, &reading);
    }

    fn judge(&mut self, key: &str, place: &Place, reading: &Reading) {
        let mut found = Vec::new();
        for rule in RULES {
            rule.envelope(
                &reading.faults,
                &mut Out { info: rule.info(), place, found: &mut found },
            );
        }
        if let Some(subject) = &reading.subject {
            self.report.counts.count(subject);
            if !self.streams.contains_key(key) {
                self.streams.insert(key.to_owned(), Stream::default());
            }
            if let Some(stream) = self.streams.get_mut(key) {
                let print = Print::of(subject);
                let identity = stream.identity(print);
                let look = Look { subject, identity, stream, options: &self.options };
                for rule in RULES {
                    let mut out = Out { info: rule.info(), place, found: &mut found };
                    match identity {
                        Identity::Repeat => rule.repeat(&look, &mut out),
                        Identity::New | Identity::SecondPlace | Identity::OtherContent => {
                            rule.event(&look, &mut out);
                        }
                    }
                }
                if identity != Identity::Repeat {
                    stream.apply(subject, print, place.mark());
                }
            }
        }
        self.report.take(found, self.options.keep);
    }

    /// Ends and reports.
    #[must_use]
    pub fn finish(mut self) -> Report {
        self.report.counts.sessions = self.streams.len() as u64;
        let mut keys: Vec<_> = self.streams.keys().cloned().collect();
        keys.sort();
        for key in keys {
            let Some(stream) = self.streams.remove(&key) else {
                continue;
            };
            self.report.counts.add(stream.totals);
            if self.options.whole {
                let mut found = Vec::new();
                let place = Place { sequence: stream.last_sequence, ..Place::default() };
                for rule in RULES {
                    let mut out = Out { info: rule.info(), place: &place, found: &mut found };
                    rule.end(&stream, &mut out);
                }
                self.report.take(found, self.options.keep);
            }
        }
        self.report.close();
        self.report
    }
}

/// The input frame that an adapter made a fact from.
fn frame(draft: &EventDraft) -> Option<u64> {
    let origins = draft.refs.to_vec().into_iter().filter_map(|reference| reference.origin);
    origins.map(|origin| origin.frame).find(|frame| *frame > 0)
}

/// Judges a file: RuntimeEvents as JSON lines, or a JSON document that holds them.
///
/// # Errors
/// The input cannot be read. What it says is never an error: it is a finding.
pub fn check_lines(input: impl BufRead, options: Options) -> io::Result<Report> {
    let mut checker = Checker::new(options);
    input::for_each(input, |number, item| match item {
        Item::Text(text) => checker.line(number, text),
        Item::Unreadable(why) => checker.unreadable(number, &why),
    })?;
    Ok(checker.finish())
}

/// Judges the recorded events of one session.
pub fn check_events<'a>(
    events: impl IntoIterator<Item = &'a RecordedEvent>,
    options: Options,
) -> Report {
    let mut checker = Checker::new(options);
    for event in events {
        checker.recorded(event);
    }
    checker.finish()
}
