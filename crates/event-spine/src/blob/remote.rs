//! Owns bodies in any other store: memory, or what a URL names.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload};

use super::drive::{Reactor, block_on};
use super::{BlobError, BlobId};

pub(super) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Where the store's network lives; memory needs none.
    reactor: Option<Reactor>,
}

impl Remote {
    pub(super) fn in_memory() -> Self {
        Self { store: Arc::new(InMemory::new()), prefix: Path::default(), reactor: None }
    }

    pub(super) fn url(url: &url::Url) -> Result<Self, BlobError> {
        let (store, prefix) = object_store::parse_url(url).map_err(|e| BlobError::Unsupported {
            scheme: url.scheme().to_owned(),
            detail: e.to_string(),
        })?;
        let reactor = match url.scheme() {
            "memory" => None,
            scheme => Some(Reactor::start().map_err(|e| BlobError::Unsupported {
                scheme: scheme.to_owned(),
                detail: e.to_string(),
            })?),
        };
        Ok(Self { store: store.into(), prefix, reactor })
    }

    #[cfg(test)]
    pub(super) fn with_reactor(mut self) -> std::io::Result<Self> {
        self.reactor = Some(Reactor::start()?);
        Ok(self)
    }

    pub(super) fn put(&self, id: &BlobId, bytes: &[u8]) -> Result<(), BlobError> {
        match self.size(id) {
            Ok(size) if size == bytes.len() as u64 => return Ok(()),
            Ok(_) | Err(BlobError::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
        let (store, path) = (self.store.clone(), id.below(&self.prefix));
        let payload = PutPayload::from(bytes.to_vec());
        let options = PutOptions {
            mode: PutMode::Overwrite, // equal bytes under one name: who writes last changes nothing
            ..PutOptions::default()
        };
        let put = async move { store.put_opts(&path, payload, options).await };
        self.run(put, "stored", id).map(|_| ())
    }

    pub(super) fn get(&self, id: &BlobId) -> Result<Vec<u8>, BlobError> {
        let (store, path) = (self.store.clone(), id.below(&self.prefix));
        let get = async move {
            let found = store.get_opts(&path, GetOptions::default()).await?;
            found.bytes().await
        };
        let bytes = self.run(get, "read", id)?.to_vec();
        let found = BlobId::of(&bytes);
        if found == *id {
            return Ok(bytes);
        }
        Err(BlobError::Corrupt { id: *id, found, bytes: bytes.len() as u64 })
    }

    pub(super) fn size(&self, id: &BlobId) -> Result<u64, BlobError> {
        let (store, path) = (self.store.clone(), id.below(&self.prefix));
        let options = GetOptions { head: true, ..GetOptions::default() };
        let head = async move { store.get_opts(&path, options).await };
        self.run(head, "read", id).map(|found| found.meta.size)
    }

    fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T, Error>> + Send + 'static,
        what: &'static str,
        id: &BlobId,
    ) -> Result<T, BlobError> {
        let outcome = match &self.reactor {
            None => block_on(future),
            Some(reactor) => reactor.run(future).ok_or(BlobError::Interrupted)?,
        };
        outcome.map_err(|source| match source {
            Error::NotFound { .. } => BlobError::NotFound { id: *id },
            source => BlobError::Store { id: *id, what, source },
        })
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store)
    }
}
