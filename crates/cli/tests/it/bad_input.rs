//! Every command on input that it cannot use: one clear sentence, the right exit status, nothing changed on disk.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::process::{Command, Stdio};

use crate::run::{Desk, Ran};

/// A good event, to begin files with that go wrong later.
const EVENT: &str = r#"{"schemaVersion":"0.1","runtimeId":"rt","sessionId":"sess_1","eventId":"evt_1","sequence":1,"timestamp":"2026-06-09T10:00:00Z","type":"turn.submitted","threadId":"t","turnId":"u","payload":{"text":"hello"}}"#;

/// Address space that a command may use, in KiB: far less than the input.
const MEMORY: u64 = 600 * 1024;

/// Runs in a small memory, and asserts that nothing on disk has changed.
#[track_caller]
fn unchanged(desk: &Desk, args: &[&str]) -> Ran {
    let before = desk.listing();
    let ran = desk.run(args);
    assert!(before == desk.listing(), "{args:?} changed the folder: {ran:?}");
    ran
}

fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut noise = vec![0xFF, 0x00, 0x0A];
    while noise.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.extend(state.to_le_bytes());
    }
    noise
}

fn with_files() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("empty.jsonl", "");
    desk.write("blank.jsonl", "\n\n  \n");
    desk.write("noise.jsonl", noise(100_000));
    desk.write("half.jsonl", &EVENT[..EVENT.len() / 2]);
    desk.write("half-tail.jsonl", format!("{EVENT}\n{}", &EVENT[..100]));
    desk.write("deep.jsonl", format!("{EVENT}\n{}\n", "[".repeat(100_000)));
    desk.write("deep-only.jsonl", "{\"a\":".repeat(100_000));
    desk.write("prose.jsonl", "Dear reader,\nthis is no recording.\n");
    desk.write("other.json", r#"{"name":"package","version":"1.0.0"}"#);
    let mut latin = EVENT.replace("hello", "gr@n").into_bytes();
    let at = latin.iter().position(|b| *b == b'@').unwrap();
    latin[at] = 0xFC;
    desk.write("latin1.jsonl", [EVENT.as_bytes(), b"\n", &latin, b"\n"].concat());
    desk.write("latin1-only.jsonl", &latin);
    desk
}

#[test]
fn files_that_hold_no_recording_are_refused_in_a_sentence_and_leave_no_trace() {
    let desk = with_files();
    let rows: &[(&str, &str)] = &[
        ("missing.jsonl", "there is no such file"),
        ("folder", "is a folder"),
        ("empty.jsonl", "is empty"),
        ("blank.jsonl", "is no recording"),
        ("noise.jsonl", "looks like binary data"),
        ("prose.jsonl", "is no recording"),
        ("half.jsonl", "is no recording"),
        ("deep-only.jsonl", "is no recording"),
    ];
    for (file, part) in rows {
        unchanged(&desk, &["ingest", file]).refused(2, part);
        unchanged(&desk, &["check", file]).refused(2, part);
        unchanged(&desk, &["verify", file]).refused(2, file);
    }
    let rows: &[(&str, &str)] = &[
        ("half-tail.jsonl", "line 2: the recording ends in the middle of it"),
        ("deep.jsonl", "line 2: nested deeper than"),
        ("latin1.jsonl", "line 2: byte"),
        ("latin1-only.jsonl", "latin1-only.jsonl"),
        ("other.json", "other.json is no recording"),
    ];
    for (file, part) in rows {
        unchanged(&desk, &["ingest", file]).refused(2, part);
    }
    for format in ["runtime-event", "ag-ui"] {
        for file in ["noise.jsonl", "half.jsonl", "deep-only.jsonl", "prose.jsonl", "blank.jsonl"] {
            unchanged(&desk, &["ingest", file, "--from", format]).refused(2, file);
        }
    }
}

