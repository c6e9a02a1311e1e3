//! Owns the laws of reading: ranges, absent sessions, the list.

use std::ops::Bound;

use event_spine::{Expected, ReadError, ReadMode, SessionId};

use super::Stores;
use super::material::{delta, session};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

pub(super) fn ranges(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    for batch in 0..6_u32 {
        let drafts = (0..5).map(|n| delta(&format!("e{batch}-{n}"), "x"));
        log.append(&s, Expected::Any, drafts.collect::<Result<_, _>>()?)?;
    }
    let log = stores.reopened(log);
    let reader = log.reader();
    let read = |from: Bound<u64>, to: Bound<u64>| -> Result<Vec<u64>, Broken> {
        let mut events = reader.read(&s, (from, to), ReadMode::Strict)?;
        let mut all = Vec::new();
        while let Some(event) = events.next_event()? {
            all.push(event.sequence);
        }
        Ok(all)
    };
    let list = |from: u64, to: u64| (from..=to).collect::<Vec<_>>();
    use Bound::{Excluded, Included, Unbounded};
    same!(read(Unbounded, Unbounded)?, list(1, 30), "all");
    same!(read(Included(0), Included(30))?, list(1, 30), "0..=30");
    same!(read(Included(1), Included(1))?, [1], "1..=1");
    same!(read(Included(5), Included(6))?, [5, 6], "5..=6, over the edge of a batch");
    same!(read(Excluded(5), Excluded(7))?, [6], "between 5 and 7");
    same!(read(Included(29), Unbounded)?, [29, 30], "29..");
    same!(read(Included(29), Included(u64::MAX))?, [29, 30], "29..=max");
    same!(read(Unbounded, Excluded(3))?, [1, 2], "..3");
    same!(read(Included(31), Unbounded)?.len(), 0, "31..");
    same!(read(Included(7), Excluded(7))?.len(), 0, "7..7");
    same!(read(Included(9), Included(3))?.len(), 0, "9..=3");
    for sequence in [1, 17, 30] {
        let chain = reader.chain_at(&s, sequence)?;
        same!(chain.is_some(), true, "a chain value at {sequence}");
    }
    same!(reader.chain_at(&s, 31)?, None, "the chain value behind the end");
    Ok(())
}

pub(super) fn absent_sessions(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_nowhere")?;
    let reader = log.reader();
    same!(reader.head(&s)?, None, "its head");
    same!(reader.summary(&s)?, None, "what is known of it");
    let read = reader.read(&s, .., ReadMode::Tolerant).map(|_| ());
    form!(read, Err(ReadError::NoSession { .. }) => (), "reading it");
    let verified = reader.verify(&s).map(|_| ());
    form!(verified, Err(ReadError::NoSession { .. }) => (), "verifying it");
    same!(reader.sessions()?.len(), 0, "sessions of a new log");
    Ok(())
}

pub(super) fn sessions_by_activity(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let names = ["sess_c", "sess_a", "sess_b"];
    for name in names {
        log.append(&session(name)?, Expected::Empty, vec![delta("e1", "x")?])?;
    }
    let listed = |log: &event_spine::EventLog| -> Result<Vec<SessionId>, Broken> {
        Ok(log.reader().sessions()?.into_iter().map(|summary| summary.session_id).collect())
    };
    let of = |names: [&str; 3]| names.into_iter().map(session).collect::<Result<Vec<_>, _>>();
    same!(listed(&log)?, of(names)?, "sessions as they came");
    // A producer's clock that went back a year changes nothing.
    let mut late = delta("e2", "x")?;
    late.timestamp = event_spine::Timestamp::verbatim("2025-06-09T10:00:00.000Z");
    log.append(&session("sess_c")?, Expected::Any, vec![late])?;
    // A repeat is no activity.
    log.append(&session("sess_a")?, Expected::Any, vec![delta("e1", "x")?])?;
    let log = stores.reopened(log);
    same!(
        listed(&log)?,
        of(["sess_a", "sess_b", "sess_c"])?,
        "the one that was active last comes last"
    );
    for summary in log.reader().sessions()? {
        let alone = log.reader().summary(&summary.session_id)?;
        same!(alone, Some(summary), "what is known of one session");
    }
    Ok(())
}
