//! Owns the family «Diagnostics»: warnings, errors, metrics. Consumers: diagnostics surface, conformance.

use super::prelude::*;

/// Something is not as it should be, and the work goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeWarning {
    /// Machine-readable code.
    pub code: String,
    /// One sentence, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<JsonText>,
}

/// Something went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeError {
    /// Machine-readable code.
    pub code: String,
    /// One sentence, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<JsonText>,
    /// True when the run cannot go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fatal: bool,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsChanged {
    /// Name of the metric.
    pub metric: String,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Unit, such as `ms`, `tokens`, `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Several values at once, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<JsonText>,
}

/// The budget was asked before a model call, and answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetChecked {
    /// Budget attempt within the round, 1 first.
    pub attempt_seq: u32,
    /// Hash over model, system prompt, messages and tools as frozen.
    pub request_hash: String,
    /// What was decided.
    pub action: BudgetAction,
    /// Why.
    pub reason: String,
    /// Estimate, in tokens.
    pub estimated_input_tokens: u64,
    /// What may be sent, in tokens.
    pub prompt_budget: u64,
    /// Who estimated: `local`, `native`.
    pub estimate_source: String,
    /// Whether the estimate may stop a run: `gateable`, `advisory`.
    pub estimate_gate_policy: String,
    /// Context window of the model, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// The tokens of a model call were entered into the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerReconciled {
    /// As in `budget.checked`.
    pub attempt_seq: u32,
    /// As in `budget.checked`.
    pub request_hash: String,
    /// Tokens in.
    pub input_tokens: u64,
    /// Where that number is from.
    pub input_source: UsageSource,
    /// Tokens out; 0 when the source is `unknown`.
    pub output_tokens: u64,
    /// Where that number is from.
    pub output_source: UsageSource,
    /// True once any call of the session did not say what it used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_unknown_usage: bool,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Tokens of a model call and of the session so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageUpdated {
    /// Tokens in, cached ones included; absent when not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens out, reasoning included; absent when not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Where the number is from; `unknown` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_source: Option<UsageSource>,
    /// Where the number is from; `unknown` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_source: Option<UsageSource>,
    /// Tokens in that came from a cache; part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens in that were written to a cache; part of `inputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of reasoning; part of `outputTokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// True once any call of the session did not say what it used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_unknown_usage: bool,
    /// Tokens in of the session so far, by the source's count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_input_tokens: Option<u64>,
    /// Tokens out of the session so far, by the source's count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_output_tokens: Option<u64>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// The runtime judged whether it gets anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressEvaluated {
    /// `healthy` or `stalled`.
    pub stalled_progress_state: String,
    /// Rounds in a row that did the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_cycle_streak: Option<u32>,
    /// Reminder that goes into the next prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder_kind: Option<String>,
    /// True when the run ends for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub should_terminate: bool,
    /// All fields, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<JsonText>,
}

/// A provider refused for now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitHit {
    /// Provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// When to try again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// More, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

event_family! {
    /// Diagnostics events.
    DiagnosticsEvent of Diagnostics {
        Warning(RuntimeWarning) = "runtime.warning" {
            scope: Session, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        Fault(RuntimeError) = "runtime.error" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("error"),
        }
        MetricsChanged(MetricsChanged) = "metrics.changed" {
            scope: Session, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: ["metric.changed"], neo_code: None,
        }
        BudgetChecked(BudgetChecked) = "budget.checked" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: ["cost.estimated"], neo_code: Some("budget_checked"),
        }
        LedgerReconciled(LedgerReconciled) = "ledger.reconciled" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: ["cost.recorded"], neo_code: Some("ledger_reconciled"),
        }
        UsageUpdated(UsageUpdated) = "usage.updated" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: Some("token_usage"),
        }
        ProgressEvaluated(ProgressEvaluated) = "progress.evaluated" {
            scope: Turn, durability: Buffered, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: Some("progress_evaluated"),
        }
        RateLimitHit(RateLimitHit) = "rate_limit.hit" {
            scope: Session, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: [], neo_code: None,
        }
    }
}
