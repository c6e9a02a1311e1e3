//! Owns the rounds: which task runs on which store, in which order, how often.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::peer::Name;
use crate::task::{Numbers, Task};
use crate::{machine, report};

/// How to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds of the short tasks.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds of a task without an end.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) seconds: f64,
    /// Events of a loaded store.
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) events: u64,
    /// Where the stores are put; the disk to be measured. A fresh folder below it is used and removed.
    #[arg(long, default_value = "target/bench")]
    pub(crate) dir: PathBuf,
    /// Only these stores.
    #[arg(long, value_delimiter = ',')]
    pub(crate) stores: Vec<Name>,
    /// Writes the report here as well.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
}

/// Numbers of every run, by task and store, one entry a round.
pub(crate) type Results = BTreeMap<(Task, Name), Vec<Numbers>>;

const ALL: &[Name] = &[Name::Bare, Name::Spine, Name::Sled, Name::Fjall, Name::Sqlite, Name::Umadb];

const SHORT: &[Task] = &[Task::Single, Task::Writers16, Task::Writers64, Task::Batch];

/// Measures and reports.
pub(crate) fn run(options: &Options) -> Result<()> {
    std::fs::create_dir_all(&options.dir).with_context(|| options.dir.display().to_string())?;
    let home = tempfile::tempdir_in(&options.dir)?;
    let load = machine::load();
    let mut results = Results::new();
    for round in 0..options.rounds {
        for task in SHORT {
            for name in rotated(options, round) {
                let dir = tempfile::tempdir_in(&home)?;
                measure(options, &mut results, name, *task, dir.path())?;
            }
            let dir = tempfile::tempdir_in(&home)?;
            if *task == Task::Single && options.includes(Name::Spine) {
                measure(options, &mut results, Name::Spine, Task::Follow, dir.path())?;
            }
        }
    }
    for _ in 0..options.rounds.min(3) {
        for task in [Task::FoldDeltas, Task::FoldTools] {
            if options.includes(Name::Spine) {
                let dir = tempfile::tempdir_in(&home)?;
                measure(options, &mut results, Name::Spine, task, dir.path())?;
            }
        }
    }
    if options.includes(Name::Spine) {
        let dir = tempfile::tempdir_in(&home)?;
        measure(options, &mut results, Name::Spine, Task::LoadSession, dir.path())?;
        for _ in 0..options.rounds {
            measure(options, &mut results, Name::Spine, Task::OpenSession, dir.path())?;
        }
    }
    for name in rotated(options, 0) {
        stored(options, &mut results, name, home.path())?;
    }
    let report = report::Report {
        results: &results,
        options,
        machine: machine::describe(&options.dir),
        load,
    };
    println!("{}", report.text());
    if let Some(path) = &options.out {
        std::fs::write(path, report.markdown()).with_context(|| path.display().to_string())?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

/// Everything on one store with many events; the reads in rounds, each after the cache was dropped.
fn stored(options: &Options, results: &mut Results, name: Name, home: &Path) -> Result<()> {
    let dir = tempfile::tempdir_in(home)?;
    measure(options, results, name, Task::Load, dir.path())?;
    if name == Name::Bare {
        return Ok(());
    }
    for _ in 0..options.rounds.min(3) {
        measure(options, results, name, Task::Open, dir.path())?;
        machine::drop_cache(dir.path())?;
        measure(options, results, name, Task::Read, dir.path())?;
        if name == Name::Spine {
            measure(options, results, name, Task::Verify, dir.path())?;
        }
    }
    for _ in 0..options.rounds.min(3) {
        kill(options, name, dir.path())?;
        measure(options, results, name, Task::OpenKilled, dir.path())?;
    }
    Ok(())
}

impl Options {
    fn includes(&self, name: Name) -> bool {
        self.stores.is_empty() || self.stores.contains(&name)
    }
}

/// The stores, another one first each round.
fn rotated(options: &Options, round: usize) -> Vec<Name> {
    let mut names: Vec<_> = ALL.iter().copied().filter(|name| options.includes(*name)).collect();
    let by = round % names.len().max(1);
    names.rotate_left(by);
    names
}

fn child(options: &Options, name: Name, task: Task, dir: &Path) -> Result<Command> {
    let word = |value: Option<clap::builder::PossibleValue>| {
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    };
    use clap::ValueEnum;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("child")
        .args([
            "--store",
            &word(name.to_possible_value()),
            "--task",
            &word(task.to_possible_value()),
        ])
        .arg("--dir")
        .arg(dir)
        .args(["--seconds", &options.seconds.to_string(), "--events", &options.events.to_string()])
        .stdout(Stdio::piped());
    Ok(command)
}

fn measure(
    options: &Options,
    results: &mut Results,
    name: Name,
    task: Task,
    dir: &Path,
) -> Result<()> {
    let output = child(options, name, task, dir)?.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{task:?} on {name:?} failed: {text}");
    }
    let numbers: Numbers = serde_json::from_str(text.lines().last().unwrap_or_default())
        .with_context(|| format!("{task:?} on {name:?} printed {text}"))?;
    eprintln!("{:<12} {:<24} {}", format!("{task:?}"), name.title(), report::brief(&numbers));
    results.entry((task, name)).or_default().push(numbers);
    Ok(())
}

/// Runs the child that kills itself; any other end is a failure.
fn kill(options: &Options, name: Name, dir: &Path) -> Result<()> {
    use std::os::unix::process::ExitStatusExt;
    let status = child(options, name, Task::Kill, dir)?.stdout(Stdio::null()).status()?;
    if status.signal() != Some(9) {
        bail!("{name:?} should have been killed and ended with {status}");
    }
    Ok(())
}
