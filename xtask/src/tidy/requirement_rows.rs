//! Owns the rule that a row of `docs/requirements.md` names a test that exists, and an annotation a row that exists.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Check;
use crate::repo::Repo;
use crate::requirements::{Annotation, annotations, existing_tests, groups};

pub(super) const CHECK: Check = Check {
    rule: "What a test says it verifies is a row of the requirements, and the test is one that runs.",
    find,
};

fn find(repo: &Repo) -> Result<Vec<String>> {
    let (annotations, mut complaints) = annotations(repo);
    if !annotations.is_empty() {
        complaints.extend(judge(&annotations, &existing_tests()?));
    }
    Ok(complaints)
}

fn judge(annotations: &[Annotation], tests: &BTreeSet<String>) -> Vec<String> {
    let groups = groups();
    let known: BTreeSet<_> = groups.iter().flat_map(|(_, rows)| rows).map(|row| row.id).collect();
    let mut complaints = Vec::new();
    for Annotation { ids, test, path, line } in annotations {
        let unknown = ids.iter().filter(|id| !known.contains(id.as_str()));
        complaints.extend(unknown.map(|id| format!("{path}:{line}: there is no row {id}")));
        if ids.is_empty() {
            complaints.push(format!("{path}:{line}: it names no row"));
        }
        if !tests.contains(&test.to_string()) {
            complaints
                .push(format!("{path}:{line}: `{test}` is not among the tests that nextest lists"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_unknown_rows_and_missing_tests() {
        let mark = concat!("// ", "verifies:");
        let text = format!(
            "{mark} R1 R212\n#[test]\nfn a() {{}}\n{mark} H07\n#[test]\nfn b() {{}}\n{mark}\n#[test]\nfn a2() {{}}\n"
        );
        let (found, _) = annotations(&Repo::of(&[("crates/p/src/x.rs", &text)]));
        let tests = BTreeSet::from(["p x::a".to_owned(), "p x::a2".to_owned()]);
        assert_eq!(
            judge(&found, &tests),
            [
                "crates/p/src/x.rs:1: there is no row R212",
                "crates/p/src/x.rs:4: `p x::b` is not among the tests that nextest lists",
                "crates/p/src/x.rs:7: it names no row",
            ]
        );
    }
}
