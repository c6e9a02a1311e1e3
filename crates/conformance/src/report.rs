//! Owns the report of a check: findings, counts, and what may be claimed on their strength.
//!
//! Next: [`text`], for people; [`junit`], for build servers.

mod junit;
mod text;

use std::collections::BTreeMap;

use event_spine::event::Family;
use serde::Serialize;

use crate::finding::{Finding, Severity};
use crate::stream::Totals;
use crate::subject::Subject;

/// What a stream may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It does not keep the contract.
    #[default]
    NotConformant,
    /// No rule is broken outright, some facts are degraded: views can be built and say what is unknown.
    ProjectionCompatible,
    /// Nothing is broken and nothing is degraded.
    RuntimeCompatible,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Lines, empty ones aside; 0 when events came from a log.
    pub lines: u64,
    /// Events that could be read.
    pub events: u64,
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
    /// Tool calls that started.
    pub tool_calls: u64,
    /// Requests to a human.
    pub actions: u64,
    /// Artifact events.
    pub artifacts: u64,
    /// Evidence events.
    pub evidence: u64,
}

impl Counts {
    pub(crate) fn count(&mut self, subject: &Subject) {
        self.events += 1;
        let family = subject.event.draft.event_type.descriptor().map(|row| row.family);
        self.artifacts += u64::from(family == Some(Family::Artifact));
        self.evidence += u64::from(family == Some(Family::Evidence));
    }

    pub(crate) fn add(&mut self, totals: Totals) {
        self.turns += totals.turns;
        self.tool_calls += totals.tool_calls;
        self.actions += totals.actions;
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// True when no rule is broken outright; degraded facts and notes do not fail a stream.
    pub passed: bool,
    /// What the stream may be called.
    pub level: Level,
    /// How much was looked at.
    pub counts: Counts,
    /// Findings for each severity.
    pub totals: BTreeMap<Severity, u64>,
    /// Findings for each rule that found something.
    pub by_rule: BTreeMap<&'static str, u64>,
    /// The findings, in order of the stream, up to the number that was asked for.
    pub findings: Vec<Finding>,
    /// Findings that were counted and not kept.
    pub dropped: u64,
}

impl Report {
    pub(crate) fn take(&mut self, found: Vec<Finding>, keep: usize) {
        for finding in found {
            *self.totals.entry(finding.severity).or_default() += 1;
            *self.by_rule.entry(finding.rule).or_default() += 1;
            if self.findings.len() < keep {
                self.findings.push(finding);
            } else {
                self.dropped += 1;
            }
        }
    }

    pub(crate) fn close(&mut self) {
        self.passed = self.total(Severity::Error) == 0;
        self.level = match (self.passed, self.total(Severity::Degraded)) {
            (false, _) => Level::NotConformant,
            (true, 0) => Level::RuntimeCompatible,
            (true, _) => Level::ProjectionCompatible,
        };
    }

    /// Number of findings of a severity, those not kept included.
    #[must_use]
    pub fn total(&self, severity: Severity) -> u64 {
        self.totals.get(&severity).copied().unwrap_or_default()
    }

    /// The whole report as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The findings alone, as a JSON array.
    #[must_use]
    pub fn findings_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.findings).unwrap_or_default()
    }
}
