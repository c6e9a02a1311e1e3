//! Owns what tool calls add to a pack: how the calls of each tool ended, which did not end as wanted, what was masked.

use event_spine::RecordedEvent;
use event_spine::event::family::ToolEvent;
use event_spine::event::value::ToolStatus;

use super::{Facts, head};
use crate::evidence_pack::model::{KnownGap, Redaction, ToolFailure};

impl Facts {
    pub(super) fn tool(&mut self, recorded: &RecordedEvent, event: &ToolEvent) {
        match event {
            ToolEvent::ToolStarted(e) => self.call_started(recorded, &e.tool_name),
            ToolEvent::ToolResult(e) => {
                let status = e.status.unwrap_or(ToolStatus::Unknown);
                self.call_ended(recorded, e.tool_name.as_deref(), status);
            }
            ToolEvent::ToolFailed(e) => {
                let status = failed_as(e.status, &e.failure_category);
                let name = self.call_ended(recorded, e.tool_name.as_deref(), status);
                let call = recorded.scope().tool_call_id.as_ref().map(ToString::to_string);
                if status == ToolStatus::Interrupted {
                    let call = call.as_deref().unwrap_or("without id");
                    let detail = format!("Nobody knows what tool call {call} did: it was cut off.");
                    self.gaps.push(KnownGap {
                        code: "outcome_unknown".into(),
                        sequence: recorded.sequence,
                        detail,
                    });
                }
                self.tools.failures.push(ToolFailure {
                    sequence: recorded.sequence,
                    tool_call_id: call,
                    tool_name: name,
                    failure_category: e.failure_category.clone(),
                    error: e.error.as_deref().map(head),
                });
            }
            ToolEvent::OutputRedacted(e) => self.redactions.push(Redaction {
                sequence: recorded.sequence,
                target: e.target.clone(),
                method: e.method.clone(),
                reason: e.reason.clone(),
                count: e.count,
            }),
            ToolEvent::ToolArgs(_)
            | ToolEvent::ToolProgress(_)
            | ToolEvent::OutputSpilled(_)
            | ToolEvent::OutputTruncated(_)
            | ToolEvent::OutputExpired(_) => {}
        }
    }

    fn call_started(&mut self, recorded: &RecordedEvent, name: &str) {
        let tally = self.tools.by_tool.entry(name.to_owned()).or_default();
        tally.calls += 1;
        tally.open += 1;
        match recorded.scope().tool_call_id.as_ref() {
            Some(call) => drop(self.open_calls.insert(call.to_string(), name.to_owned())),
            None => *self.uncorrelated.entry("tool").or_default() += 1,
        }
        if let Some(id) = recorded.scope().turn_id.clone()
            && let Some(turn) = self.turn(recorded, id.as_str())
        {
            turn.tool_calls += 1;
        }
    }

    /// Counts the end of a call; gives the name of its tool.
    fn call_ended(
        &mut self,
        recorded: &RecordedEvent,
        named: Option<&str>,
        status: ToolStatus,
    ) -> Option<String> {
        let call = recorded.scope().tool_call_id.as_ref().map(|id| id.as_str());
        let started = call.and_then(|call| self.open_calls.remove(call));
        let was_open = started.is_some();
        let name = started.or_else(|| named.map(ToOwned::to_owned));
        let tally = self.tools.by_tool.entry(name.clone().unwrap_or_default()).or_default();
        if was_open {
            tally.open = tally.open.saturating_sub(1);
        } else {
            tally.calls += 1; // refused before it began, or its beginning was not recorded
        }
        let count = match status {
            ToolStatus::Succeeded | ToolStatus::PartialSucceeded => &mut tally.succeeded,
            ToolStatus::Failed | ToolStatus::TimedOut => &mut tally.failed,
            ToolStatus::Denied | ToolStatus::Rejected => &mut tally.denied,
            ToolStatus::Cancelled => &mut tally.cancelled,
            ToolStatus::Interrupted => &mut tally.interrupted,
            ToolStatus::Unknown => &mut tally.unknown,
        };
        *count += 1;
        name
    }
}

/// How a failed call ended: as stated, else by its category.
fn failed_as(stated: Option<ToolStatus>, category: &str) -> ToolStatus {
    match stated {
        Some(ToolStatus::Unknown) | None => match category {
            "permission_denied" | "approval_rejected" | "policy_blocked" | "sandbox_violation" => {
                ToolStatus::Denied
            }
            "cancelled" | "canceled" | "sibling_canceled" => ToolStatus::Cancelled,
            "timeout" | "timed_out" => ToolStatus::TimedOut,
            "interrupted" | "lost" => ToolStatus::Interrupted,
            _ => ToolStatus::Failed,
        },
        Some(ToolStatus::Succeeded | ToolStatus::PartialSucceeded) => ToolStatus::Failed,
        Some(status) => status,
    }
}
