//! Owns how a turn is drawn: the frame, the lanes with their names, the blocks, and the lines between them.

use super::super::text::duration;
use super::canvas::{Area, BODY, Layer, NAME, SMALL, TITLE};
use super::layout::{BandLayout, Link, Placement, lane_pad};
use super::page::{BAND_PAD, MARGIN, PART_GAP, Page};
use super::score::{Band, Lane};
use super::style::look;
use super::{card, lines, words};
use crate::projections::graph::{Edge, EdgeKind, Node, NodeKind, Status};
use crate::render::status_word;

impl Page<'_> {
    pub(super) fn band(&mut self, band: &Band<'_>, layout: &BandLayout<'_>) {
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
        self.canvas.rect(Layer::Back, frame, 10, &format!("band{tone}"));
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
        let used = self.canvas.put(TITLE.at(at, 200), title);
        let next = (at.0 + used + 12, at.1);
        self.canvas.put(SMALL.at(next, area.w - used - 60), why);
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
                let named =
                    !layout.systems.iter().take(number).any(|s| s.lanes.iter().any(|l| l.0 == *at));
                let gutter = Area::new(left - self.gutter, top + y, self.gutter - 8, *height);
                if lane.accent.is_some() {
                    let stave = Area::new(
                        left - 14,
                        top + y,
                        self.width - MARGIN - BAND_PAD - left + 14,
                        *height,
                    );
                    self.canvas.rect(Layer::Back, stave, 8, "lane");
                    if named && !layout.blocks.iter().any(|block| block.lane == *at) {
                        self.unseen(lane.node, stave);
                    }
                }
                if self.gutter > 0 {
                    self.lane_label(band, lane, gutter, named);
                }
            }
        }
    }

    /// What is known of an agent whose own steps nobody recorded: what it was asked, and what came out.
    fn unseen(&mut self, agent: &Node, stave: Area) {
        let (x, room) = (stave.x + 14, stave.w - 28);
        let asked = agent.input.as_deref().unwrap_or("no step of its own was recorded");
        self.canvas.put(BODY.at((x, stave.y + 26), room), asked);
        if let Some(came_out) = agent.output.as_deref() {
            let text = format!("→ {came_out}");
            let tone = if agent.status.is_failure() { "s-bad" } else { "muted" };
            self.canvas.put(SMALL.at((x, stave.y + 46), room).tone(tone), &text);
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
        let threads = band.lanes.iter().filter(|lane| lane.accent.is_none()).count();
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
            self.canvas.rect(Layer::Nodes, bar, 2, &format!("a{accent}"));
            text_x = x + 11;
        }
        let room = room - (text_x - x);
        self.canvas.put(NAME.at((text_x, baseline), room), name);
        if first && accent.is_some() {
            let style = look(status);
            self.canvas.icon(Layer::Nodes, style.icon, text_x, baseline + 7, style.colour);
            let word = status_word(NodeKind::Subagent, status);
            let took = figures.and_then(|f| f.duration_ms).map(duration);
            let text = took.as_deref().filter(|_| status == Status::Succeeded).unwrap_or(word);
            let at = (text_x + 19, baseline + 18);
            self.canvas.put(SMALL.at(at, room - 19), text);
            let tokens = figures.and_then(words::token_sum).unwrap_or_default();
            if gutter.h > 80 {
                let at = (text_x, baseline + 35);
                self.canvas.put(SMALL.at(at, room), &tokens);
            }
            self.canvas.close();
        }
    }

    fn blocks(&mut self, band: &Band<'_>, layout: &BandLayout<'_>, (left, top): (i32, i32)) {
        let d = layout.density;
        for block in &layout.blocks {
            if let Some(group) = block.group {
                self.canvas.rect(Layer::Back, group.moved(left, top), 10, "lane");
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
            let stave: Vec<_> = layout.blocks.iter().filter(|block| block.lane == lane).collect();
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
        let edges = self.score.incoming.get(&agent.node.id).into_iter().flatten();
        let starts =
            || edges.clone().filter(|e| matches!(e.kind, EdgeKind::Spawned | EdgeKind::Handoff));
        let card_of = |edge: &Edge| {
            let here = layout.blocks.iter().filter(|block| block.system == first.system);
            let mut cards = here.flat_map(|block| &block.cards);
            cards.find(|card| card.node.id == edge.from).map(|card| card.area)
        };
        // A source may say first that the turn started it and later which call did.
        let told = starts().find_map(|edge| Some((edge, card_of(edge)?)));
        let Some((edge, call)) = told
            .map(|(edge, card)| (edge, Some(card)))
            .or_else(|| starts().next().map(|edge| (edge, None)))
        else {
            return;
        };
        let parent = band.lanes.iter().position(|l| Some(&l.node.id) == agent.node.lane.as_ref());
        let before = || {
            let blocks = layout.blocks.iter().rev();
            let mut in_parent =
                blocks.filter(|b| Some(b.lane) == parent && b.system == first.system);
            in_parent.find(|b| b.start < first.start).and_then(|b| b.exits.first().copied())
        };
        let Some(from) = call.or_else(before) else {
            return;
        };
        let d = lines::drop_to(
            from.moved(left, top),
            first.entry.moved(left, top),
            i32::try_from(accent).unwrap_or(0) * 4 - 4,
        );
        let kind = if edge.kind == EdgeKind::Handoff { "handoff" } else { "spawn" };
        self.canvas.arrow(&d, kind, Some(accent));
        self.drawn.insert(edge.kind);
        if edge.kind == EdgeKind::Handoff {
            let at = (from.x + left + 16, first.entry.middle() + top - 6);
            self.canvas.put(SMALL.at(at, 60).on(Layer::Lines), "handoff");
        }
    }
}
