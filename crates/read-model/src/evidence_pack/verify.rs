//! Owns checking a pack with nothing but the pack: every digest, leaf and chain value is computed again, everything that
//! the pack says about its events is derived again, and the first event that does not hold is named.

use event_spine::integrity::{leaf, payload_digest};
use event_spine::{ChainHash, SessionId};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::collect::Facts;
use super::entry;
use super::model::{EvidencePack, FORMAT, FORMAT_VERSION, Missing};
use super::write::{CHECKSUM, PackPart, members};
use super::{PackOptions, judge};

use event_spine::Members;

/// Something in a pack that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackFault {
    /// The event, when it is one.
    pub sequence: Option<u64>,
    /// The member of the file: `events`, `chain`, `approvals`, `checksum` …; `file` for the whole.
    pub part: String,
    /// What is wrong, one sentence for people.
    pub what: String,
}

impl std::fmt::Display for PackFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.sequence {
            Some(sequence) => write!(f, "event {sequence}: {}", self.what),
            None => write!(f, "{}: {}", self.part, self.what),
        }
    }
}

/// What checking a pack found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackVerification {
    /// The session, when the pack could be read that far.
    pub session_id: Option<SessionId>,
    /// Events that hold, counted up to the first that does not.
    pub events: u64,
    /// Events that the pack says it lacks.
    pub missing: u64,
    /// Chain value at the last event that was checked. Compare it with one that you know from elsewhere: a pack that
    /// somebody rewrote whole agrees with itself.
    pub head: Option<ChainHash>,
    /// What does not hold; of the events only the first.
    pub faults: Vec<PackFault>,
}

impl PackVerification {
    /// True when everything holds.
    #[must_use]
    pub fn intact(&self) -> bool {
        self.faults.is_empty()
    }

    /// The first event that does not hold.
    #[must_use]
    pub fn first_bad_event(&self) -> Option<u64> {
        self.faults.iter().find_map(|fault| fault.sequence)
    }

    fn fault(&mut self, sequence: Option<u64>, part: &str, what: impl Into<String>) {
        self.faults.push(PackFault { sequence, part: part.to_owned(), what: what.into() });
    }
}

/// Checks a pack.
#[must_use]
pub fn verify_pack(text: &str) -> PackVerification {
    let mut found = PackVerification::default();
    check_checksum(text, &mut found);
    let members: Members<'_> = match serde_json::from_str(text) {
        Ok(members) => members,
        Err(error) => {
            found.fault(None, "file", format!("it is not valid JSON: {error}"));
            return found;
        }
    };
    if let Some(twin) = members.twin() {
        found.fault(None, twin, "it stands there twice");
        return found;
    }
    let Members(members) = members;
    let Some(pack) = read_header(&members, &mut found) else {
        return found;
    };
    found.session_id = Some(pack.scope.session_id.clone());
    found.missing = pack.range.missing.iter().map(|m| m.to.saturating_sub(m.from) + 1).sum();
    let mut check = Check {
        facts: Facts::new(pack.scope.session_id.clone()),
        chain: Some(pack.chain.genesis),
        missing: pack.range.missing.clone(),
        ids: Vec::new(),
        found: &mut found,
    };
    let events = member(&members, "events").map_or("[]", RawValue::get);
    if let Err(error) = serde_json::Deserializer::from_str(events).deserialize_seq(&mut check) {
        check.found.fault(None, "events", format!("it is no list of events: {error}"));
    }
    check.rest();
    let Check { facts, ids, .. } = check;
    found.head = facts.last;
    if found.first_bad_event().is_none() {
        check_ids(&members, &ids, &mut found);
        check_derived(&members, &pack, facts, &mut found);
    }
    check_parts(&members, &mut found);
    // The event that is to blame stands first, then what else does not fit.
    found.faults.sort_by_key(|fault| (fault.sequence.is_none(), fault.part == "checksum"));
    found
}

/// Everything before the checksum must give it.
pub(super) fn check_checksum(text: &str, found: &mut PackVerification) {
    let Some((covered, stated)) = text.rfind(CHECKSUM).and_then(|at| text.split_at_checked(at))
    else {
        found.fault(None, "checksum", "it is missing");
        return;
    };
    let wanted =
        format!("{CHECKSUM}\"blake3:{}\"\n}}\n", blake3::hash(covered.as_bytes()).to_hex());
    if stated != wanted {
        found.fault(None, "checksum", "the file is not the one that was written");
    }
}

fn member<'a>(members: &[(String, &'a RawValue)], name: &str) -> Option<&'a RawValue> {
    members.iter().find(|(n, _)| n == name).map(|(_, value)| *value)
}

