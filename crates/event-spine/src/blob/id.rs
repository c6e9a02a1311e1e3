//! Owns the name of a blob: the BLAKE3 of its bytes, one spelling, and the place that follows from it.

use std::fmt;
use std::str::FromStr;

use object_store::path::Path;

/// Names a blob by the BLAKE3 of its bytes; written `blake3:` and 64 lower case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

/// A text is not the id of a blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a blob id is `blake3:` and 64 lower case hex digits, not {text:?}")]
pub struct BlobIdError {
    /// The refused text, cut to 100 characters.
    pub text: String,
}

impl BlobId {
    /// The id of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The id for a hash that has been computed.
    #[must_use]
    pub const fn from_hash(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// The hash.
    #[must_use]
    pub const fn hash(&self) -> &[u8; 32] {
        &self.0
    }

    /// Place in the store. Made of hex digits alone, so no id can lead out of the store.
    pub(super) fn path(&self) -> String {
        let hex = blake3::Hash::from_bytes(self.0).to_hex();
        let (shard, rest) = hex.split_at(2);
        format!("{shard}/{rest}")
    }

    /// Place below a prefix.
    pub(super) fn below(&self, prefix: &Path) -> Path {
        self.path().split('/').fold(prefix.clone(), |path, part| path.join(part))
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobId {
    type Err = BlobIdError;
    fn from_str(text: &str) -> Result<Self, BlobIdError> {
        text.strip_prefix("blake3:")
            .filter(|hex| !hex.bytes().any(|b| b.is_ascii_uppercase()))
            .and_then(|hex| blake3::Hash::from_hex(hex).ok())
            .map(|hash| Self(*hash.as_bytes()))
            .ok_or_else(|| BlobIdError { text: text.chars().take(100).collect() })
    }
}
