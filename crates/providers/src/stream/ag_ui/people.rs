//! Owns interrupts: what a run asks of a person, and the answers that the next run brings.

use event_spine::event::family::policy::{ActionCancelled, ActionRequired, ActionResolved};
use event_spine::event::value::ToolStatus;
use event_spine::{ActionId, JsonText, Scope};
use serde::Deserialize;

use super::cx::{Cx, quoted};
use super::frame::{CustomInterrupt, Interrupt, Resume, RunInput, Wire};
use super::state::{Action, action_id, tool_call_id};
use super::tools;

/// The custom event by which LangGraph's and Mastra's integrations tell an interrupt.
pub(super) const ON_INTERRUPT: &str = "on_interrupt";

/// Extra member of `action.required`: the interrupt's id, when the action has another one.
pub(super) const NATIVE_ID: &str = "nativeActionId";

/// Something that is asked.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    id: Option<String>,
    reason: Option<String>,
    title: Option<String>,
    tool: Option<String>,
    tool_name: Option<String>,
    arguments: Option<JsonText>,
    schema: Option<JsonText>,
    expires: Option<String>,
    owner: Option<String>,
}

/// Notes a custom `on_interrupt`; whether it stands for itself shows when the run ends.
pub(super) fn note(cx: &mut Cx<'_>, wire: &Wire) {
    #[derive(Deserialize)]
    struct RawEvent {
        id: Option<String>,
    }
    let Some(value) = &wire.value else {
        return;
    };
    // The value is JSON inside a string.
    let inner = value
        .read::<String>()
        .ok()
        .and_then(|text| JsonText::parse(&text).ok())
        .map_or_else(|| value.clone(), |(json, _)| json);
    let said: CustomInterrupt = inner.read().unwrap_or_default();
    let raw = wire.raw_event.as_ref();
    let id = raw.and_then(|raw| serde_json::from_str::<RawEvent>(raw.get()).ok()?.id);
    cx.run.asked.push(Asked {
        id,
        reason: Some(ON_INTERRUPT.to_owned()),
        title: said.asks(),
        tool: said.tool_call_id,
        tool_name: said.tool_name,
        arguments: Some(said.args.unwrap_or(inner)),
        schema: None,
        expires: None,
        owner: wire.subagent_run_id.clone(),
    });
}

/// What the outcome of a run asks. The custom events of the same run say the same and are left out.
pub(super) fn asked(interrupts: Vec<Interrupt>, noted: &[Asked]) -> Vec<Asked> {
    if interrupts.is_empty() {
        return noted.to_vec();
    }
    interrupts.into_iter().map(from_interrupt).collect()
}

fn from_interrupt(interrupt: Interrupt) -> Asked {
    // Frameworks put their own facts one level down, under their name.
    let said: CustomInterrupt = interrupt
        .metadata
        .as_ref()
        .and_then(|metadata| {
            let by_framework: serde_json::Map<String, serde_json::Value> = metadata.read().ok()?;
            let (_, facts) = by_framework.into_iter().next()?;
            serde_json::from_str(&facts.to_string()).ok()
        })
        .unwrap_or_default();
    Asked {
        id: interrupt.id,
        reason: interrupt.reason,
        title: interrupt.message.or_else(|| said.asks()),
        tool: interrupt.tool_call_id.or(said.tool_call_id),
        tool_name: said.tool_name,
        arguments: said.args.or(interrupt.metadata),
        schema: interrupt.response_schema,
        expires: interrupt.expires_at,
        owner: interrupt.subagent_run_id,
    }
}

/// Asks.
pub(super) fn require(cx: &mut Cx<'_>, asked: Vec<Asked>) {
    for (nth, asked) in asked.into_iter().enumerate() {
        let key = asked.id.clone().unwrap_or_else(|| format!("{}#{nth}", cx.run.key));
        if cx.turn().is_some_and(|turn| turn.actions.contains_key(&key)) {
            continue; // told twice
        }
        let id = fresh_id(cx, &key);
        let open_tool = asked.tool.as_ref().and_then(|tool| {
            let tool = cx.turn()?.tools.get(tool)?;
            Some(tool.name.clone())
        });
        let payload = ActionRequired {
            action_type: action_type(asked.reason.as_deref()).to_owned(),
            title: asked.title,
            reason: asked.reason.clone(),
            tool_name: asked.tool_name.or(open_tool),
            arguments: asked.arguments,
            arguments_hash: None,
            risk: None,
            choices: Vec::new(),
            response_schema: asked.schema,
            expires_at: asked.expires,
            rule_id: None,
        };
        let action = Action { id, tool: asked.tool, owner: asked.owner, reason: asked.reason };
        let scope = scope(cx, &action);
        cx.emit(scope, &payload);
        let native = (action.id.as_str() != key).then(|| quoted(&key));
        cx.with(NATIVE_ID, native.as_deref());
        if let Some(turn) = cx.turn() {
            turn.actions.insert(key, action);
        }
    }
}

