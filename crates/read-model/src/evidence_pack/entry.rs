//! Owns how an event stands in a pack: the envelope as it is hashed, and beside it the payload as a string, the salt, and
//! the values that follow from them.
//!
//! The payload is a string that holds JSON, so that every JSON parser gives its exact bytes: they are what was hashed.

use std::fmt::Display;
use std::str::FromStr;

use event_spine::integrity::{leaf, payload_digest};
use event_spine::{
    EventDraft, EventId, EventType, JsonText, LeafHash, PayloadDigest, RecordedAt, RecordedEvent,
    Refs, RuntimeId, Salt, Scope, SessionId, Timestamp,
};
use serde_json::{Map, Value};

use event_spine::Members;

/// Members that are not part of the hashed envelope.
const BESIDE: [&str; 5] = ["payload", "extra", "salt", "leaf", "chain"];

/// Appends an event as one JSON object.
pub(super) fn write(event: &RecordedEvent, out: &mut String) {
    let draft = &event.draft;
    let digest = payload_digest(&event.salt, draft);
    let leaf = leaf(&event.session_id, event.sequence, event.recorded_at, &event.salt, draft);
    out.push_str("{\"sequence\":");
    out.push_str(&event.sequence.to_string());
    member("eventId", draft.event_id.as_str(), out);
    member("type", draft.event_type.name(), out);
    member("timestamp", draft.timestamp.as_str(), out);
    member("recordedAt", &event.recorded_at.to_string(), out);
    member("schemaVersion", &draft.schema_version, out);
    member("runtimeId", draft.runtime_id.as_str(), out);
    member("sessionId", event.session_id.as_str(), out);
    for (name, id) in draft.scope.present() {
        member(name, id, out);
    }
    if let Some(refs) = draft.refs.as_json() {
        out.push_str(",\"refs\":");
        out.push_str(refs.as_str());
    }
    member("payloadDigest", &digest.to_string(), out);
    member("payload", draft.payload.as_str(), out);
    if let Some(extra) = &draft.extra {
        member("extra", extra.as_str(), out);
    }
    member("salt", &hex(&event.salt), out);
    member("leaf", &leaf.to_string(), out);
    member("chain", &event.chain.to_string(), out);
    out.push('}');
}

fn member(name: &str, text: &str, out: &mut String) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    out.push_str(&Value::from(text).to_string());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An event as read from a pack, with the values that the pack states for it.
pub(super) struct Entry {
    pub(super) event: RecordedEvent,
    pub(super) digest: PayloadDigest,
    pub(super) leaf: LeafHash,
}

/// Reads an event. The error says which member is wrong.
pub(super) fn read(json: &str) -> Result<Entry, String> {
    let wrong = |name: &str, why: &dyn Display| format!("`{name}`: {why}");
    let parsed: Members<'_> =
        serde_json::from_str(json).map_err(|e| format!("it is no JSON object: {e}"))?;
    if let Some(twin) = parsed.twin() {
        return Err(format!("`{twin}` stands there twice"));
    }
    let Members(parsed) = parsed;
    let mut members: Map<String, Value> = Map::new();
    for (name, value) in parsed {
        let value = serde_json::from_str(value.get()).map_err(|e| wrong(&name, &e))?;
        members.insert(name, value);
    }
    let text = |name: &str| match members.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("`{name}` is no string")),
        None => Err(format!("`{name}` is missing")),
    };
    let mut scope = Scope::default();
    for (name, value) in &members {
        let known = Scope::WIRE_NAMES.contains(&name.as_str());
        if known {
            let id = value.as_str().ok_or_else(|| format!("`{name}` is no string"))?;
            scope.set(name, id).map_err(|e| wrong(name, &e))?;
        } else if !is_member(name) {
            return Err(format!("`{name}` is no member of an event"));
        }
    }
    let refs = match members.get("refs") {
        Some(refs) => read_refs(refs)?,
        None => Refs::NONE,
    };
    let extra = match members.get("extra") {
        Some(_) => Some(exact_json("extra", text("extra")?)?),
        None => None,
    };
    let recorded_at: RecordedAt = exact("recordedAt", text("recordedAt")?)?;
    let sequence = members.get("sequence").and_then(Value::as_u64);
    let event = RecordedEvent {
        session_id: SessionId::parse(text("sessionId")?).map_err(|e| wrong("sessionId", &e))?,
        sequence: sequence.ok_or("`sequence` is no whole number")?,
        recorded_at,
        salt: read_salt(text("salt")?)?,
        chain: exact("chain", text("chain")?)?,
        draft: EventDraft {
            schema_version: text("schemaVersion")?.into(),
            runtime_id: RuntimeId::parse(text("runtimeId")?).map_err(|e| wrong("runtimeId", &e))?,
            event_id: EventId::parse(text("eventId")?).map_err(|e| wrong("eventId", &e))?,
            timestamp: Timestamp::verbatim(text("timestamp")?),
            event_type: EventType::named(text("type")?),
            scope,
            refs,
            payload: exact_json("payload", text("payload")?)?,
            extra,
        },
    };
    Ok(Entry {
        event,
        digest: exact("payloadDigest", text("payloadDigest")?)?,
        leaf: exact("leaf", text("leaf")?)?,
    })
}

fn is_member(name: &str) -> bool {
    const ENVELOPE: [&str; 9] = [
        "sequence",
        "eventId",
        "type",
        "timestamp",
        "recordedAt",
        "schemaVersion",
        "runtimeId",
        "sessionId",
        "refs",
    ];
    ENVELOPE.contains(&name) || BESIDE.contains(&name) || name == "payloadDigest"
}

fn read_refs(value: &Value) -> Result<Refs, String> {
    let wrong = |e: &dyn Display| format!("`refs`: {e}");
    let text = JsonText::from_value(value).map_err(|e| wrong(&e))?;
    Refs::parse(&text).map_err(|e| wrong(&e))
}

/// A value in the one spelling that it is written in: there is no second text for the same pack.
fn exact<T: FromStr + Display>(name: &str, text: &str) -> Result<T, String>
where
    T::Err: Display,
{
    let value: T = text.parse().map_err(|e| format!("`{name}`: {e}"))?;
    if value.to_string() == text {
        Ok(value)
    } else {
        Err(format!("`{name}` is not spelled as it was written"))
    }
}

/// JSON text that is already as it was hashed: minified, no lone surrogates.
fn exact_json(name: &str, text: &str) -> Result<JsonText, String> {
    let (json, _) = JsonText::parse(text).map_err(|e| format!("`{name}`: {e}"))?;
    if json.as_str() == text {
        Ok(json)
    } else {
        Err(format!("`{name}` is not the text that was hashed"))
    }
}

fn read_salt(text: &str) -> Result<Salt, String> {
    let wrong = || "`salt` is not 16 bytes in hex".to_owned();
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()
        .ok_or_else(wrong)?;
    let mut salt = [0; 16];
    if digits.len() != 2 * salt.len() || text.chars().any(|c| c.is_ascii_uppercase()) {
        return Err(wrong());
    }
    for (byte, pair) in salt.iter_mut().zip(digits.chunks(2)) {
        *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
    }
    Ok(salt)
}
