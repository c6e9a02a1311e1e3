//! Owns places: sizes of cards, where blocks stand in their lane, where a lane breaks into the next system.
//!
//! Within a band, x is time: a block starts right of everything that had ended before it, in whatever lane. When the
//! page is full, all lanes break together into a new system below, as music does.

use super::canvas::Area;
use super::score::{Band, Block, Content, Row};
use crate::projections::graph::{Node, NodeId};

/// How tightly a band is drawn: many small steps need less room each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Density {
    pub(super) compact: bool,
    pub(super) card_h: i32,
    pub(super) model_w: i32,
    pub(super) tool_w: i32,
    pub(super) gap: i32,
    pub(super) row_gap: i32,
}

const ROOMY: Density =
    Density { compact: false, card_h: 64, model_w: 164, tool_w: 216, gap: 30, row_gap: 12 };
const COMPACT: Density =
    Density { compact: true, card_h: 46, model_w: 70, tool_w: 172, gap: 16, row_gap: 8 };

/// Steps in a band above which it is drawn compactly.
const MANY_STEPS: usize = 14;

/// Width of a model card that shows an answer.
const ANSWER_W: i32 = 320;
/// Width of an approval.
pub(super) const GATE_W: i32 = 84;
/// Height of a document.
pub(super) const DOC_H: i32 = 28;
const DOC_GAP: i32 = 6;
/// Tool calls of one step below each other, before they are drawn as a grid.
const ROWS: usize = 8;
const GRID_GAP: i32 = 10;

/// What a card shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Card {
    Model,
    Answer,
    Tool,
    Gate,
    Document,
    Boundary,
    Earlier,
}

/// A card with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) card: Card,
    pub(super) node: &'a Node,
    pub(super) area: Area,
}

/// A line inside a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Link {
    /// From the right of one card to the left of another.
    Flow { from: Area, to: Area },
    /// From a card to a document under it.
    Hang { from: Area, to: Area },
}

/// A block with its cards, relative to its own corner until it is placed.
#[derive(Debug)]
pub(super) struct Placement<'a> {
    pub(super) lane: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) area: Area,
    pub(super) cards: Vec<Placed<'a>>,
    pub(super) links: Vec<Link>,
    /// Where the line from the block before arrives.
    pub(super) entry: Area,
    /// Where the line to the next block leaves.
    pub(super) exits: Vec<Area>,
    /// The frame around many parallel calls.
    pub(super) group: Option<Area>,
    pub(super) system: usize,
}

impl<'a> Placement<'a> {
    fn move_by(&mut self, dx: i32, dy: i32) {
        self.area = self.area.moved(dx, dy);
        self.entry = self.entry.moved(dx, dy);
        self.group = self.group.map(|group| group.moved(dx, dy));
        for card in &mut self.cards {
            card.area = card.area.moved(dx, dy);
        }
        for exit in &mut self.exits {
            *exit = exit.moved(dx, dy);
        }
        for link in &mut self.links {
            *link = match *link {
                Link::Flow { from, to } => {
                    Link::Flow { from: from.moved(dx, dy), to: to.moved(dx, dy) }
                }
                Link::Hang { from, to } => {
                    Link::Hang { from: from.moved(dx, dy), to: to.moved(dx, dy) }
                }
            };
        }
    }

    fn push(&mut self, card: Card, node: &'a Node, area: Area) -> Area {
        self.cards.push(Placed { card, node, area });
        self.area.w = self.area.w.max(area.right());
        self.area.h = self.area.h.max(area.bottom());
        area
    }

    /// Hangs documents under a card; gives the height of all together.
    fn documents(&mut self, under: Area, products: &[&'a Node]) -> i32 {
        let mut y = under.bottom() + DOC_GAP;
        for product in products {
            let area = Area::new(under.x + 18, y, under.w - 18, DOC_H);
            self.push(Card::Document, product, area);
            self.links.push(Link::Hang { from: under, to: area });
            y += DOC_H + DOC_GAP;
        }
        y - DOC_GAP - under.y
    }
}

/// The density that fits a band.
pub(super) fn density(band: &Band<'_>) -> Density {
    let calls = |block: &Block<'_>| block.calls().count() > 3 * ROWS;
    if band.blocks.len() > MANY_STEPS || band.blocks.iter().any(calls) { COMPACT } else { ROOMY }
}

/// Gives a block its cards.
fn measure<'a>(block: &Block<'a>, d: Density, room: i32) -> Placement<'a> {
    let mut out = Placement {
        lane: block.lane,
        start: block.start,
        end: block.end,
        area: Area::default(),
        cards: Vec::new(),
        links: Vec::new(),
        entry: Area::default(),
        exits: Vec::new(),
        group: None,
        system: 0,
    };
    match &block.content {
        Content::Boundary(node) => {
            single(&mut out, Card::Boundary, node, Area::new(0, 0, 150, d.card_h))
        }
        Content::Earlier(node) => {
            single(&mut out, Card::Earlier, node, Area::new(0, 0, 200, d.card_h))
        }
        Content::Products(products) => {
            let top = Area::new(-18, -DOC_GAP, d.tool_w + 18, 0);
            for (at, product) in (0_i32..).zip(products) {
                let y = top.bottom() + DOC_GAP + at * (DOC_H + DOC_GAP);
                out.push(Card::Document, product, Area::new(0, y, d.tool_w, DOC_H));
            }
            out.entry = Area::new(0, 0, d.tool_w, DOC_H);
            out.exits.push(out.entry);
        }
        Content::Step { model, products, rows } => step(&mut out, *model, products, rows, d, room),
    }
    out
}

