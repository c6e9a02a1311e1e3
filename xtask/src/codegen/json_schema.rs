//! Owns the JSON Schemas (draft 2020-12): the envelope, each payload, and both together.
//!
//! Every file stands on its own: `$id` is its file name, `$ref` stays inside the file. A reader is tolerant, so the
//! schemas are: members that are not named are allowed, and a list of words takes other words, which are read as `unknown`.

use anyhow::{Context, Result};
use event_spine::event::{CATALOG, EventDescriptor};
use event_spine::{MAX_ID_BYTES, Ref, Scope, ScopeKind};
use serde_json::{Map, Value, json};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schemas of the contract.
pub(super) struct Schemas {
    /// Everything of an event but its payload.
    pub(super) envelope: Value,
    /// The payload of each type, in the order of the catalog.
    pub(super) payloads: Vec<Payload>,
}

/// The payload schema of a type.
pub(super) struct Payload {
    /// The row.
    pub(super) row: &'static EventDescriptor,
    /// Its schema.
    pub(super) schema: Value,
}

/// Derives all schemas from the catalog.
pub(super) fn all() -> Result<Schemas> {
    let payloads = CATALOG
        .iter()
        .map(|row| {
            let mut schema = (row.schema)().to_value();
            open_words(&mut schema);
            tidy_text(&mut schema);
            let schema = with_id(&file_name(row.name), schema)?;
            Ok(Payload { row, schema })
        })
        .collect::<Result<_>>()?;
    Ok(Schemas { envelope: envelope()?, payloads })
}

impl Schemas {
    /// Path and content of every schema file.
    pub(super) fn files(&self) -> Vec<(String, Value)> {
        let mut files = vec![
            ("schema/json/envelope.schema.json".into(), self.envelope.clone()),
            ("schema/json/runtime-event.schema.json".into(), self.whole()),
        ];
        for payload in &self.payloads {
            let path = format!("schema/json/{}", file_name(payload.row.name));
            files.push((path, payload.schema.clone()));
        }
        files
    }

    /// Envelope and payload together: what each type demands, over one copy of every definition.
    fn whole(&self) -> Value {
        let mut definitions = Map::new();
        let envelope = embedded(&self.envelope, &mut definitions);
        definitions.insert("Envelope".into(), envelope);
        let mut rules = vec![json!({ "$ref": "#/$defs/Envelope" })];
        for Payload { row, schema } in &self.payloads {
            let payload = embedded(schema, &mut definitions);
            let title = title(schema);
            definitions.insert(title.clone(), payload);
            let reference = json!({ "$ref": format!("#/$defs/{title}") });
            let mut then = json!({ "properties": { "payload": reference } });
            let groups = row.scope.required();
            let single: Vec<_> = groups.iter().filter(|g| g.len() == 1).flat_map(|g| *g).collect();
            let mut any: Vec<_> =
                groups.iter().filter(|group| group.len() > 1).map(|group| one_of(group)).collect();
            if row.scope == ScopeKind::Task {
                any.push(attempt());
            }
            put(&mut then, "required", json!(single), single.is_empty());
            put(&mut then, "allOf", json!(any), any.is_empty());
            rules.push(json!({
                "if": { "properties": { "type": { "const": row.name } }, "required": ["type"] },
                "then": then,
            }));
        }
        json!({
            "$schema": DRAFT,
            "$id": "runtime-event.schema.json",
            "title": "RuntimeEvent",
            "description": "A fact: the envelope, the ids that its type demands, and the payload of its type. \
                            A type that is not listed is held to the envelope only.",
            "allOf": rules,
            "$defs": definitions,
        })
    }
}

/// At least one of the members is there.
fn one_of(members: &[&str]) -> Value {
    let each: Value = members.iter().map(|member| json!({ "required": [member] })).collect();
    json!({ "anyOf": each })
}

/// A task event that speaks of an execution attempt says which.
fn attempt() -> Value {
    let named = json!({ "required": ["attempt"], "properties": { "attempt": { "not": { "type": "null" } } } });
    json!({
        "if": { "properties": { "payload": named } },
        "then": one_of(&["runId", "attemptId"]),
    })
}

/// The struct name of a payload, which is also its name in TypeScript.
pub(super) fn title(schema: &Value) -> String {
    schema.get("title").and_then(Value::as_str).unwrap_or("Payload").to_owned()
}

fn file_name(event: &str) -> String {
    format!("{event}.schema.json")
}

