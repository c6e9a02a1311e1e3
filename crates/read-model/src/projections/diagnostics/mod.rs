//! Owns the view of what is not as it should be: warnings and errors, facts that cannot be read, clocks that lie, what
//! was masked; and measurements. None of it ever shows in the conversation.

mod state;
#[cfg(test)]
mod tests;

use event_spine::event::family::{ContextEvent, DiagnosticsEvent, Event, ToolEvent};
use event_spine::{JsonText, RecordedEvent};

pub use state::{Counts, Diagnostic, Diagnostics, Metric, Progress, Severity};

use crate::limits::Limits;
use crate::moment::micros;
use crate::projection::{Applied, Projection};
use crate::projections::shared::readable;

/// How far a producer's clock may be ahead of the log's before its time is called a time in the future.
const AHEAD_MICROS: i64 = 5 * 60 * 1_000_000;
/// How far a time may lie before the one of the event before: several producers are never quite in step.
const BACK_MICROS: i64 = 1_000_000;
/// Metrics, and reasons for masking, that are told apart.
const NAMES: usize = 100;

impl Projection for Diagnostics {
    const NAME: &'static str = "diagnostics";
    const VERSION: u32 = 1;
    type State = Self;

    fn apply(state: &mut Self, recorded: &RecordedEvent, event: &Event) -> Applied {
        let odd_time = state.check_time(recorded);
        let changed = match event {
            Event::Diagnostics(event) => state.diagnostics(recorded, event),
            Event::Tool(event) => state.tool(event),
            Event::Context(event) => state.context(recorded, event),
            Event::Unknown { name, .. } => state.unknown(recorded, name),
            Event::Lifecycle(_)
            | Event::Message(_)
            | Event::Reasoning(_)
            | Event::Policy(_)
            | Event::Artifact(_)
            | Event::Evidence(_)
            | Event::Task(_) => false,
        };
        Applied::when(odd_time || changed)
    }

    fn limit(state: &mut Self, limits: &Limits) {
        state.entries.limit(limits);
        state.preview_bytes = limits.preview_bytes;
    }
}

impl Diagnostics {
    /// Looks at the producer's time. A bad one costs a diagnostic, never the event.
    fn check_time(&mut self, recorded: &RecordedEvent) -> bool {
        let Some(at) = micros(&recorded.draft.timestamp) else {
            self.counts.bad_timestamps += 1;
            let text = recorded.draft.timestamp.as_str();
            self.repeat(recorded, Severity::Warning, "bad_timestamp", "", || {
                format!("the producer's time is no RFC 3339 time: {text:?}")
            });
            return true;
        };
        let ahead = at > recorded.recorded_at.0.saturating_add(AHEAD_MICROS);
        if ahead {
            self.counts.future_timestamps += 1;
            self.repeat(recorded, Severity::Warning, "future_timestamp", "", || {
                let recorded_at = recorded.recorded_at;
                format!("the producer's time is ahead of the log's, {recorded_at}")
            });
        }
        let back = self.last_micros.is_some_and(|last| at < last.saturating_sub(BACK_MICROS));
        if back {
            self.counts.clock_steps_back += 1;
            self.repeat(recorded, Severity::Note, "clock_stepped_back", "", || {
                "the producer's time is before the one of the event before; order is by sequence"
                    .to_owned()
            });
        }
        self.last_micros = Some(at);
        ahead || back
    }

    fn diagnostics(&mut self, recorded: &RecordedEvent, event: &DiagnosticsEvent) -> bool {
        match event {
            DiagnosticsEvent::Warning(e) => {
                self.counts.warnings += 1;
                self.add(
                    recorded,
                    Severity::Warning,
                    &e.code,
                    e.message.as_deref(),
                    e.detail.as_ref(),
                );
            }
            DiagnosticsEvent::Fault(e) => {
                self.counts.errors += 1;
                self.counts.fatal_errors += u64::from(e.fatal);
                self.add(
                    recorded,
                    Severity::Error,
                    &e.code,
                    e.message.as_deref(),
                    e.detail.as_ref(),
                );
            }
            DiagnosticsEvent::MetricsChanged(e) => self.metric(recorded, e),
            DiagnosticsEvent::ProgressEvaluated(e) => {
                self.progress = Some(Progress {
                    state: e.stalled_progress_state.clone(),
                    repeat_cycle_streak: e.repeat_cycle_streak,
                    reminder_kind: e.reminder_kind.clone(),
                    should_terminate: e.should_terminate,
                    sequence: recorded.sequence,
                });
            }
            DiagnosticsEvent::RateLimitHit(e) => {
                self.counts.rate_limits += 1;
                let provider = e.provider.as_deref().unwrap_or("a provider");
                let wait = e.retry_after_ms.map(|ms| format!("; try again in {ms} ms"));
                let message = format!("{provider} refused for now{}", wait.unwrap_or_default());
                self.add(recorded, Severity::Warning, "rate_limit", Some(&message), None);
            }
            // The view of usage shows these.
            DiagnosticsEvent::BudgetChecked(_)
            | DiagnosticsEvent::LedgerReconciled(_)
            | DiagnosticsEvent::UsageUpdated(_) => return false,
        }
        true
    }

