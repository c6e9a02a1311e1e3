//! Owns the rule that code over events names what it ignores.

use anyhow::Result;

use super::Check;
use crate::repo::Repo;
use crate::rust_source::{is_test_file, outline};

/// Written on the line of an arm, or the one above, that does not match over events.
const EXCUSE: &str = "// not an event:";

pub(super) const CHECK: Check = Check {
    rule: "No `_ =>` over events in reducers and the loop: a new type must break what has to look at it. An arm over \
           something else in an `apply.rs` says so with `// not an event: WHY`.",
    find,
};

fn find(repo: &Repo) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust() {
        let folds =
            path.starts_with("crates/read-model/") || path.starts_with("crates/runtime-core/");
        if !folds || is_test_file(path) {
            continue;
        }
        let lines: Vec<_> = text.lines().collect();
        let excused = |line: usize| {
            let around = lines.get(line.saturating_sub(2)..line).unwrap_or_default();
            around.iter().any(|text| text.contains(EXCUSE))
        };
        let wildcards = outline(text)
            .map(|outline| outline.wildcards)
            .unwrap_or_default();
        for arm in wildcards {
            let is_reducer = path.ends_with("/apply.rs");
            if arm.over_events || (is_reducer && !excused(arm.line)) {
                found.push(format!("{path}:{}: `_ =>`", arm.line));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_wildcards_over_events() {
        let event = "//! a\nfn f(e: Event) {\n    match e {\n        Event::Tool(_) => {}\n        _ => {} // not an event: a lie\n    }\n}\n";
        let other = "//! a\nfn f(e: u8) {\n    match e {\n        1 => {}\n        // not an event: a number\n        _ => {}\n    }\n    match e {\n        1 => {}\n        _ => {}\n    }\n}\n";
        super::super::assert_finds(
            &super::CHECK,
            &[
                ("crates/read-model/src/a/apply.rs", other),
                ("crates/read-model/src/a/view.rs", other),
                ("crates/read-model/src/b.rs", event),
                ("crates/cli/src/b.rs", event),
            ],
            &[
                "crates/read-model/src/a/apply.rs:10: `_ =>`",
                "crates/read-model/src/b.rs:5: `_ =>`",
            ],
        );
    }
}
