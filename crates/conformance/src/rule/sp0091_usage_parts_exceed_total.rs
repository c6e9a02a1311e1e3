//! SP0091: the parts of a token count are within it.

use event_spine::Event;
use event_spine::event::family::{DiagnosticsEvent, LifecycleEvent, MessageEvent, TaskEvent};
use event_spine::event::value::Usage;

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct UsagePartsExceedTotal;

impl Rule for UsagePartsExceedTotal {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0091",
            code: "usage_parts_exceed_total",
            severity: Severity::Degraded,
            demand: "cached and reasoning tokens are parts of the counts of input and output",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(usage) = usage(look.subject.decoded()) else { return };
        let cached = usage.cached_input_tokens.unwrap_or(0) + usage.cache_write_tokens.unwrap_or(0);
        if let Some(input) = usage.input_tokens.filter(|input| cached > *input) {
            out.add("payload", format!("{cached} cached tokens in {input} tokens of input"));
        }
        let reasoning = usage.reasoning_tokens.unwrap_or(0);
        if let Some(output) = usage.output_tokens.filter(|output| reasoning > *output) {
            out.add("payload", format!("{reasoning} tokens of reasoning in {output} tokens of output"));
        }
    }
}

/// The token counts of an event, wherever its type has them.
fn usage(event: Option<&Event>) -> Option<Usage> {
    match event? {
        Event::Message(MessageEvent::ModelCompleted(event)) => event.usage.clone(),
        Event::Lifecycle(LifecycleEvent::TurnCompleted(event)) => event.usage.clone(),
        Event::Lifecycle(LifecycleEvent::TurnFailed(event)) => event.usage.clone(),
        Event::Task(TaskEvent::SubagentCompleted(event)) => event.usage.clone(),
        Event::Diagnostics(DiagnosticsEvent::UsageUpdated(event)) => Some(Usage {
            input_tokens: event.input_tokens,
            output_tokens: event.output_tokens,
            cached_input_tokens: event.cached_input_tokens,
            cache_write_tokens: event.cache_write_tokens,
            reasoning_tokens: event.reasoning_tokens,
            total_tokens: None,
        }),
        Event::Message(_)
        | Event::Lifecycle(_)
        | Event::Task(_)
        | Event::Diagnostics(_)
        | Event::Reasoning(_)
        | Event::Tool(_)
        | Event::Policy(_)
        | Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Context(_)
        | Event::Unknown { .. } => None,
    }
}
