//! SP0033: a turn does not end over a running tool call.

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;
use crate::stream::Stream;

pub(super) struct ToolUnclosedAtTurnEnd;

impl Rule for ToolUnclosedAtTurnEnd {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0033",
            code: "tool_unclosed_at_turn_end",
            severity: Severity::Error,
            demand: "every tool call has its result or failure before its turn ends",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let Some(turn) = look.ending_turn() else { return };
        // The contract lets the end of a turn close its tools; our own streams say how each call ended.
        let severity = if look.options.foreign { Severity::Degraded } else { Severity::Error };
        for (call, tool) in &turn.tools {
            let message = format!("{call} ({}) still runs, since {}", tool.name, tool.since);
            out.add_as(severity, "toolCallId", message);
        }
    }

    fn end(&self, stream: &Stream, out: &mut Out<'_>) {
        for turn in stream.turns.values() {
            for (call, tool) in &turn.tools {
                let message = format!("{call} ({}) never ended, since {}", tool.name, tool.since);
                out.add("toolCallId", message);
            }
        }
    }
}
