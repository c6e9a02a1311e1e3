//! Owns the family «Human / Policy»: approval, input, permission, sandbox. Consumers: pending actions, runtime status.

use super::prelude::*;

/// The runtime waits for a person. It ends with `action.resolved`, `action.cancelled` or `action.expired`, never by
/// a click alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionRequired {
    /// `tool_permission`, `approval`, `question`, `plan_review`, `elicitation`, `credential`, `confirmation` …
    pub action_type: String,
    /// Short title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool that wants to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What it wants to run with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonText>,
    /// BLAKE3 of the arguments: what an approval is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_hash: Option<String>,
    /// How dangerous it is, in the runtime's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// The answers that are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// JSON Schema of a structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<JsonText>,
    /// RFC 3339 time after which no answer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The rule that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
}

/// A person, or a rule in their place, answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionResolved {
    /// What was decided: `approve`, `reject`, `allow`, `deny`, `answer`, or the choice that was taken.
    pub decision: String,
    /// `approved`, `rejected`, `denied`, `answered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_as: Option<String>,
    /// Who answered: `human`, `rule`, `session_memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Which person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How long it holds: `once`, `session`, `always`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember_scope: Option<String>,
    /// A structured answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<JsonText>,
    /// Arguments that replace the asked ones in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_arguments: Option<JsonText>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an answer comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Yes, or the choice that was taken.
    Granted,
    /// No.
    Refused,
    /// Called off.
    Cancelled,
    /// It came too late.
    Expired,
    /// Its source does not say what it was.
    Unknown,
}

impl ActionResolved {
    /// What the answer comes to.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer::of(&self.decision, self.resolved_as.as_deref())
    }
}

impl Answer {
    /// What an answer comes to, by its first word: `approve`, `allow_always` and a choice are a yes, `reject_once` is a no.
    #[must_use]
    pub fn of(decision: &str, resolved_as: Option<&str>) -> Self {
        let said = resolved_as.unwrap_or(decision);
        let first = said.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        match first.to_ascii_lowercase().as_str() {
            "reject" | "rejected" | "deny" | "denied" | "decline" | "declined" | "refuse"
            | "refused" => Self::Refused,
            "cancel" | "cancelled" | "canceled" | "abort" | "aborted" => Self::Cancelled,
            "expired" => Self::Expired,
            "unknown" | "" => Self::Unknown,
            _ => Self::Granted,
        }
    }
}

/// Nobody needs to answer any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionCancelled {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who or what cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
}

/// Nobody answered in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionExpired {
    /// RFC 3339 time at which it expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<String>,
}

/// A permission rule was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionEvaluated {
    /// What was decided: `approve`, `reject`, `allow`, `deny`, `answer`, or the choice that was taken.
    pub decision: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Where the rule stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A rule refused, without asking anybody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionDenied {
    /// Why.
    pub reason: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Where the rule stands: `rule`, `mode`, `session_memory`, `host_policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// What was to be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The sandbox stopped an operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SandboxBlocked {
    /// Why.
    pub reason: String,
    /// What was tried: `write`, `network`, `exec` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What was to be touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The profile in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_mode: Option<String>,
}

event_family! {
    /// Human / Policy events.
    PolicyEvent of Policy {
        ActionRequired(ActionRequired) = "action.required" {
            scope: Action, durability: Barrier, pairing: Pairing::Opens(Entity::Action), origin: Contract,
            aliases: [], neo_code: Some("permission_requested"),
        }
        ActionResolved(ActionResolved) = "action.resolved" {
            scope: Action, durability: Barrier, pairing: Pairing::Closes(Entity::Action), origin: Contract,
            aliases: [], neo_code: Some("permission_resolved"),
        }
        ActionCancelled(ActionCancelled) = "action.cancelled" {
            scope: Action, durability: Barrier, pairing: Pairing::Closes(Entity::Action), origin: Registered,
            aliases: ["action.canceled"], neo_code: None,
        }
        ActionExpired(ActionExpired) = "action.expired" {
            scope: Action, durability: Barrier, pairing: Pairing::Closes(Entity::Action), origin: Registered,
            aliases: [], neo_code: None,
        }
        PermissionEvaluated(PermissionEvaluated) = "permission.evaluated" {
            scope: Policy, durability: Barrier, pairing: Pairing::None, origin: Registered,
            aliases: ["permission.resolved" when &["allow", "ask", "sandboxed"]], neo_code: None,
        }
        PermissionDenied(PermissionDenied) = "permission.denied" {
            scope: Policy, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["permission.resolved" when &["deny", "denied"]], neo_code: Some("permission_resolved"),
        }
        SandboxBlocked(SandboxBlocked) = "sandbox.blocked" {
            scope: Policy, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["sandbox.violation"], neo_code: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ActionResolved, Answer};

    #[test]
    fn an_answer_is_read_by_its_first_word() {
        for (decision, resolved_as, answer) in [
            ("approve", None, Answer::Granted),
            ("allow_always", None, Answer::Granted),
            ("the blue one", None, Answer::Granted),
            ("denied for session", None, Answer::Refused),
            ("dense", None, Answer::Granted),
            ("approve", Some("rejected"), Answer::Refused),
            ("abort", None, Answer::Cancelled),
            ("unknown", None, Answer::Unknown),
            ("", None, Answer::Unknown),
        ] {
            let json = serde_json::json!({"decision": decision, "resolvedAs": resolved_as});
            let resolved: ActionResolved = serde_json::from_value(json).unwrap();
            assert_eq!(resolved.answer(), answer, "{decision}");
        }
    }
}
