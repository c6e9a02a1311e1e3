//! Owns figures about a log: bytes by session, by kind of file, and what has grown large.

use crate::error::ReadError;
use crate::id::SessionId;
use crate::log::read::LogReader;
use crate::store::SessionSummary;

/// A session above this many bytes is named in the warnings.
pub(super) const LARGE_SESSION_BYTES: u64 = 1024 * 1024 * 1024;

/// Figures about a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Per session, the most recently active last. Nothing in a log is ever dead, so its bytes are live bytes.
    pub sessions: Vec<SessionSummary>,
    /// Events that are stored, each counted in the session that recorded it.
    pub events: u64,
    /// Bytes of all events in the store.
    pub event_bytes: u64,
    /// What has grown large.
    pub warnings: Vec<StatsWarning>,
}

/// Something that has grown large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatsWarning {
    /// The session.
    pub session_id: SessionId,
    /// Its bytes.
    pub bytes: u64,
}

impl LogReader {
    /// Figures about the log. Reads no event.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn stats(&self) -> Result<Stats, ReadError> {
        let sessions = self.sessions()?;
        let own = |summary: &SessionSummary| {
            summary.head.sequence - summary.parent.as_ref().map_or(0, |parent| parent.sequence)
        };
        Ok(Stats {
            events: sessions.iter().map(own).sum(),
            event_bytes: sessions.iter().map(|summary| summary.bytes).sum(),
            warnings: sessions
                .iter()
                .filter(|summary| summary.bytes > LARGE_SESSION_BYTES)
                .map(|summary| StatsWarning {
                    session_id: summary.session_id.clone(),
                    bytes: summary.bytes,
                })
                .collect(),
            sessions,
        })
    }
}
