//! Owns JSON lines: a byte order mark, line ends (`\n`, `\r\n`, for server-sent events also `\r`), lines beyond the limit.

use super::{Framed, give, too_long};

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Collects bytes up to a line end, never more than the limit.
#[derive(Debug)]
pub(super) struct Splitter {
    limit: usize,
    /// A lone `\r` ends a line.
    lone_cr: bool,
    line: u64,
    held: Vec<u8>,
    /// The line is over the limit; what comes of it is skipped.
    over: bool,
    after_cr: bool,
}

/// A line as it came, without its end.
pub(super) enum Line {
    /// Its number, its bytes, whether it was ended.
    Whole(u64, Vec<u8>, bool),
    /// It was over the limit.
    TooLong(u64),
}

impl Splitter {
    pub(super) fn new(limit: usize, lone_cr: bool) -> Self {
        Self { limit, lone_cr, line: 0, held: Vec::new(), over: false, after_cr: false }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(Line)) {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let end = if self.lone_cr {
                memchr::memchr2(b'\n', b'\r', bytes)
            } else {
                memchr::memchr(b'\n', bytes)
            };
            let Some(end) = end else {
                self.hold(bytes);
                return;
            };
            let (piece, rest) = bytes.split_at(end);
            self.hold(piece);
            self.after_cr = rest.first() == Some(&b'\r');
            self.emit(true, sink);
            bytes = rest.get(1..).unwrap_or_default();
        }
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Line)) {
        if self.over || !self.held.is_empty() {
            self.emit(false, sink);
        }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.over {
            return;
        }
        // One more than the limit may be held, since a `\r` at the end does not count.
        if self.held.len() + piece.len() > self.limit.saturating_add(1 + BOM.len()) {
            self.over = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(piece);
        }
    }

    fn emit(&mut self, ended: bool, sink: &mut dyn FnMut(Line)) {
        self.line += 1;
        let mut line = std::mem::take(&mut self.held);
        let mut over = std::mem::take(&mut self.over);
        if self.line == 1 && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        if ended && line.last() == Some(&b'\r') {
            line.pop();
        }
        over |= line.len() > self.limit;
        sink(if over { Line::TooLong(self.line) } else { Line::Whole(self.line, line, ended) });
    }
}

/// JSON lines: every line that is not blank is a frame.
#[derive(Debug)]
pub(super) struct Lines {
    splitter: Splitter,
    frames: u64,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { splitter: Splitter::new(limit, false), frames: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed)) {
        let Self { splitter, frames } = self;
        let limit = splitter.limit;
        splitter.push(bytes, &mut |line| frame(line, frames, limit, sink));
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed)) {
        let Self { splitter, frames } = self;
        let limit = splitter.limit;
        splitter.finish(&mut |line| frame(line, frames, limit, sink));
    }
}

fn frame(line: Line, frames: &mut u64, limit: usize, sink: &mut dyn FnMut(Framed)) {
    match line {
        Line::Whole(_, bytes, _) if bytes.trim_ascii().is_empty() => {}
        Line::Whole(line, bytes, ended) => {
            *frames += 1;
            give((*frames, line), bytes, ended, sink);
        }
        Line::TooLong(line) => {
            *frames += 1;
            too_long(*frames, line, limit, sink);
        }
    }
}
