//! Owns what can go wrong with blobs. Every error names the blob or the place.

use std::path::PathBuf;

use super::BlobId;

/// Why a blob cannot be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// The store has no such blob.
    #[error("blob {id} is not in the store")]
    NotFound {
        /// The blob.
        id: BlobId,
    },
    /// The bytes are not those that were stored.
    #[error(
        "blob {id} is damaged: its {bytes} bytes hash to {found}; restore the file from a copy"
    )]
    Corrupt {
        /// The blob.
        id: BlobId,
        /// What its bytes hash to.
        found: BlobId,
        /// How many bytes there are.
        bytes: u64,
    },
    /// The store refused or failed.
    #[error("blob {id} cannot be {what}: {source}")]
    Store {
        /// The blob.
        id: BlobId,
        /// `stored` or `read`.
        what: &'static str,
        /// What the store said.
        source: object_store::Error,
    },
    /// A file of the store cannot be read or synced.
    #[error("blob {id} cannot be {what}: {source}")]
    File {
        /// The blob.
        id: BlobId,
        /// `stored` or `read`.
        what: &'static str,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The folder cannot be used.
    #[error("blob folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The text is no URL of a blob store.
    #[error("{url:?} is no URL of a blob store: {detail}")]
    Url {
        /// The text.
        url: String,
        /// What is wrong.
        detail: String,
    },
    /// No store for this kind of URL is compiled in.
    #[error(
        "no blob store for `{scheme}` URLs is compiled in ({detail}); build with the matching `object_store` feature \
         (aws, azure, gcp, http), or use a folder"
    )]
    Unsupported {
        /// Scheme of the URL.
        scheme: String,
        /// What the library said.
        detail: String,
    },
    /// The thread that does the work is gone.
    #[error("the blob store stopped before it answered")]
    Interrupted,
}
