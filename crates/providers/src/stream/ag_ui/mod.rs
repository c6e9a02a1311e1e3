//! Owns reading AG-UI event streams: version 1.0 and the names of 0.x, one run or many, several threads.
//!
//! A thread is a session; the input of a run begins a turn, which is also a task; a run is an execution of that task. A
//! run that ends with an interrupt leaves the turn waiting, and the next run of the thread goes on in it.
//!
//! Next: [`frame`] for their shapes, [`state`] for what is remembered, [`map`] for the list of events.

mod cx;
mod ends;
mod frame;
mod map;
mod people;
mod recall;
mod run;
mod state;
mod stated;
#[cfg(test)]
mod tests;
mod text;
mod tools;

use std::collections::HashMap;

use event_spine::{EventDraft, JsonText, RecordedAt, RuntimeId, SessionId, Timestamp};

use super::draft::Drafter;
use super::{
    AdaptErrorKind, Adapted, AdapterContext, EndOfInput, Format, Frame, SessionDraft, StreamAdapter,
};
use cx::Cx;
use frame::{RunInput, Wire};
use state::{Run, Thread};

const VERSION: u32 = 1;
const SYSTEM: &str = "ag-ui";

/// The adapter of AG-UI.
pub struct AgUi {
    drafter: Drafter,
    forced: Option<SessionId>,
    /// What stands for the thread of a stream that names none.
    unnamed: String,
    threads: HashMap<String, Thread>,
    /// The thread and the run that frames belong to.
    current: Option<(String, Run)>,
    /// Inputs that came as frames of their own, by run.
    inputs: HashMap<String, RunInput>,
    seen: HashMap<(String, String), SeenRun>,
    /// How many frames of a run that comes again were recognised.
    replaying: Option<((String, String), usize)>,
    first: Option<SessionId>,
    last_time: Option<Timestamp>,
    /// Frames that are no events and came before any run.
    early: Vec<(Frame, Option<JsonText>, &'static str)>,
}

/// How many of them wait at most.
const MAX_EARLY: usize = 256;

/// What is remembered of the frames of a run, to recognise it when a reconnecting client is told all of it again.
#[derive(Debug, Default)]
struct SeenRun {
    digests: Vec<[u8; 8]>,
    starts: u32,
}

pub(super) fn recognises(frame: &serde_json::Value) -> bool {
    let text = |name: &str| frame.get(name).is_some_and(serde_json::Value::is_string);
    match frame.get("type").and_then(serde_json::Value::as_str) {
        Some("RUN_STARTED") => text("threadId") && text("runId"),
        Some("RUN_ERROR") => text("message"),
        Some("TEXT_MESSAGE_START" | "TEXT_MESSAGE_CHUNK" | "TOOL_CALL_START") => {
            text("messageId") || text("toolCallId")
        }
        _ => false,
    }
}

impl AgUi {
    /// A fresh adapter.
    #[must_use]
    pub fn new(context: AdapterContext) -> Self {
        let runtime = RuntimeId::parse(SYSTEM).unwrap_or_else(|_| RuntimeId::derived(&[SYSTEM]));
        Self {
            drafter: Drafter::new(SYSTEM, VERSION, runtime, &context),
            unnamed: context.raw.unwrap_or_else(|| "unnamed-thread".to_owned()),
            forced: context.session,
            threads: HashMap::new(),
            current: None,
            inputs: HashMap::new(),
            seen: HashMap::new(),
            replaying: None,
            first: None,
            last_time: None,
            early: Vec::new(),
        }
    }

