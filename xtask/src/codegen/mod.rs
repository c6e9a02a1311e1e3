//! Owns the generated files: which there are, writing them, and telling when one is out of date.
//!
//! Every file derives from the rows of the catalog (`crates/event-spine/src/event/family/`) or from annotations at tests.
//! The files are committed, so that a reader and a foreign tool need no Rust.
//!
//! Next: `json_schema.rs`, then `typescript.rs` which prints those schemas, and `events_md.rs`.

mod events_md;
mod json_schema;
mod typescript;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::repo::Repo;
use crate::requirements;

/// Folders in which every file is generated: what codegen no longer makes is removed.
const OWNED: &[&str] = &["schema/json/"];

/// Path and text of a file.
type Files = BTreeMap<String, String>;

/// Makes all generated files anew, in memory.
fn generate(repo: &Repo) -> Result<Files> {
    let schemas = json_schema::all()?;
    let mut files = Files::new();
    files.insert("schema/ts/events.d.ts".into(), typescript::print(&schemas)?);
    files.insert("docs/events.md".into(), events_md::print(&schemas)?);
    files.insert("docs/requirements.md".into(), requirements::page(repo)?);
    for (path, schema) in schemas.files() {
        files.insert(path, serde_json::to_string_pretty(&schema)? + "\n");
    }
    Ok(files)
}

/// Writes what changed and says so.
pub(crate) fn write(repo: &Repo) -> Result<()> {
    let files = generate(repo)?;
    let mut changed = 0;
    for path in outdated(repo, &files) {
        let target = repo.root.join(&path);
        let doing = || format!("writing {path}");
        match files.get(&path) {
            Some(text) => {
                if let Some(folder) = target.parent() {
                    std::fs::create_dir_all(folder).with_context(doing)?;
                }
                std::fs::write(&target, text).with_context(doing)?;
                println!("wrote {path}");
            }
            None => {
                std::fs::remove_file(&target).with_context(doing)?;
                println!("removed {path}");
            }
        }
        changed += 1;
    }
    println!("{} generated files, {changed} changed", files.len());
    Ok(())
}

/// Fails when a generated file differs from what the sources say, and names the command that mends it.
pub(crate) fn check(repo: &Repo) -> Result<()> {
    let files = generate(repo)?;
    let outdated = outdated(repo, &files);
    if !outdated.is_empty() {
        bail!(
            "generated files are out of date: {}. Run `cargo xtask codegen` and commit what it writes.",
            outdated.join(", ")
        );
    }
    println!("{} generated files are up to date", files.len());
    Ok(())
}

/// Paths that differ, are missing, or should not be there.
fn outdated(repo: &Repo, files: &Files) -> Vec<String> {
    let differs = files
        .iter()
        .filter(|(path, text)| repo.text(path) != Some(text.as_str()))
        .map(|(path, _)| path.clone());
    let left_over = repo
        .paths()
        .filter(|path| OWNED.iter().any(|folder| path.starts_with(folder)))
        .filter(|path| !files.contains_key(*path))
        .map(str::to_owned);
    differs.chain(left_over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_differs_what_is_missing_and_what_is_left_over() {
        let repo = Repo::of(&[
            ("docs/events.md", "old"),
            ("schema/json/gone.schema.json", "{}"),
            ("schema/json/same.schema.json", "{}"),
        ]);
        let files = Files::from([
            ("docs/events.md".into(), "new".into()),
            ("schema/json/same.schema.json".into(), "{}".into()),
            ("schema/ts/events.d.ts".into(), "".into()),
        ]);
        assert_eq!(
            outdated(&repo, &files),
            ["docs/events.md", "schema/ts/events.d.ts", "schema/json/gone.schema.json"]
        );
    }
}
