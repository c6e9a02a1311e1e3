//! Kills a writing process at random points, and a second time during recovery: nothing acknowledged is lost.
//!
//! The long mode is `SPINE_CRASH_RUNS=200 cargo nextest run -p event-spine crash`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use event_spine::{Entropy, EventLog, Expected, Recovery, SeededEntropy};

use crate::common::{delta, history, options_with_seed, session, tool_started};

const DIR: &str = "SPINE_CRASH_DIR";
const MODE: &str = "SPINE_CRASH_MODE";
const RUNS: &str = "SPINE_CRASH_RUNS";

#[allow(clippy::disallowed_methods, reason = "how the test talks to the process that it kills")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn spawn(dir: &Path, mode: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::the_process_that_is_killed", "--nocapture", "--ignored"])
        .env(DIR, dir)
        .env(MODE, mode)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test of its own: the body of the child process.
#[test]
#[ignore = "started by the crash test"]
fn the_process_that_is_killed() {
    let (Some(dir), Some(mode)) = (setting(DIR), setting(MODE)) else {
        return;
    };
    let seed = u64::from(std::process::id());
    let mut options = options_with_seed(seed);
    options.segment_bytes = 64 * 1024; // so that sealing is hit, too
    let log = EventLog::open(Path::new(&dir), options).unwrap();
    let writers: u64 = match mode.as_str() {
        "single" | "batch" => 1,
        "many" => 8,
        _ => return, // "recover": opening was all
    };
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (log, mode) = (log.clone(), mode.clone());
            scope.spawn(move || write_for_ever(&log, &mode, seed, writer));
        }
    });
}

fn write_for_ever(log: &EventLog, mode: &str, seed: u64, writer: u64) {
    let s = session(&format!("s{writer}"));
    for round in 0.. {
        let id = |part: &str| format!("{seed}-{writer}-{round}-{part}");
        let mut drafts = vec![delta(&id("d"), "some text"), tool_started(&id("b"))];
        if mode == "batch" {
            drafts.extend((0..20).map(|n| tool_started(&id(&format!("b{n}")))));
        }
        let barriers: Vec<_> = drafts.iter().map(|draft| draft.event_id.clone()).collect();
        let receipt = log.append(&s, Expected::Any, drafts).unwrap();
        // One write for the whole line, so that the reader never sees half of a promise.
        let mut line = String::new();
        for (event_id, sequence) in barriers.iter().zip(&receipt.sequences) {
            line.push_str(&format!("ack {s} {sequence} {event_id}\n"));
        }
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

/// Lets a child write for a while, kills it, and gives what it had been promised.
fn kill_a_writer(dir: &Path, mode: &str, after: Duration) -> Vec<(String, u64, String)> {
    let mut child = spawn(dir, mode);
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut promised = Vec::new();
        for line in output.lines().map_while(Result::ok) {
            let Some((_, ack)) = line.split_once("ack ") else {
                continue;
            };
            let mut words = ack.split(' ');
            if let (Some(s), Some(n), Some(id)) = (words.next(), words.next(), words.next())
                && let Ok(n) = n.parse()
            {
                promised.push((s.to_owned(), n, id.to_owned()));
            }
        }
        promised
    });
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let mut promised = reader.join().unwrap();
    promised.pop(); // the last line may be cut in the pipe
    promised
}

// verifies: H01 H04
#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let runs: u64 = setting(RUNS).and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let seed = u64::from(std::process::id());
    let entropy = SeededEntropy::new(seed);
    let random = |below: u64| {
        let mut bytes = [0; 8];
        entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes) % below
    };
    let mut total = 0;
    let dir = tempfile::tempdir().unwrap();
    let mut promised: HashMap<String, HashMap<u64, String>> = HashMap::new();
    for run in 0..runs {
        let mode = ["single", "batch", "many"][(run % 3) as usize];
        for (s, n, id) in kill_a_writer(dir.path(), mode, Duration::from_millis(20 + random(150))) {
            promised.entry(s).or_default().insert(n, id);
            total += 1;
        }
        // A second kill, while the log is being recovered.
        let mut recovering = spawn(dir.path(), "recover");
        std::thread::sleep(Duration::from_micros(random(15_000)));
        recovering.kill().unwrap();
        recovering.wait().unwrap();

        let log = EventLog::open(dir.path(), options_with_seed(run)).unwrap();
        let mut heads = Vec::new();
        for (s, events) in &promised {
            let found = history(&log, &session(s));
            let dense: Vec<u64> = (1..=found.len() as u64).collect();
            assert_eq!(
                found.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
                dense,
                "run {run}, seed {seed}"
            );
            for (n, id) in events {
                let there = found.get(*n as usize - 1).map(|(_, id)| id);
                assert_eq!(
                    there,
                    Some(id),
                    "acknowledged and lost: run {run}, seed {seed}, {s} {n}"
                );
            }
            assert!(log.reader().verify(&session(s)).unwrap().intact(), "run {run}, seed {seed}");
            heads.push((s.clone(), log.reader().head(&session(s)).unwrap()));
        }
        drop(log);
        let log = EventLog::open(dir.path(), options_with_seed(run)).unwrap();
        assert_eq!(log.recovery(), &Recovery::default(), "the second recovery changes nothing");
        for (s, head) in heads {
            assert_eq!(log.reader().head(&session(&s)).unwrap(), head);
        }
    }
    assert!(total > runs, "the children wrote something: {total}");
}
