//! Owns how a node is drawn: model calls and tool calls as cards, approvals as diamonds, products as documents.

use super::super::status_word;
use super::super::text::duration;
use super::canvas::{Area, BODY, CODE, Canvas, Layer, NAME, SMALL};
use super::layout::{Card, Density, Placed};
use super::score::Score;
use super::style::{Look, look};
use super::words;
use crate::projections::graph::{Figures, Node, NodeKind, Status};

const PAD: i32 = 12;
const ICON: i32 = 14;

/// Half the width and height of a diamond.
pub(super) const fn diamond(d: Density) -> i32 {
    if d.compact { 13 } else { 18 }
}

/// The icon of a boundary.
pub(super) const fn boundary_icon(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Fork => "k-fork",
        NodeKind::Rollback => "k-back",
        NodeKind::Interruption => "k-gap",
        _ => "k-fold",
    }
}

/// Draws a card where it was placed.
pub(super) fn draw(canvas: &mut Canvas, score: &Score<'_>, placed: &Placed<'_>, d: Density) {
    let node = placed.node;
    let status = score.status(node);
    let figures = score.derived.of(&node.id);
    let kind = match placed.card {
        Card::Model | Card::Answer => "model",
        Card::Tool => "tool",
        Card::Gate => "gate",
        Card::Document => "doc",
        Card::Boundary => "boundary",
        Card::Earlier => "earlier",
    };
    let style = look(status);
    let class = format!("n {kind} {}", style.frame);
    canvas.open(&node.id.to_string(), &class, &words::tooltip(node, status, figures));
    let pen = Pen { area: placed.area, node, status, figures, look: style, d };
    match placed.card {
        Card::Model if d.compact => pen.small_model(canvas),
        Card::Model => pen.model(canvas),
        Card::Answer => pen.answer(canvas),
        Card::Tool => pen.tool(canvas),
        Card::Gate => pen.gate(canvas),
        Card::Document => pen.document(canvas),
        Card::Boundary => pen.boundary(canvas),
        Card::Earlier => pen.earlier(canvas),
    }
    canvas.close();
}

struct Pen<'a> {
    area: Area,
    node: &'a Node,
    status: Status,
    figures: Option<&'a Figures>,
    look: Look,
    d: Density,
}

