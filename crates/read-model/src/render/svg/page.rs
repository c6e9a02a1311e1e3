//! Owns the page: header, one part below the other, tasks, legend.

use super::super::status_word;
use super::super::text::duration;
use super::canvas::{Anchor, Area, BODY, CODE, Canvas, HEAD, Layer, NAME, SMALL, TITLE};
use super::layout::{BandLayout, Link, Placement, band_layout, lane_pad};
use super::score::{Band, Lane, Part, Score, score};
use super::style::look;
use super::{card, lines, tasks, words};
use crate::projections::graph::{EdgeKind, ExecutionGraph, Node, NodeId, NodeKind, Status};
use event_spine::RecordedAt;

pub(super) const MARGIN: i32 = 28;
const BAND_PAD: i32 = 14;
const GUTTER: i32 = 128;
const WIDEST: i32 = 1480;
const NARROWEST: i32 = 860;
const PART_GAP: i32 = 14;

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
    let widest = layouts
        .iter()
        .flatten()
        .map(|layout| layout.width)
        .max()
        .unwrap_or(0);
    let wanted = widest + 2 * MARGIN + 2 * BAND_PAD + gutter + frame;
    let width = wanted
        .max(tasks::width(&score, WIDEST))
        .clamp(NARROWEST, WIDEST);
    let mut page = Page {
        canvas: Canvas::default(),
        score: &score,
        graph,
        width,
        gutter,
        y: MARGIN,
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
    let edge = edges
        .iter()
        .find(|e| matches!(e.kind, EdgeKind::Spawned | EdgeKind::Handoff))?;
    band.blocks
        .iter()
        .flat_map(super::score::Block::calls)
        .find(|id| **id == edge.from)
}

struct Page<'a> {
    canvas: Canvas,
    score: &'a Score<'a>,
    graph: &'a ExecutionGraph,
    width: i32,
    gutter: i32,
    y: i32,
}

