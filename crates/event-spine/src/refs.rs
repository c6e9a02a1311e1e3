//! Owns the references of an event: to outputs, artifacts, evidence and raw input that live outside the stream.
//!
//! Large bodies are never repeated in a stream; an event names them here (contract: «大输出引用»).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::JsonText;

/// What a ref points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefKind {
    /// A tool, process or model output.
    Output,
    /// An artifact.
    Artifact,
    /// A piece of evidence.
    Evidence,
    /// Diagnostics.
    Diagnostic,
    /// A distributed trace.
    Trace,
    /// The input of a foreign system, as it came.
    Raw,
}

/// Where a fact comes from, when an adapter made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefOrigin {
    /// The foreign system, such as `codex` or `ag-ui`.
    pub system: String,
    /// Version of the adapter that made the fact.
    pub adapter: u32,
    /// Number of the input frame it came from, 1 first; 0 for facts that the end of the input gave rise to.
    pub frame: u64,
}

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ref {
    /// What it points to.
    pub kind: RefKind,
    /// Id, unique for its kind; for blobs `blake3:` and the hash in hex.
    pub id: String,
    /// What owns it: `tool`, `process`, `model`, `artifact` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it lies, when outside the blob store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Pointer (RFC 6901) to the payload member that it stands for, when a member was spilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Where the fact comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RefOrigin>,
}

impl Ref {
    /// A ref with a kind and an id and nothing else.
    #[must_use]
    pub fn new(kind: RefKind, id: impl Into<String>) -> Self {
        Self {
            kind,
            id: id.into(),
            owner: None,
            uri: None,
            summary: None,
            media_type: None,
            size_bytes: None,
            pointer: None,
            origin: None,
        }
    }
}

/// The refs of an event as canonical JSON (RFC 8785) text, unknown members included, or nothing.
///
/// They are hashed as part of the envelope, so their text has one spelling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refs(Option<JsonText>);

/// Why refs are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RefsError {
    /// Not an array of ref objects.
    #[error("refs must be an array of objects with `kind` and `id`: {detail}")]
    Shape {
        /// What is wrong.
        detail: String,
    },
    /// A number that RFC 8785 cannot spell exactly.
    #[error("refs may hold integers between -2^53+1 and 2^53-1 only, not {number}")]
    UnsafeNumber {
        /// The number as written.
        number: String,
    },
}

impl Refs {
    /// No refs.
    pub const NONE: Self = Self(None);

    /// Takes a JSON text as refs.
    ///
    /// # Errors
    /// It is not an array of refs, or has a number that has no exact canonical form.
    pub fn parse(text: &JsonText) -> Result<Self, RefsError> {
        let shape = |detail: String| RefsError::Shape { detail };
        let refs: Vec<Ref> = text.read().map_err(|e| shape(e.to_string()))?;
        if refs.is_empty() {
            return Ok(Self::NONE);
        }
        let value: serde_json::Value = text.read().map_err(|e| shape(e.to_string()))?;
        let mut canonical = String::with_capacity(text.as_str().len());
        crate::canonical::write_value(&value, &mut canonical)
            .map_err(|number| RefsError::UnsafeNumber { number })?;
        Ok(Self(Some(JsonText::trusted(canonical.into()))))
    }

    /// Takes a list of refs.
    ///
    /// # Errors
    /// A size is beyond 2^53-1.
    pub fn from_list(refs: &[Ref]) -> Result<Self, RefsError> {
        let text =
            JsonText::from_value(refs).map_err(|e| RefsError::Shape { detail: e.to_string() })?;
        Self::parse(&text)
    }

    /// Takes text from a frame whose CRC held.
    pub(crate) fn trusted(text: Option<JsonText>) -> Self {
        Self(text)
    }

    /// The canonical text, if there are refs.
    #[must_use]
    pub fn as_json(&self) -> Option<&JsonText> {
        self.0.as_ref()
    }

    /// The refs, decoded. A list that cannot be decoded (it was checked when it came in) reads as empty.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Ref> {
        self.0.as_ref().and_then(|text| text.read().ok()).unwrap_or_default()
    }

    /// This list with one more ref.
    ///
    /// # Errors
    /// As [`Refs::parse`].
    pub fn with(&self, more: &Ref) -> Result<Self, RefsError> {
        let shape = |e: serde_json::Error| RefsError::Shape { detail: e.to_string() };
        let mut list: Vec<serde_json::Value> = match &self.0 {
            Some(text) => text.read().map_err(shape)?,
            None => Vec::new(),
        };
        list.push(serde_json::to_value(more).map_err(shape)?);
        let text =
            JsonText::from_value(&list).map_err(|e| RefsError::Shape { detail: e.to_string() })?;
        Self::parse(&text)
    }
}
