//! Owns the read model of one session: all views, folded together, with the stamp that says what they are a fold of.
//!
//! Next: [`replay`](crate::replay()), which builds it from nothing, and [`projections`](crate::projections).

use event_spine::{ChainHash, Event, Gap, RecordedEvent, SessionId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::limits::Limits;
use crate::projection::{Applied, Projection};
use crate::projections as p;

/// What a view is a fold of. Two views with the same stamp and the same limits are equal; anyone can check by replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewStamp {
    /// The session.
    pub session_id: SessionId,
    /// Last event that is in the view; 0 before the first.
    pub sequence: u64,
    /// Chain value of the session at that event.
    pub chain: ChainHash,
    /// Version of the folds together ([`REDUCER_VERSION`]).
    pub reducer_version: u32,
}

/// Stretches of a history that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lost {
    /// How many events are missing.
    pub events: u64,
    /// The first stretches.
    pub stretches: Vec<LostStretch>,
}

/// One stretch of a history that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LostStretch {
    /// First missing sequence.
    pub from: u64,
    /// Last missing sequence.
    pub to: u64,
    /// Where and why, for people.
    pub reason: String,
}

/// How many stretches are named; the count of events is always exact.
const NAMED_STRETCHES: usize = 100;

/// Lists the views: gives [`SessionView`], the fold over all of them, their names, and the version of the whole.
macro_rules! session_view {
    ($( $(#[$doc:meta])* $field:ident: $view:ty, )*) => {
        /// Everything that a person sees of a session.
        ///
        /// In JSON every view stands under its name, `at` says what it is a fold of, and absent values are `null` or
        /// one of the [honesty words](crate::Absence).
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct SessionView {
            /// What this is a fold of.
            pub at: ViewStamp,
            /// How much the views keep.
            pub limits: Limits,
            /// Stretches of the history that could not be read; the views lack what happened there.
            pub lost: Lost,
            $( $(#[$doc])* pub $field: <$view as Projection>::State, )*
        }

        /// Version of all folds together: the sum of their versions. Versions only grow, so it changes with any of them.
        pub const REDUCER_VERSION: u32 = 0 $( + <$view as Projection>::VERSION )*;

        /// Names of the views, in the order of [`SessionView`].
        pub const VIEW_NAMES: &[&str] = &[ $( <$view as Projection>::NAME, )* ];

        impl SessionView {
            /// The view of a session before its first event, keeping this much.
            #[must_use]
            pub fn with_limits(session_id: SessionId, limits: Limits) -> Self {
                let mut view = Self {
                    at: ViewStamp {
                        chain: ChainHash::genesis(&session_id),
                        session_id,
                        sequence: 0,
                        reducer_version: REDUCER_VERSION,
                    },
                    limits,
                    lost: Lost::default(),
                    $( $field: Default::default(), )*
                };
                view.limit(limits);
                view
            }

            /// Changes how much the views keep. What has been dropped does not come back.
            pub fn limit(&mut self, limits: Limits) {
                self.limits = limits;
                $( <$view as Projection>::limit(&mut self.$field, &limits); )*
            }

            fn fold(&mut self, recorded: &RecordedEvent, event: &Event) -> bool {
                let mut changed = false;
                $( changed |= <$view as Projection>::apply(&mut self.$field, recorded, event) == Applied::Changed; )*
                changed
            }
        }

        impl<'de> Deserialize<'de> for SessionView {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct Json {
                    at: ViewStamp,
                    limits: Limits,
                    lost: Lost,
                    $( $field: <$view as Projection>::State, )*
                }
                let Json { at, limits, lost, $( $field, )* } = Json::deserialize(deserializer)?;
                let mut view = Self { at, limits, lost, $( $field, )* };
                view.limit(limits);
                Ok(view)
            }
        }
    };
}

session_view! {
    /// Message parts: what was said, thought, called, asked, made.
    transcript: p::transcript::Transcript,
    /// What the session is doing now.
    status: p::status::Status,
    /// What happened, an entry for each thing worth showing.
    timeline: p::timeline::Timeline,
    /// Tool calls.
    tools: p::tools::Tools,
    /// What waits for a person, and what was decided.
    actions: p::actions::Actions,
    /// Tasks, sub-agents, jobs, messages between agents.
    tasks: p::tasks::Tasks,
    /// Products.
    artifacts: p::artifacts::Artifacts,
    /// Evidence, reviews, exports.
    evidence: p::evidence::Evidence,
    /// Tokens.
    usage: p::usage::Usage,
    /// What the model sees, and how complete this read model is.
    context: p::context::Context,
    /// Inputs that wait.
    queue: p::queue::Queue,
    /// What is not as it should be, and measurements.
    diagnostics: p::diagnostics::Diagnostics,
    /// Who did what, as nodes and edges.
    graph: p::graph::Graph,
}

impl SessionView {
    /// The view of a session before its first event, keeping the usual amount.
    #[must_use]
    pub fn new(session_id: SessionId) -> Self {
        Self::with_limits(session_id, Limits::default())
    }

    /// Takes the next event. A repeated event changes nothing, and an event after a gap is not applied.
    pub fn apply(&mut self, recorded: &RecordedEvent) -> Applied {
        let expected = self.at.sequence + 1;
        if recorded.sequence < expected {
            return Applied::Duplicate;
        }
        if recorded.sequence > expected {
            return Applied::Gap { expected };
        }
        let changed = self.fold(recorded, &recorded.event());
        self.at.sequence = recorded.sequence;
        self.at.chain = recorded.chain;
        Applied::when(changed)
    }

    /// Goes on behind a stretch of the log that cannot be read, and remembers that it is missing.
    pub fn pass_over(&mut self, gap: &Gap) -> Applied {
        let expected = self.at.sequence + 1;
        if gap.to < expected {
            return Applied::Duplicate;
        }
        if gap.from > expected {
            return Applied::Gap { expected };
        }
        self.lost.events += gap.to - self.at.sequence;
        if self.lost.stretches.len() < NAMED_STRETCHES {
            self.lost.stretches.push(LostStretch {
                from: expected,
                to: gap.to,
                reason: gap.reason.clone(),
            });
        }
        self.at.sequence = gap.to;
        self.context.pass_over(gap);
        Applied::Changed
    }

    /// BLAKE3, in hex, over the JSON of the view. Equal hashes mean equal views.
    #[must_use]
    pub fn state_hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Members stand in the order of the structs and maps are sorted, so one state has one JSON text.
        match serde_json::to_writer(&mut hasher, self) {
            Ok(()) => hasher.finalize().to_hex().to_string(),
            // Cannot happen for the views of this crate: no map with keys that are no strings, no failing value.
            Err(error) => format!("not hashable: {error}"),
        }
    }
}
