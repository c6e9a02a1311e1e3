//! Owns taking a JSON text apart into its top-level members and the long texts inside each.

use std::borrow::Cow;

use crate::json::strings::{Kind, Token, Tokens, decode};

/// A top-level member of an object, or the whole of anything else.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// Its name, with the token; nothing when the text is no object.
    pub(super) name: Option<(Token, Cow<'a, str>)>,
    /// First byte of the value.
    pub(super) start: usize,
    /// Behind the last byte of the value.
    pub(super) end: usize,
    /// True when the value is a string.
    pub(super) is_text: bool,
    /// Texts in it that are over the limit.
    pub(super) long: Vec<Long<'a>>,
}

/// A text over the limit.
#[derive(Debug)]
pub(super) struct Long<'a> {
    pub(super) token: Token,
    /// Where it stands (RFC 6901).
    pub(super) pointer: String,
    pub(super) text: Cow<'a, str>,
}

impl Part<'_> {
    /// Bytes of name and value.
    pub(super) fn len(&self) -> usize {
        let start = self.name.as_ref().map_or(self.start, |(t, _)| t.start);
        self.end.saturating_sub(start)
    }

    /// Where it stands (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        if let Some((_, name)) = &self.name {
            push_reference(&mut pointer, name);
        }
        pointer
    }
}

/// Appends one reference token of a pointer.
fn push_reference(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// One open level: the member that the walk is in, or the place in the array.
enum Level<'a> {
    Member(Cow<'a, str>),
    Item(usize),
}

/// The parts of `json`, in order.
pub(super) fn parts(json: &str, limit: usize) -> Vec<Part<'_>> {
    let mut walk = Walk { json, limit, levels: Vec::new(), parts: Vec::new(), name: None };
    if !json.starts_with('{') {
        walk.begin(&Token { kind: Kind::Bare, start: 0, end: json.len() });
    }
    for token in Tokens::new(json) {
        walk.step(&token);
    }
    walk.parts
}

struct Walk<'a> {
    json: &'a str,
    limit: usize,
    levels: Vec<Level<'a>>,
    parts: Vec<Part<'a>>,
    /// Name of the member whose value comes next, at the top level.
    name: Option<(Token, Cow<'a, str>)>,
}

impl<'a> Walk<'a> {
    fn begin(&mut self, value: &Token) {
        self.parts.push(Part {
            name: self.name.take(),
            start: value.start,
            end: value.end,
            is_text: value.kind == Kind::Text || self.json.starts_with('"'),
            long: Vec::new(),
        });
    }

    fn step(&mut self, token: &Token) {
        match token.kind {
            Kind::Name => {
                let name = decode(self.json, token).unwrap_or_default();
                if self.levels.len() == 1 && self.json.starts_with('{') {
                    self.name = Some((*token, name.clone()));
                }
                if let Some(level) = self.levels.last_mut() {
                    *level = Level::Member(name);
                }
            }
            Kind::ObjectStart | Kind::ArrayStart => {
                self.value(token);
                self.levels.push(match token.kind {
                    Kind::ArrayStart => Level::Item(0),
                    _ => Level::Member(Cow::Borrowed("")),
                });
            }
            Kind::ObjectEnd | Kind::ArrayEnd => {
                self.levels.pop();
                self.value_done(token);
            }
            Kind::Text | Kind::Bare => {
                self.value(token);
                if token.kind == Kind::Text && token.end - token.start > self.limit {
                    self.long(token);
                }
                self.value_done(token);
            }
        }
    }

    fn value(&mut self, token: &Token) {
        if self.name.is_some() {
            self.begin(token);
        }
    }

    fn value_done(&mut self, token: &Token) {
        if let Some(Level::Item(at)) = self.levels.last_mut() {
            *at += 1;
        }
        if self.levels.len() == 1
            && self.json.starts_with('{')
            && let Some(part) = self.parts.last_mut()
        {
            part.end = token.end;
        }
    }

    fn long(&mut self, token: &Token) {
        let Some(text) = decode(self.json, token).filter(|text| text.len() > self.limit) else {
            return;
        };
        let mut pointer = String::new();
        for level in &self.levels {
            match level {
                Level::Member(name) => push_reference(&mut pointer, name),
                Level::Item(at) => {
                    pointer.push('/');
                    pointer.push_str(&at.to_string());
                }
            }
        }
        if let Some(part) = self.parts.last_mut() {
            part.long.push(Long { token: *token, pointer, text });
        }
    }
}
