//! Owns the laws of forks: a shared past by reference, and two futures.

use event_spine::{AppendError, EventLog, Expected, ForkPoint, SessionId};

use super::Stores;
use super::material::{delta, events, ids, runtime, session, tool_started};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

/// A parent of six events and a fork behind the fourth.
fn forked(stores: &dyn Stores) -> Result<(EventLog, SessionId, SessionId), Broken> {
    let log = stores.fresh();
    let (parent, child) = (session("sess_parent")?, session("sess_child")?);
    for n in 1..=6_u32 {
        log.append(&parent, Expected::Any, vec![tool_started(&format!("p{n}"))?])?;
    }
    log.fork(&parent, 4, &child, &runtime()?, Some("another attempt"))?;
    Ok((stores.reopened(log), parent, child))
}

pub(super) fn shares_the_prefix(stores: &dyn Stores) -> Result<(), Broken> {
    let (log, parent, child) = forked(stores)?;
    let (old, new) = (events(&log, &parent)?, events(&log, &child)?);
    same!(new.get(..4), old.get(..4), "the shared events, session ids and chain values included");
    let own = form!(new.get(4..), Some([event]) => event, "the fork's own events");
    let said = (own.sequence, own.draft.event_type.name(), &own.session_id);
    same!(said, (5, "session.forked", &child), "the first event of its own");
    let summary = log.reader().summary(&child)?;
    let point = ForkPoint { session_id: parent.clone(), sequence: 4 };
    same!(summary.and_then(|summary| summary.parent), Some(point), "where it branched off");
    same!(log.reader().verify(&child)?.fault, None, "the chain of the fork");
    same!(log.reader().verify(&parent)?.fault, None, "the chain of the parent");
    Ok(())
}

pub(super) fn goes_its_own_way(stores: &dyn Stores) -> Result<(), Broken> {
    let (log, parent, child) = forked(stores)?;
    log.append(&child, Expected::Exact(5), vec![delta("c6", "x")?])?;
    log.append(&parent, Expected::Exact(6), vec![delta("p7", "x")?])?;
    let log = stores.reopened(log);
    same!(ids(&log, &parent)?, ["p1", "p2", "p3", "p4", "p5", "p6", "p7"], "the parent");
    let of_child = ids(&log, &child)?;
    same!(of_child.len(), 6, "events of the fork");
    same!(of_child.last().map(String::as_str), Some("c6"), "the newest of the fork");
    // A fork of the fork, inside the part that is shared and behind it.
    for (at, name) in [(2, "sess_early"), (6, "sess_late")] {
        let grandchild = session(name)?;
        log.fork(&child, at, &grandchild, &runtime()?, None)?;
        same!(ids(&log, &grandchild)?.len() as u64, at + 1, "events of {name}");
        same!(log.reader().verify(&grandchild)?.fault, None, "the chain of {name}");
    }
    Ok(())
}

pub(super) fn knows_shared_facts(stores: &dyn Stores) -> Result<(), Broken> {
    let (log, _, child) = forked(stores)?;
    let repeat = log.append(&child, Expected::Any, vec![tool_started("p3")?])?;
    same!((repeat.sequences, repeat.appended), (vec![3], 0), "a fact of the shared part");
    let conflict = log.append(&child, Expected::Any, vec![delta("p3", "other")?]);
    form!(conflict, Err(AppendError::Conflict { .. }) => (), "other content under a shared id");
    // What the parent did after the fork is not the fork's.
    let fresh = log.append(&child, Expected::Any, vec![tool_started("p5")?])?;
    same!((fresh.sequences, fresh.appended), (vec![6], 1), "a fact of the parent behind the fork");
    Ok(())
}

pub(super) fn needs_a_point(stores: &dyn Stores) -> Result<(), Broken> {
    let (log, parent, child) = forked(stores)?;
    let runtime = runtime()?;
    for at in [0, 7] {
        let refused = log.fork(&parent, at, &session("sess_x")?, &runtime, None);
        form!(refused, Err(AppendError::NoForkPoint { .. }) => (), "a fork at {at} of 6");
    }
    let refused = log.fork(&session("sess_nowhere")?, 1, &session("sess_x")?, &runtime, None);
    form!(refused, Err(AppendError::NoForkPoint { .. }) => (), "a fork of nothing");
    let refused = log.fork(&parent, 3, &child, &runtime, None);
    form!(refused, Err(AppendError::WrongExpected { .. }) => (), "another fork under the same name");
    let head = log.reader().head(&child)?;
    log.fork(&parent, 4, &child, &runtime, Some("another attempt"))?;
    same!(log.reader().head(&child)?, head, "the fork, made the same way again");
    same!(log.reader().head(&session("sess_x")?)?, None, "the forks that were refused");
    Ok(())
}
