//! Owns the state of the diagnostics view.

use std::collections::BTreeMap;

use event_spine::{JsonText, RecordedEvent, Scope};
use serde::{Deserialize, Serialize};

use crate::honesty::{Known, NotText};
use crate::moment::Moment;
use crate::text::Text;
use crate::window::{Row, Window};

/// What is not as it should be, and measurements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostics {
    /// What was found, in the order in which it was found first.
    pub entries: Window<Diagnostic>,
    /// How many of each, over the whole session.
    pub counts: Counts,
    /// Places that were masked, by the rule that matched.
    pub masked_by_reason: BTreeMap<String, u64>,
    /// Measurements: the newest value of each.
    pub metrics: BTreeMap<String, Metric>,
    /// Whether the run gets anywhere, by the runtime's newest judgement.
    pub progress: Option<Progress>,
    /// The producer's time of the newest event that had a good one, in microseconds since 1970.
    pub(super) last_micros: Option<i64>,
    #[serde(skip)]
    pub(super) preview_bytes: usize,
}

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Warnings of the runtime.
    pub warnings: u64,
    /// Errors of the runtime.
    pub errors: u64,
    /// Errors after which the run could not go on.
    pub fatal_errors: u64,
    /// Refusals of providers.
    pub rate_limits: u64,
    /// Events of types that nobody here knows.
    pub unknown_types: u64,
    /// Events of known types whose payload cannot be read.
    pub undecodable: u64,
    /// Events whose time is no time.
    pub bad_timestamps: u64,
    /// Events whose time is far ahead of the log's.
    pub future_timestamps: u64,
    /// Events whose time is before the one of the event before.
    pub clock_steps_back: u64,
    /// Places that were masked before they were stored.
    pub masked: u64,
    /// Measurements that were left out because there are too many names.
    pub metrics_left_out: u64,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Not as it should be; the work goes on.
    Warning,
    /// It went wrong.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Machine-readable code.
    pub code: String,
    /// One sentence, for people.
    pub message: String,
    /// More, as given.
    pub detail: Option<Text>,
    /// What several findings of one code are told apart by; absent for what a runtime reported.
    pub about: Option<String>,
    /// Where it belongs.
    pub scope: Scope,
    /// How many there were.
    pub count: u64,
    /// The first one.
    pub first: Moment,
    /// Sequence of the newest one.
    pub last_sequence: u64,
}

/// A measurement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metric {
    /// Its newest value.
    #[serde(with = "crate::checkpoint::as_json")]
    pub value: Known<serde_json::Number>,
    /// Unit, such as `ms`, `tokens`, `bytes`.
    pub unit: Option<String>,
    /// Several values at once, as given, when they are short.
    pub values: Option<JsonText>,
    /// How many times it was measured.
    pub updates: u64,
    /// When last.
    pub last_sequence: u64,
}

impl NotText for serde_json::Number {}

/// Whether a run gets anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// `healthy` or `stalled`.
    pub state: String,
    /// Rounds in a row that did the same.
    pub repeat_cycle_streak: Option<u32>,
    /// Reminder that goes into the next prompt.
    pub reminder_kind: Option<String>,
    /// True when the run ends for it.
    pub should_terminate: bool,
    /// When it was judged.
    pub sequence: u64,
}

impl Diagnostic {
    pub(super) fn new(
        recorded: &RecordedEvent,
        severity: Severity,
        code: &str,
        message: &str,
    ) -> Self {
        Self {
            severity,
            code: code.to_owned(),
            message: message.to_owned(),
            detail: None,
            about: None,
            scope: recorded.draft.scope.clone(),
            count: 1,
            first: Moment::of(recorded),
            last_sequence: recorded.sequence,
        }
    }
}

impl Row for Diagnostic {
    /// Code, and what it is about; a finding of a runtime is found by nothing.
    type Key<'a> = (&'a str, &'a str);
    fn key(&self) -> Option<Self::Key<'_>> {
        Some((&self.code, self.about.as_deref()?))
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.last_sequence)
    }
    fn weight(&self) -> usize {
        self.message.len() + self.detail.as_ref().map_or(0, Text::kept_bytes)
    }
}
