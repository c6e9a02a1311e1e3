//! Owns starting the measurements: they are a program of their own in `benches/`, with the heavy peers.

use anyhow::Result;

use crate::command;
use crate::repo::Repo;

/// Builds `benches/` with optimisation and runs it; `arguments` go to it as they are.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<()> {
    let mut cargo = command::cargo();
    cargo
        .current_dir(&repo.root)
        .args([
            "run",
            "--release",
            "--locked",
            "--manifest-path",
            "benches/Cargo.toml",
            "--",
            "run",
        ])
        .args(["--dir", "benches/target/stores", "--out", "docs/benchmarks.md"])
        .args(arguments);
    command::run(&mut cargo, "The measurement that failed is named above.")
}
