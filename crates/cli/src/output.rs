//! Owns what goes to stdout: the buffered writer, colours, the width to wrap at, tables, JSON.
//!
//! Colours appear on a terminal only, and never when `NO_COLOR` is set; `CLICOLOR_FORCE` turns them on in a pipe.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table};
use read_model::render::is_invisible;
use serde::Serialize;

use crate::failure::Failure;

/// Headings and names that matter.
pub(crate) const STRONG: Style = Style::new().bold();
/// What one may skip.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Bad news.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What needs attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// What runs, and what one can type.
pub(crate) const LIVE: Style = AnsiColor::Cyan.on_default();

/// Columns when stdout is no terminal, and the most that prose is wrapped at: longer lines are hard to read.
const PLAIN_WIDTH: usize = 100;

/// Adds colours, or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    colours: bool,
}

impl Paint {
    fn for_stream(choice: ColorChoice) -> Self {
        Self { colours: !matches!(choice, ColorChoice::Never) }
    }

    /// For messages on stderr.
    pub(crate) fn for_stderr() -> Self {
        Self::for_stream(AutoStream::choice(&io::stderr()))
    }

    /// `text` in `style`.
    pub(crate) fn paint(self, style: Style, text: impl Display) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_string() }
    }
}

/// Stdout of a command. What is written to it is for people: characters with which a recording could repaint the terminal
/// or hide what it says do not come through. What programs read goes to [`Out::exact`].
pub(crate) struct Out {
    sink: BufWriter<Stdout>,
    /// Colours for this stream.
    pub(crate) paint: Paint,
    /// Columns to wrap and cut at.
    pub(crate) width: usize,
}

impl Out {
    /// Looks at stdout once.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let width = terminal_size::terminal_size()
            .filter(|_| terminal)
            .map_or(PLAIN_WIDTH, |(columns, _)| usize::from(columns.0).max(40));
        Self {
            paint: Paint::for_stream(AutoStream::choice(&stdout)),
            sink: BufWriter::with_capacity(64 * 1024, stdout),
            width,
        }
    }

    /// Stdout for what is to arrive as it is: JSON, events, pictures, scripts.
    pub(crate) fn exact(&mut self) -> &mut impl Write {
        &mut self.sink
    }

    /// Columns for prose.
    pub(crate) fn prose_width(&self) -> usize {
        self.width.min(PLAIN_WIDTH)
    }

    /// `text` in `style`, coloured for this stream.
    pub(crate) fn paint(&self, style: Style, text: impl Display) -> String {
        self.paint.paint(style, text)
    }

    /// A heading of one line with an empty line before it.
    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(STRONG, text);
        writeln!(self, "\n{text}")
    }

    /// A value as JSON and a line break.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.sink, value)?;
        self.sink.write_all(b"\n")?;
        Ok(())
    }

    /// A table with a dim head and no lines; what does not fit is cut with `…`.
    pub(crate) fn table(&mut self, columns: &[Column], rows: Vec<Vec<String>>) -> io::Result<()> {
        let mut table = Table::new();
        table
            .load_style(comfy_table::presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX))
            .set_truncation_indicator("…");
        let mut head =
            Row::from(columns.iter().map(|c| self.paint(DIM, c.name)).collect::<Vec<_>>());
        head.max_height(1);
        table.set_header(head);
        for cells in rows {
            let mut row = Row::from(cells);
            row.max_height(1);
            table.add_row(row);
        }
        let last = columns.len().saturating_sub(1);
        for (at, (column, set)) in table.column_iter_mut().zip(columns).enumerate() {
            column.set_padding((0, 2));
            // What does not fit is taken from the last column, which holds prose.
            if at < last {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            if set.right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        writeln!(self, "{}", table.trim_fmt())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Formatting hands over whole strings; anything else would be no text for people.
        let text = String::from_utf8_lossy(bytes);
        self.sink.write_all(harmless(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The sequences that [`Paint::paint`] writes; no other may reach a terminal.
const OURS: [&str; 7] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[36m"];

/// `text` without what could repaint a terminal or say something else than it seems to: control characters but line
/// breaks and our own colours, and characters that nobody sees. Each leaves a mark.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let harms = |c: char| (c.is_control() && c != '\n') || is_invisible(c);
    if !text.contains(harms) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(harms) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let ours = OURS.iter().find(|sequence| found.starts_with(**sequence));
        let skip = match ours {
            Some(sequence) => {
                out.push_str(sequence);
                sequence.len()
            }
            None => {
                out.push(if found.starts_with('\t') { ' ' } else { '\u{FFFD}' });
                found.chars().next().map_or(1, char::len_utf8)
            }
        };
        rest = found.get(skip..).unwrap_or_default();
    }
    out.push_str(rest);
    out.into()
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    right: bool,
}

/// A column of text.
pub(crate) const fn left(name: &'static str) -> Column {
    Column { name, right: false }
}

/// A column of numbers.
pub(crate) const fn right(name: &'static str) -> Column {
    Column { name, right: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let painted = Paint { colours: true }.paint(BAD, "rejected");
        assert_eq!(harmless(&painted), painted);
        assert_eq!(harmless("a\nb é 👩\u{200d}🚀"), "a\nb é 👩\u{200d}🚀");
        assert_eq!(
            harmless("rejected\u{1b}[2K\rapproved\u{1b}[8m\u{9b}1m\u{7}\u{202e}x\u{200b}\u{2028}"),
            "rejected\u{FFFD}[2K\u{FFFD}approved\u{FFFD}[8m\u{FFFD}1m\u{FFFD}\u{FFFD}x\u{FFFD}\u{FFFD}"
        );
    }

    #[test]
    fn every_style_is_one_that_comes_through() {
        for style in [STRONG, DIM, GOOD, BAD, WARN, LIVE] {
            let painted = Paint { colours: true }.paint(style, "x");
            assert_eq!(harmless(&painted), painted, "{style:?}");
        }
    }
}
