//! Owns what a mapping works with: the thread, the run, and the drafts of the frame at hand.

use event_spine::event::EventPayload;
use event_spine::event::family::diagnostics::RuntimeWarning;
use event_spine::{JsonText, Scope, Timestamp};

use super::super::SessionDraft;
use super::super::draft::{Drafter, Source, with_member};
use super::state::{Part, Phase, Run, Thread, Turn, message_id, part_id};

/// The largest frame that a warning repeats, in bytes. Larger ones are referred to.
const MAX_DETAIL: usize = 4096;

/// The frame at hand and where it belongs.
pub(super) struct Cx<'a> {
    drafter: &'a Drafter,
    pub(super) thread: &'a mut Thread,
    pub(super) run: &'a mut Run,
    frame: u64,
    time: Option<Timestamp>,
    /// An earlier frame, while something that waited since then is told.
    earlier: Option<Moment>,
    pub(super) out: Vec<SessionDraft>,
}

/// A place among the facts: a frame, its number within the run, and how many facts it gave.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    frame: u64,
    ordinal: u64,
    told: usize,
    time: Option<Timestamp>,
}

impl<'a> Cx<'a> {
    pub(super) fn new(
        drafter: &'a Drafter,
        thread: &'a mut Thread,
        run: &'a mut Run,
        frame: u64,
        time: Option<Timestamp>,
    ) -> Self {
        Self { drafter, thread, run, frame, time, earlier: None, out: Vec::new() }
    }

    /// Where the next fact goes.
    pub(super) fn moment(&self) -> Moment {
        let (frame, ordinal) = (self.frame, self.run.ordinal);
        Moment { frame, ordinal, told: self.out.len(), time: self.time.clone() }
    }

    /// Does something as if at an earlier frame: for what waited to be told.
    pub(super) fn as_of(&mut self, moment: Moment, act: impl FnOnce(&mut Self)) {
        self.earlier = Some(moment);
        act(self);
        self.earlier = None;
    }

    /// The turn, while it has no terminal event.
    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.thread.turn.as_mut().filter(|t| t.phase != Phase::Over)
    }

    /// Where an event of the run belongs.
    pub(super) fn scope(&self, owner: Option<&str>) -> Scope {
        let thread = &self.thread.id;
        self.thread.turn.as_ref().map_or_else(
            || Scope { thread_id: Some(thread.clone()), ..Scope::default() },
            |turn| turn.scope(thread, &self.run.id, owner),
        )
    }

    /// Where an event of a step belongs.
    pub(super) fn step_scope(&self, owner: Option<&str>) -> Scope {
        let mut scope = self.scope(owner);
        scope.step_id = Some(self.run.step(&self.thread.session, owner));
        scope
    }

    /// Where an event of a message part belongs.
    pub(super) fn part_scope(&self, part: &Part) -> Scope {
        let mut scope = self.scope(part.owner.as_deref());
        scope.step_id = Some(part.step.clone());
        scope.message_id = Some(message_id(&part.message));
        scope.part_id = Some(part_id(&part.name));
        scope
    }

    pub(super) fn emit<P: EventPayload>(&mut self, scope: Scope, payload: &P) {
        self.put(scope, payload, false);
    }

    /// Emits what no event says but the state of the stream.
    pub(super) fn emit_synthetic<P: EventPayload>(&mut self, scope: Scope, payload: &P) {
        self.put(scope, payload, true);
    }

    /// Adds a member of the source's own to the payload of the last draft.
    pub(super) fn with(&mut self, name: &str, value: Option<&str>) {
        if let (Some(last), Some(value)) = (self.out.last_mut(), value) {
            last.draft.payload = with_member(&last.draft.payload, name, value);
        }
    }

    fn put<P: EventPayload>(&mut self, scope: Scope, payload: &P, synthetic: bool) {
        let now = self.moment();
        let Moment { frame, ordinal, told, time } = match &mut self.earlier {
            Some(earlier) => {
                earlier.told += 1;
                Moment { told: earlier.told - 1, ..earlier.clone() }
            }
            None => now,
        };
        let place = if frame == 0 { format!("end-{ordinal}") } else { ordinal.to_string() };
        let nth = told.to_string();
        let key = [self.run.key.as_str(), place.as_str(), nth.as_str(), P::descriptor().name];
        let source = Source { session: &self.thread.session, frame, time: time.as_ref() };
        let draft = if synthetic {
            self.drafter.synthetic(source, &key, scope, payload)
        } else {
            self.drafter.draft(source, &key, scope, payload)
        };
        self.out.push(draft);
    }

    /// Keeps something for which there is no better word.
    pub(super) fn warn(&mut self, code: &str, message: Option<String>, detail: Option<&JsonText>) {
        let small = detail.filter(|d| d.as_str().len() <= MAX_DETAIL);
        let payload = RuntimeWarning { code: code.to_owned(), message, detail: small.cloned() };
        let scope = self.scope(None);
        self.emit(scope, &payload);
    }
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
