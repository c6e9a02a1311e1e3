//! Owns tokens. Running totals are not added up: of each model call its own number is told, once.

use event_spine::event::family::diagnostics::UsageUpdated;
use event_spine::event::value::UsageSource;
use serde_json::Value;

use super::cx::Cx;
use super::frame::number;
use super::runs::Used;
use super::state::Form;
use super::turn;

/// `token_usage_record`: the tokens of one model call.
pub(super) fn record(cx: &mut Cx<'_>, payload: &Value) {
    cx.thread.usage.by_call = true;
    // `codex exec` writes zeros when the provider told nothing.
    let Some(usage) = payload.get("usage").filter(|usage| used(usage) > 0) else {
        return;
    };
    match cx.thread.form {
        Form::Exec => so_far(cx, usage),
        Form::Rollout | Form::AppServer => tell(cx, usage, payload.get("thread_token_usage")),
    }
}

/// `turn.completed` of `codex exec`: what the thread used so far, over all its runs. The part of this run is what the runs
/// before it do not account for.
fn so_far(cx: &mut Cx<'_>, total: &Value) {
    let number = |name| number(total, name).unwrap_or(0);
    let sum = Used {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cached: number("cached_input_tokens"),
        written: number("cache_write_input_tokens"),
        reasoning: number("reasoning_output_tokens"),
    };
    let run = cx.thread.run.as_ref().map_or(1, |run| run.number);
    let told = cx.thread.runs_used.range(..=run);
    let before = told.fold(Used::default(), |sum, (_, used)| sum.plus(*used));
    // A run that was recorded later, and ran earlier, is part of what was told already.
    let Some(own) = sum.minus(before) else {
        turn::ensure(cx);
        let payload = UsageUpdated {
            session_input_tokens: Some(sum.input),
            session_output_tokens: Some(sum.output),
            ..unknown(cx)
        };
        let scope = cx.step_scope();
        cx.emit(scope, &payload);
        if let Some(turn) = cx.turn() {
            turn.counted = true;
        }
        return;
    };
    let kept = cx.thread.runs_used.entry(run).or_default();
    *kept = kept.plus(own);
    let of = |name: &str, tokens: u64| total.get(name).map(|_| tokens);
    let usage = serde_json::json!({
        "input_tokens": of("input_tokens", own.input),
        "output_tokens": of("output_tokens", own.output),
        "cached_input_tokens": of("cached_input_tokens", own.cached),
        "cache_write_input_tokens": of("cache_write_input_tokens", own.written),
        "reasoning_output_tokens": of("reasoning_output_tokens", own.reasoning),
    });
    tell(cx, &usage, Some(total));
}

/// `token_count`: the last call and the running total. It is repeated when nothing was used.
pub(super) fn count(cx: &mut Cx<'_>, payload: &Value) {
    let Some(info) = payload.get("info").filter(|info| !info.is_null()) else {
        return;
    };
    let total = info.get("total_token_usage");
    let seen = &mut cx.thread.usage;
    if seen.by_call || (total.is_some() && seen.last_total.as_ref() == total) {
        return;
    }
    seen.last_total = total.cloned();
    let Some(last) = info.get("last_token_usage") else {
        return;
    };
    // A context that is declared full counts as total tokens of nothing.
    if used(last) > 0 {
        let last = last.clone();
        let total = total.cloned();
        tell(cx, &last, total.as_ref());
    }
}

fn used(usage: &Value) -> u64 {
    let of = |name| number(usage, name).unwrap_or(0);
    of("input_tokens").saturating_add(of("output_tokens"))
}

fn tell(cx: &mut Cx<'_>, usage: &Value, total: Option<&Value>) {
    turn::ensure(cx);
    let input = number(usage, "input_tokens");
    let output = number(usage, "output_tokens");
    let observed = |n: Option<u64>| n.map(|_| UsageSource::Observed);
    let payload = UsageUpdated {
        input_tokens: input,
        output_tokens: output,
        input_source: observed(input),
        output_source: observed(output),
        cached_input_tokens: number(usage, "cached_input_tokens"),
        cache_write_tokens: number(usage, "cache_write_input_tokens"),
        reasoning_tokens: number(usage, "reasoning_output_tokens"),
        has_unknown_usage: false,
        session_input_tokens: total.and_then(|t| number(t, "input_tokens")),
        session_output_tokens: total.and_then(|t| number(t, "output_tokens")),
        model: cx.thread.model.clone(),
        provider: cx.thread.provider.clone(),
    };
    let scope = cx.step_scope();
    cx.emit(scope, &payload);
    if let Some(turn) = cx.turn() {
        turn.counted = true;
    }
}

/// A turn in which the model spoke and no tokens were told.
pub(super) fn missing(cx: &mut Cx<'_>) {
    if !cx.turn().is_some_and(|turn| turn.spoke && !turn.counted) {
        return;
    }
    let payload = unknown(cx);
    let scope = cx.thread.scope();
    cx.emit_synthetic(scope, &payload);
}

fn unknown(cx: &Cx<'_>) -> UsageUpdated {
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
        model: cx.thread.model.clone(),
        provider: cx.thread.provider.clone(),
    }
}