impl Page<'_> {
    fn inner(&self) -> i32 {
        self.width - 2 * MARGIN
    }

    fn header(&mut self) {
        let total = &self.score.derived.total;
        let style = look(total.status);
        let session = self
            .graph
            .at()
            .map(|at| at.session_id.to_string())
            .unwrap_or_default();
        let right = self.width - MARGIN;
        let baseline = self.y + 16;
        let word = status_word(NodeKind::Turn, total.status);
        let used = self.canvas.text(
            Layer::Nodes,
            BODY,
            Anchor::End,
            (right, baseline),
            160,
            "",
            word,
        );
        self.canvas.icon(
            Layer::Nodes,
            style.icon,
            right - used - 21,
            baseline - 12,
            style.colour,
        );
        let name = if session.is_empty() {
            "no events yet"
        } else {
            &session
        };
        let room = self.inner() - used - 60;
        self.canvas.text(
            Layer::Nodes,
            HEAD,
            Anchor::Start,
            (MARGIN, baseline),
            room,
            "",
            name,
        );
        let mut parts = words::contents(&total.counts);
        parts.extend(words::token_sum(total).map(|sum| {
            words::tokens(total.rolled_up).map_or(sum.clone(), |both| format!("{sum} ({both})"))
        }));
        parts.extend(total.duration_ms.filter(|ms| *ms > 0).map(duration));
        let text = parts.join("  ·  ");
        let at = (MARGIN, baseline + 22);
        self.canvas.text(
            Layer::Nodes,
            BODY,
            Anchor::Start,
            at,
            self.inner(),
            " muted",
            &text,
        );
        if let Some(at) = self.graph.at() {
            let chain = at.chain.get(..8).unwrap_or_default();
            let (from, to) = self.graph.span();
            let time = |micros: i64| {
                RecordedAt(micros)
                    .to_string()
                    .get(..19)
                    .map(|t| t.replace('T', " "))
            };
            let span = match (time(from), time(to)) {
                (Some(from), Some(to)) if from != to => format!("  ·  {from} to {to} UTC"),
                (Some(from), _) => format!("  ·  {from} UTC"),
                (None, _) => String::new(),
            };
            let text = format!("event {}  ·  chain {chain}{span}", at.sequence);
            let place = (MARGIN, baseline + 42);
            self.canvas.text(
                Layer::Nodes,
                CODE,
                Anchor::Start,
                place,
                self.inner(),
                "",
                &text,
            );
        }
        self.y = baseline + 58;
    }

    /// The head of a turn: number, question, and on the right how it went. Gives its height.
    fn turn_head(&mut self, turn: &Node, number: u64, area: Area) -> i32 {
        let status = self.score.status(turn);
        let style = look(status);
        let figures = self.score.derived.of(&turn.id);
        let baseline = area.y + 25;
        let left = area.x + BAND_PAD;
        let mut right = area.right() - BAND_PAD;
        let tooltip = words::tooltip(turn, status, figures);
        self.canvas.open(&turn.id.to_string(), "n turn", &tooltip);
        self.canvas.icon(
            Layer::Nodes,
            style.icon,
            right - 14,
            baseline - 12,
            style.colour,
        );
        right -= 22;
        let mut parts = figures
            .map(|f| words::contents(&f.counts))
            .unwrap_or_default();
        parts.extend(figures.and_then(words::token_sum));
        parts.extend(figures.and_then(|f| f.duration_ms).map(duration));
        if status != Status::Succeeded {
            parts.push(status_word(NodeKind::Turn, status).to_owned());
        }
        let text = parts.join(" · ");
        let half = (right - left) / 2;
        let used = self.canvas.text(
            Layer::Nodes,
            SMALL,
            Anchor::End,
            (right, baseline),
            half,
            "",
            &text,
        );
        let label = format!("Turn {number}");
        let label_w = self.canvas.text(
            Layer::Nodes,
            SMALL,
            Anchor::Start,
            (left, baseline),
            120,
            "",
            &label,
        );
        let title = if turn.title.is_empty() {
            turn.input.as_deref()
        } else {
            Some(turn.title.as_str())
        };
        let x = left + label_w + 12;
        let room = right - used - 20 - x;
        let title = title.unwrap_or_default();
        self.canvas.text(
            Layer::Nodes,
            TITLE,
            Anchor::Start,
            (x, baseline),
            room,
            "",
            title,
        );
        let mut height = 38;
        let failed = status.is_failure() || matches!(status, Status::Cancelled | Status::Partial);
        if failed {
            let why = [turn.failure_category.as_deref(), turn.output.as_deref()];
            let why: Vec<&str> = why.into_iter().flatten().collect();
            let tone = if status.is_failure() { " s-bad" } else { "" };
            let at = (x, baseline + 19);
            let used = self.canvas.text(
                Layer::Nodes,
                BODY,
                Anchor::Start,
                at,
                right - x,
                tone,
                &why.join(": "),
            );
            height += if used > 0 { 20 } else { 0 };
        }
        self.canvas.close();
        height
    }

    fn band(&mut self, band: &Band<'_>, layout: &BandLayout<'_>) {
        let top = self.y;
        let frame_x = MARGIN;
        let area = Area::new(frame_x, top, self.inner(), 0);
        let head = match band.turn {
            Some(turn) if turn.kind() == NodeKind::Turn => self.turn_head(turn, band.number, area),
            other => self.rest_head(other, area),
        };
        let content = (frame_x + BAND_PAD + self.gutter, top + head);
        let empty = layout.systems.iter().all(|system| system.lanes.is_empty());
        let body = if empty { 0 } else { layout.height };
        let height = head + body + if empty { 0 } else { BAND_PAD - 4 };
        let status = band.turn.map(|turn| self.score.status(turn));
        let tone = match status {
            Some(status) if status.is_failure() => " band-bad",
            Some(Status::Waiting | Status::Blocked) => " band-wait",
            _ => "",
        };
        let frame = Area { h: height, ..area };
        self.canvas
            .rect(Layer::Back, frame, 10, &format!("band{tone}"));
        self.lanes(band, layout, content);
        self.blocks(band, layout, content);
        self.y = frame.bottom() + PART_GAP;
    }

    fn rest_head(&mut self, node: Option<&Node>, area: Area) -> i32 {
        let at = (area.x + BAND_PAD, area.y + 25);
        let (title, why) = match node {
            Some(_) => ("Unplaced", "no event says who started these agents"),
            None => ("Outside any turn", ""),
        };
        if let Some(node) = node {
            let tooltip = words::tooltip(node, Status::Unknown, self.score.derived.of(&node.id));
            self.canvas.open(&node.id.to_string(), "n", &tooltip);
        }
        let used = self
            .canvas
            .text(Layer::Nodes, TITLE, Anchor::Start, at, 200, "", title);
        let next = (at.0 + used + 12, at.1);
        self.canvas.text(
            Layer::Nodes,
            SMALL,
            Anchor::Start,
            next,
            area.w - used - 60,
            "",
            why,
        );
        if node.is_some() {
            self.canvas.close();
        }
        38
    }

    fn lanes(&mut self, band: &Band<'_>, layout: &BandLayout<'_>, (left, top): (i32, i32)) {
        for (number, system) in layout.systems.iter().enumerate() {
            for (at, y, height) in &system.lanes {
                let Some(lane) = band.lanes.get(*at) else {
                    continue;
                };
                let named = !layout
                    .systems
                    .iter()
                    .take(number)
                    .any(|s| s.lanes.iter().any(|l| l.0 == *at));
                let gutter = Area::new(left - self.gutter, top + y, self.gutter - 8, *height);
                if lane.accent.is_some() {
                    let stave = Area::new(
                        left - 14,
                        top + y,
                        self.width - MARGIN - BAND_PAD - left + 14,
                        *height,
                    );
                    self.canvas.rect(Layer::Back, stave, 8, "lane");
                }
                if self.gutter > 0 {
                    self.lane_label(band, lane, gutter, named);
                }
            }
        }
    }

    fn lane_label(&mut self, band: &Band<'_>, lane: &Lane<'_>, gutter: Area, first: bool) {
        let indent = (lane.depth - 1).clamp(0, 4) * 10;
        let x = gutter.x + indent;
        let pad = lane_pad(lane.accent);
        let baseline = gutter.y + pad + 16;
        let room = gutter.right() - x - 12;
        let accent = lane.accent.map(|at| at % 5);
        let node = lane.node;
        let threads = band
            .lanes
            .iter()
            .filter(|lane| lane.accent.is_none())
            .count();
        let name = match (accent, threads) {
            (None, 1) => "main agent",
            _ => node.title.as_str(),
        };
        let status = self.score.status(node);
        let figures = self.score.derived.of(&node.id);
        if first && accent.is_some() {
            self.canvas.open(
                &node.id.to_string(),
                "n agent",
                &words::tooltip(node, status, figures),
            );
        }
        let mut text_x = x;
        if let Some(accent) = accent {
            let bar = Area::new(x, gutter.y + pad, 4, (gutter.h - 2 * pad).clamp(8, 64));
            self.canvas
                .rect(Layer::Nodes, bar, 2, &format!("a{accent}"));
            text_x = x + 11;
        }
        let room = room - (text_x - x);
        self.canvas.text(
            Layer::Nodes,
            NAME,
            Anchor::Start,
            (text_x, baseline),
            room,
            "",
            name,
        );
        if first && accent.is_some() {
            let style = look(status);
            self.canvas
                .icon(Layer::Nodes, style.icon, text_x, baseline + 7, style.colour);
            let word = status_word(NodeKind::Subagent, status);
            let took = figures.and_then(|f| f.duration_ms).map(duration);
            let text = took
                .as_deref()
                .filter(|_| status == Status::Succeeded)
                .unwrap_or(word);
            let at = (text_x + 19, baseline + 18);
            self.canvas
                .text(Layer::Nodes, SMALL, Anchor::Start, at, room - 19, "", text);
            let tokens = figures.and_then(words::token_sum).unwrap_or_default();
            if gutter.h > 80 {
                let at = (text_x, baseline + 35);
                self.canvas
                    .text(Layer::Nodes, SMALL, Anchor::Start, at, room, "", &tokens);
            }
            self.canvas.close();
        }
    }

    fn blocks(&mut self, band: &Band<'_>, layout: &BandLayout<'_>, (left, top): (i32, i32)) {
        let d = layout.density;
        for block in &layout.blocks {
            if let Some(group) = block.group {
                self.canvas
                    .rect(Layer::Back, group.moved(left, top), 10, "lane");
            }
            let bend = |to: Area| to.x + left - d.gap / 2 + 2;
            for link in &block.links {
                match *link {
                    Link::Flow { from, to } => {
                        lines::flow(
                            &mut self.canvas,
                            from.moved(left, top),
                            to.moved(left, top),
                            bend(to),
                        );
                    }
                    Link::Hang { from, to } => {
                        lines::hang(&mut self.canvas, from.moved(left, top), to.moved(left, top));
                    }
                }
            }
            for placed in &block.cards {
                let mut placed = *placed;
                placed.area = placed.area.moved(left, top);
                card::draw(&mut self.canvas, self.score, &placed, d);
            }
        }
        for lane in 0..band.lanes.len() {
            let stave: Vec<_> = layout
                .blocks
                .iter()
                .filter(|block| block.lane == lane)
                .collect();
            self.chain(&stave, (left, top), d.gap);
            self.starts(band, layout, lane, &stave, (left, top));
        }
    }

    /// The lines from block to block of a lane, also over the end of a system.
    fn chain(&mut self, stave: &[&Placement<'_>], (left, top): (i32, i32), gap: i32) {
        for pair in stave.windows(2) {
            let [from, to] = pair else {
                continue;
            };
            let entry = to.entry.moved(left, top);
            if from.system == to.system {
                for exit in &from.exits {
                    let right = from.exits.iter().map(|e| e.right()).max().unwrap_or(0) + left;
                    lines::flow(
                        &mut self.canvas,
                        exit.moved(left, top),
                        entry,
                        right + gap / 2 - 4,
                    );
                }
                continue;
            }
            if let Some(exit) = from.exits.first().map(|exit| exit.moved(left, top)) {
                let d = format!("M{} {}h9", exit.right(), exit.middle());
                self.canvas.path(Layer::Lines, &d, "line dash");
            }
            let d = format!("M{} {}H{}", entry.x - 10, entry.middle(), entry.x);
            self.canvas.arrow(&d, "line", None);
        }
    }

    /// The line from what started an agent to the first block of its lane.
    fn starts(
        &mut self,
        band: &Band<'_>,
        layout: &BandLayout<'_>,
        lane: usize,
        stave: &[&Placement<'_>],
        (left, top): (i32, i32),
    ) {
        let (Some(agent), Some(first)) = (band.lanes.get(lane), stave.first()) else {
            return;
        };
        let Some(accent) = agent.accent.map(|at| at % 5) else {
            return;
        };
        let edges = self.score.incoming.get(&agent.node.id);
        let started = edges
            .into_iter()
            .flatten()
            .find(|e| matches!(e.kind, EdgeKind::Spawned | EdgeKind::Handoff));
        let Some(edge) = started else {
            return;
        };
        let call = layout
            .blocks
            .iter()
            .filter(|block| block.system == first.system)
            .flat_map(|block| &block.cards)
            .find(|card| card.node.id == edge.from)
            .map(|card| card.area);
        let parent = band
            .lanes
            .iter()
            .position(|l| Some(&l.node.id) == agent.node.lane.as_ref());
        let before = || {
            let blocks = layout.blocks.iter().rev();
            let mut in_parent =
                blocks.filter(|b| Some(b.lane) == parent && b.system == first.system);
            in_parent
                .find(|b| b.start < first.start)
                .and_then(|b| b.exits.first().copied())
        };
        let Some(from) = call.or_else(before) else {
            return;
        };
        let d = lines::drop_to(
            from.moved(left, top),
            first.entry.moved(left, top),
            i32::try_from(accent).unwrap_or(0) * 4 - 4,
        );
        let kind = if edge.kind == EdgeKind::Handoff {
            "handoff"
        } else {
            "spawn"
        };
        self.canvas.arrow(&d, kind, Some(accent));
        if edge.kind == EdgeKind::Handoff {
            let at = (from.x + left + 16, first.entry.middle() + top - 6);
            self.canvas
                .text(Layer::Lines, SMALL, Anchor::Start, at, 60, "", "handoff");
        }
    }

    fn earlier(&mut self, node: &Node) {
        let figures = self.score.derived.of(&node.id);
        let mut parts = figures
            .map(|f| words::contents(&f.counts))
            .unwrap_or_default();
        parts.extend(figures.and_then(words::token_sum));
        self.row(node, "Earlier", &parts.join(" · "), "");
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
            self.canvas.text(
                Layer::Nodes,
                SMALL,
                Anchor::Start,
                at,
                300,
                " s-wait",
                &text.unwrap_or_default(),
            );
            height += 20;
        }
        self.canvas
            .rect(Layer::Back, Area { h: height, ..area }, 10, "band");
        self.y = area.y + height + 6;
    }

    fn row(&mut self, node: &Node, title: &str, text: &str, tone: &str) {
        let area = Area::new(MARGIN, self.y, self.inner(), 38);
        self.canvas.rect(Layer::Back, area, 10, "band");
        let status = self.score.status(node);
        let tooltip = words::tooltip(node, status, self.score.derived.of(&node.id));
        self.canvas.open(&node.id.to_string(), "n", &tooltip);
        let at = (area.x + BAND_PAD, area.y + 24);
        let used = self
            .canvas
            .text(Layer::Nodes, TITLE, Anchor::Start, at, 200, "", title);
        let next = (at.0 + used + 12, at.1);
        self.canvas.text(
            Layer::Nodes,
            SMALL,
            Anchor::Start,
            next,
            area.w - used - 60,
            tone,
            text,
        );
        self.canvas.close();
        self.y = area.bottom() + 6;
    }

    /// A line across the page: what is above it and what is below it are not one history.
    fn boundary(&mut self, node: &Node) {
        let status = self.score.status(node);
        let style = look(status);
        let y = self.y + 12;
        let parts = [
            Some(node.title.as_str()),
            node.output.as_deref(),
            node.input.as_deref(),
        ];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let text = BODY.font.fit(&text, self.inner() - 200);
        let w = BODY.font.width(&text);
        let from = (self.width - w - 54) / 2;
        let to = from + w + 54;
        let rule = format!("M{MARGIN} {y}H{from}M{to} {y}H{}", self.width - MARGIN);
        self.canvas.path(Layer::Lines, &rule, "soft dash");
        let tooltip = words::tooltip(node, status, self.score.derived.of(&node.id));
        self.canvas
            .open(&node.id.to_string(), "n boundary", &tooltip);
        let (icon, colour) = match status {
            Status::Succeeded => (card::boundary_icon(node.kind()), ""),
            _ => (style.icon, style.colour),
        };
        self.canvas
            .icon(Layer::Nodes, icon, from + 12, y - 7, colour);
        self.canvas.text(
            Layer::Nodes,
            BODY,
            Anchor::Start,
            (from + 33, y + 4),
            w,
            "",
            &text,
        );
        self.canvas.close();
        self.y = y + 12 + PART_GAP;
    }

    /// What could not be placed or made sense of.
    fn notes(&mut self) {
        const MOST: usize = 5;
        let notes = self.graph.diagnostics();
        for note in notes.iter().take(MOST) {
            let text = format!("{} (event {})", note.message, note.sequence);
            self.canvas
                .icon(Layer::Nodes, "blocked", MARGIN, self.y, "s-wait");
            let at = (MARGIN + 21, self.y + 11);
            self.canvas.text(
                Layer::Nodes,
                BODY,
                Anchor::Start,
                at,
                self.inner() - 21,
                "",
                &text,
            );
            self.y += 22;
        }
        if notes.len() > MOST {
            let text = format!("and {} more notes", notes.len() - MOST);
            let at = (MARGIN + 21, self.y + 11);
            self.canvas.text(
                Layer::Nodes,
                SMALL,
                Anchor::Start,
                at,
                self.inner(),
                "",
                &text,
            );
            self.y += 22;
        }
    }

    fn legend(&mut self) {
        let items = self.used();
        let (mut x, mut y) = (MARGIN, self.y + 8);
        let d = format!("M{MARGIN} {}H{}", y - 6, self.width - MARGIN);
        self.canvas.path(Layer::Back, &d, "rule");
        y += 8;
        for (icon, colour, word) in items {
            let w = 20 + SMALL.font.width(word);
            if x + w > self.width - MARGIN {
                (x, y) = (MARGIN, y + 22);
            }
            self.canvas.icon(Layer::Nodes, icon, x, y, colour);
            self.canvas.text(
                Layer::Nodes,
                SMALL,
                Anchor::Start,
                (x + 20, y + 11),
                w,
                "",
                word,
            );
            x += w + 20;
        }
        for (class, accent, word) in self.used_lines() {
            let w = 34 + SMALL.font.width(word);
            if x + w > self.width - MARGIN {
                (x, y) = (MARGIN, y + 22);
            }
            self.canvas
                .arrow(&format!("M{x} {}h26", y + 7), class, accent);
            self.canvas.text(
                Layer::Nodes,
                SMALL,
                Anchor::Start,
                (x + 34, y + 11),
                w,
                "",
                word,
            );
            x += w + 20;
        }
        self.y = y + 22;
    }

    /// The states and kinds that are in the picture, with icon, colour and word.
    fn used(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let mut states: Vec<Status> = self.graph.nodes().map(|n| self.score.status(n)).collect();
        states.sort_unstable();
        states.dedup();
        let mut items: Vec<_> = states
            .into_iter()
            .map(|status| {
                let style = look(status);
                (
                    style.icon,
                    style.colour,
                    status_word(NodeKind::Turn, status),
                )
            })
            .collect();
        let kinds = [
            (NodeKind::ModelCall, "k-model", "model call"),
            (NodeKind::ToolCall, "k-tool", "tool call"),
            (NodeKind::Action, "k-action", "approval"),
            (NodeKind::Artifact, "k-artifact", "artifact"),
            (NodeKind::Evidence, "k-evidence", "evidence"),
            (NodeKind::Task, "k-task", "task"),
        ];
        let here = |kind| self.graph.nodes().any(|node| node.kind() == kind);
        let kinds = kinds.into_iter().filter(|(kind, _, _)| here(*kind));
        items.extend(kinds.map(|(_, icon, word)| (icon, "", word)));
        items
    }

    /// The kinds of lines that are in the picture, with class, accent and word.
    fn used_lines(&self) -> Vec<(&'static str, Option<usize>, &'static str)> {
        let any = |kind| {
            self.score
                .incoming
                .values()
                .flatten()
                .any(|edge| edge.kind == kind)
        };
        let mut lines = vec![("line", None, "then")];
        if any(EdgeKind::Spawned) {
            lines.push(("spawn", Some(0), "started"));
        }
        if any(EdgeKind::Handoff) {
            lines.push(("handoff", Some(0), "handoff"));
        }
        lines
    }

    /// The picture in words, for those who cannot see it.
    fn in_words(&self) -> (String, String) {
        let total = &self.score.derived.total;
        let session = self
            .graph
            .at()
            .map_or_else(String::new, |at| at.session_id.to_string());
        let title = format!("Execution graph of session {session}");
        let mut description = format!(
            "{}. {}.",
            status_word(NodeKind::Turn, total.status),
            words::contents(&total.counts).join(", ")
        );
        for part in &self.score.parts {
            if let Part::Band(band) = part
                && let Some(turn) = band.turn
            {
                let asked = turn.input.as_deref().unwrap_or(&turn.title);
                let status = self.score.status(turn);
                description.push_str(&format!(" Turn {}, {status}: {asked}", band.number));
            }
        }
        (title, description)
    }
}
