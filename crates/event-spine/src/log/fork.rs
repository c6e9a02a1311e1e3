//! Owns forking: a new session whose history up to a point is another one's, by reference. Nothing is copied.
//!
//! The first event of the fork is `session.forked`, right behind the shared prefix, chained to the parent's chain value
//! there: who verifies the fork verifies that the prefix is the parent's.

use std::sync::PoisonError;

use super::{EventLog, Expected, LogReader, Receipt};
use crate::error::{AppendError, Defect};
use crate::event::family::context::SessionForked;
use crate::event::{Durability, EventPayload};
use crate::id::{EventId, RuntimeId, SessionId};
use crate::integrity::ChainHash;
use crate::json::JsonError;
use crate::record::EventDraft;
use crate::scope::Scope;
use crate::store::{ForkPoint, Head, Ticket};
use crate::time::Timestamp;

impl EventLog {
    /// Branches `child` off `parent` behind the event `at`. Forking the same way twice changes nothing.
    ///
    /// # Errors
    /// The parent has no such event, the child exists already with another history, or the store did not take it.
    pub fn fork(
        &self,
        parent: &SessionId,
        at: u64,
        child: &SessionId,
        runtime_id: &RuntimeId,
        reason: Option<&str>,
    ) -> Result<Receipt, AppendError> {
        let reader = self.reader();
        let unreadable =
            |source| AppendError::Read { session: parent.clone(), source: Box::new(source) };
        let chain = chain_at_point(&reader, parent, at)?;
        let point = ForkPoint { session_id: parent.clone(), sequence: at };
        let writer = self.inner.writer(child).map_err(unreadable)?;
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = writer.head.sequence == 0;
        let made_before = reader.summary(child).map_err(unreadable)?.and_then(|found| found.parent);
        if !fresh && made_before.as_ref() != Some(&point) {
            return Err(AppendError::WrongExpected {
                session: child.clone(),
                expected: "without events".into(),
                actual: writer.head,
            });
        }
        if !fresh {
            return Ok(made_already(child, at, writer.head));
        }
        let now = Timestamp::from(self.inner.options.clock.now());
        let draft = forked(child, &point, chain, now, runtime_id, reason)?;
        writer.head = Head { sequence: at, chain };
        for (hash, sequence) in reader.event_ids(parent).map_err(unreadable)? {
            if sequence <= at {
                writer.ids.insert(hash, sequence);
            }
        }
        writer.parent = Some(point);
        let pending = self
            .inner
            .append_locked(child, &mut writer, Expected::Any, vec![draft])
            .inspect_err(|_| writer.forget(child))?;
        let (receipt, ticket) = pending.into_parts();
        drop(writer);
        match ticket.map_or(Ok(()), Ticket::wait) {
            Ok(()) => Ok(receipt),
            Err(source) => Err(AppendError::Store { session: child.clone(), source }),
        }
    }
}

/// The first event of a fork.
fn forked(
    child: &SessionId,
    point: &ForkPoint,
    chain: ChainHash,
    now: Timestamp,
    runtime_id: &RuntimeId,
    reason: Option<&str>,
) -> Result<EventDraft, AppendError> {
    let payload = SessionForked {
        parent_session_id: point.session_id.to_string(),
        parent_sequence: point.sequence,
        parent_chain: chain.to_string(),
        reason: reason.map(str::to_owned),
    };
    let parts = ["fork", child.as_str(), point.session_id.as_str(), &point.sequence.to_string()];
    let event_id = EventId::derived(&parts);
    EventDraft::new(runtime_id.clone(), event_id.clone(), now, Scope::default(), &payload)
        .map_err(|error| unwritable(event_id, error))
}

/// The fact of the fork cannot be stated.
fn unwritable(event_id: EventId, error: JsonError) -> AppendError {
    AppendError::Invalid {
        event_id,
        position: 1,
        event_type: SessionForked::descriptor().name.to_owned(),
        defect: Defect::Json(error),
    }
}

/// The chain value to branch off behind.
fn chain_at_point(
    reader: &LogReader,
    parent: &SessionId,
    at: u64,
) -> Result<ChainHash, AppendError> {
    let unreadable =
        |source| AppendError::Read { session: parent.clone(), source: Box::new(source) };
    let head = reader.head(parent).map_err(unreadable)?.map_or(0, |head| head.sequence);
    let no_point = || AppendError::NoForkPoint { parent: parent.clone(), sequence: at, head };
    if at == 0 || at > head {
        return Err(no_point());
    }
    reader.chain_at(parent, at).map_err(unreadable)?.ok_or_else(no_point)
}

/// The receipt of a fork that was there already.
fn made_already(child: &SessionId, at: u64, head: Head) -> Receipt {
    Receipt {
        session_id: child.clone(),
        sequences: vec![at + 1],
        head,
        durability: Durability::Barrier,
        appended: 0,
        duplicates: 1,
        masked: 0,
        spilled: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_that_is_no_json_is_not_blamed_on_the_blob_store() {
        let error = unwritable("evt_1".parse().unwrap(), JsonError::TooDeep);
        assert_eq!(
            error.to_string(),
            "event evt_1 (number 1 of the batch, session.forked): its payload cannot be written: nested deeper than \
             100 levels"
        );
    }
}
