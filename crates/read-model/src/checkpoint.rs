//! Owns saved folds: their form, and when one may be believed.
//!
//! A checkpoint is a cache. It is believed only if it is whole, of this version of the folds, of this session, kept
//! with the same limits, and if the log has its chain value at its sequence; anything else is folded again from nothing.
//!
//! The form is one line that says what it is, then the JSON of the [`SessionView`]. JSON and not something denser: a
//! view holds JSON texts and values that are either a number or a word, which postcard writes and cannot read back;
//! and whoever wonders what is in there can look.

use event_spine::SessionId;

use crate::limits::Limits;
use crate::view::{REDUCER_VERSION, SessionView};

/// The name under which the view of a session is saved.
pub const CHECKPOINT_NAME: &str = "session-view";

const FORM: &str = "spine-view-1";

/// Where saved folds are kept. It may lose them at any time.
pub trait CheckpointStore: Send + Sync {
    /// The saved fold, if there is one.
    fn get(&self, session: &SessionId, name: &str) -> Option<Vec<u8>>;

    /// Saves a fold in place of the one before. When that is not possible, nothing happens.
    fn put(&self, session: &SessionId, name: &str, bytes: &[u8]);

    /// Forgets a saved fold.
    fn remove(&self, session: &SessionId, name: &str);
}

impl CheckpointStore for event_spine::Checkpoints {
    fn get(&self, session: &SessionId, name: &str) -> Option<Vec<u8>> {
        self.get(session, name)
    }

    fn put(&self, session: &SessionId, name: &str, bytes: &[u8]) {
        // Whether it was saved costs time at the next start and nothing else.
        let _saved = self.put(session, name, bytes);
    }

    fn remove(&self, session: &SessionId, name: &str) {
        self.remove(session, name);
    }
}

/// Saves nothing: every fold begins at the first event.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

impl CheckpointStore for NoCheckpoints {
    fn get(&self, _: &SessionId, _: &str) -> Option<Vec<u8>> {
        None
    }
    fn put(&self, _: &SessionId, _: &str, _: &[u8]) {}
    fn remove(&self, _: &SessionId, _: &str) {}
}

/// A view as it is saved; nothing if it cannot be written.
pub(crate) fn encode(view: &SessionView) -> Option<Vec<u8>> {
    let json = serde_json::to_vec(view).ok()?;
    let mut bytes = format!("{FORM} {}\n", blake3::hash(&json).to_hex()).into_bytes();
    bytes.extend_from_slice(&json);
    Some(bytes)
}

/// The view that was saved, if it is whole and says what it would say today.
pub(crate) fn decode(bytes: &[u8], session: &SessionId, limits: Limits) -> Option<SessionView> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, json) = bytes.split_at_checked(end)?;
    let json = json.get(1..)?;
    let hash = std::str::from_utf8(head).ok()?.strip_prefix(FORM)?.trim_start();
    if blake3::Hash::from_hex(hash).ok()? != blake3::hash(json) {
        return None;
    }
    let view: SessionView = serde_json::from_slice(json).ok()?;
    let is_current = view.at.reducer_version == REDUCER_VERSION
        && view.at.session_id == *session
        && view.limits == limits;
    is_current.then_some(view)
}
