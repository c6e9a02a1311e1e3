//! Owns keeping the raw input of a foreign recording: in the blob store, without its secrets, in pieces.
//!
//! Facts name their frame of an input by a name that does not change when the recording grows (its first line is the
//! same then), so that taking a longer copy of it repeats the facts it shares. A fact of its own, one for each state of
//! the recording, says in which blobs the pieces of that input lie.

use std::fmt::Display;

use event_spine::blob::Blobs;
use event_spine::event::family::evidence::EvidenceChanged;
use event_spine::event::value::EvidenceStatus;
use event_spine::{EventDraft, EventId, EvidenceId, Masker, Ref, RefKind, Refs, Scope};
use providers::stream::{Format, Framing, SessionDraft};

use crate::failure::Failure;
use crate::source::{LONGEST, Source};
use crate::text::bytes;

/// A piece is closed at the first line end behind this many bytes.
const PIECE: usize = 8 << 20;

/// What the names of inputs begin with.
const NAME: &str = "input:";

/// What the ids of facts about inputs are derived from.
const KEY: &str = "raw-input";

/// What the titles of facts about inputs begin with.
pub(crate) const TITLE: &str = "raw input";

/// What facts call the input that they come from.
pub(crate) fn name(source: &Source) -> String {
    let first = source.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let hash = blake3::hash(first).to_hex();
    format!("{NAME}{}", hash.get(..16).unwrap_or(&hash))
}

/// Stores the bytes of an input as they come.
pub(crate) struct Keeper<'a> {
    blobs: &'a Blobs,
    masker: &'a Masker,
    line: Vec<u8>,
    /// Bytes of the current line that are too many to keep.
    left_out: usize,
    piece: Vec<u8>,
    refs: Vec<Ref>,
    owner: String,
    media_type: &'static str,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(source: &Source, blobs: &'a Blobs, masker: &'a Masker) -> Self {
        Self {
            blobs,
            masker,
            line: Vec::new(),
            left_out: 0,
            piece: Vec::new(),
            refs: Vec::new(),
            owner: name(source),
            media_type: match Framing::detect(&source.head) {
                Framing::Lines => "application/x-ndjson",
                Framing::Document => "application/json",
                Framing::Sse => "text/event-stream",
            },
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, mut input: &[u8]) -> Result<(), Failure> {
        while let Some(end) = memchr::memchr(b'\n', input) {
            let (line, rest) = input.split_at(end + 1);
            self.hold(line);
            self.end_line()?;
            input = rest;
        }
        self.hold(input);
        Ok(())
    }

    fn hold(&mut self, part: &[u8]) {
        let room = LONGEST.saturating_sub(self.line.len());
        let kept = part.get(..room.min(part.len())).unwrap_or_default();
        self.line.extend_from_slice(kept);
        self.left_out += part.len() - kept.len();
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(&self.line);
        let (masked, _) = self.masker.mask_line(&text);
        self.piece.extend_from_slice(masked.as_bytes());
        if self.left_out > 0 {
            let note = format!("… {} left out …\n", bytes(self.left_out as u64));
            self.piece.extend_from_slice(note.as_bytes());
        }
        self.line.clear();
        self.left_out = 0;
        if self.piece.len() >= PIECE { self.close_piece() } else { Ok(()) }
    }

    fn close_piece(&mut self) -> Result<(), Failure> {
        let id = self
            .blobs
            .put(&self.piece)
            .map_err(|e| Failure::input(format!("cannot keep the raw input: {e}")))?;
        let mut piece = Ref::new(RefKind::Raw, id.to_string());
        piece.owner = Some(self.owner.clone());
        piece.media_type = Some(self.media_type.to_owned());
        piece.size_bytes = Some(self.piece.len() as u64);
        self.refs.push(piece);
        self.piece.clear();
        Ok(())
    }

    /// The fact that says where the input lies. It stands where the last fact of the recording stands.
    pub(crate) fn finish(
        mut self,
        last: SessionDraft,
        format: Format,
    ) -> Result<SessionDraft, Failure> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        if !self.piece.is_empty() {
            self.close_piece()?;
        }
        let SessionDraft { session_id, draft: last } = last;
        let pieces: Vec<&str> = self.refs.iter().map(|piece| piece.id.as_str()).collect();
        let scope = Scope {
            thread_id: last.scope.thread_id,
            evidence_id: Some(EvidenceId::derived(&[KEY, session_id.as_str(), &self.owner])),
            ..Scope::default()
        };
        let payload = EvidenceChanged {
            kind: Some("source".to_owned()),
            title: Some(format!("{TITLE}, {format}")),
            status: Some(EvidenceStatus::Ready),
            location: None,
            summary: None,
            claim: None,
        };
        let event_id = EventId::derived(&[KEY, session_id.as_str(), &pieces.join(" ")]);
        let refused = |e: &dyn Display| Failure::input(format!("cannot record the raw input: {e}"));
        let mut draft = EventDraft::new(last.runtime_id, event_id, last.timestamp, scope, &payload)
            .map_err(|e| refused(&e))?;
        draft.refs = Refs::from_list(&self.refs).map_err(|e| refused(&e))?;
        Ok(SessionDraft { session_id, draft })
    }
}

/// True for a fact that [`Keeper::finish`] made.
pub(crate) fn is_input(draft: &EventDraft) -> bool {
    draft.event_type.name() == "evidence.changed"
        && draft
            .refs
            .to_vec()
            .iter()
            .any(|r| r.owner.as_deref().is_some_and(|owner| owner.starts_with(NAME)))
}
