//! Owns the rule that code over events names what it ignores.

use anyhow::Result;

use super::Check;
use crate::repo::Repo;
use crate::rust_source::{is_test_file, outline};

/// Crates that fold events.
const FOLDS: &[&str] = &["crates/read-model/src/", "crates/runtime-core/src/"];

pub(super) const CHECK: Check = Check {
    rule: "No arm for whatever is left in a `match` over events, where events are folded: a new type must break what has \
           to look at it. Members are named through their type, so that this can be seen.",
    find,
};

fn find(repo: &Repo) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust() {
        if is_test_file(path) || !FOLDS.iter().any(|place| path.starts_with(place)) {
            continue;
        }
        let outline = outline(text).unwrap_or_default();
        let wildcards = outline.event_wildcards.iter();
        found.extend(wildcards.map(|line| format!("{path}:{line}: takes whatever event is left")));
        let imports = outline.event_imports.iter();
        found
            .extend(imports.map(|line| format!("{path}:{line}: imports members of an event type")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_wildcards_over_events() {
        let text = "//! a\nuse a::ToolEvent::*;\nfn f(e: Event) {\n    match e {\n        Event::Tool(_) => {}\n        _ => {}\n    }\n}\n";
        let other =
            "//! a\nfn f(e: u8) {\n    match e {\n        1 => {}\n        _ => {}\n    }\n}\n";
        super::super::assert_finds(
            &super::CHECK,
            &[
                ("crates/read-model/src/a/apply.rs", other),
                ("crates/read-model/src/b.rs", text),
                ("crates/read-model/src/tests.rs", text),
                ("crates/cli/src/b.rs", text),
            ],
            &[
                "crates/read-model/src/b.rs:6: takes whatever event is left",
                "crates/read-model/src/b.rs:2: imports members of an event type",
            ],
        );
    }
}
