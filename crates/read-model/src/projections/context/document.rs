//! Owns a state document: what the source states whole, changed by JSON Patch (RFC 6902), within bounds.
//!
//! A patch that does not fit leaves the document as it is and marks it stale; the next stated whole clears the mark.
//! A document that grows too large is let go; it is in the log.

use event_spine::event::family::context::SnapshotUpdated;
use event_spine::{JsonText, MAX_DEPTH, RecordedEvent};
use json_patch::{PatchOperation, patch_unsafe};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::honesty::Absence;
use crate::projections::shared::{spilled, spilled_under};
use crate::window::Row;

/// Copies in one patch: each can double the document.
const MAX_COPIES: usize = 64;

/// A state document of the source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Which: the kind, with the message or sub-agent that it belongs to.
    pub name: String,
    /// The document; `null` with the reason in `missing` when it is not here.
    #[serde(with = "crate::checkpoint::as_json")]
    pub value: Value,
    /// Why the document is not here: `unknown` before it was stated, `unavailable` when it is too large or in a ref.
    pub missing: Option<Absence>,
    /// Ref that holds it, where the source gives one.
    pub state_ref: Option<String>,
    /// The source's own revision.
    pub revision: Option<String>,
    /// True when a patch did not fit; what it should have changed is as before.
    pub stale: bool,
    /// True when texts in it were too large to stay in the events; only their ends are here.
    pub shortened: bool,
    /// Why the last patch that did not fit did not.
    pub failure: Option<String>,
    /// Times that it was stated whole.
    pub snapshots: u64,
    /// Patches that fitted.
    pub patches: u64,
    /// Patches that did not.
    pub failed_patches: u64,
    /// Size in bytes, roughly.
    pub bytes: usize,
    /// Its first event.
    pub first_sequence: u64,
    /// Its newest event.
    pub last_sequence: u64,
}

impl Document {
    pub(super) fn new(recorded: &RecordedEvent, kind: Option<&str>) -> Self {
        let scope = &recorded.draft.scope;
        let mut name = kind.unwrap_or("state").to_owned();
        if let Some(message) = &scope.message_id {
            name = format!("{name}#{message}");
        }
        if let Some(agent) = &scope.subagent_id {
            name = format!("{name}@{agent}");
        }
        Self {
            name,
            value: Value::Null,
            missing: Some(Absence::Unknown),
            state_ref: None,
            revision: None,
            stale: false,
            shortened: false,
            failure: None,
            snapshots: 0,
            patches: 0,
            failed_patches: 0,
            bytes: 0,
            first_sequence: recorded.sequence,
            last_sequence: recorded.sequence,
        }
    }

    pub(super) fn state_whole(
        &mut self,
        recorded: &RecordedEvent,
        stated: &SnapshotUpdated,
        limit: usize,
    ) {
        self.last_sequence = recorded.sequence;
        self.snapshots += 1;
        self.stale = false;
        self.failure = None;
        self.state_ref.clone_from(&stated.state_ref);
        self.revision.clone_from(&stated.revision);
        let whole = spilled(recorded, "/state");
        let is_here = whole.is_none();
        self.shortened = is_here && spilled_under(recorded, "/state").is_some();
        if let Some(whole) = whole.filter(|_| self.state_ref.is_none()) {
            self.state_ref = Some(whole.id);
        }
        let fits = stated.state.as_ref().filter(|state| is_here && state.as_str().len() <= limit);
        match fits.and_then(|state| Some((state.read::<Value>().ok()?, state.as_str().len()))) {
            Some((value, bytes)) => {
                (self.value, self.bytes, self.missing) = (value, bytes, None);
            }
            None => self.let_go(),
        }
    }

    pub(super) fn patch(&mut self, recorded: &RecordedEvent, patch: &JsonText, limit: usize) {
        self.last_sequence = recorded.sequence;
        if self.missing == Some(Absence::Unavailable) {
            return; // there is nothing here to change
        }
        let patched = match spilled(recorded, "/patch") {
            Some(_) => Err("the patch was too large to stay in the event".to_owned()),
            None => self.patched(patch, limit),
        };
        self.shortened |= spilled_under(recorded, "/patch").is_some();
        match patched {
            Ok(Some((value, bytes))) => {
                (self.value, self.bytes, self.missing) = (value, bytes, None);
                self.patches += 1;
            }
            Ok(None) => self.let_go(),
            Err(failure) => {
                self.stale = true;
                self.failure = Some(failure);
                self.failed_patches += 1;
            }
        }
    }

    /// The document with the patch, and its size; nothing when it would be too large; the reason when it does not fit.
    fn patched(&self, patch: &JsonText, limit: usize) -> Result<Option<(Value, usize)>, String> {
        let operations: Vec<PatchOperation> =
            patch.read().map_err(|e| format!("not a JSON Patch: {e}"))?;
        let is_copy = |op: &PatchOperation| matches!(op, PatchOperation::Copy(_));
        let copies = operations.iter().filter(|op| is_copy(op)).count();
        if copies > MAX_COPIES {
            return Err(format!("{copies} copies in one patch"));
        }
        // A document that was never stated begins empty: a patch can build it from nothing.
        let mut value = match self.missing {
            Some(_) => Value::Object(serde_json::Map::new()),
            None => self.value.clone(),
        };
        for operation in &operations {
            patch_unsafe(&mut value, std::slice::from_ref(operation))
                .map_err(|e| format!("the patch does not fit: {e}"))?;
            if is_copy(operation) && measure(&value, limit).is_none() {
                return Ok(None);
            }
        }
        Ok(measure(&value, limit).map(|bytes| (value, bytes)))
    }

    fn let_go(&mut self) {
        self.value = Value::Null;
        self.bytes = 0;
        self.missing = Some(Absence::Unavailable);
    }
}

/// Size of a value in bytes, roughly; nothing when it is larger than `limit` or nested too deep to be stored.
fn measure(value: &Value, limit: usize) -> Option<usize> {
    let mut bytes = 0_usize;
    let mut left = vec![(value, 0_usize)];
    while let Some((value, depth)) = left.pop() {
        bytes += match value {
            Value::Null | Value::Bool(_) => 5,
            Value::Number(number) => number.as_str().len() + 1,
            Value::String(text) => text.len() + 3,
            Value::Array(items) => {
                left.extend(items.iter().map(|item| (item, depth + 1)));
                2
            }
            Value::Object(members) => {
                left.extend(members.values().map(|member| (member, depth + 1)));
                members.keys().map(|name| name.len() + 4).sum::<usize>() + 2
            }
        };
        if bytes > limit || depth > MAX_DEPTH {
            return None;
        }
    }
    Some(bytes)
}

impl Row for Document {
    type Key<'a> = &'a str;
    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.name)
    }
    fn first(&self) -> u64 {
        self.first_sequence
    }
    fn settled(&self) -> Option<u64> {
        Some(self.last_sequence)
    }
    fn weight(&self) -> usize {
        self.bytes
    }
}