fn put(object: &mut Value, name: &str, value: Value, leave_out: bool) {
    if let (false, Some(members)) = (leave_out, object.as_object_mut()) {
        members.insert(name.into(), value);
    }
}

/// A schema without what belongs to a file of its own; its definitions move to `definitions`.
fn embedded(schema: &Value, definitions: &mut Map<String, Value>) -> Value {
    let mut members = schema.as_object().cloned().unwrap_or_default();
    members.shift_remove("$schema");
    members.shift_remove("$id");
    if let Some(Value::Object(inner)) = members.shift_remove("$defs") {
        definitions.extend(inner);
    }
    Value::Object(members)
}

fn with_id(id: &str, schema: Value) -> Result<Value> {
    let members = schema.as_object().context("a payload schema is not an object")?;
    let mut out = Map::new();
    out.insert("$schema".into(), DRAFT.into());
    out.insert("$id".into(), id.into());
    out.extend(
        members.iter().filter(|(name, _)| *name != "$schema").map(|(n, v)| (n.clone(), v.clone())),
    );
    Ok(Value::Object(out))
}

/// Lets a list of words that has `unknown` take any other word, as the reader does.
fn open_words(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_open = members.get("oneOf").and_then(Value::as_array).is_some_and(|words| {
                words.iter().all(|word| word.get("const").is_some_and(Value::is_string))
                    && words.iter().any(|word| word.get("const") == Some(&json!("unknown")))
            });
            if is_open && let Some(Value::Array(mut words)) = members.shift_remove("oneOf") {
                words.push(json!({ "description": "Any other word; read as `unknown`.", "type": "string" }));
                members.insert("anyOf".into(), Value::Array(words));
            }
            members.values_mut().for_each(open_words);
        }
        Value::Array(items) => items.iter_mut().for_each(open_words),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Joins the lines of a doc comment; a paragraph is one line.
