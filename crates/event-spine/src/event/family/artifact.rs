//! Owns the family «Artifact»: products a user can see. Consumers: artifact refs, artifact workspace.

use super::prelude::*;

/// An artifact came to be, changed or went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactChanged {
    /// What happened.
    pub change: ArtifactChange,
    /// What it is: `file`, `diff`, `image`, `document`, `state` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it lies, for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Version after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
    /// Media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Head of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Id of the ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ref: Option<String>,
    /// The change as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A version of an artifact was fixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactVersioned {
    /// The version.
    pub version_id: String,
    /// The version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_version_id: Option<String>,
    /// BLAKE3 of the content, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Id of the ref that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ref: Option<String>,
}

/// An artifact was written to somewhere outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactExported {
    /// Where to.
    pub target: String,
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_id: Option<String>,
    /// Media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

event_family! {
    /// Artifact events.
    ArtifactEvent of Artifact {
        ArtifactChanged(ArtifactChanged) = "artifact.changed" {
            scope: Artifact, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: [], neo_code: None,
        }
        ArtifactVersioned(ArtifactVersioned) = "artifact.versioned" {
            scope: Artifact, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["artifact.version.created"], neo_code: None,
        }
        ArtifactExported(ArtifactExported) = "artifact.exported" {
            scope: Artifact, durability: Barrier, pairing: Pairing::None, origin: Contract,
            aliases: ["artifact.export.completed"], neo_code: None,
        }
    }
}