impl Pen<'_> {
    fn frame(&self, canvas: &mut Canvas) {
        canvas.rect(Layer::Nodes, self.area, 7, "card");
    }

    /// Baselines of the lines of a card.
    fn line(&self, number: i32) -> i32 {
        let first = if self.d.compact { 18 } else { 20 };
        self.area.y + first + number * 17
    }

    fn status_icon(&self, canvas: &mut Canvas) {
        let (x, y) = (self.area.right() - PAD - ICON, self.line(0) - 11);
        canvas.icon(Layer::Nodes, self.look.icon, x, y, self.look.colour);
    }

    fn took(&self) -> String {
        self.figures.and_then(|f| f.duration_ms).map(duration).unwrap_or_default()
    }

    /// The first line: kind icon, name, a remark on the right, status icon.
    fn head(&self, canvas: &mut Canvas, icon: &str, name: &str, remark: &str) {
        let y = self.line(0);
        canvas.icon(Layer::Nodes, icon, self.area.x + PAD, y - 11, "");
        self.status_icon(canvas);
        let right = self.area.right() - PAD - ICON - 6;
        let room = right - (self.area.x + PAD + ICON + 7);
        let reserved = NAME.font.width(name).min(room * 2 / 3);
        let for_remark = (room - reserved - 8).max(0);
        // A remark loses its last parts whole before a part is cut.
        let mut remark = remark;
        while SMALL.font.width(remark) > for_remark
            && let Some((first, _)) = remark.rsplit_once(" · ")
        {
            remark = first;
        }
        let used = canvas.put(SMALL.at((right, y), for_remark).end(), remark);
        let name_room = room - if used > 0 { used + 8 } else { 0 };
        let at = (self.area.x + PAD + ICON + 7, y);
        canvas.put(NAME.at(at, name_room), name);
    }

    fn body_room(&self) -> i32 {
        self.area.w - 2 * PAD
    }

    fn model_name(&self) -> &str {
        self.node.model.as_deref().unwrap_or("model call")
    }

    fn model(&self, canvas: &mut Canvas) {
        self.frame(canvas);
        self.head(canvas, "k-model", self.model_name(), "");
        let left = self.area.x + PAD;
        let tokens = words::tokens(self.node.own_tokens);
        let took = self.took();
        let said = self.node.output.as_deref().filter(|text| !text.is_empty());
        let second = match (&tokens, said) {
            (Some(tokens), _) => tokens.clone(),
            (None, Some(_)) => took.clone(),
            (None, None) if self.status.is_open() => self.status.to_string(),
            (None, None) => "tokens unknown".to_owned(),
        };
        canvas.put(SMALL.at((left, self.line(1)), self.body_room()), &second);
        let bad = if self.status.is_failure() { "s-bad" } else { "" };
        let third = said.unwrap_or(&took);
        canvas.put(SMALL.at((left, self.line(2)), self.body_room()).tone(bad), third);
    }

    fn small_model(&self, canvas: &mut Canvas) {
        self.frame(canvas);
        let y = self.line(0);
        canvas.icon(Layer::Nodes, "k-model", self.area.x + PAD, y - 11, "");
        self.status_icon(canvas);
        let tokens = self.node.own_tokens.and_then(|tokens| tokens.output);
        let text = tokens.map(|n| format!("{} out", super::super::text::short_number(n)));
        let text = text.unwrap_or_else(|| self.took());
        let at = (self.area.x + PAD, self.line(1));
        canvas.put(SMALL.at(at, self.body_room()), &text);
    }

    fn answer(&self, canvas: &mut Canvas) {
        self.frame(canvas);
        let took = self.took();
        let parts: Vec<String> =
            words::tokens(self.node.own_tokens).into_iter().chain([took]).collect();
        let remark =
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        self.head(canvas, "k-model", self.model_name(), &remark);
        let bad = if self.status.is_failure() { "s-bad" } else { "" };
        let lines = if self.d.compact { 1 } else { 2 };
        let text = self.node.output.as_deref().unwrap_or_default();
        for (number, line) in (1_i32..).zip(BODY.font.wrap(text, self.body_room(), lines)) {
            let at = (self.area.x + PAD, self.line(number));
            canvas.put(BODY.at(at, self.body_room()).tone(bad), &line);
        }
    }

    fn tool(&self, canvas: &mut Canvas) {
        self.frame(canvas);
        let name = if self.node.title.is_empty() { "tool call" } else { &self.node.title };
        let remark = match self.status {
            status if status.is_open() => status_word(NodeKind::ToolCall, status).to_owned(),
            Status::Denied | Status::Cancelled | Status::Interrupted => {
                status_word(NodeKind::ToolCall, self.status).to_owned()
            }
            _ => self.took(),
        };
        self.head(canvas, "k-tool", name, &remark);
        let left = self.area.x + PAD;
        let wrong = self.status.is_failure() || self.status == Status::Denied;
        let bad = if wrong { "s-bad" } else { "" };
        let output = self.node.output.as_deref().or(self.node.failure_category.as_deref());
        let input = self.node.input.as_deref();
        if self.d.compact {
            let (style, text) = match (wrong, output, input) {
                (true, Some(output), _) | (false, Some(output), None) => (SMALL, output),
                (_, _, Some(input)) => (CODE, input),
                (_, None, None) => (SMALL, ""),
            };
            let text = &style.font.fit_word(text, self.body_room());
            canvas.put(style.at((left, self.line(1)), self.body_room()).tone(bad), text);
            return;
        }
        let mut line = 1;
        if let Some(input) = input {
            let at = (left, self.line(line));
            canvas.put(CODE.at(at, self.body_room()), input);
            line += 1;
        }
        let text = output.map(|output| format!("→ {output}")).unwrap_or_default();
        let lines = if line == 1 { 2 } else { 1 };
        for text in SMALL.font.wrap(&text, self.body_room(), lines) {
            let at = (left, self.line(line));
            canvas.put(SMALL.at(at, self.body_room()).tone(bad), &text);
            line += 1;
        }
    }

    fn gate(&self, canvas: &mut Canvas) {
        let half = diamond(self.d);
        let (cx, cy) = (self.area.x + self.area.w / 2, self.area.middle());
        let d = format!(
            "M{cx} {} {} {cy} {cx} {} {} {cy}z",
            cy - half,
            cx + half,
            cy + half,
            cx - half
        );
        canvas.path(Layer::Nodes, &d, "card");
        canvas.icon(Layer::Nodes, self.look.icon, cx - 7, cy - 7, self.look.colour);
        let word = status_word(NodeKind::Action, self.status);
        let tone = if self.status == Status::Waiting { "s-wait" } else { "" };
        let tone = if self.status == Status::Denied { "s-bad" } else { tone };
        if !self.d.compact {
            let who = self.node.decided_by.as_deref().unwrap_or_default();
            let at = (cx, self.area.y + 10);
            canvas.put(SMALL.at(at, self.area.w).middle(), who);
        }
        let at = (cx, self.area.bottom() - 2);
        canvas.put(SMALL.at(at, self.area.w).middle().tone(tone), word);
    }

    fn document(&self, canvas: &mut Canvas) {
        let Area { x, y, w, h } = self.area;
        let fold = 8;
        let (right, bottom) = (x + w, y + h);
        let sheet = format!(
            "M{x} {}Q{x} {y} {} {y}H{}L{right} {}V{}Q{right} {bottom} {} {bottom}H{}Q{x} {bottom} {x} {}z",
            y + 4,
            x + 4,
            right - fold,
            y + fold,
            bottom - 4,
            right - 4,
            x + 4,
            bottom - 4
        );
        canvas.path(Layer::Nodes, &sheet, "card");
        let corner = format!("M{} {y}V{}H{right}", right - fold, y + fold);
        canvas.path(Layer::Nodes, &corner, "rule");
        let evidence = self.node.kind() == NodeKind::Evidence;
        let icon = if evidence { "k-evidence" } else { "k-artifact" };
        let baseline = y + 18;
        canvas.icon(Layer::Nodes, icon, x + 8, y + 7, "");
        let judged = evidence && self.node.output.is_some();
        let shown = self.status != Status::Succeeded || judged;
        let mut right = right - fold - 4;
        if shown {
            canvas.icon(Layer::Nodes, self.look.icon, right - ICON, y + 7, self.look.colour);
            right -= ICON + 5;
        }
        let remark = match self.node.revisions {
            revisions if revisions > 1 && !evidence => format!("{revisions}×"),
            _ => String::new(),
        };
        let used = canvas.put(SMALL.at((right, baseline), w / 3).end(), &remark);
        let room = right - (x + 28) - if used > 0 { used + 8 } else { 0 };
        canvas.put(BODY.at((x + 28, baseline), room), &self.node.title);
    }

    fn boundary(&self, canvas: &mut Canvas) {
        self.frame(canvas);
        self.head(canvas, boundary_icon(self.node.kind()), &self.node.title, "");
        let said = self.node.output.as_deref().or(self.node.input.as_deref()).unwrap_or_default();
        let at = (self.area.x + PAD, self.line(1));
        canvas.put(SMALL.at(at, self.body_room()), said);
    }

    fn earlier(&self, canvas: &mut Canvas) {
        canvas.rect(Layer::Nodes, self.area.moved(4, 4), 7, "card");
        self.frame(canvas);
        let left = self.area.x + PAD;
        canvas.put(NAME.at((left, self.line(0)), self.body_room()), "earlier, folded");
        let counts = self.figures.map(|f| f.counts).unwrap_or_default();
        let text = words::contents(&counts).join(" · ");
        let lines = if self.d.compact { 1 } else { 2 };
        for (number, line) in (1_i32..).zip(SMALL.font.wrap(&text, self.body_room(), lines)) {
            canvas.put(SMALL.at((left, self.line(number)), self.body_room()), &line);
        }
    }
}
