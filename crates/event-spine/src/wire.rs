//! Owns the JSON form of a RuntimeEvent: flat, camelCase, scope ids at the top level. The only file that knows it.
//!
//! Members that the contract does not name are kept (`extra`); aliases of other generations are read as the type they
//! mean, with the name they came under kept beside the payload as `originalType`.

use serde_json::value::RawValue;

use crate::canonical::write_string;
use crate::event::{EventType, resolve};
use crate::id::{EventId, IdError, RuntimeId, SessionId};
use crate::integrity::leaf;
use crate::json::{JsonError, JsonText, Members, Repairs};
use crate::record::{EventDraft, RecordedEvent};
use crate::refs::{Refs, RefsError};
use crate::scope::Scope;
use crate::time::Timestamp;

/// The member that keeps the name an aliased type came under.
pub const ORIGINAL_TYPE: &str = "originalType";

/// A RuntimeEvent as it came over a wire or out of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireEvent {
    /// Session it claims to belong to.
    pub session_id: SessionId,
    /// Place it claims to have there. A producer that lets the log number its events leaves it out.
    pub sequence: Option<u64>,
    /// The fact.
    pub draft: EventDraft,
    /// What had to be changed to keep it.
    pub repairs: Repairs,
}

/// Why a text is not a RuntimeEvent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The text is not JSON, or nests too deep.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The text is JSON and not an object.
    #[error("a RuntimeEvent is a JSON object")]
    NotAnObject,
    /// A required member is missing.
    #[error("`{member}` is missing")]
    Missing {
        /// The member.
        member: &'static str,
    },
    /// A member has another shape than the contract says.
    #[error("`{member}`: {detail}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong.
        detail: String,
    },
    /// A member stands there twice with different values.
    #[error("`{member}` stands there twice")]
    Twice {
        /// The member.
        member: String,
    },
}

impl WireError {
    /// The member that is at fault, if one is.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        match self {
            Self::Json(_) | Self::NotAnObject => None,
            Self::Missing { member } => Some(member),
            Self::Member { member, .. } | Self::Twice { member } => Some(member),
        }
    }
}

impl WireEvent {
    /// Reads one RuntimeEvent.
    ///
    /// # Errors
    /// Says which member is missing or wrong. Whether the ids and the payload fit the type is not looked at here.
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let (text, repairs) = JsonText::parse(text)?;
        if !text.as_str().starts_with('{') {
            return Err(WireError::NotAnObject);
        }
        let Members(members) = serde_json::from_str(text.as_str())
            .map_err(|e| JsonError::Syntax { detail: e.to_string() })?;
        Reader::default().read(members, repairs)
    }
}

#[derive(Default)]
struct Reader {
    schema_version: Option<String>,
    runtime_id: Option<RuntimeId>,
    session_id: Option<SessionId>,
    event_id: Option<EventId>,
    timestamp: Option<String>,
    sequence: Option<u64>,
    name: Option<String>,
    payload: Option<JsonText>,
    refs: Refs,
    scope: Scope,
    extra: Vec<(String, String)>,
}

impl Reader {
    fn read(
        mut self,
        members: Vec<(String, &RawValue)>,
        repairs: Repairs,
    ) -> Result<WireEvent, WireError> {
        let mut seen: Vec<&str> = Vec::with_capacity(members.len());
        for (name, value) in &members {
            if seen.contains(&name.as_str()) {
                return Err(WireError::Twice { member: name.clone() });
            }
            seen.push(name);
            self.member(name, value)?;
        }
        self.finish(repairs)
    }

    fn member(&mut self, name: &str, value: &RawValue) -> Result<(), WireError> {
        let null = value.get() == "null";
        match name {
            "schemaVersion" => self.schema_version = Some(required_text(name, value)?),
            "runtimeId" => self.runtime_id = Some(id(name, value, RuntimeId::parse)?),
            "sessionId" => self.session_id = Some(id(name, value, SessionId::parse)?),
            "eventId" => self.event_id = Some(id(name, value, EventId::parse)?),
            "timestamp" => self.timestamp = Some(required_text(name, value)?),
            "type" => self.name = Some(required_text(name, value)?),
            "sequence" => {
                let detail = "must be a whole number from 1 to 2^53-1";
                let number: u64 = value.get().parse().map_err(|_| wrong(name, detail))?;
                if number == 0 || number >= 1 << 53 {
                    return Err(wrong(name, detail));
                }
                self.sequence = Some(number);
            }
            "payload" => self.payload = Some(JsonText::trusted(value.get().into())),
            "refs" if null => {}
            "refs" => {
                self.refs = Refs::parse(&JsonText::trusted(value.get().into()))
                    .map_err(|e: RefsError| wrong(name, &e.to_string()))?;
            }
            // What a log said about an event it exported; the log that takes the event says it anew.
            "recordedAt" | "integrity" => {}
            _ if Scope::WIRE_NAMES.contains(&name) => {
                if !null {
                    let text = text(name, value)?;
                    self.scope
                        .set(name, &text)
                        .map_err(|e: IdError| wrong(name, &e.to_string()))?;
                }
            }
            _ => self.extra.push((name.to_owned(), value.get().to_owned())),
        }
        Ok(())
    }

