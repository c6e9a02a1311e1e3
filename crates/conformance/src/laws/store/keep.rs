//! Owns the laws of keeping: what goes in comes out, also after reopening, also when nobody here understands it.

use event_spine::event::family::TaskEvent;
use event_spine::event::value::TaskStatus;
use event_spine::wire::{WriteOptions, to_json};
use event_spine::{Event, Expected, JsonText};

use super::material::{delta, events, fact, session, tool_started};
use super::{Stores, script};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

pub(super) fn unknown_types(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let payload = r#"{"depth":9007199254740993,"note":"kept"}"#;
    let mut draft = fact("e1", "dream.recalled", payload)?;
    draft.extra = Some(JsonText::parse(r#"{"mood":{"calm":0.50}}"#)?.0);
    log.append(&s, Expected::Empty, vec![draft.clone(), tool_started("e2")?])?;
    let log = stores.reopened(log);
    let stored = events(&log, &s)?;
    let first = form!(stored.first(), Some(event) => event, "the first event");
    same!(first.draft, draft, "an event of a type without a row");
    let (name, kept) = form!(
        first.event(), Event::Unknown { name, payload } => (name, payload), "how it is read"
    );
    same!((&*name, kept.as_str()), ("dream.recalled", payload), "what is read");
    Ok(())
}

/// Digits beyond a double, trailing zeros, exponents, order and unknown members.
pub(super) fn payloads_as_written(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let payload = r#"{"zeta":1.10,"toolName":"f","args":{"id":9007199254740993,"y":1e400,"x":-0.0,"a":"\u0000"}}"#;
    let receipt = log.append(&s, Expected::Empty, vec![fact("e1", "tool.started", payload)?])?;
    same!(receipt.masked + receipt.spilled, 0, "changes on the way in");
    let log = stores.reopened(log);
    for event in events(&log, &s)? {
        same!(event.draft.payload.as_str(), payload, "the stored payload");
        let line = to_json(&event, WriteOptions::default());
        let whole = line.contains(payload);
        same!(whole, true, "the payload in {line}");
    }
    Ok(())
}

/// H08: no label, a word that has since been renamed, an optional member that is absent, a member that is gone.
pub(super) fn old_records(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let payload = r#"{"status":"daydreaming","oldMember":{"kept":true}}"#;
    let mut draft = fact("e1", "task.created", payload)?;
    draft.schema_version = "0.0.9".into();
    log.append(&s, Expected::Empty, vec![draft, tool_started("e2")?])?;
    let log = stores.reopened(log);
    let stored = events(&log, &s)?;
    let old = form!(stored.first(), Some(event) => event, "the old record");
    let task =
        form!(old.event(), Event::Task(TaskEvent::TaskCreated(task)) => task, "how it is read");
    same!(task.status, Some(TaskStatus::Unknown), "a word that is not in the list");
    same!((task.label, task.objective), (None, None), "members that it lacks");
    same!(old.draft.payload.as_str(), payload, "what is stored");
    let line = to_json(old, WriteOptions::default());
    let states_version = line.starts_with(r#"{"schemaVersion":"0.0.9""#);
    same!(states_version, true, "the version in {line}");

    // One record that no version here can read costs only itself.
    let mut broken = old.clone();
    broken.draft.payload = JsonText::parse(r#"{"status":{"since":3}}"#)?.0;
    form!(broken.event(), Event::Unknown { .. } => (), "a record of a shape that nobody knows");
    Ok(())
}

pub(super) fn reopening_changes_nothing(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    for n in 0..30_u32 {
        log.append(
            &s,
            Expected::Any,
            vec![tool_started(&format!("t{n}"))?, delta(&format!("d{n}"), "x")?],
        )?;
    }
    let before = (events(&log, &s)?, log.reader().head(&s)?, log.reader().sessions()?);
    let log = stores.reopened(log);
    let again = stores.reopened(log);
    let after = (events(&again, &s)?, again.reader().head(&s)?, again.reader().sessions()?);
    same!(after.0 == before.0, true, "events are equal");
    same!(after.1, before.1, "the head");
    same!(after.2, before.2, "the list of sessions");
    same!(again.reader().verify(&s)?.fault, None, "the chain");
    same!(script(stores)?, script(stores)?, "heads of the same facts written twice");
    Ok(())
}
