//! Owns what a mapping works with: the thread and the drafts of the line at hand.

use event_spine::event::EventPayload;
use event_spine::event::family::diagnostics::RuntimeWarning;
use event_spine::{Scope, Timestamp};
use serde_json::Value;

use super::super::SessionDraft;
use super::super::draft::{Drafter, Source, with_member};
use super::frame::json;
use super::state::{Thread, Turn};

/// The largest record that a warning repeats, in bytes. Larger ones are referred to.
const MAX_DETAIL: usize = 4096;

/// A line: its frame (0 for the end of the input), what ids derive from, its time.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) frame: u64,
    pub(super) key: String,
    pub(super) time: Option<Timestamp>,
}

/// The line at hand and where it belongs.
pub(super) struct Cx<'a> {
    drafter: &'a Drafter,
    pub(super) thread: &'a mut Thread,
    pub(super) place: Place,
    pub(super) out: Vec<SessionDraft>,
}

impl<'a> Cx<'a> {
    pub(super) fn new(drafter: &'a Drafter, thread: &'a mut Thread, place: Place) -> Self {
        Self { drafter, thread, place, out: Vec::new() }
    }

    /// The turn that goes on.
    pub(super) fn turn(&mut self) -> Option<&mut Turn> {
        self.thread.turn.as_mut()
    }

    /// Where an event of the step belongs.
    pub(super) fn step_scope(&self) -> Scope {
        let mut scope = self.thread.scope();
        scope.step_id = Some(self.thread.step());
        scope
    }

    /// Does something as if at an earlier line: for a record that waited for its other half.
    pub(super) fn at(&mut self, place: Place, act: impl FnOnce(&mut Self)) {
        let now = std::mem::replace(&mut self.place, place);
        act(self);
        self.place = now;
    }

    pub(super) fn emit<P: EventPayload>(&mut self, scope: Scope, payload: &P) {
        self.put(scope, payload, None, false);
    }

    /// Emits what no record says but the state of the thread.
    pub(super) fn emit_synthetic<P: EventPayload>(&mut self, scope: Scope, payload: &P) {
        self.put(scope, payload, None, true);
    }

    /// Emits a fact whose id does not depend on its place in the line, since another file may tell it too.
    pub(super) fn emit_named<P: EventPayload>(&mut self, scope: Scope, payload: &P, name: &str) {
        self.put(scope, payload, Some(name), false);
    }

    /// Adds a member of the source's own to the payload of the last draft.
    pub(super) fn with(&mut self, name: &str, value: Option<&str>) {
        if let (Some(last), Some(value)) = (self.out.last_mut(), value) {
            last.draft.payload = with_member(&last.draft.payload, name, value);
        }
    }

    fn put<P: EventPayload>(
        &mut self,
        scope: Scope,
        payload: &P,
        name: Option<&str>,
        synthetic: bool,
    ) {
        let kind = P::descriptor().name;
        let same = |made: &&SessionDraft| made.draft.event_type.name() == kind;
        let nth = self.out.iter().filter(same).count().to_string();
        let thread = self.thread.id.as_str();
        let key = match name {
            Some(name) => [kind, "named", name, ""],
            None => [thread, self.place.key.as_str(), kind, nth.as_str()],
        };
        let source = Source {
            session: &self.thread.session,
            frame: self.place.frame,
            time: self.place.time.as_ref(),
        };
        let draft = if synthetic {
            self.drafter.synthetic(source, &key, scope, payload)
        } else {
            self.drafter.draft(source, &key, scope, payload)
        };
        self.out.push(draft);
    }

    /// Keeps something for which there is no better word.
    pub(super) fn warn(&mut self, code: &str, message: Option<String>, detail: Option<&Value>) {
        let mut scope = self.thread.scope();
        if scope.turn_id.is_none() {
            scope.turn_id.clone_from(&self.thread.last_turn);
        }
        self.warn_in(scope, code, message, detail);
    }

    /// As [`Cx::warn`], about something in particular.
    pub(super) fn warn_in(
        &mut self,
        scope: Scope,
        code: &str,
        message: Option<String>,
        detail: Option<&Value>,
    ) {
        let detail = detail.and_then(json).filter(|d| d.as_str().len() <= MAX_DETAIL);
        let payload = RuntimeWarning { code: code.to_owned(), message, detail };
        self.emit(scope, &payload);
    }
}
