//! Owns the errors of the log, one type per operation. A text says what, where and what to do; the cause is `source`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::event::DecodeError;
use crate::id::{EventId, SessionId};
use crate::store::Head;

/// An I/O error that several waiters can share.
pub(crate) type SharedIo = Arc<std::io::Error>;

/// What an I/O error says, in a few words for people.
#[must_use]
pub fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "no permission".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}

/// A log cannot be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process writes this log.
    #[error("{} is in use by {}; wait for it to end, or open the log for reading", dir.display(), pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    InUse {
        /// The data folder.
        dir: PathBuf,
        /// The process that holds the lock, if it said so.
        pid: Option<u32>,
    },
    /// There is no log here.
    #[error("{} holds no spine log; ingest something into it first, or name another folder with --data", dir.display())]
    NotFound {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder holds something else, and nothing of it is touched.
    #[error("{} is not a spine data folder ({found}); name an empty folder or one that spine made", dir.display())]
    NotALog {
        /// The folder.
        dir: PathBuf,
        /// What was found there.
        found: String,
    },
    /// A newer version of this program wrote the log.
    #[error("{} has format {found}, this program reads up to format {supported}; use a newer spine", dir.display())]
    NewerFormat {
        /// The folder.
        dir: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that is understood here.
        supported: u32,
    },
    /// A newer version of this program wrote a part of the log.
    #[error("{} was written by a newer spine (version {found}, this program reads up to {supported}); use a newer spine", path.display())]
    NewerPart {
        /// The file.
        path: PathBuf,
        /// The version in it.
        found: u32,
        /// The newest version that is understood here.
        supported: u32,
    },
    /// There is a journal, and its format mark is lost.
    #[error("{} has a journal, but its FORMAT file {what}; `spine salvage` copies what is there into a new folder", dir.display())]
    FormatLost {
        /// The folder.
        dir: PathBuf,
        /// What is wrong with the mark.
        what: &'static str,
    },
    /// There is no such folder.
    #[error("there is no folder {}; name one that spine made", dir.display())]
    NoFolder {
        /// The folder.
        dir: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: SharedIo,
    },
    /// The blob store cannot be opened.
    #[error("cannot open the blob store: {detail}")]
    Blobs {
        /// The cause.
        detail: String,
    },
}

impl OpenError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source: Arc::new(source) }
    }
}

/// A batch was not stored.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// A file cannot be written. The log takes nothing more until it is opened again.
    #[error("cannot {action} {}; free space or mend the disk, then open the log again", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: SharedIo,
    },
    /// An earlier write failed, so the end of the log is not known.
    #[error("an earlier write failed, so the log takes nothing more; open it again to go on")]
    Poisoned,
    /// The log was closed while the batch waited.
    #[error("the log was closed before the batch was stored")]
    Closed,
}

/// Events were not appended. Nothing of the batch was stored.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// There is nothing to append.
    #[error("a batch needs at least one event")]
    Empty,
    /// The batch is larger than one frame may be.
    #[error("a batch may hold at most {limit} {unit}, this one has {found}; split it")]
    TooLarge {
        /// What is limited.
        unit: &'static str,
        /// The limit.
        limit: usize,
        /// What the batch has.
        found: usize,
    },
    /// The session is not where the caller believes it to be.
    #[error("session {session} is at sequence {}, not {expected}; read what came in between and decide again", actual.sequence)]
    WrongExpected {
        /// The session.
        session: SessionId,
        /// What the caller expected.
        expected: String,
        /// Where the session is.
        actual: Head,
    },
    /// An event id came again with other content.
    #[error(
        "event {event_id} of session {session} is already at sequence {sequence} with other content; give the new fact an id of its own"
    )]
    Conflict {
        /// The session.
        session: SessionId,
        /// The event id.
        event_id: EventId,
        /// Where the first event with this id is; within the batch itself, where it would have come.
        sequence: u64,
    },
    /// An event does not keep the contract.
    #[error("event {event_id} (number {position} of the batch, {event_type}): {defect}")]
    Invalid {
        /// The event.
        event_id: EventId,
        /// Its place in the batch, 1 first.
        position: usize,
        /// Its type.
        event_type: String,
        /// What is wrong.
        defect: Defect,
    },
    /// A session that is to be forked does not have that event.
    #[error("session {parent} has no event {sequence} to fork at; its newest is {head}")]
    NoForkPoint {
        /// The parent.
        parent: SessionId,
        /// Where to fork.
        sequence: u64,
        /// Its newest event.
        head: u64,
    },
    /// A large body could not be put into the blob store.
    #[error("cannot store a large body: {detail}")]
    Blob {
        /// The cause.
        detail: String,
    },
    /// The store did not take the batch.
    #[error("session {session} was not written")]
    Store {
        /// The session.
        session: SessionId,
        /// The cause.
        #[source]
        source: StoreFault,
    },
    /// What is stored already could not be read to compare with it.
    #[error("session {session} cannot be read to append to it")]
    Read {
        /// The session.
        session: SessionId,
        /// The cause.
        #[source]
        source: Box<ReadError>,
    },
}

/// A way in which an event breaks the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// Its type demands an id that is not there.
    #[error("lacks {missing}, which events of this type must carry")]
    MissingScope {
        /// Wire name of the id, or of the ids of which one is needed.
        missing: String,
    },
    /// Its payload does not have the shape of its type.
    #[error(transparent)]
    Payload(DecodeError),
    /// Its payload cannot be written as JSON.
    #[error("its payload cannot be written: {0}")]
    Json(crate::json::JsonError),
    /// Its payload is not an object.
    #[error("its payload must be an object with the members of its type, not prose")]
    PayloadNotAnObject,
    /// A task event speaks of an execution attempt and does not say which.
    #[error("speaks of an execution attempt and carries neither runId nor attemptId")]
    MissingAttempt,
    /// Its type is not spelled as types are.
    #[error("its type must be lower-case words joined by dots, such as `tool.started`")]
    TypeName,
    /// It is too large even after its large strings were moved to the blob store.
    #[error("it takes {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

/// A log cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The log has no such session.
    #[error("there is no session {session} in this log")]
    NoSession {
        /// The session.
        session: SessionId,
    },
    /// A strict read met damage.
    #[error(
        "session {session} is damaged from sequence {from} to {to}: {reason}; read it tolerantly, or salvage the log"
    )]
    Damaged {
        /// The session.
        session: SessionId,
        /// First sequence that cannot be read.
        from: u64,
        /// Last sequence that cannot be read.
        to: u64,
        /// Where and why.
        reason: String,
    },
    /// A follower knows another history than the log.
    #[error("session {session} has another history at sequence {sequence}; go back to sequence {} and read on from there", last_barrier.sequence)]
    Diverged {
        /// The session.
        session: SessionId,
        /// Where the histories differ.
        sequence: u64,
        /// The last event before it that was on disk before anyone was told of it.
        last_barrier: Head,
    },
    /// A newer version of this program wrote a part of the log.
    #[error("{} was written by a newer spine (version {found}, this program reads up to {supported}); use a newer spine", path.display())]
    NewerPart {
        /// The file.
        path: PathBuf,
        /// The version in it.
        found: u32,
        /// The newest version that is understood here.
        supported: u32,
    },
    /// A file cannot be read.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: SharedIo,
    },
}
