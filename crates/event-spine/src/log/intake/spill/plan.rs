//! Owns the decision what is taken out of a payload and what its text is then. Nothing is written here.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Body;
use super::parts::{Part, parts};
use super::stub::{Keep, stub};
use crate::blob::BlobId;
use crate::event::EventType;
use crate::json::JsonText;
use crate::json::strings::{Edits, encode};

/// A member below this size is not worth a blob of its own.
const SMALL: usize = 512;

/// What is taken out, and the text without it; no text when nothing is.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) bodies: Vec<Body<'a>>,
    pub(super) text: Option<JsonText>,
}

impl<'a> Plan<'a> {
    /// For a payload: what is left must still be readable as its type.
    pub(super) fn of_payload(event_type: &EventType, payload: &'a JsonText, limit: usize) -> Self {
        Planner { json: payload.as_str(), limit, in_payload: true, event_type: Some(event_type) }
            .plan()
    }

    /// For the members of a foreign envelope beside the payload: any text may stand for any member.
    pub(super) fn of_members_beside(extra: &'a JsonText, limit: usize) -> Self {
        Planner { json: extra.as_str(), limit, in_payload: false, event_type: None }.plan()
    }
}

struct Planner<'a, 'e> {
    json: &'a str,
    limit: usize,
    in_payload: bool,
    event_type: Option<&'e EventType>,
}

impl<'a> Planner<'a, '_> {
    fn plan(&self) -> Plan<'a> {
        if self.json.len() <= self.limit {
            return Plan { bodies: Vec::new(), text: None };
        }
        let parts = parts(self.json, self.limit);
        let budget = 2 * self.limit;
        let mut largest: Vec<(usize, usize)> =
            parts.iter().enumerate().map(|(at, part)| (self.reduced(part), at)).collect();
        let mut total: usize = 2 + largest.iter().map(|(len, _)| len + 1).sum::<usize>();
        largest.sort_by_key(|(len, at)| (std::cmp::Reverse(*len), *at));
        let mut largest = largest.into_iter();
        let mut whole = HashSet::new();
        while total > budget {
            let Some((len, at)) = largest.next().filter(|(len, _)| *len > SMALL) else {
                return self.all_of_it(&parts, &whole);
            };
            total = total.saturating_sub(len) + SMALL;
            whole.insert(at);
        }
        let mut bodies = Vec::new();
        let text = self.rebuild(&parts, &whole, None, &mut bodies);
        Plan { bodies, text }
    }

    /// Size of a part once its long texts are stubs.
    fn reduced(&self, part: &Part<'_>) -> usize {
        let saved: usize = part
            .long
            .iter()
            .map(|long| (long.token.end - long.token.start).saturating_sub(self.limit / 2))
            .sum();
        part.len().saturating_sub(saved)
    }

    /// When even small members are too many: the whole text goes, and only what the type names stays.
    fn all_of_it(&self, parts: &[Part<'a>], whole: &HashSet<usize>) -> Plan<'a> {
        let mut bodies = vec![self.body(Cow::Borrowed(self.json), String::new(), true)];
        let known = self.known_members();
        let text = match self.json.starts_with('{') {
            true => self.rebuild(parts, whole, Some(&known), &mut bodies),
            false => self.stub_of_all(&bodies),
        };
        Plan { bodies, text }
    }

    fn stub_of_all(&self, bodies: &[Body<'_>]) -> Option<JsonText> {
        let body = bodies.first()?;
        let text = stub(&body.text, &body.id, Keep::of_text(self.limit));
        Some(JsonText::trusted(encode(&text).into()))
    }

    /// Names of the members that the type reads.
    fn known_members(&self) -> HashSet<String> {
        let row = self.event_type.and_then(EventType::descriptor);
        let schema = row.map(|row| (row.schema)());
        schema
            .as_ref()
            .and_then(|schema| schema.get("properties"))
            .and_then(|properties| properties.as_object())
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// The text with stubs in it; `only` leaves other members out.
    fn rebuild(
        &self,
        parts: &[Part<'a>],
        whole: &HashSet<usize>,
        only: Option<&HashSet<String>>,
        bodies: &mut Vec<Body<'a>>,
    ) -> Option<JsonText> {
        let mut edits = Edits::default();
        let mut seen = HashSet::new();
        for (at, part) in parts.iter().enumerate() {
            if let (Some(only), Some((name, text))) = (only, &part.name)
                && !(only.contains(text.as_ref()) && seen.insert(text.as_ref()))
            {
                edits.remove_member(self.json, name, part.end);
            } else if whole.contains(&at) {
                bodies.push(self.take_whole(part, &mut edits));
            } else {
                for long in &part.long {
                    let body = self.body(long.text.clone(), long.pointer.clone(), false);
                    let left = stub(&body.text, &body.id, Keep::of_text(self.limit));
                    edits.replace(long.token.range(), encode(&left));
                    bodies.push(body);
                }
            }
        }
        (!edits.is_empty()).then(|| JsonText::trusted(edits.apply(self.json).into()))
    }

    /// Takes a part out as one body and leaves what the type still reads.
    fn take_whole(&self, part: &Part<'a>, edits: &mut Edits) -> Body<'a> {
        let json = self.json.get(part.start..part.end).unwrap_or_default();
        let text: Cow<'a, str> = match part.is_text {
            true => serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned),
            false => Cow::Borrowed(json),
        };
        let body = self.body(text, part.pointer(), !part.is_text);
        let left = encode(&stub(&body.text, &body.id, Keep::of_member(self.limit)));
        let range = part.start..part.end;
        let candidates = [left.as_str(), "[]", "{}"];
        match candidates.into_iter().find(|left| self.reads(part, left)) {
            Some(left) => edits.replace(range, left.to_owned()),
            None => match &part.name {
                Some((name, _)) => edits.remove_member(self.json, name, part.end),
                None => edits.replace(range, left.clone()),
            },
        }
        body
    }

    /// True when the type reads the payload with `left` in the place of the part, everything else as it is.
    fn reads(&self, part: &Part<'_>, left: &str) -> bool {
        let Some(EventType::Known(row)) = self.event_type else {
            return true;
        };
        let mut edits = Edits::default();
        edits.replace(part.start..part.end, left.to_owned());
        let text = JsonText::trusted(edits.apply(self.json).into());
        EventType::Known(row).decode(&text).is_ok()
    }

    fn body(&self, text: Cow<'a, str>, pointer: String, json: bool) -> Body<'a> {
        Body { id: BlobId::of(text.as_bytes()), text, pointer, in_payload: self.in_payload, json }
    }
}
