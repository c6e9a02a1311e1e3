//! Owns views beside the log: it catches up from a checkpoint, follows, and saves checkpoints as it goes.
//!
//! Next: [`Replica`](crate::Replica), for consumers that have no log beside them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dashmap::DashMap;
use event_spine::event::{Entity, Pairing};
use event_spine::{
    Cursor, Entry, EventLog, Follow, LogReader, ReadError, ReadMode, RecordedEvent, SessionId,
};

use crate::checkpoint::{CHECKPOINT_NAME, CheckpointStore, decode, encode};
use crate::limits::Limits;
use crate::replay::{Difference, compare, replay_with};
use crate::view::SessionView;

/// How an [`Engine`] works.
#[derive(Debug, Clone, Copy)]
pub struct EngineOptions {
    /// How much its views keep.
    pub limits: Limits,
    /// A checkpoint is saved after this many events in any case.
    pub checkpoint_every: u64,
    /// A checkpoint is saved at the end of a turn, and when a view has caught up, if this many events are not in one.
    pub checkpoint_after: u64,
    /// Sessions whose views are held in memory; the ones that were not asked for longest go first.
    pub sessions: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            checkpoint_every: 16_384,
            checkpoint_after: 256,
            sessions: 64,
        }
    }
}

/// Serves the views of the sessions of a log. Clones share everything.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

struct Shared {
    reader: LogReader,
    checkpoints: Box<dyn CheckpointStore>,
    options: EngineOptions,
    sessions: DashMap<SessionId, Arc<Slot>>,
    asked: AtomicU64,
}

/// One session.
struct Slot {
    state: Mutex<State>,
    last_asked: AtomicU64,
}

struct State {
    view: Arc<SessionView>,
    saved: u64,
}

impl Engine {
    /// Serves the sessions of a log, with its own checkpoints.
    #[must_use]
    pub fn open(log: &EventLog) -> Self {
        Self::with_options(log.reader(), log.checkpoints(), EngineOptions::default())
    }

    /// Serves the sessions that a reader sees, with checkpoints in a store.
    #[must_use]
    pub fn with_options(
        reader: LogReader,
        checkpoints: impl CheckpointStore + 'static,
        options: EngineOptions,
    ) -> Self {
        Self(Arc::new(Shared {
            reader,
            checkpoints: Box::new(checkpoints),
            options,
            sessions: DashMap::new(),
            asked: AtomicU64::new(0),
        }))
    }

    /// The view of a session up to its newest event.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read.
    pub fn view(&self, session: &SessionId) -> Result<Arc<SessionView>, ReadError> {
        let head = self.0.reader.head(session)?;
        let head = head.ok_or_else(|| ReadError::NoSession { session: session.clone() })?;
        let slot = self.slot(session);
        let mut state = slot.lock();
        if (state.view.at.sequence, state.view.at.chain) != (head.sequence, head.chain) {
            self.catch_up(session, &mut state)?;
        }
        Ok(Arc::clone(&state.view))
    }

