//! Owns the gate: its steps in order, a line for each, and what to do when one fails. CI runs exactly this.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::repo::Repo;
use crate::{codegen, command, layering, tidy, typescript};

/// A step of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// Sources are formatted.
    Fmt,
    /// Generated files are up to date.
    Codegen,
    /// No lint fires, in any target.
    Clippy,
    /// All tests.
    Test,
    /// All examples in documentation.
    Doctest,
    /// Documentation builds without a warning.
    Doc,
    /// The TypeScript types compile.
    Typescript,
    /// House rules.
    Tidy,
    /// No crate knows what it must not know.
    Layering,
    /// Licences, sources and duplicates of dependencies.
    Deny,
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Total {
    passed: u64,
    failed: u64,
}

/// Runs the steps in order (all, or those of `only`); stops at the first that fails.
pub(crate) fn run(repo: &Repo, only: &[Step]) -> Result<()> {
    let steps: Vec<_> = Step::value_variants()
        .iter()
        .copied()
        .filter(|step| only.is_empty() || only.contains(step))
        .collect();
    let begun = Instant::now();
    let mut total = Total::default();
    let mut times = Vec::new();
    for (at, step) in steps.iter().copied().enumerate() {
        println!("\n[{}/{}] {}", at + 1, steps.len(), title(step));
        let step_begun = Instant::now();
        let outcome = perform(repo, step, &mut total);
        times.push((step, step_begun.elapsed()));
        if let Err(error) = outcome {
            print_times(&times, begun.elapsed());
            print_total(total);
            return Err(error.context(format!(
                "step `{}` failed; run it alone with `cargo xtask test --only {0}`",
                name(step)
            )));
        }
        println!("ok, {:.1} s", step_begun.elapsed().as_secs_f64());
    }
    print_times(&times, begun.elapsed());
    print_total(total);
    Ok(())
}

fn perform(repo: &Repo, step: Step, total: &mut Total) -> Result<()> {
    let mut cargo = command::cargo();
    cargo.current_dir(&repo.root);
    match step {
        Step::Fmt => fmt(repo),
        Step::Codegen => codegen::check(repo),
        Step::Clippy => command::run(
            cargo.args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
            "Mend what clippy names above; an exception is an `#[allow]` with a reason.",
        ),
        Step::Test => nextest(repo, total),
        Step::Doctest => doctest(repo, total),
        Step::Doc => command::run(
            cargo
                // Module comments lead from file to file, private ones included, so those links are checked, too.
                .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
                .args(["--locked", "--quiet"])
                .env("RUSTDOCFLAGS", "-D warnings"),
            "Mend the documentation that rustdoc names above.",
        ),
        Step::Typescript => typescript::run(repo),
        Step::Tidy => tidy::run(repo),
        Step::Layering => layering::run(repo),
        Step::Deny => deny(repo),
    }
}

/// The benches are a workspace of their own; their formatting costs nothing to check, building them does.
fn fmt(repo: &Repo) -> Result<()> {
    for manifest in ["Cargo.toml", "benches/Cargo.toml"] {
        let mut cargo = command::cargo();
        cargo
            .args(["fmt", "--all", "--check", "--manifest-path", manifest])
            .current_dir(&repo.root);
        command::run(&mut cargo, &format!("Run `cargo fmt --all --manifest-path {manifest}`."))?;
    }
    Ok(())
}

fn nextest(repo: &Repo, total: &mut Total) -> Result<()> {
    if !command::is_installed("cargo", &["nextest", "--version"]) {
        bail!("cargo-nextest is missing. Install it with `cargo install cargo-nextest --locked`.");
    }
    let mut cargo = command::cargo();
    let outcome = command::run(
        cargo
            .args(["nextest", "run", "--workspace", "--locked", "--profile", "gate"])
            .current_dir(&repo.root),
        "The failing tests are named above; one alone runs with `cargo nextest run -p CRATE NAME`.",
    );
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repo.root.join("target"), Into::into);
    let report = target.join("nextest/gate/junit.xml");
    let text =
        std::fs::read_to_string(&report).with_context(|| format!("reading {}", report.display()));
    match (outcome, text) {
        (outcome, Ok(text)) => {
            add(total, junit_total(&text).context("nextest's JUnit report has no totals")?);
            outcome
        }
        (Err(error), Err(_)) | (Ok(()), Err(error)) => Err(error),
    }
}

fn doctest(repo: &Repo, total: &mut Total) -> Result<()> {
    let text = command::tee(
        command::cargo().args(["test", "--doc", "--workspace", "--locked"]).current_dir(&repo.root),
        "The failing example is named above.",
    )?;
    add(total, doctest_total(&text));
    Ok(())
}

fn deny(repo: &Repo) -> Result<()> {
    if !command::is_installed("cargo", &["deny", "--version"]) {
        bail!("cargo-deny is missing. Install it with `cargo install cargo-deny --locked`.");
    }
    command::run(
        command::cargo()
            .args(["deny", "--log-level", "error", "check", "bans", "licenses", "sources"])
            .current_dir(&repo.root),
        "deny.toml says what is allowed and why; CONTRIBUTING.md says how to change it.",
    )
}

fn add(total: &mut Total, more: Total) {
    total.passed += more.passed;
    total.failed += more.failed;
}

/// Totals in the opening tag of nextest's JUnit report.
fn junit_total(report: &str) -> Option<Total> {
    let tag = report.split("<testsuites").nth(1)?.split('>').next()?;
    let number = |name: &str| -> Option<u64> {
        tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.parse().ok()
    };
    let failed = number("failures")? + number("errors")?;
    Some(Total { passed: number("tests")?.saturating_sub(failed), failed })
}

/// Totals of all `test result:` lines.
fn doctest_total(text: &str) -> Total {
    let mut total = Total::default();
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let number = |word: &str| -> u64 {
            let before = line.split(&format!(" {word}")).next().unwrap_or_default();
            before.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or_default()
        };
        add(&mut total, Total { passed: number("passed"), failed: number("failed") });
    }
    total
}

fn print_times(times: &[(Step, Duration)], whole: Duration) {
    println!();
    for (step, time) in times {
        println!("{:>12} {:>7.1} s", name(*step), time.as_secs_f64());
    }
    println!("{:>12} {:>7.1} s", "in all", whole.as_secs_f64());
}

/// The line that CI counts by.
fn print_total(total: Total) {
    if total != Total::default() {
        println!("\n{} passed, {} failed", total.passed, total.failed);
    }
}

fn name(step: Step) -> String {
    step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn title(step: Step) -> String {
    let value = step.to_possible_value();
    let help = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string);
    format!("{}: {}", name(step), help.unwrap_or_default().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_nextest() {
        let check = |report: &str, expected| assert_eq!(junit_total(report), expected, "{report}");
        let head = "<?xml version=\"1.0\"?>\n<testsuites name=\"nextest-run\" tests=\"12\" failures=\"2\" errors=\"1\" uuid=\"x\">";
        check(head, Some(Total { passed: 9, failed: 3 }));
        check("<testsuites name=\"x\">", None);
        check("", None);
    }

    #[test]
    fn totals_of_doctests() {
        let text = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 1 ignored; finished in 0.1s\n\
                    test result: FAILED. 4 passed; 2 failed; 0 ignored\n";
        assert_eq!(doctest_total(text), Total { passed: 7, failed: 2 });
        assert_eq!(doctest_total("nothing"), Total::default());
    }
}
