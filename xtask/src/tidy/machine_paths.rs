//! Owns the rules against names of one machine or one place: they mean nothing to whoever clones this.
//!
//! Recordings in `fixtures/` are left alone: their bytes are what somebody else's program wrote.

use super::Check;
use crate::repo::Repo;
use crate::rust_source::is_test_file;

/// Put together here, so that this file does not break its own rules.
const PATH_STARTS: &[&str] = &[concat!("/", "work/"), HOME, concat!("/", "root/")];

/// Tests may speak of anybody's home: it is what recordings and secrets are full of.
const HOME: &str = concat!("/", "home/");
const HOST_NAMES: &[&str] = &[
    concat!("registry.", "npmjs"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("pypi", ".org"),
    concat!("files.", "pythonhosted"),
    concat!("deb.", "debian"),
];

pub(super) const PATHS: Check = Check {
    rule: "No absolute path of one machine: it exists nowhere else.",
    find: |repo| Ok(find(repo, PATH_STARTS)),
};

pub(super) const HOSTS: Check = Check {
    rule: "No host of a package registry: clients know theirs, mirrors differ.",
    find: |repo| Ok(find(repo, HOST_NAMES)),
};

fn find(repo: &Repo, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in repo.texts("").filter(|(path, _)| !path.starts_with("fixtures/")) {
        for (at, line) in text.lines().enumerate() {
            found.extend(
                words
                    .iter()
                    .filter(|word| **word != HOME || !is_test_file(path))
                    .filter(|word| stands_alone(line, word))
                    .map(|word| format!("{path}:{}: {word}", at + 1)),
            );
        }
    }
    found
}

/// True when `word` is in the line and, being a path, begins there: `docs/work/` is no absolute path.
fn stands_alone(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !word.starts_with('/') || !before.is_some_and(|c| c.is_alphanumeric() || "_-.}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::super::assert_finds;
    use super::*;

    #[test]
    fn finds_paths_and_hosts() {
        let text =
            format!("a docs{0}x\n\"{0}x\"\n\"https://{1}.org/a\"", PATH_STARTS[0], HOST_NAMES[0]);
        assert_finds(&PATHS, &[("a.json", &text)], &[&format!("a.json:2: {}", PATH_STARTS[0])]);
        assert_finds(&HOSTS, &[("a.json", &text)], &[&format!("a.json:3: {}", HOST_NAMES[0])]);
        assert_finds(&PATHS, &[("fixtures/a.json", &text)], &[]);
    }
}
