//! Owns what rules look at: an event read from a line that need not be one.
//!
//! A line that is no RuntimeEvent is read in spite of its faults: each faulty member is noted and filled in, so that
//! one missing member does not hide the others, nor make later events look wrong.
//!
//! Next: [`rule`](crate::rule), which judges subjects.

use event_spine::event::{DecodeError, Pairing};
use event_spine::wire::{WireError, WireEvent};
use event_spine::{Event, EventPayload, SessionId};
use serde_json::{Map, Value};

/// A member of the envelope that is missing or has another shape than the contract says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The member; empty when the whole text is at fault.
    pub(crate) path: String,
    pub(crate) message: String,
}

/// An event as rules see it.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The event; members named by a [`Fault`] hold a stand-in.
    pub(crate) event: WireEvent,
    /// The decoded payload; nothing when the payload itself is at fault.
    pub(crate) body: Option<Result<Event, DecodeError>>,
    /// True when the id is the event's own, not a stand-in.
    pub(crate) has_id: bool,
    /// True when the time is the event's own, not a stand-in.
    pub(crate) has_time: bool,
}

/// A text read as an event, with all that is wrong with its envelope.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) faults: Vec<Fault>,
    /// Nothing when the text cannot be read as an event at all.
    pub(crate) subject: Option<Subject>,
}

/// Members without which an object is no event at all.
const REQUIRED: [&str; 7] =
    ["schemaVersion", "runtimeId", "sessionId", "eventId", "timestamp", "type", "payload"];

const STAND_IN: &str = "unknown";

impl Subject {
    /// A subject whose envelope has no fault.
    pub(crate) fn sound(event: WireEvent) -> Self {
        let body = Some(event.draft.event());
        Self { event, body, has_id: true, has_time: true }
    }

    /// The decoded payload, if it has the shape of its type.
    pub(crate) fn decoded(&self) -> Option<&Event> {
        self.body.as_ref()?.as_ref().ok()
    }

    /// What the type opens or closes.
    pub(crate) fn pairing(&self) -> Pairing {
        self.event.draft.event_type.descriptor().map_or(Pairing::None, |row| row.pairing)
    }

    /// True when the event is of the type of this payload.
    pub(crate) fn is<P: EventPayload>(&self) -> bool {
        self.type_name() == P::descriptor().name
    }

    /// The name under which the event came, when that is an alias.
    pub(crate) fn alias(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Kept {
            #[serde(rename = "originalType")]
            name: Option<String>,
        }
        let kept: Kept = self.event.draft.extra.as_ref()?.read().ok()?;
        kept.name
    }

    /// Name of the type as the contract spells it.
    pub(crate) fn type_name(&self) -> &str {
        self.event.draft.event_type.name()
    }
}

/// Reads a text. `session` stands in where the text names no session.
pub(crate) fn read(text: &str, session: Option<&SessionId>) -> Reading {
    match WireEvent::parse(text) {
        Ok(event) => {
            let mut faults = Vec::new();
            if event.sequence.is_none() {
                faults.push(missing("sequence"));
            }
            Reading { faults, subject: Some(Subject::sound(event)) }
        }
        Err(error) => read_faulty(text, error, session),
    }
}

fn missing(member: &str) -> Fault {
    Fault { path: member.to_owned(), message: format!("`{member}` is missing") }
}

fn fault(error: &WireError) -> Fault {
    Fault { path: error.member().unwrap_or_default().to_owned(), message: error.to_string() }
}

/// Fills in one faulty member after the other until the rest can be read.
fn read_faulty(text: &str, first: WireError, session: Option<&SessionId>) -> Reading {
    let mut reading = Reading { faults: vec![fault(&first)], subject: None };
    // Of a member that stands there twice, this keeps the last.
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(text) else {
        return reading;
    };
    if REQUIRED.iter().all(|member| !members.contains_key(*member)) {
        let message = "the object has no member of a RuntimeEvent".to_owned();
        reading.faults = vec![Fault { path: String::new(), message }];
        return reading;
    }
    let mut filled = vec![reading.faults.first().map(|f| f.path.clone()).unwrap_or_default()];
    let mut error = first;
    loop {
        let Some(member) = error.member().map(str::to_owned) else {
            return reading;
        };
        let twice = matches!(error, WireError::Twice { .. });
        if !twice && !fill(&mut members, &member, session) {
            return reading;
        }
        let text = Value::Object(members.clone()).to_string();
        error = match WireEvent::parse(&text) {
            Ok(event) => {
                finish(event, &filled, &mut reading);
                return reading;
            }
            // The same member again: what stands in for it does not help, so the text stays unread.
            Err(again) if !twice && again.member() == Some(&member) => return reading,
            Err(next) => next,
        };
        reading.faults.push(fault(&error));
        filled.push(reading.faults.last().map(|f| f.path.clone()).unwrap_or_default());
    }
}

/// Puts something readable in the place of a member; false when nothing can stand in for it.
fn fill(members: &mut Map<String, Value>, member: &str, session: Option<&SessionId>) -> bool {
    let stand_in = match member {
        "type" => return false,
        "sessionId" => session.map_or(STAND_IN, SessionId::as_str).into(),
        "payload" => Value::Object(Map::new()),
        "schemaVersion" | "runtimeId" | "eventId" | "timestamp" => STAND_IN.into(),
        _ => return members.remove(member).is_some(),
    };
    members.insert(member.to_owned(), stand_in);
    true
}

fn finish(event: WireEvent, filled: &[String], reading: &mut Reading) {
    let is_filled = |name: &str| filled.iter().any(|member| member == name);
    if event.sequence.is_none() && !is_filled("sequence") {
        reading.faults.push(missing("sequence"));
    }
    let mut subject = Subject::sound(event);
    if is_filled("payload") {
        subject.body = None;
    }
    subject.has_id = !is_filled("eventId");
    subject.has_time = !is_filled("timestamp");
    reading.subject = Some(subject);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, paths: &[&str], readable: bool) {
        let reading = read(text, None);
        let found: Vec<_> = reading.faults.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(found, paths, "{text}");
        assert_eq!(reading.subject.is_some(), readable, "{text}");
    }

    #[test]
    fn every_fault_is_named_and_the_rest_is_read() {
        let whole = r#""schemaVersion":"0.1","runtimeId":"r","timestamp":"t""#;
        check("{", &[""], false);
        check("[1]", &[""], false);
        check("{}", &[""], false);
        check(r#"{"jsonrpc":"2.0","method":"initialize"}"#, &[""], false);
        check(
            r#"{"payload":{}}"#,
            &["sessionId", "eventId", "runtimeId", "schemaVersion", "type"],
            false,
        );
        check(
            &format!(
                r#"{{{whole},"sessionId":"s","eventId":"e","sequence":1,"type":"a.b","payload":{{}}}}"#
            ),
            &[],
            true,
        );
        check(
            &format!(
                r#"{{{whole},"eventId":7,"type":"a.b","payload":"I did it","stepId":3,"sequence":0}}"#
            ),
            &["eventId", "stepId", "sequence", "sessionId", "payload"],
            true,
        );
        check(
            &format!(
                r#"{{{whole},"sessionId":"s","sessionId":"s","eventId":"e","type":"a.b","payload":{{}}}}"#
            ),
            &["sessionId", "sequence"],
            true,
        );
    }
}
