//! Owns the line of text that the timeline shows for an event. Half a token is no title, so pieces have fixed ones.

use std::borrow::Cow;

use event_spine::event::family::{
    ArtifactEvent, ContextEvent, DiagnosticsEvent, Event, EvidenceEvent, LifecycleEvent,
    MessageEvent, PolicyEvent, ReasoningEvent, TaskEvent, ToolEvent,
};

use crate::projections::shared::headline;

/// Mostly a fixed text.
type Title = Cow<'static, str>;

/// What happened, in a line.
pub(super) fn of(event: &Event) -> Title {
    match event {
        Event::Lifecycle(event) => lifecycle(event),
        Event::Message(event) => message(event),
        Event::Reasoning(event) => reasoning(event),
        Event::Tool(event) => tool(event),
        Event::Policy(event) => policy(event),
        Event::Artifact(event) => artifact(event),
        Event::Evidence(event) => evidence(event),
        Event::Task(event) => task(event),
        Event::Context(event) => context(event),
        Event::Diagnostics(event) => diagnostics(event),
        Event::Unknown { name, .. } => name.to_string().into(),
    }
}

/// `what`, and after a colon the first line of `detail`, if there is one.
fn line(what: impl Into<Title>, detail: Option<&str>) -> Title {
    let what = what.into();
    match detail.map(|text| headline(text, 120)).filter(|text| !text.is_empty()) {
        Some(detail) => [&*what, ": ", detail].concat().into(),
        None => what,
    }
}

fn lifecycle(event: &LifecycleEvent) -> Title {
    match event {
        LifecycleEvent::TurnSubmitted(e) if e.text.is_none() && e.parts.is_empty() => {
            "Input, not stated".into()
        }
        LifecycleEvent::TurnSubmitted(e) => line("Input", e.text.as_deref()),
        LifecycleEvent::TurnStarted(e) => {
            line("Turn started", e.title.as_deref().or(e.model.as_deref()))
        }
        LifecycleEvent::TurnCompleted(e) => line("Turn completed", e.reason.as_deref()),
        LifecycleEvent::TurnFailed(e) => {
            line("Turn failed", e.error.as_deref().or(Some(&e.failure_category)))
        }
        LifecycleEvent::TurnCanceled(e) => line("Turn canceled", e.reason.as_deref()),
        LifecycleEvent::RunStatus(e) => line("Phase", Some(e.title.as_ref().unwrap_or(&e.phase))),
        LifecycleEvent::QueueChanged(e) => {
            line(format!("Input {}", e.change), e.preview.as_deref())
        }
    }
}

fn message(event: &MessageEvent) -> Title {
    match event {
        MessageEvent::ModelRequested(e) => line("Model asked", e.model.as_deref()),
        MessageEvent::ModelDelta(_) => "Model answers".into(),
        MessageEvent::ModelCompleted(e) => line("Model answered", e.text.as_deref()),
        MessageEvent::ModelFailed(e) => {
            line("Model failed", e.error.as_deref().or(Some(&e.failure_category)))
        }
        MessageEvent::MessagesSnapshot(e) => {
            format!("Message list stated, {}", e.messages.len()).into()
        }
    }
}

fn reasoning(event: &ReasoningEvent) -> Title {
    match event {
        ReasoningEvent::ReasoningDelta(_) => "Model reasons".into(),
        ReasoningEvent::ReasoningSummary(e) => line("Reasoning", Some(&e.text)),
        ReasoningEvent::PlanDelta(_) => "Plan changes".into(),
        ReasoningEvent::PlanFinal(e) => format!("Plan stands, {} items", e.items.len()).into(),
    }
}

fn tool(event: &ToolEvent) -> Title {
    match event {
        ToolEvent::ToolStarted(e) => line(e.tool_name.clone(), e.title.as_deref()),
        ToolEvent::ToolArgs(e) => line("Tool arguments", e.tool_name.as_deref()),
        ToolEvent::ToolProgress(e) => line("Tool output", e.message.as_deref()),
        ToolEvent::ToolResult(e) => line("Tool result", e.tool_name.as_deref()),
        ToolEvent::ToolFailed(e) => {
            line("Tool failed", e.error.as_deref().or(Some(&e.failure_category)))
        }
        ToolEvent::OutputSpilled(e) => format!("Output stored, {} bytes", e.size_bytes).into(),
        ToolEvent::OutputTruncated(e) => line("Output cut by its source", e.reason.as_deref()),
        ToolEvent::OutputRedacted(e) => {
            format!("Masked in {} places: {}", e.count, e.reason).into()
        }
        ToolEvent::OutputExpired(e) => line("Output deleted", e.reason.as_deref()),
    }
}

fn policy(event: &PolicyEvent) -> Title {
    match event {
        PolicyEvent::ActionRequired(e) => {
            line("Asked", e.title.as_deref().or(e.tool_name.as_deref()).or(Some(&e.action_type)))
        }
        PolicyEvent::ActionResolved(e) => line("Answered", Some(&e.decision)),
        PolicyEvent::ActionCancelled(e) => line("Question withdrawn", e.reason.as_deref()),
        PolicyEvent::ActionExpired(_) => "Question expired".into(),
        PolicyEvent::PermissionEvaluated(e) => line("Permission", Some(&e.decision)),
        PolicyEvent::PermissionDenied(e) => line("Permission denied", Some(&e.reason)),
        PolicyEvent::SandboxBlocked(e) => line("Sandbox blocked", Some(&e.reason)),
    }
}

