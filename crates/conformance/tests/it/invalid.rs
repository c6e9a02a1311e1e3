//! Broken streams: each folder of `fixtures/invalid` breaks the rule it is named after, and its mended twin breaks none.
//!
//! `UPDATE_EXPECTED=1` writes what was found; look at the difference before it is committed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use conformance::{Options, Report, check_lines, rule};
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of broken streams, sorted.
fn cases() -> Vec<PathBuf> {
    let folder = root().join("fixtures/invalid");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    cases.sort();
    cases
}

fn name(case: &Path) -> String {
    case.file_name().unwrap().to_string_lossy().into_owned()
}

fn number(case: &Path) -> String {
    name(case).split('-').next().unwrap().to_owned()
}

fn expected(case: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap()
}

fn report(case: &Path, file: &str) -> Report {
    let whole = expected(case)["whole"] == json!(true);
    let input = std::fs::read(case.join(file)).unwrap();
    check_lines(input.as_slice(), Options { whole, ..Options::default() }).unwrap()
}

#[test]
fn each_breaks_its_rule_as_expected() {
    for case in cases() {
        let report = report(&case, "events.jsonl");
        let mut wanted = expected(&case);
        let found = report.findings_json();
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            wanted["findings"] = found;
            let text = serde_json::to_string_pretty(&wanted).unwrap() + "\n";
            std::fs::write(case.join("expected.json"), text).unwrap();
            continue;
        }
        assert_eq!(found, wanted["findings"], "{}\n{report}", name(&case));
        let number = number(&case);
        assert!(report.findings.iter().any(|f| f.rule == number), "{}\n{report}", name(&case));
    }
}

#[test]
fn each_mended_twin_breaks_none() {
    for case in cases() {
        let report = report(&case, "mended.jsonl");
        assert!(report.findings.is_empty(), "{}\n{report}", name(&case));
    }
}

#[test]
fn every_rule_has_a_page_and_a_broken_stream_and_none_is_left_over() {
    let rules: BTreeSet<_> = rule::all().map(|info| info.number.to_owned()).collect();
    assert_eq!(rules.len(), rule::all().count(), "a number is given twice");
    let broken: BTreeSet<_> = cases().iter().map(|case| number(case)).collect();
    assert_eq!(broken, rules, "fixtures/invalid and the register");
    let pages = std::fs::read_dir(root().join("docs/rules")).unwrap();
    let pages: BTreeSet<_> = pages
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter_map(|file| file.strip_suffix(".md").map(str::to_owned))
        .filter(|name| name.starts_with("SP"))
        .collect();
    assert_eq!(pages, rules, "docs/rules and the register");
}

#[test]
fn every_page_names_its_rule() {
    for info in rule::all() {
        let page = root().join(format!("docs/rules/{}.md", info.number));
        let text = std::fs::read_to_string(&page).unwrap();
        let title = format!("# {} `{}`\n", info.number, info.code);
        assert!(text.starts_with(&title), "{} should begin with {title}", page.display());
        for part in ["## Why", "## Breaks it", "## Mends it"] {
            assert!(text.contains(part), "{} lacks {part}", page.display());
        }
        assert!(text.contains(info.severity.as_str()), "{} lacks its severity", page.display());
    }
}
