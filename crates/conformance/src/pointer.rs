//! Owns finding the member of a JSON text that a column belongs to, for faults that a decoder reports by column.

use std::ops::ControlFlow;

/// Names the innermost value that the byte before `column` (1 first) belongs to, as `a.b.0`; empty for the whole.
///
/// The text is valid, minified JSON.
pub(crate) fn at_column(text: &str, column: usize) -> String {
    let mut walk = Walk { bytes: text.as_bytes(), at: 0, target: column, path: Vec::new() };
    // Breaks where the target is passed, with the path as it was there.
    let _ = walk.value();
    walk.path.join(".")
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    target: usize,
    path: Vec<String>,
}

impl Walk<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    fn reached(&self) -> ControlFlow<()> {
        if self.at >= self.target { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn value(&mut self) -> ControlFlow<()> {
        // Some faults are seen at the first byte of a value, before it is read.
        self.reached()?;
        match self.peek() {
            b'{' => self.items(b'}', true),
            b'[' => self.items(b']', false),
            b'"' => {
                self.string();
                self.reached()
            }
            _ => {
                while !matches!(self.peek(), b',' | b'}' | b']' | 0) {
                    self.at += 1;
                }
                self.reached()
            }
        }
    }

    fn items(&mut self, end: u8, named: bool) -> ControlFlow<()> {
        self.at += 1;
        let mut number = 0;
        while self.peek() != end && self.peek() != 0 {
            let name = if named {
                let key = self.string();
                self.at += 1; // the colon
                key
            } else {
                number.to_string()
            };
            number += 1;
            self.path.push(name);
            self.value()?;
            self.path.pop();
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        self.reached()
    }

    fn string(&mut self) -> String {
        let start = self.at + 1;
        self.at = start;
        while !matches!(self.peek(), b'"' | 0) {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        self.at += 1;
        String::from_utf8_lossy(text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_names_the_innermost_value_before_it() {
        let text = r#"{"a":1,"b":{"c":["x\"y",true]},"d":{}}"#;
        for (needle, path) in [("1", "a"), ("\"x\\\"y\"", "b.c.0"), ("true", "b.c.1"), ("{}", "d")]
        {
            let end = text.find(needle).unwrap() + needle.len();
            assert_eq!(at_column(text, end), path, "{needle}");
        }
        assert_eq!(at_column(text, text.find("[").unwrap()), "b.c");
        assert_eq!(at_column(text, text.len()), "");
        assert_eq!(at_column("{}", 2), "");
        assert_eq!(at_column("", 7), "");
    }
}
