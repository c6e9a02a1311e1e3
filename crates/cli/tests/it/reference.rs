//! The commands that explain the others: schema, completions, man, help.

use crate::run::Desk;

const FAMILIES: &[(&str, &[&str])] = &[
    (
        "Lifecycle",
        &["turn.submitted", "turn.started", "turn.completed", "turn.failed", "run.status"],
    ),
    (
        "Message",
        &["model.requested", "model.delta", "model.completed", "model.failed", "messages.snapshot"],
    ),
    ("Reasoning / Plan", &["reasoning.delta", "reasoning.summary", "plan.delta", "plan.final"]),
    (
        "Tool / Process",
        &[
            "tool.started",
            "tool.args",
            "tool.progress",
            "tool.result",
            "tool.failed",
            "output.spilled",
        ],
    ),
    (
        "Human / Policy",
        &["action.required", "action.resolved", "permission.denied", "sandbox.blocked"],
    ),
    ("Artifact", &["artifact.changed", "artifact.versioned", "artifact.exported"]),
    ("Evidence", &["evidence.changed", "evidence.exported", "review.verdict"]),
    (
        "Task / Agent",
        &["task.created", "task.updated", "subagent.started", "job.queued", "channel.message"],
    ),
    (
        "Context / Hydration",
        &["context.attached", "history.compacted", "snapshot.updated", "stream.repaired"],
    ),
    ("Diagnostics", &["runtime.warning", "runtime.error", "metrics.changed"]),
];

// verifies: R19 R22 R25 R28 R31 R34 R37 R40 R43 R46
#[test]
fn every_type_of_the_contract_is_registered_in_its_family_with_a_schema() {
    let types = Desk::new().run(&["schema", "--types", "--json"]).json();
    let types = types.as_array().unwrap();
    for (family, names) in FAMILIES {
        for name in *names {
            let row = types.iter().find(|row| row["type"] == *name).expect(name);
            assert_eq!(row["family"], *family, "{name}");
            assert_eq!(row["payloadSchema"]["type"], "object", "{name}");
        }
    }
}

#[test]
fn a_type_is_explained_by_its_name_or_an_alias_and_a_wrong_one_gets_a_hint() {
    let desk = Desk::new();
    let by_name = desk.run(&["schema", "artifact.versioned"]).ok();
    assert_eq!(by_name, desk.run(&["schema", "artifact.version.created"]).ok());
    desk.run(&["schema", "tool.start"]).refused(2, "did you mean `tool.started`");
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let desk = Desk::new();
    let help = desk.run(&["--help"]).ok();
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let commands: Vec<_> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 3, "{help}");
    for shell in ["bash", "zsh", "fish"] {
        let script = desk.run(&["completions", shell]).ok();
        for command in &commands {
            assert!(script.contains(command), "{shell} lacks {command}");
        }
    }
    for command in &commands {
        let page = desk.run(&["man", command]).ok();
        assert!(page.contains(&format!("spine\\-{command}")), "{page}");
        let help = desk.run(&[command, "--help"]).ok();
        assert!(help.contains("Usage: spine"), "{help}");
        assert!(help.contains("Examples:"), "`spine {command} --help` has no example");
    }
    desk.run(&["man", "nothing"]).refused(2, "there is no command `nothing`");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let desk = Desk::new();
    let mut child = desk
        .command(&["schema", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn usage_errors_exit_with_2() {
    let desk = Desk::new();
    for args in [&["nothing"][..], &["schema", "--what"], &[], &["-q", "-v", "schema"]] {
        let ran = desk.run(args);
        assert_eq!(ran.status, 2, "{args:?}");
    }
}

/// Every line that the README shows of the demo is a line of the demo, but for the spaces between its columns and for
/// hashes, which hold the time of recording.
#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let word = |word: &str| match word.strip_suffix('…') {
        Some(hash) if hash.len() == 16 => "#…".to_owned(),
        _ => word.to_owned(),
    };
    let words = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    let desk = Desk::new();
    let printed: Vec<String> =
        desk.run(&["demo", "--data", "tour"]).ok().lines().map(words).collect();
    for line in shown.lines().map(words) {
        assert!(
            printed.contains(&line),
            "the demo does not print {line:?}:\n{}",
            printed.join("\n")
        );
    }
}
