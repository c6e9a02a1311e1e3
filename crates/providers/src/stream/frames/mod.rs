//! Owns framing: from bytes, in whatever pieces they come, to the frames that adapters take.
//!
//! Three framings are read: JSON lines, a JSON document, server-sent events. Memory is bounded: a frame beyond the limit is
//! skipped, not collected. The cuts between chunks never show, not even inside a character.
//!
//! Next: [`lines`], on which the others stand.

mod document;
mod lines;
mod sse;
#[cfg(test)]
mod tests;

use event_spine::JsonText;

use super::error::{AdaptError, AdaptErrorKind};
use document::Document;
use lines::Lines;
use sse::Sse;

/// The largest frame that is taken unless the caller says otherwise, in bytes.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// One unit of a stream: a line, an element of an array, the data of a server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its number, 1 first; frames that were skipped count.
    pub number: u64,
    /// Line of the input on which it begins, 1 first.
    pub line: u64,
    /// Its text.
    pub text: String,
    /// False when the input ended before the frame did: then it may be a part.
    pub ended: bool,
}

impl Frame {
    /// A frame from a stream with one frame a line.
    #[must_use]
    pub fn new(number: u64, text: impl Into<String>) -> Self {
        Self { number, line: number, text: text.into(), ended: true }
    }

    /// An error about this frame.
    pub(super) fn error(&self, kind: AdaptErrorKind) -> AdaptError {
        AdaptError { frame: self.number, line: self.line, kind }
    }

    /// The frame as JSON, and a fault when it had to be repaired for that.
    pub(super) fn json(&self) -> Result<(JsonText, Option<AdaptError>), AdaptError> {
        let (text, repairs) = JsonText::parse(&self.text)
            .map_err(|e| self.error(AdaptErrorKind::NotJson { detail: e.to_string() }))?;
        let count = repairs.lone_surrogates;
        let repaired = (count > 0).then(|| self.error(AdaptErrorKind::LoneSurrogates { count }));
        Ok((text, repaired))
    }
}

/// What framing gives: a frame, or what is wrong with the bytes.
pub type Framed = Result<Frame, AdaptError>;

/// How frames stand in the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// One JSON value a line.
    Lines,
    /// JSON values one after the other, over as many lines as they like. Of an array its elements are the frames, of an
    /// object with a member `events` the elements of that.
    Document,
    /// Server-sent events; the `data` of each is a frame.
    Sse,
}

impl Framing {
    /// Finds the framing from the head of the input.
    #[must_use]
    pub fn detect(head: &[u8]) -> Self {
        let head = head.strip_prefix(lines::BOM).unwrap_or(head);
        let text = head.trim_ascii_start();
        let line = text.split(|b| *b == b'\n').next().unwrap_or_default();
        let line = line.trim_ascii();
        let field = |name: &[u8]| line.starts_with(name);
        if [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|name| field(name)) {
            return Self::Sse;
        }
        let complete = line.len() < text.len();
        match serde_json::from_slice::<serde_json::Value>(line) {
            Ok(value) if value.is_array() || value.get("events").is_some_and(|e| e.is_array()) => {
                Self::Document
            }
            Err(_) if line.starts_with(b"[") => Self::Document,
            // A first line that is no value by itself is the beginning of one, unless the next line is whole again.
            Err(e) if complete && e.is_eof() && !second_line_is_object(text) => Self::Document,
            Err(_) if !complete && opens_events(line) => Self::Document,
            _ => Self::Lines,
        }
    }
}

fn second_line_is_object(text: &[u8]) -> bool {
    let second = text.split(|b| *b == b'\n').nth(1).unwrap_or_default();
    serde_json::from_slice::<serde_json::Value>(second).is_ok_and(|value| value.is_object())
}

/// True when a head that is too short to hold a whole value begins an object whose list `events` is open.
fn opens_events(line: &[u8]) -> bool {
    let mut document = Document::new(usize::MAX);
    document.push(line, &mut |_| {});
    document.in_events()
}

/// Cuts bytes into frames. Feed it with [`Framer::push`], end it with [`Framer::finish`].
#[derive(Debug)]
pub struct Framer(Kind);

#[derive(Debug)]
enum Kind {
    Lines(Lines),
    Document(Document),
    Sse(Sse),
}

impl Framer {
    /// A framer; `limit` is the largest frame it takes, in bytes.
    #[must_use]
    pub fn new(framing: Framing, limit: usize) -> Self {
        Self(match framing {
            Framing::Lines => Kind::Lines(Lines::new(limit)),
            Framing::Document => Kind::Document(Document::new(limit)),
            Framing::Sse => Kind::Sse(Sse::new(limit)),
        })
    }

    /// Takes bytes and gives the frames that are complete with them.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed)) {
        match &mut self.0 {
            Kind::Lines(lines) => lines.push(bytes, sink),
            Kind::Document(document) => document.push(bytes, sink),
            Kind::Sse(sse) => sse.push(bytes, sink),
        }
    }

    /// Takes the end of the bytes and gives the frame that was not ended, if there is one.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Framed)) {
        match &mut self.0 {
            Kind::Lines(lines) => lines.finish(sink),
            Kind::Document(document) => document.finish(sink),
            Kind::Sse(sse) => sse.finish(sink),
        }
    }
}

/// The frames of the head of an input that can be read as JSON, for recognising the format.
pub(super) fn head_values(head: &[u8]) -> Vec<serde_json::Value> {
    let mut values = Vec::new();
    let mut framer = Framer::new(Framing::detect(head), head.len());
    framer.push(head, &mut |framed| {
        values.extend(framed.ok().and_then(|f| serde_json::from_str(&f.text).ok()));
    });
    framer.finish(&mut |framed| {
        values.extend(framed.ok().and_then(|f| serde_json::from_str(&f.text).ok()));
    });
    values
}

/// Makes the text of a frame from its bytes, and says which byte of them is no UTF-8.
fn text_of(bytes: Vec<u8>) -> (String, Option<usize>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            (String::from_utf8_lossy(e.as_bytes()).into_owned(), Some(at))
        }
    }
}

/// Gives a frame, after the error about its bytes if they have one.
fn give(frame: (u64, u64), bytes: Vec<u8>, ended: bool, sink: &mut dyn FnMut(Framed)) {
    let (number, line) = frame;
    let ends_inside_character =
        !ended && std::str::from_utf8(&bytes).is_err_and(|e| e.error_len().is_none());
    let (text, invalid) = text_of(bytes);
    let frame = Frame { number, line, text, ended };
    if let Some(byte) = invalid {
        // A stream that ends inside a character is a cut stream, not bad encoding.
        sink(Err(frame.error(if ends_inside_character {
            AdaptErrorKind::CutOff
        } else {
            AdaptErrorKind::InvalidUtf8 { byte }
        })));
        if ends_inside_character {
            return;
        }
    }
    sink(Ok(frame));
}

/// Gives the error for a frame that is over the limit.
fn too_long(number: u64, line: u64, limit: usize, sink: &mut dyn FnMut(Framed)) {
    sink(Err(AdaptError { frame: number, line, kind: AdaptErrorKind::TooLong { limit } }));
}
