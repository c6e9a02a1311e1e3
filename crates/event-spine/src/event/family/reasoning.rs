//! Owns the family «Reasoning / Plan»: explainable process and plans. Consumers: process timeline, folded reasoning part.

use super::prelude::*;

/// A piece of reasoning text. It never becomes answer text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningDelta {
    /// The piece. May be empty.
    pub delta: String,
}

/// The reasoning of a message, summarised by its source. Replaces the streamed reasoning of the same part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningSummary {
    /// The summary. Empty when the source gives none.
    pub text: String,
    /// True when the source also holds an opaque form, which is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encrypted: bool,
}

/// The plan changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDelta {
    /// The items that changed, or all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<PlanItem>,
    /// True when `items` is the whole plan.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
    /// A piece of a plan written as prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The plan stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanFinal {
    /// All items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<PlanItem>,
    /// The plan as prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

event_family! {
    /// Reasoning / Plan events.
    ReasoningEvent of Reasoning {
        ReasoningDelta(ReasoningDelta) = "reasoning.delta" {
            scope: Turn, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: Some("thinking_delta"),
        }
        ReasoningSummary(ReasoningSummary) = "reasoning.summary" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        PlanDelta(PlanDelta) = "plan.delta" {
            scope: Turn, durability: Buffered, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        PlanFinal(PlanFinal) = "plan.final" {
            scope: Turn, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
    }
}