fn single<'a>(out: &mut Placement<'a>, card: Card, node: &'a Node, area: Area) {
    out.entry = out.push(card, node, area);
    out.exits.push(area);
}

fn step<'a>(
    out: &mut Placement<'a>,
    model: Option<&'a Node>,
    products: &[&'a Node],
    rows: &[Row<'a>],
    d: Density,
    room: i32,
) {
    let mut x = 0;
    let mut source = None;
    if let Some(model) = model {
        let answer = rows.is_empty() && model.output.is_some();
        let (card, w) = if answer { (Card::Answer, ANSWER_W) } else { (Card::Model, d.model_w) };
        let area = out.push(card, model, Area::new(0, 0, w, d.card_h));
        out.documents(area, products);
        out.entry = area;
        source = Some(area);
        x = area.right() + d.gap;
    }
    if rows.is_empty() {
        out.exits.extend(source);
        return;
    }
    let gates = rows.iter().map(|row| row.gates.len()).max().unwrap_or(0);
    let gates_w = i32::try_from(gates).unwrap_or(1) * (GATE_W + 16);
    let column_w = gates_w + d.tool_w;
    let fitting = (room - x - 2 * GRID_GAP + GRID_GAP) / (column_w + GRID_GAP);
    let columns = usize::try_from(fitting).unwrap_or(1).clamp(1, rows.len().div_ceil(ROWS));
    let grid = columns > 1;
    let left = x + if grid { GRID_GAP } else { 0 };
    let mut y = 0;
    for line in rows.chunks(columns) {
        let mut height = 0;
        for (column, row) in (0_i32..).zip(line) {
            let x = left + column * (column_w + GRID_GAP);
            let from = source.filter(|_| !grid);
            height = height.max(place_row(out, row, from, x, x + gates_w, y, d));
        }
        y += height + d.row_gap;
    }
    if grid {
        frame_grid(out, source, d);
    }
}

/// Puts the gates, the call and the documents of one row; gives its height.
fn place_row<'a>(
    out: &mut Placement<'a>,
    row: &Row<'a>,
    source: Option<Area>,
    x: i32,
    tool_x: i32,
    y: i32,
    d: Density,
) -> i32 {
    let mut from = source;
    let mut gate_x = x;
    let mut last = Area::new(x, y, 0, d.card_h);
    for gate in &row.gates {
        let area = out.push(Card::Gate, gate, Area::new(gate_x, y, GATE_W, d.card_h));
        let half = super::card::diamond(d);
        last = Area { x: area.x + GATE_W / 2 - half, w: 2 * half, ..area };
        link(out, from, last);
        from = Some(last);
        gate_x += GATE_W + 16;
    }
    let mut height = d.card_h;
    if let Some(tool) = row.tool {
        last = out.push(Card::Tool, tool, Area::new(tool_x, y, d.tool_w, d.card_h));
        link(out, from, last);
        if !row.products.is_empty() {
            height = out.documents(last, &row.products);
        }
    }
    if out.entry == Area::default() {
        out.entry = last;
    }
    out.exits.push(last);
    height
}

fn link(out: &mut Placement<'_>, from: Option<Area>, to: Area) {
    if let Some(from) = from {
        out.links.push(Link::Flow { from, to });
    }
}

