//! Owns JSON documents: values one after the other, of which arrays and objects with `events` are lists of frames.
//!
//! A scanner of brackets and strings: it finds where a value begins and ends, without reading it. What is between values
//! and is no white space or comma becomes a frame of its own, so that an adapter can say that it is no JSON.

use super::{Framed, give, too_long};

/// The key whose list is the list of frames, with the quote that ends it.
const EVENTS: &[u8] = b"events\"";

#[derive(Debug)]
pub(super) struct Document {
    limit: usize,
    frames: u64,
    line: u64,
    started: bool,
    /// Depth at which frames stand: 0 for values, 1 for the elements of an array, 2 for those of `events`.
    base: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The value that is being collected: the line it began on, and its bytes.
    value: Option<(u64, Vec<u8>)>,
    over: bool,
    key: Key,
    /// The beginning of the key that is being read.
    name: Vec<u8>,
}

/// Where the scanner stands in the members of an object at the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Not in an object at the top, or past caring.
    None,
    /// A key comes.
    Expected,
    /// Inside a key.
    Inside,
    /// The key was `events`, its value comes.
    Events,
    /// The key was another one.
    Other,
}

impl Document {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            frames: 0,
            line: 1,
            started: false,
            base: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            value: None,
            over: false,
            key: Key::None,
            name: Vec::new(),
        }
    }

    /// True inside the list `events` of an object.
    pub(super) fn in_events(&self) -> bool {
        self.base == 2
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed)) {
        for byte in bytes {
            self.byte(*byte, sink);
            self.line += u64::from(*byte == b'\n');
        }
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed)) {
        let cut = self.depth > 0 || self.in_string;
        if self.value.is_some() {
            self.emit(!cut, sink);
        } else if cut {
            // The list itself is not closed.
            self.value = Some((self.line, Vec::new()));
            self.emit(false, sink);
        }
    }

    fn byte(&mut self, byte: u8, sink: &mut dyn FnMut(Framed)) {
        if self.in_string {
            self.hold(byte);
            if self.key == Key::Inside && self.name.len() <= EVENTS.len() {
                self.name.push(byte);
            }
            match (self.escaped, byte) {
                (true, _) => self.escaped = false,
                (false, b'\\') => self.escaped = true,
                (false, b'"') => {
                    self.in_string = false;
                    self.key_ended();
                }
                (false, _) => {}
            }
            return;
        }
        match byte {
            0xef | 0xbb | 0xbf if !self.started => {}
            b' ' | b'\t' | b'\r' | b'\n' => self.gap(byte, sink),
            b',' if self.depth == self.base && self.base > 0 => self.emit_if_any(sink),
            b'{' | b'[' => self.open(byte, sink),
            b'}' | b']' => self.close(byte, sink),
            _ => self.other(byte),
        }
    }

    /// White space: it ends a value that has no brackets, and is kept inside one that has.
    fn gap(&mut self, byte: u8, sink: &mut dyn FnMut(Framed)) {
        if self.depth > self.base {
            self.hold(byte);
        } else {
            self.emit_if_any(sink);
        }
    }

    fn open(&mut self, byte: u8, sink: &mut dyn FnMut(Framed)) {
        self.started = true;
        if byte == b'[' && self.base == 0 {
            if self.depth == 0 {
                self.emit_if_any(sink);
                self.base = 1;
                self.depth = 1;
                return;
            }
            if self.depth == 1 && self.key == Key::Events {
                self.value = None;
                self.over = false;
                self.base = 2;
                self.depth = 2;
                return;
            }
        }
        if self.depth == self.base {
            self.emit_if_any(sink);
        }
        self.hold(byte);
        self.depth += 1;
        if self.base == 0 && self.depth == 1 && byte == b'{' {
            self.key = Key::Expected;
        }
    }

    fn close(&mut self, byte: u8, sink: &mut dyn FnMut(Framed)) {
        self.started = true;
        if self.depth > self.base {
            self.hold(byte);
            self.depth -= 1;
            if self.depth == self.base {
                self.emit_if_any(sink);
            }
            return;
        }
        self.emit_if_any(sink);
        match self.base {
            0 => self.other(byte),
            1 => (self.base, self.depth) = (0, 0),
            // Behind `events` the rest of the object is read over.
            _ => (self.base, self.depth, self.key) = (0, 1, Key::None),
        }
        self.over = false;
    }

    fn other(&mut self, byte: u8) {
        self.started = true;
        self.hold(byte);
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.key == Key::Expected {
                    self.key = Key::Inside;
                    self.name.clear();
                }
            }
            b',' if self.depth == 1 && self.key != Key::None => self.key = Key::Expected,
            _ => {}
        }
    }

    fn key_ended(&mut self) {
        if self.key == Key::Inside {
            self.key = if self.name == EVENTS { Key::Events } else { Key::Other };
        }
    }

    fn hold(&mut self, byte: u8) {
        // The rest of an object behind its `events` is nobody's.
        if self.base == 0 && self.depth > 0 && self.key == Key::None && self.value.is_none() {
            return;
        }
        let line = self.line;
        let (_, value) = self.value.get_or_insert_with(|| (line, Vec::new()));
        if value.len() >= self.limit {
            self.over = true;
        } else if !self.over {
            value.push(byte);
        }
    }

    fn emit_if_any(&mut self, sink: &mut dyn FnMut(Framed)) {
        if self.value.is_some() {
            self.emit(true, sink);
        }
    }

    fn emit(&mut self, ended: bool, sink: &mut dyn FnMut(Framed)) {
        let Some((line, value)) = self.value.take() else {
            return;
        };
        self.key = Key::None;
        self.frames += 1;
        if std::mem::take(&mut self.over) {
            too_long(self.frames, line, self.limit, sink);
        } else {
            give((self.frames, line), value, ended, sink);
        }
    }
}
