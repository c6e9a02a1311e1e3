//! Owns the proof that no crate knows what it must not know, by asking cargo what each one is built from.
//!
//! A misspelt name looks absent too, so each rule also names a crate that must be found.

use anyhow::{Result, bail};

use crate::command;
use crate::repo::Repo;

/// What a crate must not reach, directly or through others.
struct Rule {
    name: &'static str,
    must_not_reach: &'static [&'static str],
    /// Found in the same tree, so that an empty tree does not pass for a clean one.
    reaches: &'static str,
    why: &'static str,
}

/// Clients and servers of HTTP that crates of this field bring.
const HTTP: &[&str] = &["reqwest", "hyper", "ureq", "isahc", "surf", "axum", "tonic"];

const RULES: &[Rule] = &[
    Rule {
        name: "event-spine",
        must_not_reach: &["read-model", "runtime-core", "providers", "conformance", "cli", "clap"],
        reaches: "sled",
        why: "the log knows no projection, no vendor, no terminal",
    },
    Rule {
        name: "event-spine",
        must_not_reach: HTTP,
        reaches: "object_store",
        why: "the log opens no connection",
    },
    Rule {
        name: "read-model",
        must_not_reach: &["runtime-core", "providers", "conformance", "cli"],
        reaches: "event-spine",
        why: "a view is a fold over facts, whoever wrote them",
    },
    Rule {
        name: "read-model",
        must_not_reach: HTTP,
        reaches: "event-spine",
        why: "a fold does no IO",
    },
    Rule {
        name: "providers",
        must_not_reach: &["read-model", "conformance", "cli"],
        reaches: "event-spine",
        why: "an adapter returns drafts; it sees no view",
    },
    Rule {
        name: "conformance",
        must_not_reach: &["cli"],
        reaches: "read-model",
        why: "the laws are a library",
    },
    Rule {
        name: "cli",
        must_not_reach: &["xtask"],
        reaches: "conformance",
        why: "the product needs no project tool",
    },
];

/// Checks all rules.
pub(crate) fn run(_repo: &Repo) -> Result<()> {
    for rule in RULES {
        let tree = command::output(command::cargo().args([
            "tree",
            "--package",
            rule.name,
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
        ]))?;
        let complaints = judge(rule, &tree);
        if !complaints.is_empty() {
            bail!(
                "{}. `cargo tree --package {} --invert NAME` shows who brings it.",
                complaints.join("; "),
                rule.name
            );
        }
    }
    println!("{} layering rules hold", RULES.len());
    Ok(())
}

/// What a tree says against a rule.
fn judge(rule: &Rule, tree: &str) -> Vec<String> {
    let names: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let mut complaints: Vec<_> = rule
        .must_not_reach
        .iter()
        .filter(|name| names.contains(name))
        .map(|name| format!("{} reaches {name}, and must not: {}", rule.name, rule.why))
        .collect();
    if !names.contains(&rule.reaches) {
        complaints.push(format!(
            "{} does not reach {}: its tree cannot be read",
            rule.name, rule.reaches
        ));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_a_tree() {
        let rule = Rule { name: "a", must_not_reach: &["b", "c"], reaches: "d", why: "reasons" };
        let check =
            |tree: &str, expected: &[&str]| assert_eq!(judge(&rule, tree), expected, "{tree}");
        check("a v1 (path)\nd v2\nbb v1\n", &[]);
        check("a v1 (path)\nd v2\nb v1\n", &["a reaches b, and must not: reasons"]);
        check("a v1\n", &["a does not reach d: its tree cannot be read"]);
        check("", &["a does not reach d: its tree cannot be read"]);
    }
}
