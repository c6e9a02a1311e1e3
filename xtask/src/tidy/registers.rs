//! Owns the rules that nothing is forgotten: adapters, rules, fixtures, projections.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Check;
use crate::repo::Repo;

const STREAMS: &str = "crates/providers/src/stream/";
const PROJECTIONS: &str = "crates/read-model/src/projections/";
const RULES: &str = "crates/conformance/src/";
const PAGES: &str = "docs/rules/";
const FIXTURES: &str = "fixtures/";

pub(super) const ADAPTERS: Check = Check {
    rule: "A folder of adapters is in the register above it, and an adapter has a README that says what is lost.",
    find: |repo| Ok(unregistered(repo, STREAMS, true)),
};

pub(super) const FOLDS: Check = Check {
    rule: "A projection is a folder and a line in the register above it.",
    find: |repo| Ok(unregistered(repo, PROJECTIONS, false)),
};

pub(super) const RULE_PAGES: Check = Check {
    rule: "Every conformance rule has a page, and every page a rule: whoever meets a code can read what it means.",
    find: rule_pages,
};

pub(super) const ORIGINS: Check = Check {
    rule: "Every folder of fixtures says where its bytes are from, in a README of its own or of a folder around it.",
    find: |repo| {
        let folders: BTreeSet<_> = repo
            .paths()
            .filter(|path| path.starts_with(FIXTURES))
            .filter_map(|path| path.rsplit_once('/').map(|(folder, _)| folder))
            .filter(|folder| folder.contains('/'))
            .collect();
        let silent = folders.into_iter().filter(|folder| !has_origin(repo, folder));
        Ok(silent.map(|folder| format!("{folder}: no README.md")).collect())
    },
};

/// Folders below `place` that the register does not declare, and folders without a README where one is due.
fn unregistered(repo: &Repo, place: &str, readme: bool) -> Vec<String> {
    let register = repo.text(&format!("{place}mod.rs")).unwrap_or_default();
    let mut complaints = Vec::new();
    for folder in folders(repo, place) {
        if !register.contains(&format!("mod {folder};")) {
            complaints.push(format!("{place}{folder}: not in {place}mod.rs"));
        }
        let has_readme = repo.has(&format!("{place}{folder}/README.md"));
        if readme && !has_readme && is_adapter(repo, &format!("{place}{folder}/")) {
            complaints.push(format!("{place}{folder}: no README.md"));
        }
    }
    complaints
}

/// A folder beside the adapters may hold what they share.
fn is_adapter(repo: &Repo, folder: &str) -> bool {
    repo.rust().any(|(path, text)| path.starts_with(folder) && text.contains("StreamAdapter for"))
}

/// Names of the folders directly below `place`.
fn folders<'a>(repo: &'a Repo, place: &'a str) -> BTreeSet<&'a str> {
    repo.paths()
        .filter_map(|path| path.strip_prefix(place)?.split_once('/').map(|(folder, _)| folder))
        .collect()
}

fn rule_pages(repo: &Repo) -> Result<Vec<String>> {
    let mut codes = BTreeSet::new();
    for (path, text) in repo.rust().filter(|(path, _)| path.starts_with(RULES)) {
        if !crate::rust_source::is_test_file(path) {
            codes.extend(codes_in(text));
        }
    }
    let pages: BTreeSet<_> = repo
        .paths()
        .filter_map(|path| path.strip_prefix(PAGES)?.strip_suffix(".md"))
        .filter(|name| name.starts_with("SP"))
        .map(str::to_owned)
        .collect();
    let no_page = codes.difference(&pages).map(|code| format!("{code}: no {PAGES}{code}.md"));
    let no_rule =
        pages.difference(&codes).map(|code| format!("{PAGES}{code}.md: no rule has this code"));
    Ok(no_page.chain(no_rule).collect())
}

/// Codes that stand as string literals: `"SP0001"`.
fn codes_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("\"SP").filter_map(|(at, _)| {
        let code = text.get(at + 1..at + 7)?;
        let closed = text.get(at + 7..at + 8) == Some("\"");
        let is_code = code.bytes().skip(2).all(|b| b.is_ascii_digit());
        (closed && is_code).then(|| code.to_owned())
    })
}

fn has_origin(repo: &Repo, folder: &str) -> bool {
    let mut folder = folder;
    while folder.contains('/') {
        if repo.has(&format!("{folder}/README.md")) {
            return true;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::assert_finds;
    use super::*;

    #[test]
    fn finds_adapters_that_nobody_registered_or_described() {
        assert_finds(
            &ADAPTERS,
            &[
                ("crates/providers/src/stream/mod.rs", "pub mod codex;\nmod sse;\n"),
                ("crates/providers/src/stream/sse.rs", ""),
                ("crates/providers/src/stream/codex/mod.rs", ""),
                ("crates/providers/src/stream/codex/README.md", ""),
                ("crates/providers/src/stream/other/mod.rs", "impl StreamAdapter for A {}"),
                ("crates/providers/src/stream/shared/mod.rs", ""),
            ],
            &[
                "crates/providers/src/stream/other: not in crates/providers/src/stream/mod.rs",
                "crates/providers/src/stream/other: no README.md",
                "crates/providers/src/stream/shared: not in crates/providers/src/stream/mod.rs",
            ],
        );
    }

    #[test]
    fn finds_projections_that_nobody_registered() {
        assert_finds(
            &FOLDS,
            &[
                ("crates/read-model/src/projections/mod.rs", "mod status;\n"),
                ("crates/read-model/src/projections/status/mod.rs", ""),
                ("crates/read-model/src/projections/usage/mod.rs", ""),
            ],
            &[
                "crates/read-model/src/projections/usage: not in crates/read-model/src/projections/mod.rs",
            ],
        );
    }

    #[test]
    fn finds_rules_without_page_and_pages_without_rule() {
        assert_finds(
            &RULE_PAGES,
            &[
                (
                    "crates/conformance/src/rule/a.rs",
                    "code: \"SP0001\", x: \"SP0002\", y: \"SPEED\", z: \"SP00\"",
                ),
                ("docs/rules/SP0001.md", ""),
                ("docs/rules/SP0003.md", ""),
                ("docs/rules/README.md", ""),
            ],
            &["SP0002: no docs/rules/SP0002.md", "docs/rules/SP0003.md: no rule has this code"],
        );
    }

    #[test]
    fn finds_fixtures_without_origin() {
        assert_finds(
            &ORIGINS,
            &[
                ("fixtures/README.md", ""),
                ("fixtures/a/README.md", ""),
                ("fixtures/a/deep/x.jsonl", ""),
                ("fixtures/b/x.jsonl", ""),
            ],
            &["fixtures/b: no README.md"],
        );
    }
}
