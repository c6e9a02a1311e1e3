//! Owns the lines between cards: rounded elbows that never cross a card of their own block.

use std::fmt::Write as _;

use super::canvas::{Area, Canvas, Layer};

const RADIUS: i32 = 6;

/// From the right of `from` to the left of `to`, bending at `bend`.
pub(super) fn elbow(from: Area, to: Area, bend: i32) -> String {
    let (x1, y1) = (from.right(), from.middle());
    let (x2, y2) = (to.x, to.middle());
    let mut d = format!("M{x1} {y1}");
    if y1 == y2 {
        let _ = write!(d, "H{x2}");
        return d;
    }
    let down = if y2 > y1 { 1 } else { -1 };
    let r = RADIUS.min((y2 - y1).abs() / 2).min((bend - x1).abs()).min((x2 - bend).abs());
    let _ = write!(
        d,
        "H{}Q{bend} {y1} {bend} {}V{}Q{bend} {y2} {} {y2}H{x2}",
        bend - r,
        y1 + r * down,
        y2 - r * down,
        bend + r
    );
    d
}

/// An arrow from one card to the next in time.
pub(super) fn flow(canvas: &mut Canvas, from: Area, to: Area, bend: i32) {
    canvas.arrow(&elbow(from, to, bend), "line", None);
}

/// A short line from a card to a document that hangs under it.
pub(super) fn hang(canvas: &mut Canvas, from: Area, to: Area) {
    let (x, y1, y2) = (from.x + 9, from.bottom(), to.middle());
    let d = format!("M{x} {y1}V{}Q{x} {y2} {} {y2}H{}", y2 - RADIUS, x + RADIUS, to.x);
    canvas.path(Layer::Lines, &d, "soft");
}

/// From under a card down (or up) to the left of a block in another lane.
///
/// Lines that leave the same card stand `aside` from each other.
pub(super) fn drop_to(from: Area, to: Area, aside: i32) -> String {
    let x = from.x + 9 + aside;
    let (y1, y2) = (from.bottom(), to.middle());
    let r = RADIUS.min((to.x - x).max(0));
    if y2 >= y1 {
        format!("M{x} {y1}V{}Q{x} {y2} {} {y2}H{}", y2 - r, x + r, to.x)
    } else {
        format!("M{x} {}V{}Q{x} {y2} {} {y2}H{}", from.y, y2 + r, x + r, to.x)
    }
}