    /// Does something in the current run; makes one up when the stream has not begun with one.
    fn in_run(
        &mut self,
        frame: &Frame,
        time: Option<Timestamp>,
        act: impl FnOnce(&mut Cx<'_>),
    ) -> Vec<SessionDraft> {
        let mut out = Vec::new();
        if self.current.is_none() {
            out = self.start_unannounced(frame.number, time.clone());
        }
        let Some((key, run)) = &mut self.current else {
            return out;
        };
        let Some(thread) = self.threads.get_mut(key) else {
            return out;
        };
        run.ordinal += 1;
        let mut cx = Cx::new(&self.drafter, thread, run, frame.number, time);
        act(&mut cx);
        out.extend(cx.out);
        out
    }

    fn take_event(&mut self, frame: &Frame, text: &JsonText, wire: &Wire) -> Vec<SessionDraft> {
        let given = wire.timestamp.as_ref().map(time);
        if given.is_some() {
            self.last_time.clone_from(&given);
        }
        // Of an event that gives no time, that of the one before.
        let time = self.last_time.clone();
        if wire.kind.as_deref() == Some("RUN_STARTED") {
            let mut out = self.start(frame, wire, time);
            out.extend(self.tell_early());
            return out;
        }
        if self.is_replayed(text) {
            return Vec::new();
        }
        self.in_run(frame, time, |cx| map::event(cx, wire, text))
    }

    fn tell_early(&mut self) -> Vec<SessionDraft> {
        let early = std::mem::take(&mut self.early);
        let told = early.into_iter().map(|(frame, text, code)| {
            let time = self.last_time.clone();
            self.in_run(&frame, time, |cx| cx.warn(code, None, text.as_ref()))
        });
        told.flatten().collect()
    }

    /// True for a frame that a run which comes again had at this place.
    fn is_replayed(&mut self, text: &JsonText) -> bool {
        let digest = digest(text);
        if let Some((key, at)) = &mut self.replaying {
            let same = self.seen.get(key).is_some_and(|run| run.digests.get(*at) == Some(&digest));
            if same {
                *at += 1;
                return true;
            }
            self.replaying = None;
        }
        if let Some((thread, run)) = &self.current {
            let key = (thread.clone(), run.id.as_str().to_owned());
            self.seen.entry(key).or_default().digests.push(digest);
        }
        false
    }

    /// A frame that is no event: kept whole as a warning, in the first run when none has begun.
    fn keep(
        &mut self,
        frame: &Frame,
        text: Option<&JsonText>,
        code: &'static str,
    ) -> Vec<SessionDraft> {
        if self.current.is_none() && self.early.len() < MAX_EARLY {
            self.early.push((frame.clone(), text.cloned(), code));
            return Vec::new();
        }
        let time = self.last_time.clone();
        self.in_run(frame, time, |cx| cx.warn(code, None, text))
    }
}

fn digest(text: &JsonText) -> [u8; 8] {
    let mut short = [0; 8];
    blake3::Hasher::new().update(text.as_str().as_bytes()).finalize_xof().fill(&mut short);
    short
}

/// Milliseconds since 1970, as the protocol's convention has it; anything else is kept as it stands.
fn time(number: &serde_json::Number) -> Timestamp {
    const YEAR_9999: i64 = 253_402_300_799_000;
    match number.as_i64() {
        Some(ms) if (0..=YEAR_9999).contains(&ms) => RecordedAt(ms * 1000).into(),
        _ => Timestamp::verbatim(number.to_string()),
    }
}

impl StreamAdapter for AgUi {
    fn format(&self) -> Format {
        Format::AgUi
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn recall(&mut self, session: &SessionId, recorded: &EventDraft) {
        recall::recall(&mut self.threads, session, recorded);
    }

    fn push(&mut self, frame: &Frame) -> Adapted {
        let (text, repaired) = match frame.json() {
            Ok(parsed) => parsed,
            Err(fault) => {
                let drafts = self.keep(frame, None, "malformed_frame");
                return Adapted { drafts, fault: Some(fault) };
            }
        };
        let not_a_frame = |detail: String| Some(frame.error(AdaptErrorKind::NotAFrame { detail }));
        let wire: Wire = match text.read() {
            Ok(wire) => wire,
            Err(e) => {
                return Adapted {
                    drafts: self.keep(frame, Some(&text), "malformed_frame"),
                    fault: not_a_frame(format!("not an AG-UI event: {e}")),
                };
            }
        };
        if let (Some(input), Some(run)) = (wire.as_input(), &wire.run_id) {
            self.inputs.insert(run.clone(), input);
            return Adapted::default();
        }
        if wire.kind.is_none() {
            return Adapted {
                drafts: self.keep(frame, Some(&text), "unknown_frame"),
                fault: not_a_frame("not an AG-UI event: it has no `type`".to_owned()),
            };
        }
        Adapted { drafts: self.take_event(frame, &text, &wire), fault: repaired }
    }

    fn finish(&mut self, end: EndOfInput) -> Vec<SessionDraft> {
        let mut out = self.tell_early();
        if let Some((key, run)) = &mut self.current
            && let Some(thread) = self.threads.get_mut(key)
        {
            let mut cx = Cx::new(&self.drafter, thread, run, 0, self.last_time.clone());
            run::end_of_input(&mut cx, end);
            out.extend(cx.out);
        }
        out
    }

    fn session_id(&self) -> Option<&SessionId> {
        self.first.as_ref()
    }
}
