//! Owns saved folds: their form, and when one may be believed.
//!
//! A checkpoint is a cache. It is believed only if it is whole, of this version of the folds, of this session, kept
//! with the same limits, and if the log has its chain value at its sequence; anything else is folded again from nothing.
//!
//! The form is one line that says what it is, then the [`SessionView`] in postcard: a third of the size of its JSON and
//! a fifth of the time, so that opening a long session is quick. What follows from the rest is left out and worked out
//! again (`projections/graph/saved.rs`). The version of the folds covers the form too: postcard names no fields.

use event_spine::SessionId;

use crate::limits::Limits;
use crate::view::{REDUCER_VERSION, SessionView, ViewStamp};

/// The name under which the view of a session is saved.
pub const CHECKPOINT_NAME: &str = "session-view";

const FORM: &str = "spine-view-2";

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
    let body = postcard::to_stdvec(view).ok()?;
    let mut bytes = format!("{FORM} {}\n", blake3::hash(&body).to_hex()).into_bytes();
    bytes.extend_from_slice(&body);
    Some(bytes)
}

/// The view that was saved, if it is whole and says what it would say today.
pub(crate) fn decode(bytes: &[u8], session: &SessionId, limits: Limits) -> Option<SessionView> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = bytes.split_at_checked(end)?;
    let body = body.get(1..)?;
    let hash = std::str::from_utf8(head).ok()?.strip_prefix(FORM)?.trim_start();
    if blake3::Hash::from_hex(hash).ok()? != blake3::hash(body) {
        return None;
    }
    // The stamp comes first: what another version wrote is not read any further.
    let (at, _) = postcard::take_from_bytes::<ViewStamp>(body).ok()?;
    if at.reducer_version != REDUCER_VERSION || at.session_id != *session {
        return None;
    }
    let view: SessionView = postcard::from_bytes(body).ok()?;
    (view.limits == limits).then_some(view)
}

/// Members that only JSON can say (arbitrary values, structs that leave members out): in a binary form their JSON text.
/// For `#[serde(with)]`.
pub(crate) mod as_json {
    use serde::de::{DeserializeOwned, Error as _};
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return value.serialize(serializer);
        }
        let text = serde_json::to_string(value).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub(crate) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        if deserializer.is_human_readable() {
            return T::deserialize(deserializer);
        }
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map_err(D::Error::custom)
    }
}
