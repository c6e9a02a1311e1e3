//! Owns the drawing surface: three layers, absolute whole pixels, everything escaped, the same bytes every time.

use std::fmt::Write as _;

use super::super::text::{Font, escape};
use super::style;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::render) struct Area {
    pub(in crate::render) x: i32,
    pub(in crate::render) y: i32,
    pub(in crate::render) w: i32,
    pub(in crate::render) h: i32,
}

impl Area {
    pub(super) const fn new(x: i32, y: i32, w: i32, h: i32) -> Self {
        Self { x, y, w, h }
    }

    pub(in crate::render) const fn right(self) -> i32 {
        self.x + self.w
    }

    pub(in crate::render) const fn bottom(self) -> i32 {
        self.y + self.h
    }

    pub(super) const fn middle(self) -> i32 {
        self.y + self.h / 2
    }

    pub(super) const fn moved(self, dx: i32, dy: i32) -> Self {
        Self { x: self.x + dx, y: self.y + dy, ..self }
    }
}

/// A text style: a CSS class and the font that it sets.
#[derive(Debug, Clone, Copy)]
pub(in crate::render) struct Type {
    pub(in crate::render) class: &'static str,
    pub(in crate::render) font: Font,
}

/// Session id, headings.
pub(super) const HEAD: Type = Type { class: "t-head", font: Font::bold(17) };
/// What a turn was asked.
pub(super) const TITLE: Type = Type { class: "t-title", font: Font::bold(14) };
/// Names of tools, models, agents.
pub(super) const NAME: Type = Type { class: "t-name", font: Font::bold(12) };
/// Texts.
pub(super) const BODY: Type = Type { class: "t-body", font: Font::regular(12) };
/// Durations, tokens, labels.
pub(super) const SMALL: Type = Type { class: "t-small", font: Font::regular(11) };
/// Arguments, ids.
pub(super) const CODE: Type = Type { class: "t-code", font: Font::mono(11) };

/// All text styles.
#[cfg(test)]
pub(in crate::render) const ALL: [Type; 6] = [HEAD, TITLE, NAME, BODY, SMALL, CODE];

/// Where a text stands, and in how much room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    style: Type,
    layer: Layer,
    anchor: Anchor,
    at: (i32, i32),
    most: i32,
    tone: &'static str,
}

impl Type {
    /// A place that begins at `at` and has `most` pixels.
    pub(super) const fn at(self, at: (i32, i32), most: i32) -> Place {
        Place { style: self, layer: Layer::Nodes, anchor: Anchor::Start, at, most, tone: "" }
    }
}

impl Place {
    /// The text ends here.
    pub(super) const fn end(self) -> Self {
        Self { anchor: Anchor::End, ..self }
    }

    /// The text has its middle here.
    pub(super) const fn middle(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    /// The text is coloured by this class.
    pub(super) const fn tone(self, tone: &'static str) -> Self {
        Self { tone, ..self }
    }

    /// The text lies on another layer.
    pub(super) const fn on(self, layer: Layer) -> Self {
        Self { layer, ..self }
    }
}

/// Where a text is anchored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// Which layer a shape is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Back,
    Lines,
    Nodes,
}

/// The drawing surface.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    back: String,
    lines: String,
    nodes: String,
}

impl Canvas {
    fn layer(&mut self, layer: Layer) -> &mut String {
        match layer {
            Layer::Back => &mut self.back,
            Layer::Lines => &mut self.lines,
            Layer::Nodes => &mut self.nodes,
        }
    }

    pub(super) fn rect(&mut self, layer: Layer, area: Area, radius: i32, class: &str) {
        let Area { x, y, w, h } = area;
        let out = self.layer(layer);
        let _ = write!(out, r#"<rect x="{x}" y="{y}" width="{w}" height="{h}""#);
        if radius > 0 {
            let _ = write!(out, r#" rx="{radius}""#);
        }
        let _ = write!(out, r#" class="{class}"/>"#);
    }

    pub(super) fn path(&mut self, layer: Layer, d: &str, class: &str) {
        let _ = write!(self.layer(layer), r#"<path d="{d}" class="{class}"/>"#);
    }

    /// A line with an arrow head at its end, in an accent colour or in the colour of plain lines.
    pub(super) fn arrow(&mut self, d: &str, class: &str, accent: Option<usize>) {
        let (stroke, head) = match accent {
            Some(accent) => (format!(" l{accent}"), accent.to_string()),
            None => Default::default(),
        };
        let _ = write!(
            self.lines,
            r#"<path d="{d}" class="{class}{stroke}" marker-end="url(#sp-arrow{head})"/>"#
        );
    }

    pub(super) fn icon(&mut self, layer: Layer, name: &str, x: i32, y: i32, class: &str) {
        let _ = write!(
            self.layer(layer),
            r##"<use href="#sp-{name}" x="{x}" y="{y}" class="{class}"/>"##
        );
    }

    /// A text, cut to the room that its place has; gives its width.
    pub(super) fn put(&mut self, place: Place, text: &str) -> i32 {
        let Place { style, layer, anchor, at: (x, y), most, tone } = place;
        let text = style.font.fit(text, most);
        if text.is_empty() {
            return 0;
        }
        let out = self.layer(layer);
        let _ = write!(out, r#"<text x="{x}" y="{y}" class="{}"#, style.class);
        if !tone.is_empty() {
            out.push(' ');
            out.push_str(tone);
        }
        out.push('"');
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => out.push_str(r#" text-anchor="middle""#),
            Anchor::End => out.push_str(r#" text-anchor="end""#),
        }
        out.push('>');
        escape(&text, out);
        out.push_str("</text>");
        style.font.width(&text)
    }

    /// Opens the group of a node; its text for people comes as a tooltip.
    pub(super) fn open(&mut self, id: &str, class: &str, tooltip: &str) {
        self.nodes.push_str(r#"<g class=""#);
        self.nodes.push_str(class);
        self.nodes.push_str(r#"" data-node=""#);
        escape(id, &mut self.nodes);
        self.nodes.push_str(r#""><title>"#);
        escape(tooltip, &mut self.nodes);
        self.nodes.push_str("</title>");
    }

    pub(super) fn close(&mut self) {
        self.nodes.push_str("</g>\n");
    }

    /// The whole picture.
    pub(super) fn finish(self, width: i32, height: i32, title: &str, description: &str) -> String {
        let size = self.back.len() + self.lines.len() + self.nodes.len();
        let mut out = String::with_capacity(size + style::CSS.len() + style::DEFS.len() + 1024);
        let _ = write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="spine" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="sp-title sp-desc">"#
        );
        out.push_str("\n<title id=\"sp-title\">");
        escape(title, &mut out);
        out.push_str("</title>\n<desc id=\"sp-desc\">");
        escape(description, &mut out);
        out.push_str("</desc>\n<style>");
        out.push_str(style::CSS);
        out.push_str("</style>\n<defs>");
        out.push_str(style::DEFS);
        out.push_str("</defs>\n");
        let _ = writeln!(out, r#"<rect width="{width}" height="{height}" class="page"/>"#);
        for layer in [&self.back, &self.lines, &self.nodes] {
            out.push_str("<g transform=\"translate(.5 .5)\">\n"); // one-pixel lines fall on pixels
            out.push_str(layer);
            out.push_str("</g>\n");
        }
        out.push_str("</svg>\n");
        out
    }
}
