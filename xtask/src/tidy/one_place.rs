//! Owns the rules that a name appears in one place only: the index engine in one file, the surroundings in the binary.

use anyhow::Result;

use super::Check;
use crate::repo::Repo;
use crate::rust_source::{code_lines, outline};

pub(super) const SLED: Check = Check {
    rule: "`sled` is named in one source file: the index is disposable, and so is the engine behind it.",
    find: |repo| {
        let found = mentions(repo, &["sled : :", "use sled"], |_| true)?;
        let mut files: Vec<_> = found.iter().filter_map(|place| place.split(':').next()).collect();
        files.dedup();
        Ok(if files.len() > 1 { found } else { Vec::new() })
    },
};

pub(super) const SURROUNDINGS: Check = Check {
    rule: "No clock, no randomness, no environment outside the command: they are passed in, or a replay is not one.",
    find: |repo| {
        let calls = [
            "SystemTime : : now",
            "Timestamp : : now",
            "Zoned : : now",
            "env : : var",
            "env : : vars",
            "env : : args",
            "env : : current_dir",
            "env : : home_dir",
            "getrandom : :",
            "Ulid : : new ",
            "thread_rng",
        ];
        mentions(repo, &calls, |path| {
            path.starts_with("crates/")
                && !path.starts_with("crates/cli/")
                && path.contains("/src/")
        })
    },
};

/// Places in product code (tests left out) where the tokens stand.
fn mentions(repo: &Repo, tokens: &[&str], of: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust().filter(|(path, _)| of(path) && !path.starts_with("benches/")) {
        let tests: Vec<_> = outline(text)
            .map(|outline| outline.modules)
            .unwrap_or_default()
            .into_iter()
            .filter(|module| module.is_test)
            .map(|module| module.first..=module.last)
            .collect();
        let in_tests = |line: usize| {
            crate::rust_source::is_test_file(path)
                || tests.iter().any(|lines| lines.contains(&line))
        };
        for (at, line) in code_lines(text).iter().enumerate() {
            let hits = tokens.iter().filter(|token| line.contains(**token));
            found.extend(
                hits.filter(|_| !in_tests(at + 1))
                    .map(|token| format!("{path}:{}: {}", at + 1, token.replace(' ', ""))),
            );
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::assert_finds;
    use super::*;

    #[test]
    fn finds_a_second_file_that_names_the_engine() {
        let text = "//! sled::Db\nfn f() -> sled::Db {}\n";
        let test = "//! a\n#[cfg(test)]\nmod tests {\n    use sled::Db;\n}\n";
        assert_finds(&SLED, &[("a.rs", text), ("b.rs", "//! sled\n"), ("c.rs", test)], &[]);
        assert_finds(
            &SLED,
            &[("a.rs", text), ("b.rs", "//! b\nuse sled as s;\n")],
            &["a.rs:2: sled::", "b.rs:2: usesled"],
        );
    }

    #[test]
    fn finds_surroundings_outside_the_command() {
        let text = "//! a\n// SystemTime::now()\nfn f() { let t = std::time::SystemTime::now(); }\nfn g() { std::env::var(\"X\") }\n";
        assert_finds(
            &SURROUNDINGS,
            &[
                ("crates/a/src/a.rs", text),
                ("crates/cli/src/main.rs", text),
                ("xtask/src/a.rs", text),
            ],
            &["crates/a/src/a.rs:3: SystemTime::now", "crates/a/src/a.rs:4: env::var"],
        );
    }
}
