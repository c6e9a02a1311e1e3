//! Owns what the adapter learns from the log: which turn an earlier input of the thread left waiting, and for what.
//!
//! An input may be given twice. Then the runs in it are known, and each must begin from what was known before it began the
//! first time, or it would give other facts. So the turn is remembered as it was before every run.

use std::collections::HashMap;

use event_spine::event::family::{
    ContextEvent, Event, LifecycleEvent, PolicyEvent, TaskEvent, ToolEvent,
};
use event_spine::event::value::ToolStatus;
use event_spine::{EventDraft, SessionId};

use super::people::NATIVE_ID;
use super::state::{Action, Phase, Subagent, Text, Thread, Tool, Turn};

pub(super) fn recall(
    threads: &mut HashMap<String, Thread>,
    session: &SessionId,
    recorded: &EventDraft,
) {
    let scope = &recorded.scope;
    let (Some(thread_id), Some(turn_id), Some(run), Some(task)) =
        (&scope.thread_id, &scope.turn_id, &scope.run_id, &scope.task_id)
    else {
        return;
    };
    let thread = threads
        .entry(thread_id.as_str().to_owned())
        .or_insert_with(|| Thread::new(session.clone(), thread_id.clone()));
    if !thread.before.contains_key(run) {
        let before = (thread.turn.clone(), thread.broken);
        thread.before.insert(run.clone(), before);
    }
    if thread.turn.as_ref().is_none_or(|turn| turn.id != *turn_id) {
        thread.turn = Some(Turn {
            id: turn_id.clone(),
            task: task.clone(),
            ..Turn::new(session, thread_id, run)
        });
    }
    if let Ok(event) = recorded.event() {
        learn(thread, recorded, event);
    }
}

fn learn(thread: &mut Thread, recorded: &EventDraft, event: Event) {
    let Some(turn) = &mut thread.turn else {
        return;
    };
    match event {
        Event::Lifecycle(event) => match event {
            LifecycleEvent::TurnCompleted(_)
            | LifecycleEvent::TurnFailed(_)
            | LifecycleEvent::TurnCanceled(_) => turn.phase = Phase::Over,
            LifecycleEvent::RunStatus(status) => {
                if turn.phase != Phase::Over {
                    turn.phase = match status.phase.as_str() {
                        "waiting" => Phase::Waiting,
                        _ => Phase::Running,
                    };
                }
            }
            LifecycleEvent::TurnSubmitted(_)
            | LifecycleEvent::TurnStarted(_)
            | LifecycleEvent::QueueChanged(_) => {}
        },
        Event::Tool(event) => {
            let ended = match &event {
                ToolEvent::ToolResult(result) => result.status == Some(ToolStatus::Unknown),
                _ => false,
            };
            learn_tool(turn, recorded, event);
            if let (Some(run), Some(call), true) =
                (&recorded.scope.run_id, &recorded.scope.tool_call_id, ended)
            {
                thread.ended_unknown.insert((run.clone(), call.as_str().to_owned()));
            }
        }
        Event::Policy(event) => learn_action(thread, recorded, event),
        Event::Task(event) => learn_agent(turn, recorded, &event),
        Event::Context(event) => match event {
            ContextEvent::StreamInterrupted(_) => thread.broken = true,
            ContextEvent::StreamRepaired(_) => thread.broken = false,
            ContextEvent::ContextAttached(_)
            | ContextEvent::ContextDetached(_)
            | ContextEvent::ContextMissing(_)
            | ContextEvent::CompactionStarted(_)
            | ContextEvent::CompactionCompleted(_)
            | ContextEvent::CompactionFailed(_)
            | ContextEvent::HistoryCompacted(_)
            | ContextEvent::HistoryRolledBack(_)
            | ContextEvent::SnapshotUpdated(_)
            | ContextEvent::StateDelta(_)
            | ContextEvent::SessionForked(_) => {}
        },
        Event::Message(_)
        | Event::Reasoning(_)
        | Event::Artifact(_)
        | Event::Evidence(_)
        | Event::Diagnostics(_)
        | Event::Unknown { .. } => {}
    }
}

fn learn_action(thread: &mut Thread, recorded: &EventDraft, event: PolicyEvent) {
    let (Some(turn), Some(id)) = (&mut thread.turn, &recorded.scope.action_id) else {
        return;
    };
    match event {
        PolicyEvent::ActionRequired(action) => {
            if let Some(run) = &recorded.scope.run_id {
                let used = thread.actions_used.entry(id.as_str().to_owned());
                used.or_insert_with(|| run.clone());
            }
            let open = Action {
                id: id.clone(),
                tool: recorded.scope.get("toolCallId").map(str::to_owned),
                owner: recorded.scope.get("subagentId").map(str::to_owned),
                reason: action.reason,
            };
            let payload: Option<serde_json::Value> = recorded.payload.read().ok();
            let native = payload.as_ref().and_then(|p| p.get(NATIVE_ID)?.as_str());
            turn.actions.insert(native.unwrap_or(id.as_str()).to_owned(), open);
        }
        PolicyEvent::ActionResolved(_)
        | PolicyEvent::ActionCancelled(_)
        | PolicyEvent::ActionExpired(_) => {
            turn.actions.retain(|_, action| action.id != *id);
        }
        PolicyEvent::PermissionEvaluated(_)
        | PolicyEvent::PermissionDenied(_)
        | PolicyEvent::SandboxBlocked(_) => {}
    }
}

fn learn_tool(turn: &mut Turn, recorded: &EventDraft, event: ToolEvent) {
    let scope = &recorded.scope;
    let (Some(id), Some(step)) = (&scope.tool_call_id, &scope.step_id) else {
        return;
    };
    match event {
        ToolEvent::ToolStarted(started) => {
            let open = Tool {
                name: started.tool_name,
                owner: scope.get("subagentId").map(str::to_owned),
                step: step.clone(),
                message: scope.get("messageId").map(str::to_owned),
                args: Text::default(),
                started: true,
                pending: false,
                succeeded: false,
            };
            turn.tools.insert(id.as_str().to_owned(), open);
        }
        ToolEvent::ToolResult(_) | ToolEvent::ToolFailed(_) => {
            turn.tools.remove(id.as_str());
        }
        ToolEvent::ToolArgs(_)
        | ToolEvent::ToolProgress(_)
        | ToolEvent::OutputSpilled(_)
        | ToolEvent::OutputTruncated(_)
        | ToolEvent::OutputRedacted(_)
        | ToolEvent::OutputExpired(_) => {}
    }
}

fn learn_agent(turn: &mut Turn, recorded: &EventDraft, event: &TaskEvent) {
    let Some(id) = &recorded.scope.subagent_id else {
        return;
    };
    match event {
        TaskEvent::SubagentStarted(_) => {
            turn.subagents.insert(id.as_str().to_owned(), Subagent { suspended: false });
        }
        TaskEvent::SubagentStatus(status) => {
            if let Some(agent) = turn.subagents.get_mut(id.as_str()) {
                agent.suspended = status.status == "suspended";
            }
        }
        TaskEvent::SubagentCompleted(_) | TaskEvent::SubagentFailed(_) => {
            turn.subagents.remove(id.as_str());
        }
        TaskEvent::TaskCreated(_)
        | TaskEvent::TaskUpdated(_)
        | TaskEvent::JobQueued(_)
        | TaskEvent::ChannelMessage(_) => {}
    }
}
