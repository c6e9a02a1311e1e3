//! Tests of the pictures: they parse, nothing overlaps, no text leaves its box.

use super::svg::canvas::{ALL, Area};
use super::{dot, mermaid, svg};
use crate::projections::graph::NodeId;
use crate::projections::graph::tests::gallery::gallery;

/// Pictures above this size are tested like the others and not kept as snapshots.
const KEPT_BYTES: usize = 40_000;

/// The pictures are snapshots with their own endings, so that they can be opened as they are.
#[test]
fn draws_the_gallery() {
    for (name, story) in gallery() {
        let picture = svg(&story.graph());
        if picture.len() <= KEPT_BYTES {
            insta::assert_binary_snapshot!(&format!("{name}.svg"), picture.into_bytes());
        }
    }
}

#[test]
fn writes_dot_and_mermaid() {
    for (name, story) in gallery() {
        let graph = story.graph();
        if graph.len() < 80 {
            insta::assert_snapshot!(format!("{name}_dot"), dot(&graph));
            insta::assert_snapshot!(format!("{name}_mermaid"), mermaid(&graph));
        }
    }
}

fn number(node: roxmltree::Node<'_, '_>, name: &str) -> i32 {
    node.attribute(name).map_or(0, |text| text.parse().unwrap())
}

/// What a group draws its frame with: a rectangle, or a path of absolute points.
fn frame(group: roxmltree::Node<'_, '_>) -> Option<Area> {
    let is_frame = |n: &roxmltree::Node<'_, '_>| n.attribute("class") == Some("card");
    let shape = group.children().find(is_frame)?;
    if shape.has_tag_name("rect") {
        let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| number(shape, name));
        return Some(Area { x, y, w, h });
    }
    None
}

fn overlap(a: Area, b: Area) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

#[test]
fn pictures_are_well_formed_and_nothing_overlaps() {
    for (name, story) in gallery() {
        let graph = story.graph();
        let picture = svg(&graph);
        let xml = roxmltree::Document::parse(&picture).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!picture.contains("<script") && !picture.contains("href=\"http"), "{name}");
        let page = Area {
            x: 0,
            y: 0,
            w: number(xml.root_element(), "width"),
            h: number(xml.root_element(), "height"),
        };
        let groups = xml.descendants().filter(|n| n.attribute("data-node").is_some());
        let mut frames: Vec<(&str, Area)> = Vec::new();
        for group in groups {
            let id = group.attribute("data-node").unwrap();
            assert!(graph.node(&id.parse::<NodeId>().unwrap()).is_some(), "{name}: {id}");
            let title = group.first_element_child().unwrap();
            assert!(title.has_tag_name("title") && !title.text().unwrap_or_default().is_empty());
            let Some(area) = frame(group) else {
                continue;
            };
            assert!(
                area.x >= 0 && area.right() <= page.w && area.bottom() <= page.h,
                "{name}: {id} leaves the page"
            );
            for (other, there) in &frames {
                assert!(!overlap(area, *there), "{name}: {id} {area:?} overlaps {other} {there:?}");
            }
            frames.push((id, area));
            texts_fit(name, group, area);
        }
        for text in xml.descendants().filter(|n| n.has_tag_name("text")) {
            let area = place(text);
            assert!(
                area.x >= 0 && area.right() <= page.w,
                "{name}: {:?} leaves the page",
                text.text()
            );
        }
    }
}

/// Where a text stands, by the table of widths.
fn place(text: roxmltree::Node<'_, '_>) -> Area {
    let class = text.attribute("class").unwrap();
    let style = ALL.iter().find(|style| class.split(' ').any(|c| c == style.class)).unwrap();
    let w = style.font.width(text.text().unwrap_or_default());
    let (x, y) = (number(text, "x"), number(text, "y"));
    let x = match text.attribute("text-anchor") {
        Some("end") => x - w,
        Some("middle") => x - w / 2,
        _ => x,
    };
    Area { x, y: y - style.font.size, w, h: style.font.size + 3 }
}

fn texts_fit(name: &str, group: roxmltree::Node<'_, '_>, frame: Area) {
    let texts: Vec<_> = group.descendants().filter(|n| n.has_tag_name("text")).collect();
    for text in &texts {
        let area = place(*text);
        let inside = area.x >= frame.x
            && area.right() <= frame.right()
            && area.y >= frame.y
            && area.bottom() <= frame.bottom() + 2;
        assert!(inside, "{name}: {:?} leaves its card: {area:?} in {frame:?}", text.text());
    }
    for (at, text) in texts.iter().enumerate() {
        for other in texts.iter().skip(at + 1) {
            let (a, b) = (place(*text), place(*other));
            let same_line = a.y == b.y;
            assert!(
                !same_line || a.right() <= b.x || b.right() <= a.x,
                "{name}: {:?} runs into {:?}",
                text.text(),
                other.text()
            );
        }
    }
}

/// Marks in labels must not end a string, open a tag or start a statement.
#[test]
fn odd_texts_are_escaped() {
    let (_, story) = gallery().into_iter().find(|(name, _)| *name == "odd_texts").unwrap();
    let graph = story.graph();
    let picture = svg(&graph);
    assert!(picture.contains("&lt;script&gt;") && !picture.contains('\u{202E}'));
    for line in dot(&graph).lines().filter(|line| line.contains("label=")) {
        let unescaped = line.replace("\\\\", "").replace("\\\"", "");
        assert_eq!(unescaped.matches('"').count() % 2, 0, "{line}");
    }
    for line in mermaid(&graph).lines().filter(|line| line.contains("[\"") || line.contains("(\""))
    {
        let (_, label) = line.split_once('"').unwrap();
        let (label, _) = label.rsplit_once('"').unwrap();
        let plain = label.replace("<br>", " ");
        assert!(!plain.contains(['"', '<', '>', '(', ')', '[', ']', '{', '}', '`', '|']), "{line}");
    }
}