    fn metric(
        &mut self,
        recorded: &RecordedEvent,
        e: &event_spine::event::family::diagnostics::MetricsChanged,
    ) {
        if self.metrics.len() >= NAMES && !self.metrics.contains_key(&e.metric) {
            self.counts.metrics_left_out += 1;
            return;
        }
        let metric = self.metrics.entry(e.metric.clone()).or_default();
        metric.value = e.value.and_then(serde_json::Number::from_f64).into();
        metric.unit.clone_from(&e.unit);
        let fits = |values: &JsonText| values.as_str().len() <= 1024;
        metric.values = e.values.clone().filter(fits);
        metric.updates += 1;
        metric.last_sequence = recorded.sequence;
    }

    fn tool(&mut self, event: &ToolEvent) -> bool {
        match event {
            ToolEvent::OutputRedacted(e) => {
                self.counts.masked += e.count;
                let full = self.masked_by_reason.len() >= NAMES
                    && !self.masked_by_reason.contains_key(&e.reason);
                let reason = if full { "other".to_owned() } else { e.reason.clone() };
                *self.masked_by_reason.entry(reason).or_default() += e.count;
                true
            }
            ToolEvent::ToolStarted(_)
            | ToolEvent::ToolArgs(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::ToolResult(_)
            | ToolEvent::ToolFailed(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputExpired(_) => false,
        }
    }

    fn context(&mut self, recorded: &RecordedEvent, event: &ContextEvent) -> bool {
        match event {
            ContextEvent::StreamInterrupted(e) => {
                self.add(recorded, Severity::Warning, "stream_interrupted", Some(&e.reason), None);
            }
            ContextEvent::StreamRepaired(e) => {
                let lost = e.lost.filter(|lost| *lost > 0);
                let severity = if lost.is_some() { Severity::Warning } else { Severity::Note };
                let message = match lost {
                    Some(lost) => format!("{lost} events of the source stay missing"),
                    None => e.detail.clone().unwrap_or_else(|| "nothing is missing".to_owned()),
                };
                self.add(recorded, severity, "stream_repaired", Some(&message), None);
            }
            ContextEvent::ContextMissing(e) => {
                let name = e.name.as_deref().or(e.skill_id.as_deref()).unwrap_or(&e.kind);
                let message = format!("{} {name} could not be had", e.kind);
                self.add(recorded, Severity::Warning, "context_missing", Some(&message), None);
            }
            ContextEvent::CompactionFailed(e) => {
                self.add(recorded, Severity::Warning, "compaction_failed", Some(&e.error), None);
            }
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::CompactionStarted(_)
            | ContextEvent::CompactionCompleted(_)
            | ContextEvent::HistoryCompacted(_)
            | ContextEvent::HistoryRolledBack(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_)
            | ContextEvent::SessionForked(_) => return false,
        }
        true
    }

    /// A type without a row, or a type with one whose payload has another shape than the row says.
    fn unknown(&mut self, recorded: &RecordedEvent, name: &str) -> bool {
        match recorded.draft.event() {
            Ok(_) => {
                self.counts.unknown_types += 1;
                self.repeat(recorded, Severity::Note, "unknown_event_type", name, || {
                    format!("nobody here knows the type {name}; its events are kept whole")
                });
            }
            Err(error) => {
                self.counts.undecodable += 1;
                self.repeat(recorded, Severity::Warning, "undecodable_payload", name, || {
                    format!("{error}; the event is kept whole")
                });
            }
        }
        true
    }

    fn add(
        &mut self,
        recorded: &RecordedEvent,
        severity: Severity,
        code: &str,
        message: Option<&str>,
        detail: Option<&JsonText>,
    ) {
        let detail = detail.map(readable);
        let detail = detail.as_deref().map(|text| crate::Text::new(text, self.preview_bytes));
        self.entries.push(Diagnostic {
            detail,
            ..Diagnostic::new(recorded, severity, code, message.unwrap_or_default())
        });
    }

    /// Adds a diagnostic, or counts one more of the same.
    fn repeat(
        &mut self,
        recorded: &RecordedEvent,
        severity: Severity,
        code: &str,
        about: &str,
        message: impl FnOnce() -> String,
    ) {
        let known = self.entries.place((code, about));
        let again = self.entries.update_at(known, |entry| {
            entry.count += 1;
            entry.last_sequence = recorded.sequence;
        });
        if again.is_none() {
            self.entries.push(Diagnostic {
                about: Some(about.to_owned()),
                ..Diagnostic::new(recorded, severity, code, &message())
            });
        }
    }
}
