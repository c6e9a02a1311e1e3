//! Owns the end of turns: what is closed with them, and what is told of their runs.

use std::collections::HashSet;

use event_spine::event::family::diagnostics::{MetricsChanged, UsageUpdated};
use event_spine::event::family::evidence::EvidenceChanged;
use event_spine::event::family::lifecycle::{TurnCanceled, TurnCompleted, TurnFailed};
use event_spine::event::family::task::{SubagentFailed, TaskUpdated};
use event_spine::event::value::{EvidenceStatus, TaskStatus, ToolStatus, UsageSource};
use event_spine::{EvidenceId, JsonText, MessageId};

use super::super::recovery::recovery;
use super::cx::Cx;
use super::frame::{Usage, Wire, list};
use super::state::{Phase, message_id, subagent_id};
use super::stated::Said;
use super::{people, text, tools};

/// How a turn ends, and what that means for what is still open.
pub(super) enum Ending<'a> {
    Completed { result: Option<&'a JsonText> },
    Canceled { reason: &'a str },
    Failed { category: &'a str, error: Option<&'a str>, code: Option<&'a str> },
}

/// The turn ends, and with it all that is open in it.
pub(super) fn end_turn(cx: &mut Cx<'_>, ending: &Ending<'_>) {
    let (category, status) = match ending {
        Ending::Completed { .. } => ("no_result", ToolStatus::Interrupted),
        Ending::Canceled { .. } => ("cancelled", ToolStatus::Cancelled),
        Ending::Failed { .. } => ("interrupted", ToolStatus::Interrupted),
    };
    text::fail_open(cx, "stream_interrupted");
    tools::fail_open(cx, category, status);
    let open: Vec<String> = cx
        .turn()
        .map(|turn| std::mem::take(&mut turn.subagents).into_keys().collect())
        .unwrap_or_default();
    for id in open {
        let scope = subagent_scope(cx, &id);
        let failure_category = category.to_owned();
        cx.emit_synthetic(scope, &SubagentFailed { failure_category, error: None, code: None });
    }
    people::cancel_open(cx, "turn_ended");
    let (task_status, evidence_status) = match ending {
        Ending::Completed { .. } => (TaskStatus::Completed, EvidenceStatus::Ready),
        Ending::Canceled { .. } => (TaskStatus::Cancelled, EvidenceStatus::Ready),
        Ending::Failed { .. } => (TaskStatus::Failed, EvidenceStatus::Partial),
    };
    evidence(cx, evidence_status);
    let error = match ending {
        Ending::Failed { error, .. } => *error,
        Ending::Completed { .. } | Ending::Canceled { .. } => None,
    };
    task(cx, task_status, error);
    terminal(cx, ending);
    if let Some(turn) = cx.turn() {
        turn.phase = Phase::Over;
    }
}

fn terminal(cx: &mut Cx<'_>, ending: &Ending<'_>) {
    let scope = cx.scope(None);
    match ending {
        Ending::Completed { result } => {
            let payload = TurnCompleted {
                reason: None,
                detail: None,
                terminal_status: None,
                duration_ms: None,
                usage: None,
            };
            cx.emit(scope, &payload);
            cx.with("result", result.map(JsonText::as_str));
        }
        Ending::Canceled { reason } => {
            let payload = TurnCanceled {
                reason: Some((*reason).to_owned()),
                detail: None,
                terminal_status: None,
                canceled_by: None,
            };
            cx.emit(scope, &payload);
        }
        Ending::Failed { category, error, code } => {
            let payload = TurnFailed {
                failure_category: (*category).to_owned(),
                error: error.map(str::to_owned),
                reason: code.map(str::to_owned),
                detail: None,
                terminal_status: None,
                recovery: recovery(category).map(str::to_owned),
                usage: None,
            };
            if matches!(*category, "incomplete" | "stream_interrupted") && error.is_none() {
                cx.emit_synthetic(scope, &payload);
            } else {
                cx.emit(scope, &payload);
            }
        }
    }
}

/// Raw events of the framework stay in the raw input; they are counted.
pub(super) fn count_raw(cx: &mut Cx<'_>) {
    let count = std::mem::take(&mut cx.run.raw_events);
    if count == 0 {
        return;
    }
    let payload = MetricsChanged {
        metric: "ag_ui.raw_events".to_owned(),
        value: Some(count as f64),
        unit: Some("events".to_owned()),
        values: None,
    };
    let scope = cx.scope(None);
    cx.emit(scope, &payload);
}

/// The recording of a run is the evidence for it.
pub(super) fn evidence(cx: &mut Cx<'_>, status: EvidenceStatus) {
    let mut scope = cx.scope(None);
    let parts = [cx.thread.session.as_str(), cx.run.key.as_str(), "recording"];
    scope.evidence_id = Some(EvidenceId::derived(&parts));
    let payload = EvidenceChanged {
        kind: Some("source".to_owned()),
        title: Some(format!("recorded events of run {}", cx.run.id)),
        status: Some(status),
        location: None,
        summary: None,
        claim: None,
    };
    cx.emit(scope, &payload);
}

pub(super) fn task(cx: &mut Cx<'_>, status: TaskStatus, error: Option<&str>) {
    let payload = TaskUpdated {
        status: Some(status),
        native_status: None,
        label: None,
        progress: None,
        attempt: None,
        error: error.map(str::to_owned),
        summary: None,
    };
    let scope = cx.scope(None);
    cx.emit(scope, &payload);
}

/// Tokens, one entry a model and run. Each is told of a message of its own, so that none is taken for a later count of another.
pub(super) fn usage(cx: &mut Cx<'_>, wire: &Wire) {
    let given: Vec<Usage> = list(wire.usage.as_ref());
    let observed = |n: Option<u64>| n.map(|_| UsageSource::Observed);
    let mut taken = HashSet::new();
    for (nth, used) in given.iter().enumerate() {
        let payload = UsageUpdated {
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            input_source: observed(used.input_tokens),
            output_source: observed(used.output_tokens),
            cached_input_tokens: used.cached_input_tokens,
            cache_write_tokens: used.cache_write_input_tokens,
            reasoning_tokens: used.reasoning_tokens,
            has_unknown_usage: false,
            session_input_tokens: None,
            session_output_tokens: None,
            model: used.model.clone(),
            provider: used.provider.clone(),
        };
        let said = wrote(cx, &given, used).filter(|s| taken.insert(s.message.clone()));
        let mut scope = cx.scope(said.as_ref().and_then(|said| said.owner.as_deref()));
        scope.message_id = Some(match said {
            Some(said) => message_id(&said.message),
            // Which of its messages they are of, the stream does not say.
            None => {
                let run = cx.run.key.as_str();
                let parts = [cx.thread.session.as_str(), run, "usage", &nth.to_string()];
                MessageId::derived(&parts)
            }
        });
        cx.emit(scope, &payload);
    }
    if given.is_empty() && cx.run.spoke {
        let scope = cx.scope(None);
        cx.emit(scope, &unknown_usage());
    }
}

/// The last message that the model wrote, by what the state says. An entry that is left alone is of the messages that are left, if
/// one agent said them all.
fn wrote(cx: &Cx<'_>, given: &[Usage], used: &Usage) -> Option<Said> {
    let by_model = |used: &Usage| {
        let of_it = |said: &&Said| said.model.is_some() && said.model == used.model;
        cx.run.said.iter().rev().find(of_it)
    };
    if let Some(said) = by_model(used) {
        return Some(said.clone());
    }
    let left: Vec<&Said> = cx.run.said.iter().rev().filter(|said| said.model.is_none()).collect();
    let first = left.first()?;
    let alone = given.iter().filter(|used| by_model(used).is_none()).count() == 1;
    let one_agent = left.iter().all(|said| said.owner == first.owner);
    let text_first = left.iter().find(|said| said.text).unwrap_or(first);
    (alone && one_agent).then(|| (*text_first).clone())
}

pub(super) fn unknown_usage() -> UsageUpdated {
    UsageUpdated {
        input_tokens: None,
        output_tokens: None,
        input_source: None,
        output_source: None,
        cached_input_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
        has_unknown_usage: true,
        session_input_tokens: None,
        session_output_tokens: None,
        model: None,
        provider: None,
    }
}

pub(super) fn subagent_scope(cx: &Cx<'_>, id: &str) -> event_spine::Scope {
    let mut scope = cx.scope(None);
    scope.parent_task_id = scope.task_id.clone();
    scope.subagent_id = Some(subagent_id(id));
    scope
}
