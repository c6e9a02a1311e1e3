//! Owns the section of tasks: a task stands right of the tasks that must end first; its attempts are lines in it.

use std::collections::HashMap;

use super::super::status_word;
use super::super::text::duration;
use super::canvas::{Area, Canvas, Layer, NAME, SMALL, TITLE};
use super::lines;
use super::page::MARGIN;
use super::score::Score;
use super::style::look;
use super::words;
use crate::projections::graph::{EdgeKind, Node, NodeId, NodeKind};

const CARD_W: i32 = 244;
const GAP: i32 = 44;
const LINE: i32 = 18;

/// Width that the section wants.
pub(super) fn width(score: &Score<'_>, widest: i32) -> i32 {
    let columns = depths(score, columns_in(widest)).values().max().map_or(0, |depth| depth + 1);
    let columns = i32::try_from(columns).unwrap_or(1);
    2 * MARGIN + columns * (CARD_W + GAP)
}

fn columns_in(width: i32) -> usize {
    usize::try_from((width - 2 * MARGIN + GAP) / (CARD_W + GAP)).unwrap_or(1).max(1)
}

/// How many tasks must end before each, in a row; at most what fits.
fn depths<'a>(score: &Score<'a>, columns: usize) -> HashMap<&'a NodeId, usize> {
    let mut depths: HashMap<&NodeId, usize> = score.tasks.iter().map(|t| (&t.id, 0)).collect();
    for _ in 0..score.tasks.len().min(64) {
        let mut changed = false;
        for task in &score.tasks {
            let before = score.incoming.get(&task.id).into_iter().flatten();
            let before = before.filter(|edge| edge.kind == EdgeKind::DependsOn);
            let wanted =
                before.filter_map(|edge| depths.get(&edge.from)).max().map_or(0, |d| d + 1);
            let wanted = wanted.min(columns - 1);
            if let Some(depth) = depths.get_mut(&task.id)
                && *depth < wanted
            {
                (*depth, changed) = (wanted, true);
            }
        }
        if !changed {
            break;
        }
    }
    depths
}

/// Draws the section; gives where it ends.
pub(super) fn draw(canvas: &mut Canvas, score: &Score<'_>, top: i32, width: i32) -> i32 {
    if score.tasks.is_empty() {
        return top;
    }
    let depths = depths(score, columns_in(width));
    let title = format!("Tasks ({})", score.tasks.len());
    canvas.put(TITLE.at((MARGIN, top + 20), 300), &title);
    let first_row = top + 36;
    let mut bottoms: HashMap<usize, i32> = HashMap::new();
    let mut places: HashMap<&NodeId, Area> = HashMap::new();
    let columns = columns_in(width);
    let independent = depths.values().all(|depth| *depth == 0);
    for (at, task) in score.tasks.iter().enumerate() {
        let depth = depths.get(&task.id).copied().unwrap_or(0);
        let column = if independent { at % columns } else { depth };
        let y = bottoms.get(&column).copied().unwrap_or(first_row);
        let x = MARGIN + i32::try_from(column).unwrap_or(0) * (CARD_W + GAP);
        let attempts = attempts(score, task);
        let lines = i32::try_from(attempts.len()).unwrap_or(0);
        let area = Area::new(x, y, CARD_W, 50 + lines * LINE + if lines > 0 { 4 } else { 0 });
        draw_task(canvas, score, task, &attempts, area);
        bottoms.insert(column, area.bottom() + 14);
        places.insert(&task.id, area);
    }
    for task in &score.tasks {
        for edge in score.incoming.get(&task.id).into_iter().flatten() {
            let ends = (places.get(&edge.from), places.get(&task.id));
            if let (EdgeKind::DependsOn, (Some(from), Some(to))) = (edge.kind, ends)
                && from.right() < to.x
            {
                let flat = |area: &Area| Area { h: 50, ..*area };
                lines::flow(canvas, flat(from), flat(to), to.x - GAP / 2);
            }
        }
    }
    bottoms.values().copied().max().unwrap_or(first_row) + 4
}

/// Runs and attempts of a task, in order, newest few.
fn attempts<'a>(score: &Score<'a>, task: &Node) -> Vec<&'a Node> {
    const MOST: usize = 6;
    let mut found: Vec<&Node> = Vec::new();
    for node in &score.executions {
        let parent = node.parent.as_ref();
        let below = parent == Some(&task.id) || found.iter().any(|run| parent == Some(&run.id));
        if below {
            found.push(node);
        }
    }
    let leaves: Vec<&Node> = found
        .iter()
        .filter(|run| !found.iter().any(|other| other.parent.as_ref() == Some(&run.id)))
        .copied()
        .collect();
    let from = leaves.len().saturating_sub(MOST);
    leaves.into_iter().skip(from).collect()
}

fn draw_task(canvas: &mut Canvas, score: &Score<'_>, task: &Node, attempts: &[&Node], area: Area) {
    let status = score.status(task);
    let style = look(status);
    let figures = score.derived.of(&task.id);
    let class = format!("n task {}", style.frame);
    canvas.open(&task.id.to_string(), &class, &words::tooltip(task, status, figures));
    canvas.rect(Layer::Nodes, area, 7, "card");
    canvas.icon(Layer::Nodes, "k-task", area.x + 12, area.y + 9, "");
    canvas.icon(Layer::Nodes, style.icon, area.right() - 26, area.y + 9, style.colour);
    let at = (area.x + 33, area.y + 20);
    canvas.put(NAME.at(at, area.w - 33 - 34), &task.title);
    let word = status_word(NodeKind::Task, status);
    let took = figures.and_then(|f| f.duration_ms).map(duration);
    let said =
        task.output.clone().or_else(|| task.input.clone().filter(|text| *text != task.title));
    let parts = [Some(word.to_owned()), took, said];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let at = (area.x + 12, area.y + 39);
    canvas.put(SMALL.at(at, area.w - 24), &text);
    for (number, attempt) in (0_i32..).zip(attempts) {
        let status = score.status(attempt);
        let style = look(status);
        let y = area.y + 50 + number * LINE;
        canvas.icon(Layer::Nodes, style.icon, area.x + 12, y - 2, style.colour);
        let took = score.derived.of(&attempt.id).and_then(|f| f.duration_ms).map(duration);
        let text =
            format!("attempt {}  {}", number + 1, took.unwrap_or_else(|| status.to_string()));
        let at = (area.x + 33, y + 9);
        canvas.put(SMALL.at(at, area.w - 45), &text);
    }
    canvas.close();
}
