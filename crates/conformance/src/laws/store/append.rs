//! Owns the laws of appending: batches, expectations, writers side by side.

use event_spine::{AppendError, EventLog, Expected, SessionId};

use super::Stores;
use super::material::{delta, ids, session, tool_started, without_scope};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

pub(super) fn batches_are_atomic(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let batch = vec![tool_started("e1")?, without_scope("e2")?, delta("e3", "x")?];
    let refused = log.append(&s, Expected::Any, batch);
    let position = form!(
        refused, Err(AppendError::Invalid { position, .. }) => position, "a batch with a bad event"
    );
    same!(position, 2, "the event that is named");
    same!(log.reader().head(&s)?, None, "a session of which only a bad batch was tried");

    let kept = log.append(&s, Expected::Empty, vec![tool_started("e1")?, delta("e3", "x")?])?;
    same!(kept.sequences, [1, 2], "the batch without the bad event");
    let refused = log.append(&s, Expected::Any, vec![delta("e4", "x")?, delta("e3", "other")?]);
    form!(refused, Err(AppendError::Conflict { .. }) => (), "a batch with a conflict");
    form!(log.append(&s, Expected::Any, Vec::new()), Err(AppendError::Empty) => (), "a batch of none");
    let log = stores.reopened(log);
    same!(ids(&log, &s)?, ["e1", "e3"], "what is stored");
    Ok(())
}

pub(super) fn expectations_hold(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let refused = |expected, id: &str| -> Result<u64, Broken> {
        let result = log.append(&s, expected, vec![tool_started(id)?]);
        Ok(form!(
            result, Err(AppendError::WrongExpected { actual, .. }) => actual.sequence, "{expected:?}"
        ))
    };
    same!(refused(Expected::Exact(1), "x")?, 0, "where an absent session is");
    log.append(&s, Expected::Exact(0), vec![tool_started("e1")?])?;
    same!(refused(Expected::Empty, "x")?, 1, "where a session with one event is");
    same!(refused(Expected::Exact(0), "x")?, 1, "where it is");
    same!(refused(Expected::Exact(2), "x")?, 1, "where it is");
    let second = log.append(&s, Expected::Exact(1), vec![delta("e2", "x")?, delta("e3", "x")?])?;
    same!(second.sequences, [2, 3], "a batch behind the first event");
    same!(second.head.sequence, 3, "the head in the receipt");
    same!(log.reader().head(&s)?, Some(second.head), "the head of the log");
    log.append(&s, Expected::Any, vec![delta("e4", "x")?])?;
    same!(ids(&log, &s)?, ["e1", "e2", "e3", "e4"], "what is stored");
    Ok(())
}

const WRITERS: usize = 4;
const EACH: usize = 60;

/// Losers of a race are told where the session is, and try again from there.
pub(super) fn writers_share_one_sequence(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let results: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn({
                    let (log, s) = (&log, &s);
                    move || write(log, s, writer)
                })
            })
            .collect();
        writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    for result in results {
        result.map_err(|_| Broken::because("a writer panicked"))??;
    }
    let mut stored = ids(&log, &s)?;
    same!(stored.len(), WRITERS * EACH, "events of all writers");
    stored.sort();
    stored.dedup();
    same!(stored.len(), WRITERS * EACH, "events that differ");
    Ok(())
}

fn write(log: &EventLog, s: &SessionId, writer: usize) -> Result<(), Broken> {
    let mut head = 0;
    for n in 0..EACH {
        let draft = delta(&format!("w{writer}-{n}"), "x")?;
        loop {
            match log.append(s, Expected::Exact(head), vec![draft.clone()]) {
                Ok(receipt) => {
                    same!(receipt.sequences, [head + 1], "the place that was asked for");
                    head += 1;
                    break;
                }
                Err(AppendError::WrongExpected { actual, .. }) => head = actual.sequence,
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

pub(super) fn sessions_do_not_mix(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let (a, b) = (session("sess_a")?, session("sess_b")?);
    for n in 0..100_u32 {
        // The same ids in both: ids are unique within a session.
        let (first, second) = if n % 3 == 0 { (&a, &b) } else { (&b, &a) };
        log.append(first, Expected::Any, vec![delta(&format!("e{n}"), first.as_str())?])?;
        log.append(second, Expected::Any, vec![delta(&format!("e{n}"), second.as_str())?])?;
    }
    let log = stores.reopened(log);
    for own in [&a, &b] {
        same!(ids(&log, own)?.len(), 100, "events of {own}");
        for event in super::material::events(&log, own)? {
            let foreign = !event.draft.payload.as_str().contains(own.as_str());
            same!((&event.session_id, foreign), (own, false), "whose event {} is", event.sequence);
        }
    }
    Ok(())
}
