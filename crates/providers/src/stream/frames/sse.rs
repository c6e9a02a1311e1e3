//! Owns server-sent events: the `data` lines of an event, joined, are a frame. Comments, `event`, `id` and `retry` are read
//! over, as the clients of the streams that we read do.

use super::lines::{Line, Splitter};
use super::{Framed, give, too_long};

/// The data that says that a stream is over. It is no event.
const DONE: &[u8] = b"[DONE]";

#[derive(Debug)]
pub(super) struct Sse {
    splitter: Splitter,
    event: Pending,
}

#[derive(Debug)]
struct Pending {
    limit: usize,
    frames: u64,
    /// Line of the first `data` of the event.
    line: u64,
    data: Option<Vec<u8>>,
    over: bool,
}

impl Sse {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            // A line has the field's name before the data.
            splitter: Splitter::new(limit.saturating_add(16), true),
            event: Pending { limit, frames: 0, line: 0, data: None, over: false },
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Framed)) {
        let Self { splitter, event } = self;
        splitter.push(bytes, &mut |line| event.line(line, sink));
    }

    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Framed)) {
        let Self { splitter, event } = self;
        splitter.finish(&mut |line| event.line(line, sink));
        event.dispatch(false, sink);
    }
}

impl Pending {
    fn line(&mut self, line: Line, sink: &mut dyn FnMut(Framed)) {
        match line {
            Line::Whole(_, bytes, _) if bytes.is_empty() => self.dispatch(true, sink),
            Line::Whole(number, bytes, _) => {
                let Some(value) = bytes.strip_prefix(b"data") else {
                    return;
                };
                let value = match value.strip_prefix(b":") {
                    Some(value) => value.strip_prefix(b" ").unwrap_or(value),
                    None if value.is_empty() => value,
                    None => return,
                };
                self.add(number, value);
            }
            Line::TooLong(number) => {
                self.add(number, &[]);
                self.over = true;
            }
        }
    }

    fn add(&mut self, number: u64, value: &[u8]) {
        if let Some(data) = &mut self.data {
            if data.len() + value.len() >= self.limit {
                self.over = true;
            } else if !self.over {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        } else {
            self.line = number;
            self.over = value.len() > self.limit;
            self.data = Some(if self.over { Vec::new() } else { value.to_vec() });
        }
    }

    fn dispatch(&mut self, ended: bool, sink: &mut dyn FnMut(Framed)) {
        let Some(data) = self.data.take() else {
            return;
        };
        let over = std::mem::take(&mut self.over);
        let blank = data.trim_ascii();
        if !over && (blank.is_empty() || blank == DONE) {
            return;
        }
        self.frames += 1;
        if over {
            too_long(self.frames, self.line, self.limit, sink);
        } else {
            give((self.frames, self.line), data, ended, sink);
        }
    }
}
