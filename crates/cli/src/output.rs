//! Owns what goes to stdout: the buffered writer, colours, the width to wrap at, tables, JSON.
//!
//! Colours appear on a terminal only, and never when `NO_COLOR` is set; `CLICOLOR_FORCE` turns them on in a pipe.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ContentArrangement, Row, Table};
use serde::Serialize;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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
        Self {
            colours: !matches!(choice, ColorChoice::Never),
        }
    }

    /// For messages on stderr.
    pub(crate) fn for_stderr() -> Self {
        Self::for_stream(AutoStream::choice(&io::stderr()))
    }

    /// `text` in `style`.
    pub(crate) fn paint(self, style: Style, text: impl Display) -> String {
        if self.colours {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }
}

/// Stdout of a command.
pub(crate) struct Out {
    sink: BufWriter<Stdout>,
    /// Colours for this stream.
    pub(crate) paint: Paint,
    /// Columns to wrap and cut at.
    pub(crate) width: usize,
    /// Somebody watches: lines should appear as they are written.
    pub(crate) terminal: bool,
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
            terminal,
        }
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
        let mut head = Row::from(
            columns
                .iter()
                .map(|c| self.paint(DIM, c.name))
                .collect::<Vec<_>>(),
        );
        head.max_height(1);
        table.set_header(head);
        for cells in rows {
            let mut row = Row::from(cells);
            row.max_height(1);
            table.add_row(row);
        }
        for (column, set) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, 2));
            if set.right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        writeln!(self, "{}", table.trim_fmt())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
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

/// One line of at most `width` columns: line breaks become spaces, control characters go, what is cut ends in `…`.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::with_capacity(text.len().min(width * 4));
    let mut used = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = !line.is_empty();
            continue;
        }
        let columns = c.width().unwrap_or(0) + usize::from(gap);
        if used + columns > width {
            while used + 1 > width {
                used -= line.pop().and_then(|c| c.width()).unwrap_or(1);
            }
            line.push('…');
            return line;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
        }
        line.push(c);
        used += columns;
    }
    line
}

/// Columns that `text` takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A count with thin groups of three: `1 234 567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 event`, `2 events`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        count(number),
        if number == 1 { "" } else { "s" }
    )
}

/// A size in bytes for people: `512 B`, `8.0 KiB`, `1.4 GiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    #[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let mut value = number as f64;
    if number < 1024 {
        return format!("{number} B");
    }
    let mut unit = "B";
    for name in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = name;
    }
    format!("{value:.1} {unit}")
}

/// The candidates that `text` may have meant, as the start of a hint: `did you mean a or b? `, or nothing.
pub(crate) fn near<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let wanted = text.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .map(|candidate| {
            let known = candidate.to_lowercase();
            let part = !wanted.is_empty() && (known.contains(&wanted) || wanted.contains(&known));
            let likeness = strsim::normalized_damerau_levenshtein(&wanted, &known);
            (if part { likeness.max(0.8) } else { likeness }, candidate)
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<_> = scored
        .iter()
        .take(3)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", names.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_cuts_by_columns_and_never_inside_a_character() {
        let check = |text: &str, width, expected: &str| {
            let line = one_line(text, width);
            assert_eq!(line, expected);
            assert!(columns(&line) <= width, "{line:?}");
        };
        check("short", 10, "short");
        check("two\n\n  lines\there", 20, "two lines here");
        check("exactly ten", 11, "exactly ten");
        check("exactly ten!", 11, "exactly te…");
        check("你好世界", 5, "你好…");
        check("你好世界", 4, "你…");
        check("\u{1b}[31mred", 20, "[31mred");
        check("", 3, "");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0, 1023, 1024, 1_500_000].map(bytes),
            ["0 B", "1023 B", "1.0 KiB", "1.4 MiB"]
        );
        assert_eq!([1, 2].map(|n| counted(n, "event")), ["1 event", "2 events"]);
    }
}
