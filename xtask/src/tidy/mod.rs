//! Owns the house rules that no compiler checks: the register of checks and running them.
//!
//! A check is one file: what it demands and why, a function over the repository, a test that sees it fail.

mod dependencies;
mod exhaustive;
mod file_comment;
mod leftovers;
mod length;
mod machine_paths;
mod one_place;
mod registers;
mod requirement_rows;
mod stored_types;

use anyhow::{Result, bail};

use crate::repo::Repo;

/// A house rule.
struct Check {
    /// What it demands and why, in one line.
    rule: &'static str,
    /// Finds what breaks it: `path:line: what`.
    find: fn(&Repo) -> Result<Vec<String>>,
}

/// The register.
const CHECKS: &[Check] = &[
    file_comment::CHECK,
    length::FILES,
    length::FUNCTIONS,
    leftovers::CHECK,
    machine_paths::PATHS,
    machine_paths::HOSTS,
    stored_types::CHECK,
    exhaustive::CHECK,
    one_place::SLED,
    one_place::SURROUNDINGS,
    registers::ADAPTERS,
    registers::FOLDS,
    registers::RULE_PAGES,
    registers::ORIGINS,
    dependencies::CHECK,
    requirement_rows::CHECK,
];

/// Runs all checks and names everything that breaks one.
pub(crate) fn run(repo: &Repo) -> Result<()> {
    let mut broken = 0;
    for check in CHECKS {
        let complaints = (check.find)(repo)?;
        if !complaints.is_empty() {
            eprintln!("{}", check.rule);
            for complaint in &complaints {
                eprintln!("  {complaint}");
            }
            broken += complaints.len();
        }
    }
    if broken > 0 {
        bail!("{broken} places break a house rule; each rule above says why it is one");
    }
    println!("{} house rules hold in {} files", CHECKS.len(), repo.paths().count());
    Ok(())
}

/// Asserts what a check says about a repository of the given files.
#[cfg(test)]
fn assert_finds(check: &Check, files: &[(&str, &str)], expected: &[&str]) {
    let found = (check.find)(&Repo::of(files)).unwrap();
    assert_eq!(found, expected, "{}", check.rule);
}
