//! Owns reading what Codex writes: rollouts, the files in which it keeps its sessions, of 2025 and 2026, and the two streams
//! of a running Codex, which are put into the words of a rollout first.
//!
//! A rollout keeps two records of almost everything: what went to and came from the model (`response_item`), and what the user
//! interface was told (`event_msg`). They are joined by the ids of items and calls, and where there are none, by their order.
//!
//! Next: [`frame`] for the lines, [`state`] for what is remembered, then [`events`] and [`items`], the two records.

mod agents;
mod context;
mod cx;
mod events;
mod frame;
mod items;
mod live;
mod output;
mod people;
mod runs;
mod state;
#[cfg(test)]
mod tests;
mod tools;
mod turn;
mod usage;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use event_spine::event::{Entity, EventType, Pairing};
use event_spine::{
    EventDraft, RecordedAt, RuntimeId, SessionId, SubagentId, ThreadId, Timestamp, TurnId,
};
use serde_json::Value;

use super::draft::Drafter;
use super::{
    AdaptErrorKind, Adapted, AdapterContext, EndOfInput, Format, Frame, SessionDraft, StreamAdapter,
};
use cx::{Cx, Place};
use frame::{Kind, Line, number, text};
use live::Live;
use runs::{Recorded, Run, Trial};
use state::{Form, Thread, thread_id};

const VERSION: u32 = 1;
const SYSTEM: &str = "codex";

/// The adapter of Codex: rollouts, `codex exec --json`, the app server.
#[derive(Debug, Clone)]
pub struct Codex {
    drafter: Drafter,
    forced: Option<SessionId>,
    /// What stands for the session of a stream that names none, and tells apart streams that number their things anew.
    unnamed: String,
    /// In the order in which they came; a rollout has one.
    threads: Vec<Thread>,
    current: usize,
    /// What came before the first thread was named.
    early: Vec<Early>,
    live: Live,
    last_ordinal: Option<u64>,
    /// How often a frame of a live stream came, word for word.
    repeats: HashMap<[u8; 8], u32>,
    last_key: String,
    last_time: Option<Timestamp>,
    /// The run of `codex exec` that goes on.
    run: Option<Run>,
    /// Runs that this input has begun, by thread.
    begun: HashMap<ThreadId, BTreeSet<u64>>,
    /// What the log has of runs.
    recorded: Arc<Recorded>,
    /// A run of which it does not show yet which one it is.
    trial: Option<Trial>,
    /// A turn that the log has closed since an earlier copy of the stream ended in it.
    left_open: Option<TurnId>,
    /// Agents that the log knows, and the events that told of them.
    known_agents: HashMap<SubagentId, EventDraft>,
}

/// A line, or something that is none, that came before any thread was named.
#[derive(Debug, Clone)]
struct Early {
    place: Place,
    line: Option<Line>,
    /// What it is kept as, and what it says.
    kept: (&'static str, Option<Value>),
}

/// How much waits for the first thread at most.
const MAX_EARLY: usize = 256;

pub(super) fn recognises(frame: &Value) -> bool {
    frame::is_line(frame) || live::is_frame(frame)
}

impl Codex {
    /// A fresh adapter.
    #[must_use]
    pub fn new(context: AdapterContext) -> Self {
        let unnamed = context.raw.clone();
        let unnamed = unnamed.unwrap_or_else(|| "unnamed-session".to_owned());
        let runtime = RuntimeId::parse(SYSTEM).unwrap_or_else(|_| RuntimeId::derived(&[SYSTEM]));
        Self {
            drafter: Drafter::new(SYSTEM, VERSION, runtime, &context),
            live: Live::new(&unnamed),
            unnamed,
            forced: context.session,
            threads: Vec::new(),
            current: 0,
            early: Vec::new(),
            last_ordinal: None,
            repeats: HashMap::new(),
            last_key: "start".to_owned(),
            last_time: None,
            run: None,
            begun: HashMap::new(),
            recorded: Arc::default(),
            trial: None,
            left_open: None,
            known_agents: HashMap::new(),
        }
    }

    /// Puts something aside until a thread is named; `false` when there is one, or too much waits.
    fn too_early(&mut self, early: impl FnOnce() -> Early) -> bool {
        let waits = self.threads.is_empty() && self.early.len() < MAX_EARLY;
        if waits {
            self.early.push(early());
        }
        waits
    }

