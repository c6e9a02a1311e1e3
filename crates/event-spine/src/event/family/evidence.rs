//! Owns the family «Evidence»: replay, review, export. Consumers: evidence refs, review and replay lanes.

use super::prelude::*;

/// A piece of evidence came to be or changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceChanged {
    /// What it is: `source`, `citation`, `verification`, `pack`, `replay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EvidenceStatus>,
    /// Where the source lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// An evidence pack was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceExported {
    /// Where to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// BLAKE3 of the pack, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// First event in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_sequence: Option<u64>,
    /// Last event in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_sequence: Option<u64>,
    /// Chain value at the last event, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_head: Option<String>,
    /// Format of the pack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// A reviewer judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewVerdict {
    /// The judgement.
    pub verdict: Verdict,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// What was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What has to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<String>,
}

event_family! {
    /// Evidence events.
    EvidenceEvent of Evidence {
        EvidenceChanged(EvidenceChanged) = "evidence.changed" {
            scope: Evidence, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        EvidenceExported(EvidenceExported) = "evidence.exported" {
            scope: Evidence, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        ReviewVerdict(ReviewVerdict) = "review.verdict" {
            scope: Evidence, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["review.completed"], neo_code: None,
        }
    }
}
