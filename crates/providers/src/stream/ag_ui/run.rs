//! Owns the life of runs and turns: how they begin, go on and wait, and what ends them.
//!
//! Next: [`ends`](super::ends), what their end closes.

use event_spine::event::family::context::{StreamInterrupted, StreamRepaired};
use event_spine::event::family::lifecycle::{RunStatus, TurnStarted, TurnSubmitted};
use event_spine::event::family::task::TaskCreated;
use event_spine::event::value::{ContentPart, EvidenceStatus, Role, TaskStatus};
use event_spine::{JsonText, RunId, SessionId, Timestamp};

use super::super::{EndOfInput, Frame, SessionDraft};
use super::cx::Cx;
use super::ends::{Ending, count_raw, end_turn, evidence, task, unknown_usage, usage};
use super::frame::{Message, Outcome, RunInput, Wire, outcome};
use super::state::{Phase, Run, Thread, Turn, message_id, run_id, thread_id};
use super::{AgUi, SYSTEM, digest, people, stated, text, tools};

impl AgUi {
    /// RUN_STARTED.
    pub(super) fn start(
        &mut self,
        frame: &Frame,
        wire: &Wire,
        time: Option<Timestamp>,
    ) -> Vec<SessionDraft> {
        let thread = wire.thread_id.clone().unwrap_or_else(|| self.unnamed.clone());
        let run = wire.run_id.clone().unwrap_or_else(|| frame.number.to_string());
        let key = (thread.clone(), run.clone());
        let started = JsonText::parse(&frame.text).ok().map(|(text, _)| digest(&text));
        let seen = self.seen.entry(key.clone()).or_default();
        if seen.digests.first().copied() == started && seen.starts > 0 {
            self.replaying = Some((key, 1));
            return Vec::new();
        }
        self.replaying = None;
        seen.starts += 1;
        let starts = seen.starts;
        seen.digests = started.into_iter().collect();
        let input = wire.carried_input().or_else(|| self.inputs.remove(&run));
        let mut out = self.leave(frame.number, time.clone());
        out.extend(self.enter((thread, run, starts), frame.number, time, input, false));
        out
    }

    /// A stream that begins in the middle of a run.
    pub(super) fn start_unannounced(
        &mut self,
        frame: u64,
        time: Option<Timestamp>,
    ) -> Vec<SessionDraft> {
        let thread = self.unnamed.clone();
        self.enter((thread, "unannounced".to_owned(), 1), frame, time, None, true)
    }

    /// Another run begins: the one before it ends, if it has not.
    fn leave(&mut self, frame: u64, time: Option<Timestamp>) -> Vec<SessionDraft> {
        let Some((key, mut run)) = self.current.take() else {
            return Vec::new();
        };
        let Some(thread) = self.threads.get_mut(&key).filter(|_| !run.ended) else {
            return Vec::new();
        };
        run.ordinal += 1;
        let mut cx = Cx::new(&self.drafter, thread, &mut run, frame, time);
        stated::release_held(&mut cx, None);
        count_raw(&mut cx);
        broke_off(&mut cx, "run_not_finished");
        end_turn(&mut cx, &Ending::Failed { category: "incomplete", error: None, code: None });
        cx.out
    }

    fn enter(
        &mut self,
        (thread_key, run, starts): (String, String, u32),
        frame: u64,
        time: Option<Timestamp>,
        input: Option<RunInput>,
        unannounced: bool,
    ) -> Vec<SessionDraft> {
        let session = self.session_of(&thread_key);
        self.first.get_or_insert_with(|| session.clone());
        let thread = self
            .threads
            .entry(thread_key.clone())
            .or_insert_with(|| Thread::new(session, thread_id(&thread_key)));
        let id = run_id(&run);
        if let Some((turn, broken)) = thread.before.get(&id) {
            thread.turn.clone_from(turn);
            thread.broken = *broken;
        }
        let key = if starts == 1 { run } else { format!("{run}#{starts}") };
        let mut run = Run::new(id, key);
        let mut cx = Cx::new(&self.drafter, thread, &mut run, frame, time);
        begin(&mut cx, input.as_ref());
        if unannounced {
            cx.warn("missing_run_started", None, None);
        }
        let out = cx.out;
        self.current = Some((thread_key, run));
        out
    }

