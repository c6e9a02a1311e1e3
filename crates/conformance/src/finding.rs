//! Owns a finding: one place where one rule is broken.

use serde::Serialize;

/// How much a broken rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// The fact can be used, and something about it stays unknown or has to be repaired.
    Degraded,
    /// The stream does not keep the contract.
    Error,
}

impl Severity {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Degraded => "degraded",
            Self::Error => "error",
        }
    }
}

/// One place where one rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Number of the rule, `SP0010`; its page is `docs/rules/SP0010.md`.
    pub rule: &'static str,
    /// Name of the rule, `missing_scope_id`. Rules that look at one demand from several sides share a name.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Member at fault, dots between names: `payload.toolName`. Empty when the whole line is.
    pub path: String,
    /// What is wrong, in one sentence, with the values that disagree.
    pub message: String,
    /// Id of the event, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// Place in its session, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// Frame of a foreign input that an adapter made the event from, 1 first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// Line of the file, 1 first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}
