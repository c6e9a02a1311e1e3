//! SP0006: where a payload has a closed list of words, it uses one of them.

use std::collections::HashMap;
use std::sync::LazyLock;

use event_spine::event::{CATALOG, EventDescriptor};
use serde_json::{Map, Value};

use super::{Info, Look, Out, Rule};
use crate::finding::Severity;

pub(super) struct UnknownWord;

/// What a word that is not in its list is read as.
const UNKNOWN: &str = "unknown";

/// The members of each type that hold a word of a list.
static WORDS: LazyLock<HashMap<&'static str, Vec<String>>> =
    LazyLock::new(|| CATALOG.iter().map(|row| (row.name, word_members(row))).collect());

impl Rule for UnknownWord {
    fn info(&self) -> &'static Info {
        &Info {
            number: "SP0006",
            code: "unknown_word",
            severity: Severity::Note,
            demand: "a word stands in the list of its member; others are read as unknown",
        }
    }

    fn event(&self, look: &Look<'_>, out: &mut Out<'_>) {
        let (Some(event), Some(members)) =
            (look.subject.decoded(), WORDS.get(look.subject.type_name()))
        else {
            return;
        };
        let payload = &look.subject.event.draft.payload;
        if !members.iter().any(|member| payload.as_str().contains(member.as_str())) {
            return;
        }
        // Written back, a word that is not in its list is `unknown`; aliases are written as what they mean.
        let read = event.payload_json().ok().and_then(|json| json.read::<Map<String, Value>>().ok());
        let given = payload.read::<Map<String, Value>>().ok();
        let (Some(read), Some(given)) = (read, given) else { return };
        for member in members {
            let word = given.get(member).and_then(Value::as_str).filter(|word| *word != UNKNOWN);
            if let Some(word) = word
                && read.get(member).and_then(Value::as_str) == Some(UNKNOWN)
            {
                let message = format!("{word:?} is no word of {member}; it is read as {UNKNOWN}");
                out.add(format!("payload.{member}"), message);
            }
        }
    }
}

/// Members whose schema is a list of words.
fn word_members(row: &EventDescriptor) -> Vec<String> {
    let schema = (row.schema)().to_value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_list = |member: &Value| {
        let text = member.to_string();
        let lists = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        lists
            .filter(|(_, definition)| definition.get("oneOf").or(definition.get("enum")).is_some())
            .any(|(name, _)| text.contains(&format!("\"#/$defs/{name}\"")))
    };
    let members = properties.into_iter().flatten();
    members.filter(|(_, member)| is_list(member)).map(|(name, _)| name.clone()).collect()
}