    fn session_of(&self, thread: &str) -> SessionId {
        self.forced.clone().unwrap_or_else(|| SessionId::derived(&[SYSTEM, thread]))
    }
}

/// Begins a run: in the turn that waits for it, or in a new one.
fn begin(cx: &mut Cx<'_>, input: Option<&RunInput>) {
    match cx.turn().map(|turn| turn.phase) {
        Some(Phase::Waiting) => {
            let leaves_it = input.is_some_and(|i| !i.answers() && i.new_message().is_some());
            if !leaves_it {
                status(cx, "running", Some("waiting"), None);
                people::resume(cx, input);
                tools::results_in(cx, input);
                if let Some(turn) = cx.turn() {
                    turn.phase = Phase::Running;
                }
                return;
            }
            end_turn(cx, &Ending::Canceled { reason: "superseded" });
        }
        Some(Phase::Running) => {
            end_turn(cx, &Ending::Failed { category: "incomplete", error: None, code: None })
        }
        Some(Phase::Over) | None => {}
    }
    let turn = Turn::new(&cx.thread.session, &cx.thread.id, &run_key(cx.run));
    cx.thread.turn = Some(turn);
    submit(cx, input);
    let scope = cx.scope(None);
    cx.emit(scope.clone(), &TurnStarted { model: None, provider: None, cwd: None, title: None });
    cx.emit(
        scope,
        &TaskCreated {
            objective: None,
            label: None,
            status: Some(TaskStatus::Running),
            kind: Some("ag-ui.turn".to_owned()),
            depends_on: Vec::new(),
            attempt: None,
        },
    );
    status(cx, "running", None, None);
    people::resume(cx, input);
}

fn run_key(run: &Run) -> RunId {
    run_id(&run.key)
}

/// The input, as far as the stream says what it was.
fn submit(cx: &mut Cx<'_>, input: Option<&RunInput>) {
    let mut scope = cx.scope(None);
    let message = input.and_then(RunInput::new_message);
    let mut payload =
        TurnSubmitted { role: None, text: None, parts: Vec::new(), source: None, input_ref: None };
    let Some(message) = message else {
        cx.emit_synthetic(scope, &payload);
        return;
    };
    payload.role = Some(Role::User);
    payload.source = Some("user".to_owned());
    payload.text = message.text();
    payload.parts = parts(message);
    scope.message_id = message.id.as_deref().map(message_id);
    cx.emit(scope, &payload);
}

/// The parts of a message, when it is more than text.
pub(super) fn parts(message: &Message) -> Vec<ContentPart> {
    let parts = message.parts();
    if parts.iter().all(|part| part.kind == "text") {
        return Vec::new();
    }
    let part = |part: super::frame::Part| {
        let source = part.source;
        let inline = source.as_ref().is_some_and(|s| s.kind.as_deref() == Some("data"));
        ContentPart {
            kind: part.kind,
            text: part.text,
            media_type: part
                .mime_type
                .or_else(|| source.as_ref().and_then(|s| s.mime_type.clone())),
            // Inline data stays in the raw input.
            uri: part.url.or_else(|| source.and_then(|s| s.value).filter(|_| !inline)),
            content_ref: None,
        }
    };
    parts.into_iter().map(part).collect()
}

pub(super) fn status(cx: &mut Cx<'_>, phase: &str, from: Option<&str>, detail: Option<&str>) {
    let payload = RunStatus {
        phase: phase.to_owned(),
        from: from.map(str::to_owned),
        title: None,
        attempt: None,
        detail: detail.map(str::to_owned),
    };
    let scope = cx.scope(None);
    cx.emit(scope, &payload);
}

