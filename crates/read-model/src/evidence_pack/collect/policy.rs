//! Owns who was asked for what and who allowed it, and what rules refused without asking.

use event_spine::RecordedEvent;
use event_spine::event::family::PolicyEvent;
use event_spine::event::family::policy::{ActionRequired, ActionResolved, Answer};

use super::Facts;
use crate::evidence_pack::model::{Approval, ApprovalOutcome, Refusal};

impl Facts {
    pub(super) fn policy(&mut self, recorded: &RecordedEvent, event: &PolicyEvent) {
        let call = || recorded.scope().tool_call_id.as_ref().map(ToString::to_string);
        let event_type = recorded.event_type().name().to_owned();
        match event {
            PolicyEvent::ActionRequired(e) => self.asked(recorded, e),
            PolicyEvent::ActionResolved(e) => self.answered(recorded, e),
            PolicyEvent::ActionCancelled(e) => {
                self.closed(recorded, ApprovalOutcome::Cancelled, |approval| {
                    approval.decided_by.clone_from(&e.cancelled_by);
                    approval.reason.clone_from(&e.reason);
                });
            }
            PolicyEvent::ActionExpired(_) => {
                self.closed(recorded, ApprovalOutcome::Expired, |_| {});
            }
            PolicyEvent::PermissionDenied(e) => self.refusals.push(Refusal {
                sequence: recorded.sequence,
                event_type,
                tool_call_id: call(),
                rule_id: e.rule_id.clone(),
                reason: e.reason.clone(),
            }),
            PolicyEvent::SandboxBlocked(e) => self.refusals.push(Refusal {
                sequence: recorded.sequence,
                event_type,
                tool_call_id: call(),
                rule_id: None,
                reason: e.reason.clone(),
            }),
            PolicyEvent::PermissionEvaluated(_) => {}
        }
    }

    fn asked(&mut self, recorded: &RecordedEvent, e: &ActionRequired) {
        let Some(id) = recorded.scope().action_id.as_ref() else {
            return;
        };
        // An id that comes back after it was decided is another request.
        let open = self.approval_at.get(id.as_str()).and_then(|at| self.approvals.get(*at));
        if open.is_none_or(|approval| approval.outcome != ApprovalOutcome::Open) {
            self.approval_at.insert(id.to_string(), self.approvals.len());
            self.approvals.push(blank_approval(id.as_str()));
        }
        let at = self.approval_at.get(id.as_str()).copied();
        if let Some(approval) = at.and_then(|at| self.approvals.get_mut(at)) {
            approval.action_type = Some(e.action_type.clone());
            approval.tool_name.clone_from(&e.tool_name);
            approval.tool_call_id = recorded.scope().tool_call_id.as_ref().map(ToString::to_string);
            approval.arguments_hash.clone_from(&e.arguments_hash);
            approval.requested_sequence = Some(recorded.sequence);
            approval.requested_at = Some(recorded.draft.timestamp.to_string());
        }
    }

    fn answered(&mut self, recorded: &RecordedEvent, e: &ActionResolved) {
        let outcome = match e.answer() {
            Answer::Granted => ApprovalOutcome::Granted,
            Answer::Refused => ApprovalOutcome::Refused,
            Answer::Cancelled => ApprovalOutcome::Cancelled,
            Answer::Expired => ApprovalOutcome::Expired,
            Answer::Unknown => ApprovalOutcome::Unknown,
        };
        self.closed(recorded, outcome, |approval| {
            approval.decision = Some(e.decision.clone());
            approval.source.clone_from(&e.source);
            approval.decided_by.clone_from(&e.decided_by);
            approval.reason.clone_from(&e.reason);
        });
    }

    /// Closes an approval, once: a second answer changes nothing.
    fn closed(
        &mut self,
        recorded: &RecordedEvent,
        outcome: ApprovalOutcome,
        change: impl FnOnce(&mut Approval),
    ) {
        let Some(id) = recorded.scope().action_id.as_ref() else {
            return;
        };
        let at = *self.approval_at.entry(id.to_string()).or_insert_with(|| {
            self.approvals.push(blank_approval(id.as_str()));
            self.approvals.len() - 1
        });
        let open = self.approvals.get_mut(at).filter(|a| a.outcome == ApprovalOutcome::Open);
        if let Some(approval) = open {
            approval.outcome = outcome;
            approval.decided_sequence = Some(recorded.sequence);
            approval.decided_at = Some(recorded.draft.timestamp.to_string());
            change(approval);
        }
    }
}

fn blank_approval(id: &str) -> Approval {
    Approval {
        action_id: id.to_owned(),
        action_type: None,
        tool_name: None,
        tool_call_id: None,
        arguments_hash: None,
        requested_sequence: None,
        requested_at: None,
        decided_sequence: None,
        decided_at: None,
        outcome: ApprovalOutcome::Open,
        decision: None,
        source: None,
        decided_by: None,
        reason: None,
    }
}
