//! Owns the runs of `codex exec`: each is a process that goes on in the thread and writes a stream of its own, whose first lines
//! and item ids are those of every other run. So a run has a number in its thread, and a stream is known again by its words.
//!
//! Which run a stream is shows only where its words differ from those of the runs that the log has. Until then its frames are
//! tried as each of them; the first run that tells all of it, or of which it tells all and more, is the one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use event_spine::event::family::diagnostics::UsageUpdated;
use event_spine::{EventDraft, EventId, ThreadId, TurnId, derived_id};

use super::super::{AdaptError, Adapted, Frame, SessionDraft};
use super::Codex;

/// What the ids of turns of `codex exec` begin with.
const PREFIX: &str = "exec_";

/// The stream of a run: its number in the thread, and what its ids are derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) label: String,
}

impl Run {
    pub(super) fn new(number: u64) -> Self {
        Self { number, label: number.to_string() }
    }

    /// The n-th turn that the run has in its thread.
    pub(super) fn turn(&self, thread: &ThreadId, nth: u64) -> TurnId {
        let id = derived_id(PREFIX, &[thread.as_str(), &self.label, &nth.to_string()]);
        TurnId::parse(id.as_str()).unwrap_or_else(|_| TurnId::derived(&[&id]))
    }
}

/// Tokens that were told of one or more runs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) written: u64,
    pub(super) reasoning: u64,
}

impl Used {
    fn with(self, other: Self, of: impl Fn(u64, u64) -> Option<u64>) -> Option<Self> {
        Some(Self {
            input: of(self.input, other.input)?,
            output: of(self.output, other.output)?,
            cached: of(self.cached, other.cached)?,
            written: of(self.written, other.written)?,
            reasoning: of(self.reasoning, other.reasoning)?,
        })
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| Some(a.saturating_add(b))).unwrap_or(self)
    }

    /// What is left of a total when the other part is taken from it; `None` when that part is larger.
    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.with(other, u64::checked_sub)
    }
}

/// What the log has of the runs, by their turns.
#[derive(Debug, Default, Clone)]
pub(super) struct Recorded(HashMap<TurnId, Told>);

#[derive(Debug, Default, Clone)]
struct Told {
    events: HashSet<EventId>,
    used: Used,
}

impl Recorded {
    /// Learns of a fact that a frame gave rise to.
    pub(super) fn learn(&mut self, recorded: &EventDraft) {
        let Some(turn) = recorded.scope.turn_id.as_ref().filter(|id| is_run(id)) else {
            return;
        };
        let refs = recorded.refs.to_vec();
        if refs.iter().any(|r| r.origin.as_ref().is_some_and(|origin| origin.frame == 0)) {
            return;
        }
        let told = self.0.entry(turn.clone()).or_default();
        told.events.insert(recorded.event_id.clone());
        if recorded.event_type.name() == "usage.updated"
            && let Ok(usage) = recorded.payload.read::<UsageUpdated>()
        {
            told.used = told.used.plus(Used {
                input: usage.input_tokens.unwrap_or(0),
                output: usage.output_tokens.unwrap_or(0),
                cached: usage.cached_input_tokens.unwrap_or(0),
                written: usage.cache_write_tokens.unwrap_or(0),
                reasoning: usage.reasoning_tokens.unwrap_or(0),
            });
        }
    }

    /// The runs of a thread, with what they used.
    pub(super) fn runs(&self, thread: &ThreadId) -> BTreeMap<u64, Used> {
        let mut runs = BTreeMap::new();
        for number in 1.. {
            let turns: Vec<&Told> = self.turns(thread, &Run::new(number)).collect();
            if turns.is_empty() {
                break;
            }
            let used = turns.iter().fold(Used::default(), |sum, told| sum.plus(told.used));
            runs.insert(number, used);
        }
        runs
    }

    fn turns(&self, thread: &ThreadId, run: &Run) -> impl Iterator<Item = &Told> {
        (1..).map_while(move |nth| self.0.get(&run.turn(thread, nth)))
    }

