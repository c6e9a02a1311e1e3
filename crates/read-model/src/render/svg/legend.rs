//! Owns what explains the picture: notes on what does not fit, the legend of what is in it, the picture in words.

use super::canvas::{BODY, Layer, SMALL};
use super::page::{MARGIN, Page};
use super::score::Part;
use super::style::look;
use super::words;
use crate::projections::graph::{EdgeKind, NodeKind, Status};
use crate::render::status_word;

impl Page<'_> {
    /// What could not be placed or made sense of.
    pub(super) fn notes(&mut self) {
        const MOST: usize = 5;
        let notes = self.graph.diagnostics();
        for note in notes.iter().take(MOST) {
            let text = format!("{} (event {})", note.message, note.sequence);
            self.canvas.icon(Layer::Nodes, "blocked", MARGIN, self.y, "s-wait");
            let at = (MARGIN + 21, self.y + 11);
            self.canvas.put(BODY.at(at, self.inner() - 21), &text);
            self.y += 22;
        }
        if notes.len() > MOST {
            let text = format!("and {} more notes", notes.len() - MOST);
            let at = (MARGIN + 21, self.y + 11);
            self.canvas.put(SMALL.at(at, self.inner()), &text);
            self.y += 22;
        }
    }

    pub(super) fn legend(&mut self) {
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
            self.canvas.put(SMALL.at((x + 20, y + 11), w), word);
            x += w + 20;
        }
        for (class, accent, word) in self.used_lines() {
            let w = 34 + SMALL.font.width(word);
            if x + w > self.width - MARGIN {
                (x, y) = (MARGIN, y + 22);
            }
            self.canvas.arrow(&format!("M{x} {}h26", y + 7), class, accent);
            self.canvas.put(SMALL.at((x + 34, y + 11), w), word);
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
                (style.icon, style.colour, status_word(NodeKind::Turn, status))
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
        let mut lines = vec![("line", None, "then")];
        if self.drawn.contains(&EdgeKind::Spawned) {
            lines.push(("spawn", Some(0), "started"));
        }
        if self.drawn.contains(&EdgeKind::Handoff) {
            lines.push(("handoff", Some(0), "handoff"));
        }
        lines
    }

    /// The picture in words, for those who cannot see it.
    pub(super) fn in_words(&self) -> (String, String) {
        let total = &self.score.derived.total;
        let session = self.graph.at().map_or_else(String::new, |at| at.session_id.to_string());
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
