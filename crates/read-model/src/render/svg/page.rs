//! Owns the page: the header, then one part below the other; [`band`](super::band) draws a turn in full.

use std::collections::BTreeSet;

use super::super::status_word;
use super::super::text::duration;
use super::canvas::{Area, BODY, CODE, Canvas, HEAD, Layer, SMALL, TITLE};
use super::layout::{BandLayout, band_layout};
use super::score::{Band, Part, Score, score};
use super::style::look;
use super::{card, tasks, words};
use crate::projections::graph::{EdgeKind, ExecutionGraph, Node, NodeId, NodeKind, Status};
use event_spine::RecordedAt;

pub(super) const MARGIN: i32 = 28;
pub(super) const BAND_PAD: i32 = 14;
const GUTTER: i32 = 128;
const WIDEST: i32 = 1480;
const NARROWEST: i32 = 860;
pub(super) const PART_GAP: i32 = 14;

/// Draws everything.
pub(super) fn draw(graph: &ExecutionGraph) -> String {
    let score = score(graph);
    let gutter = if score.has_agents() { GUTTER } else { 0 };
    // The frame around a sub-agent's lane needs some room at its right end.
    let frame = if gutter > 0 { 12 } else { 0 };
    let room = WIDEST - 2 * MARGIN - 2 * BAND_PAD - gutter - frame;
    let layouts: Vec<Option<BandLayout<'_>>> = score
        .parts
        .iter()
        .map(|part| match part {
            Part::Band(band) => Some(band_layout(band, |lane| spawner(&score, band, lane), room)),
            Part::Earlier(_) | Part::Summary { .. } | Part::Boundary(_) => None,
        })
        .collect();
    let widest = layouts.iter().flatten().map(|layout| layout.width).max().unwrap_or(0);
    let wanted = widest + 2 * MARGIN + 2 * BAND_PAD + gutter + frame;
    let width = wanted.max(tasks::width(&score, WIDEST)).clamp(NARROWEST, WIDEST);
    let mut page = Page {
        canvas: Canvas::default(),
        score: &score,
        graph,
        width,
        gutter,
        y: MARGIN,
        drawn: BTreeSet::new(),
    };
    page.header();
    for (part, layout) in score.parts.iter().zip(&layouts) {
        match (part, layout) {
            (Part::Band(band), Some(layout)) => page.band(band, layout),
            (Part::Band(_), None) => {}
            (Part::Earlier(node), _) => page.earlier(node),
            (Part::Summary { turn, number, open }, _) => page.summary(turn, *number, open),
            (Part::Boundary(node), _) => page.boundary(node),
        }
    }
    page.y = tasks::draw(&mut page.canvas, &score, page.y, width);
    page.notes();
    page.legend();
    let (title, description) = page.in_words();
    let height = page.y + MARGIN - 8;
    page.canvas.finish(width, height, &title, &description)
}

/// The call that started the agent of a lane.
fn spawner<'a>(score: &Score<'a>, band: &Band<'a>, lane: usize) -> Option<&'a NodeId> {
    let agent = band.lanes.get(lane)?.node;
    let edges = score.incoming.get(&agent.id)?;
    let starts =
        || edges.iter().filter(|e| matches!(e.kind, EdgeKind::Spawned | EdgeKind::Handoff));
    let mut calls = band.blocks.iter().flat_map(super::score::Block::calls);
    calls.find(|id| starts().any(|edge| edge.from == **id))
}

/// The page being drawn.
pub(super) struct Page<'a> {
    pub(super) canvas: Canvas,
    pub(super) score: &'a Score<'a>,
    pub(super) graph: &'a ExecutionGraph,
    pub(super) width: i32,
    /// Width of the names of lanes; 0 when there is only one lane.
    pub(super) gutter: i32,
    pub(super) y: i32,
    /// The kinds of lines to lanes that were drawn, for the legend.
    pub(super) drawn: BTreeSet<EdgeKind>,
}

