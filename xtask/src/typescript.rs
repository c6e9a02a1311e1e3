//! Owns compiling the generated TypeScript types, with one file that must compile and one whose lines must not.
//!
//! The compiler is pinned in `schema/ts/package-lock.json` and installed below `target/`, once per lock file.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command;
use crate::repo::Repo;

/// Runs `tsc --strict` over the types and their uses.
pub(crate) fn run(repo: &Repo) -> Result<()> {
    if !command::is_installed("npm", &["--version"]) {
        bail!(
            "npm is missing, so the TypeScript types cannot be compiled. Install Node.js 20 or later with npm \
             (on Debian: `apt-get install nodejs npm`), or leave this step out with `--only`."
        );
    }
    let home = repo.root.join("target/xtask/ts");
    std::fs::create_dir_all(&home).with_context(|| format!("making {}", home.display()))?;
    let lock = repo
        .text("schema/ts/package-lock.json")
        .context("schema/ts/package-lock.json is missing")?;
    let package =
        repo.text("schema/ts/package.json").context("schema/ts/package.json is missing")?;
    let stamp = home.join("installed.json");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(lock) {
        std::fs::write(home.join("package.json"), package)?;
        std::fs::write(home.join("package-lock.json"), lock)?;
        command::run(
            Command::new("npm")
                .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
                .current_dir(&home),
            "The TypeScript compiler could not be installed; see what npm says above.",
        )?;
        std::fs::write(&stamp, lock)?;
    }
    command::run(
        Command::new("node")
            .arg(home.join("node_modules/typescript/bin/tsc"))
            .args(["--project", "schema/ts"])
            .current_dir(&repo.root),
        "The generated types do not compile as `schema/ts/*.test.ts` uses them: mend xtask/src/codegen/typescript.rs.",
    )?;
    println!("schema/ts/events.d.ts compiles under --strict");
    Ok(())
}
