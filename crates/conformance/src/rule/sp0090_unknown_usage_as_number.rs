//! SP0090: usage that is not known is not a number.

use event_spine::Event;
use event_spine::event::family::DiagnosticsEvent;
use event_spine::event::value::UsageSource;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct UnknownUsageAsNumber;

impl Rule for UnknownUsageAsNumber {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0090",
            code: "unknown_usage_as_number",
            severity: Severity::Degraded,
            demand: "where the source of a token count is unknown, there is no count",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(Event::Diagnostics(event)) = look.subject.decoded() else { return };
        let counts = match event {
            DiagnosticsEvent::UsageUpdated(u) => [
                ("inputTokens", u.input_source, u.input_tokens),
                ("outputTokens", u.output_source, u.output_tokens),
            ],
            // The ledger has to write a number; an unknown one is written as 0.
            DiagnosticsEvent::LedgerReconciled(l) => [
                ("inputTokens", Some(l.input_source), Some(l.input_tokens).filter(|n| *n > 0)),
                ("outputTokens", Some(l.output_source), Some(l.output_tokens).filter(|n| *n > 0)),
            ],
            DiagnosticsEvent::Warning(_)
            | DiagnosticsEvent::Fault(_)
            | DiagnosticsEvent::MetricsChanged(_)
            | DiagnosticsEvent::BudgetChecked(_)
            | DiagnosticsEvent::ProgressEvaluated(_)
            | DiagnosticsEvent::RateLimitHit(_) => return,
        };
        for (member, source, count) in counts {
            if let (Some(UsageSource::Unknown), Some(count)) = (source, count) {
                out.add(format!("payload.{member}"), format!("{count} tokens from an unknown source"));
            }
        }
    }
}