    fn finish(mut self, repairs: Repairs) -> Result<WireEvent, WireError> {
        let missing = |member| move || WireError::Missing { member };
        let session_id = self.session_id.ok_or_else(missing("sessionId"))?;
        let event_id = self.event_id.ok_or_else(missing("eventId"))?;
        let runtime_id = self.runtime_id.ok_or_else(missing("runtimeId"))?;
        let schema_version = self.schema_version.ok_or_else(missing("schemaVersion"))?;
        let name = self.name.ok_or_else(missing("type"))?;
        let payload = self.payload.ok_or_else(missing("payload"))?;
        let timestamp = self.timestamp.ok_or_else(missing("timestamp"))?;
        if !payload.as_str().starts_with('{') {
            return Err(wrong(
                "payload",
                "must be an object with the members of its type, not prose",
            ));
        }
        let event_type = resolve(&name, &payload);
        if event_type.name() != name {
            let mut quoted = String::new();
            write_string(&name, &mut quoted);
            self.extra.push((ORIGINAL_TYPE.to_owned(), quoted));
        }
        Ok(WireEvent {
            session_id,
            sequence: self.sequence,
            draft: EventDraft {
                schema_version: schema_version.into(),
                runtime_id,
                event_id,
                timestamp: Timestamp::verbatim(timestamp),
                event_type,
                scope: self.scope,
                refs: self.refs,
                payload,
                extra: object(&self.extra),
            },
            repairs,
        })
    }
}

fn wrong(member: &str, detail: &str) -> WireError {
    WireError::Member { member: member.to_owned(), detail: detail.to_owned() }
}

fn text(name: &str, value: &RawValue) -> Result<String, WireError> {
    serde_json::from_str(value.get()).map_err(|_| wrong(name, "must be a string"))
}

fn required_text(name: &str, value: &RawValue) -> Result<String, WireError> {
    let text = text(name, value)?;
    if text.is_empty() { Err(wrong(name, "must not be empty")) } else { Ok(text) }
}

fn id<T>(
    name: &str,
    value: &RawValue,
    parse: impl Fn(String) -> Result<T, IdError>,
) -> Result<T, WireError> {
    parse(text(name, value)?).map_err(|e| wrong(name, &e.to_string()))
}

fn object(members: &[(String, String)]) -> Option<JsonText> {
    if members.is_empty() {
        return None;
    }
    let mut out = String::from("{");
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(name, &mut out);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    Some(JsonText::trusted(out.into()))
}

/// What to write beside the fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Adds `integrity {leaf, chain, salt}`, which is what an auditor needs to check the chain.
    pub integrity: bool,
}

/// Appends a recorded event as one line of JSON, without the line break.
pub fn write_event(event: &RecordedEvent, options: WriteOptions, out: &mut String) {
    let draft = &event.draft;
    out.push_str("{\"schemaVersion\":");
    write_string(&draft.schema_version, out);
    let string_member = |name: &str, value: &str, out: &mut String| {
        out.push_str(",\"");
        out.push_str(name);
        out.push_str("\":");
        write_string(value, out);
    };
    string_member("runtimeId", draft.runtime_id.as_str(), out);
    string_member("sessionId", event.session_id.as_str(), out);
    for (name, id) in draft.scope.present() {
        string_member(name, id, out);
    }
    string_member("eventId", draft.event_id.as_str(), out);
    out.push_str(",\"sequence\":");
    out.push_str(&event.sequence.to_string());
    string_member("timestamp", draft.timestamp.as_str(), out);
    string_member("recordedAt", &event.recorded_at.to_string(), out);
    string_member("type", draft.event_type.name(), out);
    out.push_str(",\"payload\":");
    out.push_str(draft.payload.as_str());
    if let Some(refs) = draft.refs.as_json() {
        out.push_str(",\"refs\":");
        out.push_str(refs.as_str());
    }
    if let Some(extra) = &draft.extra {
        let members =
            extra.as_str().strip_prefix('{').and_then(|m| m.strip_suffix('}')).unwrap_or_default();
        out.push(',');
        out.push_str(members);
    }
    if options.integrity {
        let leaf = leaf(&event.session_id, event.sequence, event.recorded_at, &event.salt, draft);
        let salt: String = event.salt.iter().map(|byte| format!("{byte:02x}")).collect();
        out.push_str(&format!(
            ",\"integrity\":{{\"leaf\":\"{leaf}\",\"chain\":\"{}\",\"salt\":\"{salt}\"}}",
            event.chain
        ));
    }
    out.push('}');
}

/// A recorded event as one line of JSON.
#[must_use]
pub fn to_json(event: &RecordedEvent, options: WriteOptions) -> String {
    let mut out = String::with_capacity(512 + event.draft.payload.as_str().len());
    write_event(event, options, &mut out);
    out
}

/// True when the wire name of a type is spelled as the contract spells names: lower case words joined by dots.
#[must_use]
pub fn well_formed_name(event_type: &EventType) -> bool {
    let name = event_type.name();
    name.contains('.')
        && name.split('.').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        })
}