    /// Tells what came before the first thread was named.
    fn tell_early(&mut self) -> Vec<SessionDraft> {
        let mut out = Vec::new();
        for early in std::mem::take(&mut self.early) {
            out.extend(self.in_thread(early.place, |cx| match &early.line {
                Some(line) => take_line(cx, line, false),
                None => cx.warn(early.kept.0, None, early.kept.1.as_ref()),
            }));
        }
        out
    }

    /// Does something in the current thread; makes one up when none has been named.
    fn in_thread(&mut self, place: Place, act: impl FnOnce(&mut Cx<'_>)) -> Vec<SessionDraft> {
        if self.threads.is_empty() {
            let session = SessionId::derived(&[SYSTEM, &self.unnamed]);
            let session = self.forced.clone().unwrap_or(session);
            let id = thread_id(&self.unnamed);
            let form = if self.run.is_some() { Form::Exec } else { Form::Rollout };
            self.threads.push(Thread::new(session, id.clone(), id, form));
        }
        let Some(thread) = self.threads.get_mut(self.current) else {
            return Vec::new();
        };
        let mut cx = Cx::new(&self.drafter, thread, place);
        act(&mut cx);
        cx.out
    }

    /// The place of a line of a rollout: its number there, else that of the frame.
    fn place(&mut self, frame: &Frame, line: Option<&Line>) -> Place {
        let key = match line.and_then(|line| line.ordinal) {
            // A number that does not rise is no place.
            Some(ordinal) if self.last_ordinal.is_none_or(|last| ordinal > last) => {
                self.last_ordinal = Some(ordinal);
                format!("o{ordinal}")
            }
            _ => format!("f{}", frame.number),
        };
        self.last_key.clone_from(&key);
        let time = line.and_then(|line| line.timestamp.clone());
        Place { frame: frame.number, key, time: self.time(time.map(Timestamp::verbatim)) }
    }

    /// The time of a line; of one that has none, that of the line before.
    fn time(&mut self, given: Option<Timestamp>) -> Option<Timestamp> {
        if given.is_some() {
            self.last_time.clone_from(&given);
        }
        self.last_time.clone()
    }

    /// The place of a frame of a live stream. A thread can go on in another stream, where frames are numbered anew; so the
    /// frame stands for itself, by its words and how often they came.
    fn live_place(&mut self, frame: &Frame, value: &Value) -> Place {
        let mut hasher = blake3::Hasher::new();
        if live::is_exec(value) && live::exec_head(value).is_none() {
            hasher.update(self.live.stream.as_bytes()); // its words repeat from run to run
        }
        hasher.update(frame.text.as_bytes());
        let mut digest = [0; 8];
        hasher.finalize_xof().fill(&mut digest);
        let nth = self.repeats.entry(digest).or_default();
        *nth += 1;
        let key = format!("l{:016x}.{nth}", u64::from_be_bytes(digest));
        self.last_key.clone_from(&key);
        Place { frame: frame.number, key, time: None }
    }

    /// Begins a thread, or goes back to one.
    fn begin(&mut self, payload: &Value, form: Form) -> bool {
        let Some(id) = text(payload, "id") else {
            return false;
        };
        if self.switch(id) || !(self.threads.is_empty() || form != Form::Rollout) {
            return false;
        }
        // The threads of sub-agents belong to the session of the thread that started them.
        let main = text(payload, "session_id").unwrap_or(id);
        let session = self.forced.clone().unwrap_or_else(|| form.session(main));
        let mut thread = Thread::new(session, thread_id(id), thread_id(main), form);
        thread.known_agents.clone_from(&self.known_agents);
        thread.left_open.clone_from(&self.left_open);
        self.current = self.threads.len();
        self.threads.push(thread);
        true
    }

    /// Goes to the thread of that id; `false` when there is none.
    fn switch(&mut self, id: &str) -> bool {
        let id = thread_id(id);
        let at = self.threads.iter().position(|thread| thread.id == id);
        if let Some(at) = at {
            self.current = at;
        }
        at.is_some()
    }

    /// Takes a frame of a live stream: it may be several lines, or none.
    fn take_live(&mut self, frame: &Frame, value: &Value, lines: &[Line]) -> Vec<SessionDraft> {
        // Requests give no time; it is that of the frame before them, whatever that one says.
        let given =
            number(value, "emittedAtMs").and_then(|ms| i64::try_from(ms).ok()?.checked_mul(1000));
        let time = self.time(given.map(|micros| RecordedAt(micros).into()));
        let place = Place { time, ..self.live_place(frame, value) };
        let form = if live::is_exec(value) { Form::Exec } else { Form::AppServer };
        if form == Form::Exec && self.run.is_none() {
            self.run = Some(Run { number: 1, label: self.unnamed.clone() });
        }
        let mut out = Vec::new();
        for (nth, line) in lines.iter().enumerate() {
            let mut place = place.clone();
            if nth > 0 {
                place.key.push_str(&format!(".{nth}"));
            }
            let named = line.thread.as_deref().is_some_and(|id| self.switch(id));
            let head = line.kind == Kind::SessionMeta && self.begin(&line.payload, form);
            if !named
                && !head
                && let Some(id) = &line.thread
            {
                self.begin(&serde_json::json!({"id": id}), form);
            }
            let early =
                || Early { place: place.clone(), line: Some(line.clone()), kept: ("", None) };
            if self.too_early(early) {
                continue;
            }
            out.extend(self.tell_early());
            let run = self.run.clone().filter(|_| form == Form::Exec);
            let recorded = self.recorded.clone();
            out.extend(self.in_thread(place, |cx| {
                if cx.thread.run != run {
                    cx.thread.enter(run, &recorded);
                }
                // Every run begins with the head of the thread; the first one tells it.
                if form != Form::Exec || line.kind != Kind::SessionMeta || head {
                    take_line(cx, line, head);
                }
            }));
        }
        out
    }

    /// Takes a frame, as one of the run that goes on.
    fn read(&mut self, frame: &Frame) -> Adapted {
        let (parsed, fault) = match frame.json() {
            Ok(parsed) => parsed,
            Err(fault) => {
                let drafts = self.keep(frame, None, "malformed_frame");
                return Adapted { drafts, fault: Some(fault) };
            }
        };
        let value: Value = parsed.read().unwrap_or(Value::Null);
        if let Some(lines) = self.live.lines(&value) {
            let drafts = self.take_live(frame, &value, &lines);
            return Adapted { drafts, fault };
        }
        let Some(line) = Line::read(value.clone()) else {
            let detail = "not a line of a Codex rollout: it has no `type` and `payload`".to_owned();
            return Adapted {
                drafts: self.keep(frame, Some(&value), "unknown_frame"),
                fault: Some(frame.error(AdaptErrorKind::NotAFrame { detail })),
            };
        };
        Adapted { drafts: self.take(frame, &line), fault }
    }

    /// A run of `codex exec` begins. When the log has runs of the thread, it may be one of them.
    fn begin_run(&mut self, thread: &ThreadId) {
        let begun = self.begun.entry(thread.clone()).or_default();
        let known: BTreeSet<u64> = self.recorded.runs(thread).into_keys().collect();
        let free: BTreeSet<u64> = known.difference(begun).copied().collect();
        let new = known.last().max(begun.last()).map_or(1, |last| last + 1);
        if free.is_empty() {
            self.enter_run(thread, Run::new(new));
        } else {
            self.trial = Some(Trial::new(self, thread, &free, new));
        }
    }

    fn enter_run(&mut self, thread: &ThreadId, run: Run) {
        self.begun.entry(thread.clone()).or_default().insert(run.number);
        self.live.stream = format!("{thread}#{}", run.label);
        self.run = Some(run);
    }

    /// The run that goes on is known: what came of its frames, and whether the log has more of it.
    fn go_on_as(&mut self, known: runs::Known) -> (Vec<SessionDraft>, bool) {
        *self = known.adapter;
        (known.drafts, known.goes_on)
    }

    /// No more frames of the run come.
    fn settle_run(&mut self) -> (Vec<SessionDraft>, bool) {
        match self.trial.take().and_then(Trial::settle) {
            Some(known) => self.go_on_as(known),
            None => (Vec::new(), false),
        }
    }

    fn take(&mut self, frame: &Frame, line: &Line) -> Vec<SessionDraft> {
        let first = line.kind == Kind::SessionMeta && self.begin(&line.payload, Form::Rollout);
        let place = self.place(frame, Some(line));
        let mut out = Vec::new();
        if self.threads.is_empty() {
            // The head is missing: a thread has to be made up.
            out.extend(self.in_thread(place.clone(), |_| {}));
        }
        out.extend(self.tell_early());
        out.extend(self.in_thread(place, |cx| take_line(cx, line, first)));
        out
    }

    fn keep(
        &mut self,
        frame: &Frame,
        value: Option<&Value>,
        code: &'static str,
    ) -> Vec<SessionDraft> {
        let place = self.place(frame, None);
        let early = || Early { place: place.clone(), line: None, kept: (code, value.cloned()) };
        if self.too_early(early) {
            return Vec::new();
        }
        self.in_thread(place, |cx| cx.warn(code, None, value))
    }
}

fn take_line(cx: &mut Cx<'_>, line: &Line, first: bool) {
    let payload = &line.payload;
    cx.thread.bare |= line.bare;
    let kind = text(payload, "type").unwrap_or_default();
    if !(line.kind == Kind::EventMsg && turn::is_end(kind)) {
        events::let_go_of_error(cx);
    }
    match &line.kind {
        Kind::EventMsg if events::take(cx, payload) => {}
        Kind::ResponseItem if items::take(cx, payload) => {}
        Kind::SessionMeta => context::session(cx, payload, first),
        Kind::TurnContext => context::turn_context(cx, payload),
        Kind::WorldState => context::world(cx, payload),
        Kind::TokenUsage => usage::record(cx, payload),
        Kind::Compacted => context::compacted(cx, "record", payload),
        Kind::AgentMessage => context::between_agents(cx, payload),
        Kind::EventMsg | Kind::ResponseItem => {
            let name = text(payload, "type").unwrap_or_default().to_owned();
            cx.warn("unknown_frame", Some(name), Some(payload));
        }
        Kind::Other(name) => cx.warn("unknown_frame", Some(name.clone()), Some(payload)),
    }
}

/// The thread that a run of `codex exec` goes on in, when this is its first frame.
fn exec_head(frame: &Frame) -> Option<ThreadId> {
    // Other frames are not parsed twice.
    let may_be = frame.text.contains("thread.started");
    let value: Value = may_be.then(|| serde_json::from_str(&frame.text).ok())??;
    live::exec_head(&value).map(thread_id)
}

impl StreamAdapter for Codex {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn recall(&mut self, _session: &SessionId, recorded: &EventDraft) {
        let (EventType::Known(row), scope) = (&recorded.event_type, &recorded.scope) else {
            return;
        };
        Arc::make_mut(&mut self.recorded).learn(recorded);
        let of_the_end = || {
            let refs = recorded.refs.to_vec();
            refs.iter().any(|r| r.origin.as_ref().is_some_and(|origin| origin.frame == 0))
        };
        match row.pairing {
            Pairing::Opens(Entity::Subagent) => {
                if let Some(agent) = &scope.subagent_id {
                    self.known_agents.insert(agent.clone(), recorded.clone());
                }
            }
            Pairing::Closes(Entity::Turn) if of_the_end() => {
                self.left_open.clone_from(&scope.turn_id)
            }
            _ if row.name == "stream.repaired" => self.left_open = None,
            _ => {}
        }
    }