/// Reads what the pack says, and whether this code can check it.
fn read_header(
    members: &[(String, &RawValue)],
    found: &mut PackVerification,
) -> Option<EvidencePack> {
    let mut header = serde_json::Map::new();
    for (name, value) in members {
        if !matches!(name.as_str(), "events" | "eventIds" | "files" | "checksum") {
            header.insert(name.clone(), serde_json::from_str(value.get()).unwrap_or_default());
        }
    }
    let pack: EvidencePack = match serde_json::from_value(header.into()) {
        Ok(pack) => pack,
        Err(error) => {
            found.fault(None, "file", format!("it is no evidence pack: {error}"));
            return None;
        }
    };
    if pack.format != FORMAT || pack.schema_version != FORMAT_VERSION {
        let what =
            format!("{} {} is not {FORMAT} {FORMAT_VERSION}", pack.format, pack.schema_version);
        found.fault(None, "format", what);
        return None;
    }
    Some(pack)
}

/// Walks the events.
struct Check<'a> {
    facts: Facts,
    /// Chain value before the next event; absent behind a missing stretch.
    chain: Option<ChainHash>,
    missing: Vec<Missing>,
    ids: Vec<String>,
    found: &'a mut PackVerification,
}

impl Check<'_> {
    /// Takes the missing stretches that come before a sequence.
    fn pass_over(&mut self, sequence: u64) {
        while let Some(next) = self.missing.first() {
            if next.from != self.facts.range.to + 1 || next.from >= sequence || next.to < next.from
            {
                break;
            }
            self.chain = None;
            let missing = self.missing.remove(0);
            self.facts.miss(missing);
        }
    }

    fn rest(&mut self) {
        self.pass_over(u64::MAX);
        if self.found.first_bad_event().is_none() && !self.missing.is_empty() {
            self.found.fault(None, "range", "it names missing events that are not missing");
        }
    }

    /// Checks one event; false when it does not hold.
    fn take(&mut self, json: &str) -> bool {
        let expected = self.facts.range.to + 1;
        let entry = match entry::read(json) {
            Ok(entry) => entry,
            Err(what) => {
                self.found.fault(Some(expected), "events", what);
                return false;
            }
        };
        let event = &entry.event;
        self.pass_over(event.sequence);
        let expected = self.facts.range.to + 1;
        let what = if event.sequence != expected {
            Some(format!("the next event has sequence {}", event.sequence))
        } else if payload_digest(&event.salt, &event.draft) != entry.digest {
            Some("its payload does not give its payload digest".to_owned())
        } else if leaf(
            &event.session_id,
            event.sequence,
            event.recorded_at,
            &event.salt,
            &event.draft,
        ) != entry.leaf
        {
            Some("its envelope does not give its leaf".to_owned())
        } else if self.chain.is_some_and(|before| before.next(&entry.leaf) != event.chain) {
            Some("its chain value does not follow from its leaf and the chain before it".to_owned())
        } else {
            None
        };
        if let Some(what) = what {
            self.found.fault(Some(expected), "events", what);
            return false;
        }
        self.chain = Some(event.chain);
        self.ids.push(event.draft.event_id.to_string());
        self.facts.take(event);
        self.found.events += 1;
        true
    }
}

impl<'de> Visitor<'de> for &mut Check<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(event) = list.next_element::<&RawValue>()? {
            if !self.take(event.get()) {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
        }
        Ok(())
    }
}

fn check_ids(members: &[(String, &RawValue)], ids: &[String], found: &mut PackVerification) {
    let stated =
        member(members, "eventIds").and_then(|v| serde_json::from_str::<Vec<String>>(v.get()).ok());
    if stated.as_deref() != Some(ids) {
        found.fault(None, "eventIds", "it is not the list of the events' ids");
    }
}

/// What the pack says beside the events must be what follows from them.
fn check_derived(
    all: &[(String, &RawValue)],
    pack: &EvidencePack,
    facts: Facts,
    found: &mut PackVerification,
) {
    let absent = pack.bodies.iter().filter(|b| !b.present).map(|b| b.id.clone()).collect();
    let options =
        PackOptions { created_at: pack.created_at, producer: pack.producer.clone(), to: None };
    let derived = judge::judge(facts, &options, &absent);
    for (name, text) in members(&derived).unwrap_or_default() {
        if member(all, &name).is_none_or(|stated| stated.get() != text) {
            let what = "it is not what follows from the events";
            found.fault(None, &name, what);
        }
    }
}

fn check_parts(members: &[(String, &RawValue)], found: &mut PackVerification) {
    let parts =
        member(members, "files").and_then(|v| serde_json::from_str::<Vec<PackPart>>(v.get()).ok());
    let Some(parts) = parts else {
        found.fault(None, "files", "it is no list of parts");
        return;
    };
    let written = members.iter().filter(|(name, _)| name != "files" && name != "checksum");
    if parts.len() != written.clone().count() {
        found.fault(None, "files", "it does not list every part");
    }
    for ((name, value), part) in written.zip(&parts) {
        let hash = blake3::hash(value.get().as_bytes()).to_hex();
        let same = part.name == *name
            && part.size_bytes == value.get().len() as u64
            && part.blake3 == hash.as_str();
        if !same {
            found.fault(None, name, "its bytes are not those that `files` names");
        }
    }
}
