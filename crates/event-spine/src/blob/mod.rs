//! Owns large bodies: bytes addressed by their BLAKE3, written once, outside the stream.
//!
//! ```text
//! <data>/blobs/ab/cdef…      one file per body, the 64 hex digits of its hash split after two
//! ```
//!
//! `put` returns when the body is durable. Locally that is `object_store`'s staged write with its fsync switched on:
//! write aside, fsync the file, link it into place, fsync the folder. Remote stores acknowledge when they hold it.
//! Reading creates no folder and changes no file, and bytes that do not match their hash are an error, never a result.
//!
//! Next: [`local`], the folder; [`drive`], how a blocking caller runs an async store.

mod drive;
mod error;
mod id;
mod local;
mod remote;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use error::BlobError;
pub use id::{BlobId, BlobIdError};

use local::Local;
use remote::Remote;

/// How many bodies [`Blobs::put_all`] writes at once: syncs that overlap share a disk flush.
const WRITERS: usize = 8;

/// The blob store. A cheap handle; clones share it. Every call blocks, also inside an async runtime.
#[derive(Clone)]
pub struct Blobs(Arc<Backend>);

enum Backend {
    Local(Local),
    Remote(Remote),
}

impl Blobs {
    /// Bodies in a local folder. The folder appears with the first body.
    ///
    /// # Errors
    /// The path exists and is no folder.
    pub fn local(dir: &Path) -> Result<Self, BlobError> {
        Ok(Self(Arc::new(Backend::Local(Local::new(dir)?))))
    }

    /// Bodies in memory, gone with the last handle.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Arc::new(Backend::Remote(Remote::in_memory())))
    }

    /// Bodies at a URL: `file:///…`, `memory:///`, and what the compiled features of `object_store` allow.
    ///
    /// # Errors
    /// The text is no URL, or nothing that is compiled in serves its scheme.
    pub fn url(url: &str) -> Result<Self, BlobError> {
        let parsed = url::Url::parse(url)
            .map_err(|e| BlobError::Url { url: url.to_owned(), detail: e.to_string() })?;
        if parsed.scheme() == "file" {
            let dir = parsed.to_file_path().map_err(|()| BlobError::Url {
                url: url.to_owned(),
                detail: "a file URL needs an absolute path and no host".into(),
            })?;
            return Self::local(&dir);
        }
        Ok(Self(Arc::new(Backend::Remote(Remote::url(&parsed)?))))
    }

    /// Stores a body. Durable when it returns; a body that is there is not written again.
    ///
    /// # Errors
    /// The store cannot take it.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, BlobError> {
        let id = BlobId::of(bytes);
        self.put_one(&id, bytes)?;
        Ok(id)
    }

    /// Stores several bodies, as [`Blobs::put`] does, several at once; ids in the order of the bodies.
    ///
    /// # Errors
    /// The store cannot take one of them. Others may have been stored; storing them again costs nothing.
    pub fn put_all(&self, bodies: &[&[u8]]) -> Result<Vec<BlobId>, BlobError> {
        let named: Vec<_> = bodies.iter().map(|body| (BlobId::of(body), *body)).collect();
        self.put_named(&named)?;
        Ok(named.into_iter().map(|(id, _)| id).collect())
    }

    /// As [`Blobs::put_all`], for bodies whose hashes are known.
    pub(crate) fn put_named(&self, bodies: &[(BlobId, &[u8])]) -> Result<(), BlobError> {
        let put_each = |bodies: &[(BlobId, &[u8])]| {
            let mut bodies = bodies.iter();
            bodies.try_for_each(|(id, body)| self.put_one(id, body))
        };
        if bodies.len() < 3 {
            return put_each(bodies);
        }
        std::thread::scope(|scope| {
            let writers: Vec<_> = bodies
                .chunks(bodies.len().div_ceil(WRITERS))
                .map(|chunk| scope.spawn(move || put_each(chunk)))
                .collect();
            for writer in writers {
                writer.join().map_err(|_| BlobError::Interrupted)??;
            }
            Ok(())
        })
    }

    fn put_one(&self, id: &BlobId, bytes: &[u8]) -> Result<(), BlobError> {
        match &*self.0 {
            Backend::Local(local) => local.put(id, bytes),
            Backend::Remote(remote) => remote.put(id, bytes),
        }
    }

    /// The whole body, checked against its hash.
    ///
    /// # Errors
    /// It is not there, cannot be read, or its bytes do not match its id.
    pub fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        match &*self.0 {
            Backend::Local(local) => local.get(id),
            Backend::Remote(remote) => remote.get(id),
        }
    }

    /// A part of the body, cut to what there is. The whole body is read and checked on the way; locally only the part
    /// is kept in memory.
    ///
    /// # Errors
    /// As [`Blobs::get`].
    pub fn get_range(&self, id: &BlobId, range: Range<u64>) -> Result<Vec<u8>, BlobError> {
        match &*self.0 {
            Backend::Local(local) => local.get_range(id, range),
            Backend::Remote(remote) => Ok(cut(&remote.get(id)?, &range)),
        }
    }

    /// True when the body is there. Its bytes are not looked at.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub fn exists(&self, id: &BlobId) -> Result<bool, BlobError> {
        match self.size(id) {
            Ok(_) => Ok(true),
            Err(BlobError::NotFound { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Size of the body in bytes.
    ///
    /// # Errors
    /// It is not there, or the store cannot be asked.
    pub fn size(&self, id: &BlobId) -> Result<u64, BlobError> {
        match &*self.0 {
            Backend::Local(local) => local.size(id),
            Backend::Remote(remote) => remote.size(id),
        }
    }
}

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            Backend::Local(local) => write!(f, "Blobs({})", local.dir().display()),
            Backend::Remote(remote) => write!(f, "Blobs({remote})"),
        }
    }
}

/// The bytes of `range` that `body` has.
fn cut(body: &[u8], range: &Range<u64>) -> Vec<u8> {
    let bound = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(body.len());
    body.get(bound(range.start)..bound(range.end)).unwrap_or_default().to_vec()
}