#[test]
fn a_recording_with_bad_lines_can_be_taken_all_the_same() {
    let desk = with_files();
    for (file, new) in [("half-tail.jsonl", 1), ("deep.jsonl", 1)] {
        let taken = desk
            .run(&[
                "ingest",
                file,
                "--lenient",
                "--json",
                "--data",
                file.trim_end_matches(".jsonl"),
            ])
            .json();
        assert_eq!(taken["sessions"][0]["new"], new, "{taken}");
        assert_eq!(taken["skipped"], 1, "{taken}");
    }
}

#[test]
fn findings_in_a_file_are_the_answer_and_no_failure() {
    let desk = with_files();
    for file in ["half-tail.jsonl", "deep.jsonl", "latin1.jsonl", "other.json"] {
        let ran = unchanged(&desk, &["check", file]);
        assert_eq!(ran.status, 1, "{file}: {ran:?}");
        assert!(ran.stdout.contains("not conformant"), "{file}: {ran:?}");
    }
}

/// Commands that read a session, with something in the place of it.
fn on_session(session: &'static str) -> Vec<Vec<&'static str>> {
    vec![
        vec!["show", session],
        vec!["show", session, "--view", "all", "--json"],
        vec!["events", session],
        vec!["events", session, "--follow"],
        vec!["graph", session],
        vec!["verify", session],
        vec!["check", session],
        vec!["export", session, "--as", "runtime-event"],
        vec!["export", session, "--as", "runtime-event", "-o", "out.jsonl"],
        vec!["export", session, "--as", "evidence", "-o", "pack.json"],
        vec!["replay", session],
        vec!["fork", session, "--at", "1"],
    ]
}

fn on_folder() -> Vec<Vec<&'static str>> {
    let mut all = on_session("last");
    all.extend([vec!["sessions"], vec!["verify"], vec!["stats"], vec!["doctor"]]);
    all
}

#[test]
fn a_session_that_is_not_there_is_named_with_what_may_be_meant() {
    let desk = Desk::new();
    desk.write("good.jsonl", format!("{EVENT}\n"));
    desk.run(&["ingest", "good.jsonl"]).ok();
    for args in on_session("sess_2") {
        let ran = unchanged(&desk, &args);
        ran.refused(2, "there is no session `sess_2`; did you mean `sess_1`?");
    }
    for args in on_session("") {
        unchanged(&desk, &args).refused(2, "no session");
    }
    unchanged(&desk, &["show", "sess_1", "--at", "2"])
        .refused(2, "has no event 2; its events are 1 to 1");
    unchanged(&desk, &["fork", "sess_1", "--at", "2"]).refused(2, "has no event 2 to fork at");
}

#[test]
fn a_prefix_that_two_sessions_have_is_refused_with_both() {
    let desk = Desk::new();
    let other = EVENT.replace("sess_1", "sess_12");
    let third = EVENT.replace("sess_1", "sess_13");
    desk.write("good.jsonl", format!("{EVENT}\n{other}\n{third}\n"));
    desk.run(&["ingest", "good.jsonl"]).ok();
    desk.run(&["show", "1"]).refused(2, "`1` could be `sess_1`, `sess_12` and 1 more");
    assert!(desk.run(&["show", "sess_1"]).ok().starts_with("sess_1 "));
    assert!(desk.run(&["show", "12"]).ok().starts_with("sess_12 "));
}

#[test]
fn a_data_folder_that_is_none_is_named_and_left_alone() {
    let desk = Desk::new();
    desk.write("good.jsonl", format!("{EVENT}\n"));
    desk.run(&["ingest", "good.jsonl", "--data", "newer"]).ok();
    desk.write("newer/FORMAT", "spine 99\n");
    desk.write("foreign/thesis.tex", "\\documentclass{book}");
    desk.write("file", "something");
    std::fs::create_dir(desk.path("empty")).unwrap();
    let rows: &[(&str, &str)] = &[
        ("missing", "missing holds no spine log"),
        ("empty", "empty holds no spine log"),
        ("newer", "newer has format 99, this program reads up to format"),
        ("foreign", "foreign is not a spine data folder"),
        ("file", "file is not a spine data folder"),
    ];
    for (folder, part) in rows {
        for mut args in on_folder() {
            args.extend(["--data", folder]);
            unchanged(&desk, &args).refused(2, part);
        }
        let part = if folder == &"missing" { "there is no folder missing" } else { part };
        unchanged(&desk, &["salvage", folder, "-o", "rescued"]).refused(2, part);
    }
    for (folder, part) in &rows[2..] {
        unchanged(&desk, &["ingest", "good.jsonl", "--data", folder]).refused(2, part);
    }
}