fn artifact(event: &ArtifactEvent) -> Title {
    match event {
        ArtifactEvent::ArtifactChanged(e) => {
            line(format!("Artifact {}", e.change), e.title.as_deref().or(e.path.as_deref()))
        }
        ArtifactEvent::ArtifactVersioned(e) => line("Artifact version", Some(&e.version_id)),
        ArtifactEvent::ArtifactExported(e) => line("Artifact exported", Some(&e.target)),
    }
}

fn evidence(event: &EvidenceEvent) -> Title {
    match event {
        EvidenceEvent::EvidenceChanged(e) => {
            line("Evidence", e.title.as_deref().or(e.kind.as_deref()))
        }
        EvidenceEvent::EvidenceExported(e) => line("Evidence exported", e.target.as_deref()),
        EvidenceEvent::ReviewVerdict(e) => {
            line(format!("Review: {}", e.verdict.as_str()), e.reason.as_deref())
        }
    }
}

fn task(event: &TaskEvent) -> Title {
    match event {
        TaskEvent::TaskCreated(e) => {
            line("Task created", e.label.as_deref().or(e.objective.as_deref()))
        }
        TaskEvent::TaskUpdated(e) => {
            line("Task", e.status.map(|s| s.as_str()).or(e.native_status.as_deref()))
        }
        TaskEvent::SubagentStarted(e) => {
            let what = if e.handoff { "Handed over" } else { "Sub-agent started" };
            line(what, e.name.as_deref().or(e.objective.as_deref()))
        }
        TaskEvent::SubagentStatus(e) => line("Sub-agent", Some(&e.status)),
        TaskEvent::SubagentCompleted(e) => line("Sub-agent completed", e.summary.as_deref()),
        TaskEvent::SubagentFailed(e) => {
            line("Sub-agent failed", e.error.as_deref().or(Some(&e.failure_category)))
        }
        TaskEvent::JobQueued(e) => line("Job queued", e.title.as_deref().or(Some(&e.job_id))),
        TaskEvent::ChannelMessage(e) => line("Message between agents", e.text.as_deref()),
    }
}

fn context(event: &ContextEvent) -> Title {
    match event {
        ContextEvent::ContextAttached(e) => {
            line(format!("Context added, {}", e.kind), e.name.as_deref().or(e.skill_id.as_deref()))
        }
        ContextEvent::ContextDetached(e) => {
            let name = e.name.as_deref().or(e.skill_id.as_deref());
            line(format!("Context removed, {}", e.kind), name)
        }
        ContextEvent::ContextMissing(e) => {
            let name = e.name.as_deref().or(e.skill_id.as_deref());
            line(format!("Context missing, {}", e.kind), name)
        }
        ContextEvent::CompactionStarted(e) => line("Compaction started", e.trigger.as_deref()),
        ContextEvent::CompactionCompleted(_) => "Compaction changed nothing".into(),
        ContextEvent::CompactionFailed(e) => line("Compaction failed", Some(&e.error)),
        ContextEvent::HistoryCompacted(e) => line("History shortened", e.trigger.as_deref()),
        ContextEvent::HistoryRolledBack(e) => line("History rolled back", e.reason.as_deref()),
        ContextEvent::SnapshotUpdated(e) => line("State stated", e.kind.as_deref()),
        ContextEvent::StateDelta(e) => line("State changes", e.target.as_deref()),
        ContextEvent::StreamInterrupted(e) => line("Stream interrupted", Some(&e.reason)),
        ContextEvent::StreamRepaired(e) => line("Stream repaired", e.method.as_deref()),
        ContextEvent::SessionForked(e) => {
            format!("Forked from {} at {}", e.parent_session_id, e.parent_sequence).into()
        }
    }
}

fn diagnostics(event: &DiagnosticsEvent) -> Title {
    match event {
        DiagnosticsEvent::Warning(e) => line("Warning", e.message.as_deref().or(Some(&e.code))),
        DiagnosticsEvent::Fault(e) => line("Error", e.message.as_deref().or(Some(&e.code))),
        DiagnosticsEvent::MetricsChanged(e) => line("Metric", Some(&e.metric)),
        DiagnosticsEvent::BudgetChecked(e) => format!(
            "Budget {}: {} of {} tokens",
            e.action.as_str(),
            e.estimated_input_tokens,
            e.prompt_budget
        )
        .into(),
        DiagnosticsEvent::LedgerReconciled(e) => {
            format!("Ledger: {} in, {}", e.input_tokens, output(e)).into()
        }
        DiagnosticsEvent::UsageUpdated(e) => {
            let figure =
                |n: Option<u64>| n.map_or(Title::Borrowed("unknown"), |n| n.to_string().into());
            format!("Usage: {} in, {} out", figure(e.input_tokens), figure(e.output_tokens)).into()
        }
        DiagnosticsEvent::ProgressEvaluated(e) => line("Progress", Some(&e.stalled_progress_state)),
        DiagnosticsEvent::RateLimitHit(e) => line("Rate limit", e.provider.as_deref()),
    }
}

fn output(ledger: &event_spine::event::family::diagnostics::LedgerReconciled) -> Title {
    use event_spine::event::value::UsageSource;
    match ledger.output_source {
        UsageSource::Observed | UsageSource::Estimated => {
            format!("{} out", ledger.output_tokens).into()
        }
        UsageSource::Unknown => "unknown out".into(),
    }
}
