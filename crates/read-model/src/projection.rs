//! Owns the law that every projection keeps.
//!
//! Next: [`projections`](crate::projections), the register; [`SessionView`](crate::SessionView), which runs them all.

use event_spine::{Event, RecordedEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::Limits;

/// A pure fold of facts into a state.
///
/// ```text
///   facts of one session      1   2   3   4   5  …        (dense, in this order, each once)
///                              \   \   \   \   \
///   state      default ─ apply ─ apply ─ apply ─ …        the same facts give the same state, always
/// ```
///
/// The law:
/// - **Pure.** The state after an event depends on the state before it, the event, and the [`Limits`]; on no clock,
///   no randomness, no environment. `apply` does no IO.
/// - **Total.** No event makes it panic, not even one whose history is missing: what cannot be placed is kept and
///   marked.
/// - **In order, once.** Whoever runs a projection hands it each sequence once, in order, and drops repeats
///   ([`SessionView::apply`](crate::SessionView::apply) does). The log gives one event id one sequence, so this is
///   also once per event id. Nothing may depend on how the events were cut into batches.
/// - **Bounded.** The state keeps what is open, the newest of what is settled, and exact totals. Its size depends on
///   the [`Limits`], not on the number of events; the cost of an event does not grow with the events before it.
/// - **Complete.** `apply` names the families that it ignores and matches the members of those it reads in full:
///   no `_ =>` over event types, so that a new type breaks exactly the code that has to look at it.
pub trait Projection {
    /// Name of the view, as on the command line and in JSON.
    const NAME: &'static str;

    /// Version of the fold. It grows whenever the same events would give another state or the state another form;
    /// checkpoints of another version are thrown away.
    const VERSION: u32;

    /// What is folded, and served.
    type State: Default + Clone + PartialEq + Serialize + DeserializeOwned;

    /// Takes one event into the state. `event` is the decoded payload of `recorded`, decoded once for all projections.
    fn apply(state: &mut Self::State, recorded: &RecordedEvent, event: &Event) -> Applied;

    /// Sets how much the state keeps. Called on a fresh state, and on one that was read from a checkpoint.
    fn limit(state: &mut Self::State, limits: &Limits) {
        let _ = (state, limits);
    }
}

/// What an event did to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applied {
    /// The state is another one now.
    Changed,
    /// The event says nothing to this projection.
    Unchanged,
    /// The event is in the state already; it was dropped.
    Duplicate,
    /// Events before this one are missing; it was not applied.
    Gap {
        /// The sequence that has to come next.
        expected: u64,
    },
}

impl Applied {
    /// `Changed` if `changed`.
    #[must_use]
    pub const fn when(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}