    fn push(&mut self, frame: &Frame) -> Adapted {
        let mut drafts = Vec::new();
        if let Some(thread) = exec_head(frame) {
            drafts.extend(self.settle_run().0);
            self.begin_run(&thread);
        }
        let Some(trial) = &mut self.trial else {
            let mut adapted = self.read(frame);
            adapted.drafts.splice(0..0, drafts);
            return adapted;
        };
        let (known, fault) = trial.push(frame);
        if let Some(known) = known {
            drafts.extend(self.go_on_as(known).0);
        }
        Adapted { drafts, fault }
    }

    fn finish(&mut self, end: EndOfInput) -> Vec<SessionDraft> {
        let (mut out, goes_on) = self.settle_run();
        let end = if goes_on { EndOfInput::Paused } else { end };
        let place = context::end_place(&self.last_key, self.last_time.clone());
        let control = self.live.control;
        out.extend(self.tell_early());
        for at in 0..self.threads.len() {
            self.current = at;
            out.extend(self.in_thread(place.clone(), |cx| {
                context::let_go_of_all(cx);
                match end {
                    EndOfInput::Paused => {}
                    EndOfInput::Closed => turn::end_of_input(cx, false),
                    EndOfInput::Cut => turn::end_of_input(cx, true),
                }
                if at == 0 {
                    context::control_frames(cx, control);
                }
            }));
        }
        out
    }

    fn session_id(&self) -> Option<&SessionId> {
        let adapter = self.trial.as_ref().and_then(Trial::newest).unwrap_or(self);
        adapter.threads.first().map(|thread| &thread.session)
    }
}