impl Page<'_> {
    pub(super) fn inner(&self) -> i32 {
        self.width - 2 * MARGIN
    }

    fn header(&mut self) {
        let total = &self.score.derived.total;
        let style = look(total.status);
        let session = self.graph.at().map(|at| at.session_id.to_string()).unwrap_or_default();
        let right = self.width - MARGIN;
        let baseline = self.y + 16;
        let word = status_word(NodeKind::Turn, total.status);
        let used = self.canvas.put(BODY.at((right, baseline), 160).end(), word);
        self.canvas.icon(Layer::Nodes, style.icon, right - used - 21, baseline - 12, style.colour);
        let name = if session.is_empty() { "no events yet" } else { &session };
        let room = self.inner() - used - 60;
        self.canvas.put(HEAD.at((MARGIN, baseline), room), name);
        let mut parts = words::contents(&total.counts);
        parts.extend(words::token_sum(total).map(|sum| {
            words::tokens(total.rolled_up).map_or(sum.clone(), |both| format!("{sum} ({both})"))
        }));
        parts.extend(total.duration_ms.filter(|ms| *ms > 0).map(duration));
        let text = parts.join("  ·  ");
        let at = (MARGIN, baseline + 22);
        self.canvas.put(BODY.at(at, self.inner()).tone("muted"), &text);
        if let Some(at) = self.graph.at() {
            let chain = at.chain.get(..8).unwrap_or_default();
            let (from, to) = self.graph.span();
            let time =
                |micros: i64| RecordedAt(micros).to_string().get(..19).map(|t| t.replace('T', " "));
            let span = match (time(from), time(to)) {
                // One time for everything is none of the source's own.
                _ if from == to => String::new(),
                (Some(from), Some(to)) if from != to => format!("  ·  {from} to {to} UTC"),
                (Some(from), _) => format!("  ·  {from} UTC"),
                (None, _) => String::new(),
            };
            let text = format!("event {}  ·  chain {chain}{span}", at.sequence);
            let place = (MARGIN, baseline + 42);
            self.canvas.put(CODE.at(place, self.inner()), &text);
        }
        self.y = baseline + 58;
    }

    /// The head of a turn: number, question, and on the right how it went. Gives its height.
    pub(super) fn turn_head(&mut self, turn: &Node, number: u64, area: Area) -> i32 {
        let status = self.score.status(turn);
        let style = look(status);
        let figures = self.score.derived.of(&turn.id);
        let baseline = area.y + 25;
        let left = area.x + BAND_PAD;
        let mut right = area.right() - BAND_PAD;
        let tooltip = words::tooltip(turn, status, figures);
        self.canvas.open(&turn.id.to_string(), "n turn", &tooltip);
        self.canvas.icon(Layer::Nodes, style.icon, right - 14, baseline - 12, style.colour);
        right -= 22;
        let mut parts = figures.map(|f| words::contents(&f.counts)).unwrap_or_default();
        parts.extend(figures.and_then(words::token_sum));
        parts.extend(figures.and_then(|f| f.duration_ms).map(duration));
        if status != Status::Succeeded {
            parts.push(status_word(NodeKind::Turn, status).to_owned());
        }
        let text = parts.join(" · ");
        let half = (right - left) / 2;
        let used = self.canvas.put(SMALL.at((right, baseline), half).end(), &text);
        let label = format!("Turn {number}");
        let label_w = self.canvas.put(SMALL.at((left, baseline), 120), &label);
        let title =
            if turn.title.is_empty() { turn.input.as_deref() } else { Some(turn.title.as_str()) };
        let x = left + label_w + 12;
        let room = right - used - 20 - x;
        let title = title.unwrap_or_default();
        self.canvas.put(TITLE.at((x, baseline), room), title);
        let mut height = 38;
        let failed = status.is_failure() || matches!(status, Status::Cancelled | Status::Partial);
        if failed {
            let why = [turn.failure_category.as_deref(), turn.output.as_deref()];
            let why: Vec<&str> = why.into_iter().flatten().collect();
            let tone = if status.is_failure() { "s-bad" } else { "" };
            let at = (x, baseline + 19);
            let used = self.canvas.put(BODY.at(at, right - x).tone(tone), &why.join(": "));
            height += if used > 0 { 20 } else { 0 };
        }
        self.canvas.close();
        height
    }

    fn earlier(&mut self, node: &Node) {
        let figures = self.score.derived.of(&node.id);
        let mut parts = figures.map(|f| words::contents(&f.counts)).unwrap_or_default();
        parts.extend(figures.and_then(words::token_sum));
        self.row(node, "Earlier", &parts.join(" · "));
    }

    fn summary(&mut self, turn: &Node, number: u64, open: &[&Node]) {
        let area = Area::new(MARGIN, self.y, self.inner(), 0);
        let mut height = self.turn_head(turn, number, area);
        if !open.is_empty() {
            let text = words::count(
                u64::try_from(open.len()).unwrap_or(0),
                "approval waits",
                "approvals wait",
            );
            let at = (area.x + BAND_PAD, area.y + height + 10);
            self.canvas.put(SMALL.at(at, 300).tone("s-wait"), &text.unwrap_or_default());
            height += 20;
        }
        self.canvas.rect(Layer::Back, Area { h: height, ..area }, 10, "band");
        self.y = area.y + height + 6;
    }

    fn row(&mut self, node: &Node, title: &str, text: &str) {
        let area = Area::new(MARGIN, self.y, self.inner(), 38);
        self.canvas.rect(Layer::Back, area, 10, "band");
        let status = self.score.status(node);
        let tooltip = words::tooltip(node, status, self.score.derived.of(&node.id));
        self.canvas.open(&node.id.to_string(), "n", &tooltip);
        let at = (area.x + BAND_PAD, area.y + 24);
        let used = self.canvas.put(TITLE.at(at, 200), title);
        let next = (at.0 + used + 12, at.1);
        self.canvas.put(SMALL.at(next, area.w - used - 60), text);
        self.canvas.close();
        self.y = area.bottom() + 6;
    }

    /// A line across the page: what is above it and what is below it are not one history.
    fn boundary(&mut self, node: &Node) {
        let status = self.score.status(node);
        let style = look(status);
        let y = self.y + 12;
        let parts = [Some(node.title.as_str()), node.output.as_deref(), node.input.as_deref()];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let text = BODY.font.fit(&text, self.inner() - 200);
        let w = BODY.font.width(&text);
        let from = (self.width - w - 54) / 2;
        let to = from + w + 54;
        let rule = format!("M{MARGIN} {y}H{from}M{to} {y}H{}", self.width - MARGIN);
        self.canvas.path(Layer::Lines, &rule, "soft dash");
        let tooltip = words::tooltip(node, status, self.score.derived.of(&node.id));
        self.canvas.open(&node.id.to_string(), "n boundary", &tooltip);
        let (icon, colour) = match status {
            Status::Succeeded => (card::boundary_icon(node.kind()), ""),
            _ => (style.icon, style.colour),
        };
        self.canvas.icon(Layer::Nodes, icon, from + 12, y - 7, colour);
        self.canvas.put(BODY.at((from + 33, y + 4), w), &text);
        self.canvas.close();
        self.y = y + 12 + PART_GAP;
    }
}
