//! Owns the tables: medians of the rounds, ratios per round, the targets beside what was reached.

use std::fmt::Write as _;

use crate::peer::Name;
use crate::run::{Options, Results};
use crate::task::{Numbers, Task};

/// What a run gave.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a Results,
    pub(crate) options: &'a Options,
    pub(crate) machine: String,
    /// Load of the machine before the run began.
    pub(crate) load: String,
}

/// What a cell of a table shows.
#[derive(Clone, Copy)]
enum Cell {
    /// A number of a task, and its ratio to the floor in the same round.
    AgainstBare(Task, &'static str),
    /// A number of a task, and its ratio to the single writer of the same store in the same round.
    AgainstSingle(Task, &'static str),
    /// A number of a task.
    Plain(Task, &'static str),
}

struct Row {
    what: &'static str,
    target: &'static str,
    cell: Cell,
}

const ROWS: &[Row] = &[
    Row {
        what: "one writer, a barrier fact per append, events/s (x bare file)",
        target: "at least 0.8x",
        cell: Cell::AgainstBare(Task::Single, "events_per_s"),
    },
    Row { what: "- p50, µs", target: "", cell: Cell::Plain(Task::Single, "p50_us") },
    Row { what: "- p99, µs", target: "", cell: Cell::Plain(Task::Single, "p99_us") },
    Row {
        what: "16 writers, events/s (x own single writer)",
        target: "at least 5x",
        cell: Cell::AgainstSingle(Task::Writers16, "events_per_s"),
    },
    Row { what: "- p99, µs", target: "", cell: Cell::Plain(Task::Writers16, "p99_us") },
    Row {
        what: "64 writers, events/s (x own single writer)",
        target: "at least 15x",
        cell: Cell::AgainstSingle(Task::Writers64, "events_per_s"),
    },
    Row { what: "- p99, µs", target: "", cell: Cell::Plain(Task::Writers64, "p99_us") },
    Row {
        what: "batches of 1,000, events/s (x bare file)",
        target: "at least 500,000",
        cell: Cell::AgainstBare(Task::Batch, "events_per_s"),
    },
    Row {
        what: "load, then synced, events/s (x bare file)",
        target: "",
        cell: Cell::AgainstBare(Task::Load, "events_per_s"),
    },
    Row {
        what: "- bytes on disk per byte of event",
        target: "at most 1.3",
        cell: Cell::Plain(Task::Load, "disk_per_byte"),
    },
    Row {
        what: "- most memory, MiB",
        target: "at most 64",
        cell: Cell::Plain(Task::Load, "memory_mib"),
    },
    Row {
        what: "open the loaded store, ms",
        target: "under 60",
        cell: Cell::Plain(Task::Open, "ready_ms"),
    },
    Row {
        what: "- after a kill, ms",
        target: "under 200",
        cell: Cell::Plain(Task::OpenKilled, "ready_ms"),
    },
    Row {
        what: "read the long session, decoded, warm, events/s",
        target: "at least 1,300,000",
        cell: Cell::Plain(Task::Read, "events_per_s"),
    },
    Row {
        what: "- first time, page cache dropped, events/s",
        target: "at least 400,000",
        cell: Cell::Plain(Task::Read, "first_per_s"),
    },
    Row {
        what: "verify the chain, events/s",
        target: "at least 1,000,000",
        cell: Cell::Plain(Task::Verify, "events_per_s"),
    },
    Row {
        what: "build all views from the log, session of deltas, events/s",
        target: "at least 1,000,000",
        cell: Cell::Plain(Task::FoldDeltas, "events_per_s"),
    },
    Row {
        what: "- the fold alone, events/s",
        target: "",
        cell: Cell::Plain(Task::FoldDeltas, "fold_only_per_s"),
    },
    Row {
        what: "build all views from the log, session of tool calls, events/s",
        target: "at least 500,000",
        cell: Cell::Plain(Task::FoldTools, "events_per_s"),
    },
    Row {
        what: "- the fold alone, events/s",
        target: "",
        cell: Cell::Plain(Task::FoldTools, "fold_only_per_s"),
    },
    Row {
        what: "open one long session from its checkpoint, ms",
        target: "under 20",
        cell: Cell::Plain(Task::OpenSession, "view_ms"),
    },
    Row {
        what: "- most memory, log included, MiB",
        target: "",
        cell: Cell::Plain(Task::OpenSession, "memory_mib"),
    },
    Row {
        what: "acknowledgement to follower, p50, µs",
        target: "",
        cell: Cell::Plain(Task::Follow, "p50_us"),
    },
    Row { what: "- p99, µs", target: "under 200", cell: Cell::Plain(Task::Follow, "p99_us") },
];

const COLUMNS: &[Name] =
    &[Name::Spine, Name::Bare, Name::Sled, Name::Fjall, Name::Sqlite, Name::Umadb];

impl Report<'_> {
    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let table = self.table();
        let widths: Vec<_> = (0..table.first().map_or(0, Vec::len))
            .map(|at| {
                table
                    .iter()
                    .filter_map(|row| row.get(at))
                    .map(|cell| cell.chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut out = format!("\n{}; load before the run {}\n\n", self.machine, self.load);
        for row in &table {
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(out, "{cell:<width$}  ");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        out
    }

    /// For `docs/benchmarks.md`.
    pub(crate) fn markdown(&self) -> String {
        let mut out = HEAD.replace("{machine}", &self.machine).replace("{load}", &self.load);
        out = out
            .replace("{rounds}", &self.options.rounds.to_string())
            .replace("{seconds}", &self.options.seconds.to_string())
            .replace("{events}", &grouped(self.options.events as f64));
        for (at, row) in self.table().iter().enumerate() {
            let _ = writeln!(out, "| {} |", row.join(" | "));
            if at == 0 {
                let _ = writeln!(out, "|{}", " --- |".repeat(row.len()));
            }
        }
        out.push_str(REASONS);
        out
    }

    fn table(&self) -> Vec<Vec<String>> {
        let has = |name: &Name| self.results.keys().any(|(_, of)| of == name);
        let columns: Vec<_> = COLUMNS.iter().copied().filter(has).collect();
        let mut head = vec!["what".to_owned(), "target".to_owned()];
        head.extend(columns.iter().map(|name| name.title().to_owned()));
        let mut table = vec![head];
        for row in ROWS {
            let cells: Vec<_> = columns.iter().map(|name| self.cell(*name, row.cell)).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.push([vec![row.what.to_owned(), row.target.to_owned()], cells].concat());
            }
        }
        table
    }

    fn cell(&self, name: Name, cell: Cell) -> String {
        let (Cell::AgainstBare(task, number)
        | Cell::AgainstSingle(task, number)
        | Cell::Plain(task, number)) = cell;
        let own = self.numbers(task, name, number);
        if own.is_empty() {
            return String::new();
        }
        let ratios = match cell {
            Cell::Plain(..) => Vec::new(),
            Cell::AgainstBare(..) if name == Name::Bare => Vec::new(),
            Cell::AgainstBare(..) => ratios(&own, &self.numbers(task, Name::Bare, number)),
            Cell::AgainstSingle(..) => ratios(&own, &self.numbers(Task::Single, name, number)),
        };
        let value = shown(median(own));
        if ratios.is_empty() { value } else { format!("{value} ({:.2}x)", median(ratios)) }
    }

    /// A number of every round.
    fn numbers(&self, task: Task, name: Name, number: &str) -> Vec<f64> {
        let rounds = self.results.get(&(task, name)).into_iter().flatten();
        rounds.filter_map(|numbers| numbers.get(number).copied()).collect()
    }
}

/// Ratio of each round.
fn ratios(own: &[f64], other: &[f64]) -> Vec<f64> {
    own.iter().zip(other).map(|(own, other)| own / other).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.get(values.len().saturating_sub(1) / 2), values.get(values.len() / 2)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => f64::NAN,
    }
}

fn shown(value: f64) -> String {
    if value >= 100.0 {
        grouped(value)
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A whole number with thousands set apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The numbers of one run, for whoever watches.
pub(crate) fn brief(numbers: &Numbers) -> String {
    numbers
        .iter()
        .map(|(name, value)| format!("{name} {}", shown(*value)))
        .collect::<Vec<_>>()
        .join("  ")
}

const HEAD: &str = "\
<!-- Written by `cargo xtask bench`. Do not edit. -->
# Benchmarks

One run of `cargo xtask bench` on {machine}. Load of the machine before the run: {load}.

- Every store does the same work with the same durability: a record of about 512 bytes, on disk by `fdatasync` before the
  acknowledgement. Spine also validates, masks secrets, hashes, chains and deduplicates; the peers only store.
- Each measurement is a process of its own; {rounds} rounds of {seconds} s, interleaved, their order rotated. A ratio is the
  median of the ratios within a round. Other work on the machine slows all alike: **read the ratios first**.
- With 16 and 64 writers the peers get the group commit that Spine has built in: one thread takes all that wait and commits
  them together.
- Loading: {events} events in batches of 64 over many sessions, one of which has a tenth of all events; 64 MiB of cache for
  each store that has one. UmaDB syncs every batch, it has no other way. Opening ends when the store knows where the long
  session is.
- `page cache dropped` means the cache of this machine; a host below it may still have the bytes.

";

/// What no run can know: why a target is missed. Looked through after each change that moves a number.
const REASONS: &str = include_str!("../reasons.md");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_for_people() {
        assert_eq!(shown(0.123), "0.12");
        assert_eq!(shown(42.25), "42.2");
        assert_eq!(shown(1_234_567.8), "1,234,568");
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
        assert_eq!(ratios(&[2.0, 9.0], &[1.0, 3.0]), [2.0, 3.0]);
    }
}