fn action_type(reason: Option<&str>) -> &'static str {
    match reason {
        Some("tool_call") => "tool_permission",
        Some("confirmation") => "confirmation",
        _ => "question",
    }
}

/// The interrupt's id, told apart from an earlier one of the thread.
fn fresh_id(cx: &mut Cx<'_>, interrupt: &str) -> ActionId {
    let run = cx.run.id.clone();
    let used = cx.thread.actions_used.entry(interrupt.to_owned());
    if *used.or_insert_with(|| run.clone()) == run {
        action_id(interrupt)
    } else {
        ActionId::derived(&[cx.thread.session.as_str(), interrupt, cx.run.key.as_str()])
    }
}

fn scope(cx: &Cx<'_>, action: &Action) -> Scope {
    let mut scope = cx.step_scope(action.owner.as_deref());
    scope.action_id = Some(action.id.clone());
    scope.tool_call_id = action.tool.as_deref().map(tool_call_id);
    scope
}

/// The next run of a waiting turn brings the answers, or at least says that there are some.
pub(super) fn resume(cx: &mut Cx<'_>, input: Option<&RunInput>) {
    let open = cx.turn().map(|turn| std::mem::take(&mut turn.actions)).unwrap_or_default();
    let given = input.map(|input| input.resume.as_slice()).unwrap_or_default();
    for entry in given {
        if !open.contains_key(&entry.interrupt_id) {
            // It was asked in an input that is not known here.
            let action = Action {
                id: action_id(&entry.interrupt_id),
                tool: None,
                owner: None,
                reason: None,
            };
            answer(cx, &action, entry);
        }
    }
    for (key, action) in open {
        let entry = given.iter().find(|entry| entry.interrupt_id == key);
        match (entry, input.and_then(|input| input.command.as_ref())) {
            (Some(entry), _) => answer(cx, &action, entry),
            (None, Some(command)) => resolve(cx, &action, "answer", Some(command.clone())),
            // The protocol refuses a run that leaves a question open; the answer itself is not in the stream.
            (None, None) => {
                let payload = resolved("unknown", None);
                let scope = scope(cx, &action);
                cx.emit_synthetic(scope, &payload);
            }
        }
    }
}

fn answer(cx: &mut Cx<'_>, action: &Action, entry: &Resume) {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Approval {
        approved: Option<bool>,
        edited_args: Option<JsonText>,
    }
    if matches!(entry.status.as_deref(), Some("cancelled" | "canceled")) {
        cancel(cx, action, "cancelled", false);
        return;
    }
    let payload = entry.payload.as_ref();
    let approval: Approval = payload.and_then(|p| p.read().ok()).unwrap_or_default();
    let by_protocol = action.reason.as_deref() == Some("tool_call");
    let decision = match approval.approved.filter(|_| by_protocol) {
        Some(true) => "approve",
        Some(false) => "reject",
        None => "answer",
    };
    let mut made = resolved(decision, entry.payload.clone());
    made.edited_arguments = approval.edited_args.filter(|_| by_protocol);
    let scope = scope(cx, action);
    cx.emit(scope, &made);
}

fn resolve(cx: &mut Cx<'_>, action: &Action, decision: &str, response: Option<JsonText>) {
    let scope = scope(cx, action);
    cx.emit(scope, &resolved(decision, response));
}

fn resolved(decision: &str, response: Option<JsonText>) -> ActionResolved {
    let resolved_as = match decision {
        "approve" => Some("approved"),
        "reject" => Some("rejected"),
        "answer" => Some("answered"),
        _ => None,
    };
    ActionResolved {
        decision: decision.to_owned(),
        resolved_as: resolved_as.map(str::to_owned),
        source: None,
        decided_by: None,
        remember_scope: None,
        response,
        edited_arguments: None,
        reason: None,
    }
}

/// Nobody needs to answer any more; the call that waited for it will not run.
fn cancel(cx: &mut Cx<'_>, action: &Action, reason: &str, synthetic: bool) {
    let payload = ActionCancelled { reason: Some(reason.to_owned()), cancelled_by: None };
    let scope = scope(cx, action);
    if synthetic {
        cx.emit_synthetic(scope, &payload);
    } else {
        cx.emit(scope, &payload);
    }
    if let Some(tool) = action.tool.clone() {
        tools::fail(cx, &tool, "cancelled", ToolStatus::Cancelled);
    }
}

/// Questions that are open when a turn ends.
pub(super) fn cancel_open(cx: &mut Cx<'_>, reason: &str) {
    let open = cx.turn().map(|turn| std::mem::take(&mut turn.actions)).unwrap_or_default();
    for action in open.into_values() {
        cancel(cx, &action, reason, true);
    }
}