// verifies: H03
#[test]
fn a_folder_that_another_process_writes_is_in_use_for_writers_and_open_for_readers() {
    let desk = Desk::new();
    desk.write("good.jsonl", format!("{EVENT}\n"));
    desk.run(&["ingest", "good.jsonl"]).ok();
    let lock = File::options().write(true).open(desk.path(".spine/LOCK")).unwrap();
    lock.lock().unwrap();
    for args in [&["ingest", "good.jsonl"][..], &["fork", "sess_1", "--at", "1"]] {
        unchanged(&desk, args).refused(3, ".spine is in use by");
    }
    for args in [
        &["sessions"][..],
        &["show", "last"],
        &["verify"],
        &["doctor"],
        &["stats"],
        &["export", "last", "--as", "runtime-event"],
    ] {
        assert_eq!(unchanged(&desk, args).status, 0, "{args:?}");
    }
}

#[test]
fn results_are_written_whole_or_not_at_all() {
    let desk = Desk::new();
    desk.write("good.jsonl", format!("{EVENT}\n"));
    desk.run(&["ingest", "good.jsonl"]).ok();
    std::fs::create_dir(desk.path("folder")).unwrap();
    for (target, part) in [("folder", "is a folder"), ("nowhere/out", "there is no such file")] {
        unchanged(&desk, &["graph", "last", "-o", target]).refused(2, part);
        unchanged(&desk, &["export", "last", "--as", "evidence", "-o", target]).refused(2, part);
    }
}

/// A command whose address space is limited: it is killed by its own allocations when it holds the input in memory.
fn in_little_memory(desk: &Desk, args: &[&str]) -> Command {
    let spine = desk.command(args);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(spine.get_program())
        .args(spine.get_args())
        .current_dir(spine.get_current_dir().unwrap())
        .env_clear()
        .envs(spine.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    shell
}

#[test]
fn one_line_of_2_gib_is_refused_in_bounded_memory() {
    let desk = Desk::new();
    let huge = File::create(desk.path("huge.jsonl")).unwrap();
    // Sparse: takes no space on disk.
    huge.write_all_at(EVENT.as_bytes(), 0).unwrap();
    huge.write_all_at(b"\n{\"schemaVersion\":\"", EVENT.len() as u64).unwrap();
    huge.set_len(2 << 30).unwrap();
    let ran = Ran::from(in_little_memory(&desk, &["ingest", "huge.jsonl"]).output().unwrap());
    ran.refused(2, "huge.jsonl, line 2: longer than 16.0 MiB");
    let ran = Ran::from(in_little_memory(&desk, &["verify", "huge.jsonl"]).output().unwrap());
    ran.refused(2, "huge.jsonl is no evidence pack");
    let ran = Ran::from(in_little_memory(&desk, &["check", "huge.jsonl"]).output().unwrap());
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("the line is longer than 64 MiB"), "{ran:?}");
    assert!(!desk.path(".spine").exists());
}

#[test]
fn one_endless_line_through_a_pipe_is_refused_early_in_bounded_memory() {
    let desk = Desk::new();
    for args in [&["ingest", "-"][..], &["check", "-"], &["ingest", "-", "--from", "ag-ui"]] {
        let mut child = in_little_memory(&desk, args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            let piece = vec![b'a'; 1 << 20];
            let mut written = 0_u64;
            pipe.write_all(b"{\"type\":\"").unwrap();
            while written < 2 << 30 && pipe.write_all(&piece).is_ok() {
                written += piece.len() as u64;
            }
            written
        });
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.refused(2, "standard input, line 1: longer than 16.0 MiB");
        assert!(writer.join().unwrap() < 64 << 20, "read on after it was too long");
        assert!(!desk.path(".spine").exists());
    }
}