/// RUN_FINISHED.
pub(super) fn finished(cx: &mut Cx<'_>, wire: &Wire) {
    text::close_all_chunks(cx);
    cx.run.ended = true;
    count_raw(cx);
    let (outcome, interrupts) = outcome(wire);
    let asked = match outcome {
        Outcome::Interrupt => people::asked(interrupts, &cx.run.asked),
        // The frameworks that tell it by a custom event leave the outcome out.
        Outcome::Success { .. } if wire.outcome.is_none() => cx.run.asked.clone(),
        Outcome::Success { .. } | Outcome::Cancelled | Outcome::Other(_) => Vec::new(),
    };
    usage(cx, wire);
    match outcome {
        Outcome::Interrupt => wait(cx, asked, &[]),
        Outcome::Success { .. } if !asked.is_empty() => wait(cx, asked, &[]),
        Outcome::Success { pending } if !pending.is_empty() => wait(cx, Vec::new(), &pending),
        Outcome::Success { .. } => {
            end_turn(cx, &Ending::Completed { result: wire.result.as_ref() });
        }
        Outcome::Cancelled => end_turn(cx, &Ending::Canceled { reason: "cancelled" }),
        Outcome::Other(word) => end_turn(
            cx,
            &Ending::Failed { category: "unknown_outcome", error: None, code: Some(&word) },
        ),
    }
}

/// RUN_ERROR.
pub(super) fn failed(cx: &mut Cx<'_>, wire: &Wire) {
    cx.run.ended = true;
    count_raw(cx);
    usage(cx, wire);
    let category = match wire.code.as_deref() {
        Some(code) if KNOWN_CATEGORIES.contains(&code) => code,
        _ => "runtime_error",
    };
    let ending =
        Ending::Failed { category, error: wire.message.as_deref(), code: wire.code.as_deref() };
    end_turn(cx, &ending);
}

/// Codes that are categories of the contract word for word. Other codes are kept as the reason.
const KNOWN_CATEGORIES: [&str; 12] = [
    "auth_failed",
    "forbidden",
    "not_found",
    "rate_limited",
    "client_error",
    "context_too_long",
    "server_error",
    "timeout",
    "network_error",
    "stream_interrupted",
    "cancelled",
    "runtime_error",
];

/// The input ended.
pub(super) fn end_of_input(cx: &mut Cx<'_>, end: EndOfInput) {
    stated::release_held(cx, None);
    count_raw(cx);
    if cx.run.ended {
        return;
    }
    let (category, reason) = match end {
        EndOfInput::Paused => return,
        EndOfInput::Closed => ("incomplete", "ended_without_terminal"),
        EndOfInput::Cut => ("stream_interrupted", "cut_off"),
    };
    broke_off(cx, reason);
    if cx.run.spoke {
        let scope = cx.scope(None);
        cx.emit_synthetic(scope, &unknown_usage());
    }
    cx.run.ended = true;
    end_turn(cx, &Ending::Failed { category, error: None, code: None });
}

/// The stream ended, or another run began, and nobody said how this one ended.
fn broke_off(cx: &mut Cx<'_>, reason: &str) {
    let scope = cx.scope(None);
    let payload = StreamInterrupted {
        reason: reason.to_owned(),
        last_source_sequence: None,
        expected_source_sequence: None,
    };
    cx.emit_synthetic(scope, &payload);
    cx.thread.broken = true;
}

/// The whole message list tells what was missed when an earlier run broke off.
pub(super) fn repaired(cx: &mut Cx<'_>) {
    if !std::mem::take(&mut cx.thread.broken) {
        return;
    }
    let payload = StreamRepaired {
        method: Some("snapshot".to_owned()),
        from_sequence: None,
        to_sequence: None,
        lost: None,
        detail: None,
    };
    let scope = cx.scope(None);
    cx.emit(scope, &payload);
}

/// The run ended to ask; the turn waits.
fn wait(cx: &mut Cx<'_>, asked: Vec<people::Asked>, pending: &[String]) {
    text::fail_open(cx, "stream_interrupted");
    tools::keep_waiting(cx, pending);
    people::require(cx, asked);
    evidence(cx, EvidenceStatus::Partial);
    let waits_for = if pending.is_empty() { "answer" } else { "client_tools" };
    status(cx, "waiting", Some("running"), Some(waits_for));
    task(cx, if pending.is_empty() { TaskStatus::WaitingInput } else { TaskStatus::Waiting }, None);
    if let Some(turn) = cx.turn() {
        turn.phase = Phase::Waiting;
    }
}