    /// Follows a session: its view again after every change.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn follow(&self, session: &SessionId) -> Result<Following, ReadError> {
        let slot = self.slot(session);
        let mut state = slot.lock();
        if self.0.reader.head(session)?.is_some() {
            self.catch_up(session, &mut state)?;
        }
        let follow = self.0.reader.follow(session, cursor(&state.view))?;
        drop(state);
        Ok(Following { engine: self.clone(), session: session.clone(), follow })
    }

    /// Builds the view of a session from nothing and compares it with the one that is served; nothing when they are
    /// equal.
    ///
    /// # Errors
    /// There is no such session, or a file cannot be read.
    pub fn prove(&self, session: &SessionId) -> Result<Option<Difference>, ReadError> {
        let served = self.view(session)?;
        let (to, limits) = (Some(served.at.sequence), self.0.options.limits);
        let replayed = replay_with(&self.0.reader, session, to, limits, |_| {})?;
        Ok(compare(&served, &replayed))
    }

    /// Saves the views that are held, and lets go of all of them.
    pub fn close(&self) {
        for entry in &self.0.sessions {
            self.save(entry.key(), &mut entry.value().lock());
        }
        self.0.sessions.clear();
    }

    /// The log that the views are of.
    #[must_use]
    pub fn reader(&self) -> &LogReader {
        &self.0.reader
    }

    fn slot(&self, session: &SessionId) -> Arc<Slot> {
        let asked = self.0.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(slot) = self.0.sessions.get(session) {
            slot.last_asked.store(asked, Ordering::Relaxed);
            return Arc::clone(&slot);
        }
        self.make_room();
        let slot = self.0.sessions.entry(session.clone()).or_insert_with(|| {
            let view = self.saved_view(session);
            let saved = view.at.sequence;
            Arc::new(Slot {
                state: Mutex::new(State { view: Arc::new(view), saved }),
                last_asked: AtomicU64::new(asked),
            })
        });
        Arc::clone(&slot)
    }

    /// Lets go of the view that was not asked for longest, when there are too many.
    fn make_room(&self) {
        let sessions = &self.0.sessions;
        while sessions.len() >= self.0.options.sessions.max(1) {
            let oldest = sessions.iter().min_by_key(|s| s.last_asked.load(Ordering::Relaxed));
            let Some(session) = oldest.map(|entry| entry.key().clone()) else {
                return;
            };
            if let Some((session, slot)) = sessions.remove(&session) {
                self.save(&session, &mut slot.lock());
            }
        }
    }

    /// The view of the checkpoint, if there is one that can be believed, else an empty one.
    fn saved_view(&self, session: &SessionId) -> SessionView {
        let limits = self.0.options.limits;
        let bytes = self.0.checkpoints.get(session, CHECKPOINT_NAME);
        let saved = bytes.and_then(|bytes| decode(&bytes, session, limits));
        saved
            .filter(|view| self.has_history_of(session, view))
            .unwrap_or_else(|| SessionView::with_limits(session.clone(), limits))
    }

    /// True when the log has the view's chain value at the view's sequence.
    fn has_history_of(&self, session: &SessionId, view: &SessionView) -> bool {
        let known = self.0.reader.chain_at(session, view.at.sequence);
        matches!(known, Ok(Some(chain)) if chain == view.at.chain)
    }

    /// Folds what the log has beyond the view. A view of another history is thrown away first.
    fn catch_up(&self, session: &SessionId, state: &mut State) -> Result<(), ReadError> {
        if state.view.at.sequence > 0 && !self.has_history_of(session, &state.view) {
            self.start_again(session, state);
        }
        let from = state.view.at.sequence + 1;
        for entry in self.0.reader.read(session, from.., ReadMode::Tolerant)? {
            match entry? {
                Entry::Event(event) => self.apply(session, state, &event),
                Entry::Gap(gap) => {
                    Arc::make_mut(&mut state.view).pass_over(&gap);
                }
            }
        }
        if state.view.at.sequence - state.saved >= self.0.options.checkpoint_after {
            self.save(session, state);
        }
        Ok(())
    }

    fn start_again(&self, session: &SessionId, state: &mut State) {
        let empty = SessionView::with_limits(session.clone(), self.0.options.limits);
        *state = State { view: Arc::new(empty), saved: 0 };
    }

    fn apply(&self, session: &SessionId, state: &mut State, event: &RecordedEvent) {
        Arc::make_mut(&mut state.view).apply(event);
        let unsaved = state.view.at.sequence.saturating_sub(state.saved);
        let ends_turn = || {
            let row = event.event_type().descriptor();
            row.is_some_and(|row| row.pairing == Pairing::Closes(Entity::Turn))
        };
        let options = &self.0.options;
        if unsaved >= options.checkpoint_every
            || (unsaved >= options.checkpoint_after.max(state.saved / 64) && ends_turn())
        {
            self.save(session, state);
        }
    }

    fn save(&self, session: &SessionId, state: &mut State) {
        if state.view.at.sequence == state.saved {
            return;
        }
        if let Some(bytes) = encode(&state.view) {
            self.0.checkpoints.put(session, CHECKPOINT_NAME, &bytes);
        }
        state.saved = state.view.at.sequence;
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A fold is total, so nothing panics while the lock is held; were it to, the view is still one of whole events.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cursor(view: &SessionView) -> Cursor {
    Cursor { sequence: view.at.sequence, chain: (view.at.sequence > 0).then_some(view.at.chain) }
}

/// The view of a session, again after every change. Ends never; stop by dropping it.
pub struct Following {
    engine: Engine,
    session: SessionId,
    follow: Follow,
}

impl Following {
    /// The view after the next change, or nothing when the time is up first. Blocks.
    ///
    /// # Errors
    /// The log is damaged at the next event, or a file cannot be read.
    pub fn next_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<Option<Arc<SessionView>>, ReadError> {
        match self.follow.next_timeout(timeout)? {
            Some(event) => self.take(event).map(Some),
            None => Ok(None),
        }
    }

    /// The view after the next change. Waits as long as it takes.
    ///
    /// # Errors
    /// As [`Following::next_timeout`].
    pub async fn next(&mut self) -> Result<Arc<SessionView>, ReadError> {
        let event = self.follow.next_event().await?;
        self.take(event)
    }

    /// Folds the event and those that are there already, so that a burst of events is one change.
    fn take(&mut self, first: RecordedEvent) -> Result<Arc<SessionView>, ReadError> {
        let slot = self.engine.slot(&self.session);
        let mut state = slot.lock();
        if state.view.at.sequence + 1 < first.sequence {
            self.engine.catch_up(&self.session, &mut state)?; // somebody else let the view go meanwhile
        }
        self.engine.apply(&self.session, &mut state, &first);
        while let Some(event) = self.follow.next_timeout(Duration::ZERO)? {
            self.engine.apply(&self.session, &mut state, &event);
        }
        Ok(Arc::clone(&state.view))
    }
}
