//! Owns the laws of event ids: the same id with the same content is the same fact, whatever else is asked.

use event_spine::{AppendError, EventDraft, EventLog, Expected, SessionId};

use super::Stores;
use super::material::{delta, fact, ids, session, tool_started};
use crate::laws::Broken;
use crate::laws::broken::{form, same};

/// So many events lie between a fact and its repeat.
const BETWEEN: usize = 10_000;

fn conflict(log: &EventLog, s: &SessionId, draft: EventDraft) -> Result<u64, Broken> {
    let result = log.append(s, Expected::Any, vec![draft]);
    Ok(form!(
        result, Err(AppendError::Conflict { sequence, .. }) => sequence, "other content under a known id"
    ))
}

pub(super) fn repeats_answer_with_the_first_place(stores: &dyn Stores) -> Result<(), Broken> {
    let mut log = stores.fresh();
    let s = session("sess_1")?;
    log.append(&s, Expected::Exact(0), vec![tool_started("e1")?])?;
    for expected in [Expected::Exact(1), Expected::Exact(0), Expected::Empty, Expected::Any] {
        again(&log, &s, expected)?;
    }
    for batch in 0..BETWEEN / 500 {
        let drafts = (0..500).map(|n| delta(&format!("f{batch}-{n}"), "x"));
        log.append(&s, Expected::Any, drafts.collect::<Result<_, _>>()?)?;
    }
    for _ in 0..2 {
        for expected in [Expected::Any, Expected::Empty, Expected::Exact(1), Expected::Exact(77)] {
            again(&log, &s, expected)?;
        }
        let mixed = vec![delta("f3-7", "x")?, delta("new", "x")?, tool_started("e1")?];
        let receipt = log.append(&s, Expected::Any, mixed)?;
        let last = BETWEEN as u64 + 2;
        same!(receipt.sequences, [1509, last, 1], "places of old and new facts in one batch");
        log = stores.reopened(log);
    }
    same!(ids(&log, &s)?.len(), BETWEEN + 2, "events in the end");
    Ok(())
}

fn again(log: &EventLog, s: &SessionId, expected: Expected) -> Result<(), Broken> {
    let head = log.reader().head(s)?;
    let receipt = log.append(s, expected, vec![tool_started("e1")?])?;
    let said = (receipt.sequences, receipt.appended, receipt.duplicates);
    same!(said, (vec![1], 0, 1), "the answer to a repeat under {expected:?}");
    same!(log.reader().head(s)?, head, "the head after a repeat");
    Ok(())
}

pub(super) fn other_content_is_a_conflict(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    log.append(&s, Expected::Empty, vec![delta("e0", "x")?, tool_started("e1")?])?;
    let log = stores.reopened(log);
    let head = log.reader().head(&s)?;

    let other_payload = fact("e1", "tool.started", r#"{"toolName":"read_file"}"#)?;
    same!(conflict(&log, &s, other_payload)?, 2, "where the first fact is");
    let mut other_scope = tool_started("e1")?;
    other_scope.scope.set("toolCallId", "another")?;
    conflict(&log, &s, other_scope)?;
    let mut other_time = tool_started("e1")?;
    other_time.timestamp = event_spine::Timestamp::verbatim("2026-06-09T10:00:01.000Z");
    conflict(&log, &s, other_time)?;
    conflict(&log, &s, fact("e1", "tool.progress", r#"{"message":"x"}"#)?)?;
    same!(log.reader().head(&s)?, head, "the head after conflicts");
    Ok(())
}

pub(super) fn within_a_batch(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let twice = vec![tool_started("e2")?, delta("e3", "x")?, tool_started("e2")?];
    let receipt = log.append(&s, Expected::Exact(0), twice)?;
    let said = (receipt.sequences, receipt.appended, receipt.duplicates);
    same!(said, (vec![1, 2, 1], 2, 1), "the answer to a batch that says one fact twice");
    let unequal = vec![delta("e4", "x")?, delta("e4", "y")?];
    let refused = log.append(&s, Expected::Any, unequal);
    form!(refused, Err(AppendError::Conflict { .. }) => (), "two facts of one id in a batch");
    same!(ids(&log, &s)?, ["e2", "e3"], "what is stored");
    Ok(())
}

pub(super) fn content_is_compared_as_json(stores: &dyn Stores) -> Result<(), Broken> {
    let log = stores.fresh();
    let s = session("sess_1")?;
    let written = |text: &str| fact("e1", "tool.progress", text);
    log.append(&s, Expected::Empty, vec![written(r#"{"percent":10,"x":{"a":1.10,"b":[1,2]}}"#)?])?;
    let same_value = written(r#" { "x": {"b":[1,2],"a":1.10}, "percent": 10 } "#)?;
    let receipt = log.append(&s, Expected::Any, vec![same_value])?;
    same!(receipt.sequences, [1], "members in another order, other white space");
    for other in [
        r#"{"percent":10,"x":{"a":1.1,"b":[1,2]}}"#,
        r#"{"percent":10,"x":{"a":1.10,"b":[2,1]}}"#,
        r#"{"percent":10,"x":{"a":1.10,"b":[1,2]},"y":null}"#,
    ] {
        conflict(&log, &s, written(other)?)?;
    }
    Ok(())
}
