//! How tests read a recorded stream, and how they write down what came of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use event_spine::{EventDraft, Timestamp};

use super::{AdapterContext, Batch, EndOfInput, Format, Framing, Pipeline};

/// The folder of recorded streams.
pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

pub(super) fn read(name: &str) -> Vec<u8> {
    let path = fixtures().join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(super) fn context() -> AdapterContext {
    AdapterContext {
        raw: Some("blake3:raw".to_owned()),
        ..AdapterContext::at(Timestamp::verbatim("2026-01-01T00:00:00Z"))
    }
}

pub(super) fn pipeline(format: Format, head: &[u8]) -> Pipeline {
    Pipeline::new(format, Framing::detect(head), context())
}

/// Adapts an input to its end.
pub(super) fn adapt(format: Format, input: &[u8], end: EndOfInput) -> Batch {
    run(pipeline(format, input), input, end)
}

pub(super) fn run(mut pipeline: Pipeline, input: &[u8], end: EndOfInput) -> Batch {
    let mut batch = pipeline.push(input);
    let last = pipeline.finish(end);
    batch.drafts.extend(last.drafts);
    batch.faults.extend(last.faults);
    batch.known += last.known;
    batch.conflict = batch.conflict.or(last.conflict);
    batch
}

/// Adapts parts of a conversation one after the other, each told what the parts before it gave.
pub(super) fn adapt_parts(format: Format, parts: &[&[u8]]) -> Vec<EventDraft> {
    let mut log = Vec::new();
    for part in parts {
        let mut pipeline = pipeline(format, part);
        for (session, draft) in &log {
            pipeline.recall(session, draft);
        }
        let batch = run(pipeline, part, EndOfInput::Closed);
        log.extend(batch.drafts.into_iter().map(|d| (d.session_id, d.draft)));
    }
    log.into_iter().map(|(_, draft)| draft).collect()
}

/// One line a fact: frame, type, scope ids, payload. Ids that are hashes are written as their kind and a number.
pub(super) fn spell(batch: &Batch) -> String {
    let drafts: Vec<&EventDraft> = batch.drafts.iter().map(|made| &made.draft).collect();
    let mut text = spell_drafts(&drafts);
    for fault in &batch.faults {
        text.push_str(&format!("fault: {fault}\n"));
    }
    text
}

pub(super) fn spell_drafts(drafts: &[&EventDraft]) -> String {
    let mut names = Names::default();
    let mut text = String::new();
    for draft in drafts {
        let frame = draft
            .refs
            .to_vec()
            .iter()
            .find_map(|r| r.origin.as_ref().map(|o| o.frame))
            .map_or("-".to_owned(), |frame| frame.to_string());
        text.push_str(&format!("{frame:>3} {}", draft.event_type.name()));
        for (name, id) in draft.scope.present() {
            if name != "threadId" {
                let name = name.strip_suffix("Id").unwrap_or(name);
                text.push_str(&format!(" {name}={}", names.short(id)));
            }
        }
        let payload: String = draft.payload.as_str().chars().take(400).collect();
        text.push_str(&format!(" {}\n", names.within(&payload)));
    }
    text
}

#[derive(Default)]
struct Names(HashMap<String, String>, HashMap<String, usize>);

impl Names {
    fn short(&mut self, id: &str) -> String {
        let Some((prefix, rest)) = id.split_once('_') else {
            return id.to_owned();
        };
        if rest.len() != 26 || !rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
            return id.to_owned();
        }
        if let Some(name) = self.0.get(id) {
            return name.clone();
        }
        let count = self.1.entry(prefix.to_owned()).or_default();
        *count += 1;
        let name = format!("{prefix}{count}");
        self.0.insert(id.to_owned(), name.clone());
        name
    }

    fn within(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
    }
}