/// Frames a grid of parallel calls, so that one line leads in and one leads out.
fn frame_grid(out: &mut Placement<'_>, source: Option<Area>, d: Density) {
    let cards = out.cards.iter().filter(|c| matches!(c.card, Card::Tool | Card::Gate));
    let left = cards.clone().map(|c| c.area.x).min().unwrap_or(0) - GRID_GAP;
    let right = cards.map(|c| c.area.right()).max().unwrap_or(0) + GRID_GAP;
    let height = out.area.h + 2 * GRID_GAP;
    let group = Area::new(left, -GRID_GAP, right - left, height);
    let door = Area::new(left, 0, right - left, d.card_h);
    link(out, source, door);
    if source.is_none() {
        out.entry = door;
    }
    out.exits = vec![door];
    out.group = Some(group);
    out.area.w = out.area.w.max(group.right());
    out.area.h = out.area.h.max(group.bottom());
}

/// A row of staves.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Lanes in it, with top and height.
    pub(super) lanes: Vec<(usize, i32, i32)>,
    pub(super) bottom: i32,
}

/// A band with all its blocks placed, relative to the corner of its content.
#[derive(Debug)]
pub(super) struct BandLayout<'a> {
    pub(super) density: Density,
    pub(super) blocks: Vec<Placement<'a>>,
    pub(super) systems: Vec<System>,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// Space above and below the cards of a lane: a sub-agent's has a frame.
pub(super) const fn lane_pad(accent: Option<usize>) -> i32 {
    if accent.is_some() { 12 } else { 6 }
}

const SYSTEM_GAP: i32 = 4;

/// Places the blocks of a band in at most `room` pixels.
pub(super) fn band_layout<'a>(
    band: &Band<'a>,
    spawner: impl Fn(usize) -> Option<&'a NodeId>,
    room: i32,
) -> BandLayout<'a> {
    let density = density(band);
    let mut placed: Vec<Placement<'a>> = Vec::with_capacity(band.blocks.len());
    let mut system = 0;
    let mut system_from = 0;
    let mut seen = vec![false; band.lanes.len()];
    for block in &band.blocks {
        let mut new = measure(block, density, room);
        let here = placed.get(system_from..).unwrap_or_default();
        let first = !seen.get(block.lane).copied().unwrap_or(true);
        let started_by = if first { spawner(block.lane) } else { None };
        let mut x = earliest(here, &new, started_by, density);
        if x + new.area.w > room && !here.is_empty() {
            system += 1;
            system_from = placed.len();
            x = 0;
        }
        if let Some(seen) = seen.get_mut(block.lane) {
            *seen = true;
        }
        new.system = system;
        new.move_by(x, 0);
        placed.push(new);
    }
    let systems = stack(band, &mut placed, system + 1);
    let width = placed.iter().map(|p| p.area.right()).max().unwrap_or(0);
    let height = systems.last().map_or(0, |system| system.bottom);
    BandLayout { density, blocks: placed, systems, width, height }
}

/// The leftmost place for a block, by what stands in the system already.
fn earliest(
    here: &[Placement<'_>],
    new: &Placement<'_>,
    started_by: Option<&NodeId>,
    d: Density,
) -> i32 {
    let mut x = 0;
    for before in here {
        let same_lane = before.lane == new.lane;
        let over = before.end < new.start;
        let from = if same_lane || over { before.area.right() + d.gap } else { before.area.x + 12 };
        x = x.max(from);
        if let Some(call) = before.cards.iter().find(|c| Some(&c.node.id) == started_by) {
            x = x.max(call.area.x + 30);
        }
    }
    x
}

/// Stacks the lanes of each system, and the systems.
fn stack(band: &Band<'_>, placed: &mut [Placement<'_>], count: usize) -> Vec<System> {
    let mut systems = Vec::with_capacity(count);
    let mut y = 0;
    for number in 0..count {
        let mut system = System::default();
        let quiet =
            |lane: usize| number == 0 && band.lanes.get(lane).is_some_and(|l| l.accent.is_some());
        for lane in 0..band.lanes.len() {
            let inside = |p: &&mut Placement<'_>| p.system == number && p.lane == lane;
            let tops = placed.iter_mut().filter(inside).map(|p| p.group.map_or(0, |g| -g.y)).max();
            let heights = placed.iter_mut().filter(inside).map(|p| p.area.h).max();
            let silent = heights.is_none() && quiet(lane) && !placed.iter().any(|p| p.lane == lane);
            let Some(height) = heights.or(silent.then_some(34)) else {
                continue;
            };
            let pad = band.lanes.get(lane).map_or(0, |lane| lane_pad(lane.accent));
            let top = y + pad + tops.unwrap_or(0);
            for block in placed.iter_mut().filter(inside) {
                block.move_by(0, top);
            }
            let whole = height + 2 * pad + tops.unwrap_or(0);
            system.lanes.push((lane, y, whole));
            y += whole + 6;
        }
        system.bottom = y - 6;
        y += SYSTEM_GAP;
        systems.push(system);
    }
    systems
}