    fn events(&self, thread: &ThreadId, run: &Run) -> HashSet<EventId> {
        self.turns(thread, run).flat_map(|told| told.events.iter().cloned()).collect()
    }
}

fn is_run(turn: &TurnId) -> bool {
    turn.as_str().starts_with(PREFIX)
}

/// A stream that is tried as every run it can be.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// The last one is a run that the log does not have.
    candidates: Vec<Candidate>,
}

/// A stream, read as a certain run.
#[derive(Debug, Clone)]
struct Candidate {
    adapter: Box<Codex>,
    drafts: Vec<SessionDraft>,
    /// What the log has of the run; `None` when the run is new.
    recorded: Option<HashSet<EventId>>,
    matched: usize,
}

/// How a stream read as a certain run compares with what the log has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Same,
    /// It tells all that the log has, and more.
    Longer,
    Other,
}

/// A stream that is known: the adapter that goes on with it, what came of it so far, and whether the log has more of it.
pub(super) struct Known {
    pub(super) adapter: Codex,
    pub(super) drafts: Vec<SessionDraft>,
    pub(super) goes_on: bool,
}

impl Trial {
    /// Tries a stream as the runs of a thread that `free` names, and as a new one.
    pub(super) fn new(of: &Codex, thread: &ThreadId, free: &BTreeSet<u64>, new: u64) -> Self {
        let candidate = |number: u64, recorded: Option<HashSet<EventId>>| {
            let mut adapter = Box::new(of.clone());
            adapter.enter_run(thread, Run::new(number));
            Candidate { adapter, drafts: Vec::new(), recorded, matched: 0 }
        };
        let known =
            |number: &u64| candidate(*number, Some(of.recorded.events(thread, &Run::new(*number))));
        let mut candidates: Vec<Candidate> = free.iter().map(known).collect();
        candidates.push(candidate(new, None));
        Self { candidates }
    }

    /// Takes a frame; gives the run that the stream is, once it is known.
    pub(super) fn push(&mut self, frame: &Frame) -> (Option<Known>, Option<AdaptError>) {
        let (mut longer, mut fault) = (None, None);
        let tried = std::mem::take(&mut self.candidates);
        for mut candidate in tried {
            let (compared, found) = candidate.take(frame);
            fault = found;
            match compared {
                Compared::Other => {}
                Compared::Longer if longer.is_none() => longer = Some(candidate),
                Compared::Longer | Compared::Same => self.candidates.push(candidate),
            }
        }
        let only = || match self.candidates.len() {
            1 => self.candidates.pop(),
            _ => None,
        };
        (longer.or_else(only).map(|candidate| candidate.known(false)), fault)
    }

    /// The input ended, or another run begins in it: the first run that tells all of it is the one.
    pub(super) fn settle(self) -> Option<Known> {
        let candidate = self.candidates.into_iter().next()?;
        let goes_on =
            candidate.recorded.as_ref().is_some_and(|recorded| candidate.matched < recorded.len());
        Some(candidate.known(goes_on))
    }

    /// The adapter that reads the stream as a new run.
    pub(super) fn newest(&self) -> Option<&Codex> {
        self.candidates.last().map(|candidate| &*candidate.adapter)
    }
}

impl Candidate {
    fn take(&mut self, frame: &Frame) -> (Compared, Option<AdaptError>) {
        let Adapted { drafts, fault } = self.adapter.read(frame);
        let mut compared = Compared::Same;
        if let Some(recorded) = &self.recorded {
            let in_run =
                |made: &&SessionDraft| made.draft.scope.turn_id.as_ref().is_some_and(is_run);
            for made in drafts.iter().filter(in_run) {
                if recorded.contains(&made.draft.event_id) {
                    self.matched += 1;
                } else if self.matched == recorded.len() {
                    compared = Compared::Longer;
                } else {
                    return (Compared::Other, fault);
                }
            }
        }
        self.drafts.extend(drafts);
        (compared, fault)
    }

    fn known(self, goes_on: bool) -> Known {
        Known { adapter: *self.adapter, drafts: self.drafts, goes_on }
    }
}