fn tidy_text(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "description" => {
                        let paragraphs: Vec<_> =
                            text.split("\n\n").map(|p| p.replace('\n', " ")).collect();
                        *text = paragraphs.join("\n\n");
                    }
                    other => tidy_text(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy_text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The envelope. `wire.rs` reads and writes it by hand, so its schema is spelled here; a test holds the two together.
fn envelope() -> Result<Value> {
    let mut reference = schemars::schema_for!(Ref).to_value();
    tidy_text(&mut reference);
    let mut definitions = Map::new();
    let reference = embedded(&reference, &mut definitions);
    definitions.insert("Ref".into(), reference);
    let id = |text: &str| json!({ "description": text, "type": "string", "minLength": 1, "maxLength": MAX_ID_BYTES });
    let text = |text: &str| json!({ "description": text, "type": "string", "minLength": 1 });
    let mut properties = Map::new();
    let mut add = |name: &str, schema: Value| properties.insert(name.into(), schema);
    add("schemaVersion", text("Version of envelope and payload schemas that the producer wrote."));
    add("runtimeId", id("The producing runtime."));
    add("sessionId", id("The durable work container: one stream of the log."));
    for (name, text) in Scope::WIRE_NAMES.iter().zip(Scope::TEXTS) {
        add(name, id(text.trim()));
    }
    add("eventId", id("Unique within the session, for ever."));
    add(
        "sequence",
        json!({
            "description": "Place in the session: 1, 2, 3 … without gaps. Left out by a producer that lets the log number its events.",
            "type": "integer", "minimum": 1, "maximum": (1_u64 << 53) - 1,
        }),
    );
    add("timestamp", text("The producer's time, RFC 3339."));
    add("recordedAt", text("When the log took it, RFC 3339. Written by the log."));
    add("type", text("What happened, `family.what_happened`."));
    add(
        "payload",
        json!({ "description": "The particulars; their shape depends on `type`.", "type": "object" }),
    );
    add(
        "refs",
        json!({ "description": "What lies outside the stream.", "type": ["array", "null"], "items": { "$ref": "#/$defs/Ref" } }),
    );
    add("integrity", integrity());
    Ok(json!({
        "$schema": DRAFT,
        "$id": "envelope.schema.json",
        "title": "Envelope",
        "description": "What every event has, whatever its type.",
        "type": "object",
        "required": ["schemaVersion", "runtimeId", "sessionId", "eventId", "timestamp", "type", "payload"],
        "properties": properties,
        "$defs": definitions,
    }))
}

fn integrity() -> Value {
    let hash = |text: &str, digits: u32| json!({ "description": text, "type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$") });
    json!({
        "description": "What an auditor needs to check the hash chain. Written by the log on request.",
        "type": "object",
        "required": ["leaf", "chain", "salt"],
        "properties": {
            "leaf": hash("Hash of the envelope and the payload's digest.", 64),
            "chain": hash("Hash of the chain before it and this leaf.", 64),
            "salt": hash("Hashed before the payload, so that the payload can be erased.", 32),
        },
    })
}

#[cfg(test)]
mod tests {
    use event_spine::wire::WireEvent;

    use super::*;

    fn minimal() -> Value {
        json!({
            "schemaVersion": "0.1", "runtimeId": "rt", "sessionId": "s", "threadId": "t", "turnId": "u",
            "stepId": "st", "toolCallId": "c", "eventId": "e", "timestamp": "2026-06-01T00:00:00Z", "sequence": 1,
            "type": "tool.started", "payload": { "toolName": "bash" }, "refs": [{ "kind": "output", "id": "o" }],
        })
    }

    #[test]
    fn every_schema_is_a_schema() {
        for (path, schema) in all().unwrap().files() {
            jsonschema::draft202012::meta::validate(&schema)
                .unwrap_or_else(|e| panic!("{path}: {e}"));
        }
    }

    /// The rows "registered with payload schemas" of the requirements say which types the contract names per family.
    // verifies: R19 R22 R25 R28 R31 R34 R37 R40 R43 R46
    #[test]
    fn every_type_that_the_contract_names_is_registered() {
        let mut named = 0;
        for (_, rows) in crate::requirements::groups() {
            for row in rows {
                let Some((family, types)) =
                    row.title.split_once(": registered with payload schemas: ")
                else {
                    continue;
                };
                for name in types.split(", ") {
                    let found = CATALOG.iter().find(|row| row.name == name);
                    assert_eq!(found.map(|row| row.family.title()), Some(family), "{name}");
                    named += 1;
                }
            }
        }
        assert_eq!(named, 42);
    }

    /// What the envelope schema calls required, the reader demands; what the reader refuses, the schema refuses.
    // verifies: R10 R11 R12 R18
    #[test]
    fn envelope_schema_and_reader_agree() {
        let whole = all().unwrap().whole();
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let check = |change: &dyn Fn(&mut Map<String, Value>), valid: bool| {
            let mut event = minimal();
            change(event.as_object_mut().unwrap());
            let read = WireEvent::parse(&event.to_string());
            assert_eq!(validator.is_valid(&event), valid, "schema on {event}");
            assert_eq!(read.is_ok(), valid, "reader on {event}: {read:?}");
        };
        check(&|_| {}, true);
        for member in
            ["schemaVersion", "runtimeId", "sessionId", "eventId", "timestamp", "type", "payload"]
        {
            check(&|event| _ = event.shift_remove(member), false);
            check(&|event| _ = event.insert(member.into(), json!(7)), false);
        }
        check(&|event| _ = event.shift_remove("sequence"), true);
        check(&|event| _ = event.insert("sequence".into(), json!(0)), false);
        check(&|event| _ = event.insert("refs".into(), Value::Null), true);
        check(&|event| _ = event.insert("refs".into(), json!([{ "kind": "output" }])), false);
        check(&|event| _ = event.insert("somebodys".into(), json!([1])), true);
    }

    // verifies: R17
    #[test]
    fn whole_schema_knows_ids_and_payloads_of_types() {
        let whole = all().unwrap().whole();
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let check = |change: &dyn Fn(&mut Map<String, Value>), valid: bool| {
            let mut event = minimal();
            change(event.as_object_mut().unwrap());
            assert_eq!(validator.is_valid(&event), valid, "{event}");
        };
        check(&|event| _ = event.shift_remove("toolCallId"), false);
        check(&|event| _ = event.insert("payload".into(), json!({})), false);
        check(
            &|event| {
                _ = event
                    .insert("payload".into(), json!({ "toolName": "x", "toolKind": "a new one" }))
            },
            true,
        );
        check(
            &|event| _ = event.insert("payload".into(), json!({ "toolName": "x", "toolKind": 1 })),
            false,
        );
        check(&|event| _ = event.insert("type".into(), json!("tool.reconsidered")), true);
        check(
            &|event| {
                event.insert("type".into(), json!("permission.denied"));
                event.shift_remove("toolCallId");
            },
            false,
        );
    }
}
