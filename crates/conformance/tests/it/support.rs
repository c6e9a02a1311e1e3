//! What the tests share: the fixtures, found by walking their folders.

use std::path::{Path, PathBuf};

use conformance::{Finding, Options, Report, check_lines};
use serde_json::Value;

/// A file or folder of the repository.
pub(crate) fn repo(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Files of a name below a folder, sorted.
pub(crate) fn files(folder: &str, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repo(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|file| file == name) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {name} below {folder}");
    found
}

/// The events of a file of JSON lines.
pub(crate) fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of one scenario of `fixtures/native`.
pub(crate) fn scenario(name: &str) -> Vec<Value> {
    events(&repo(&format!("fixtures/native/{name}/events.jsonl")))
}

/// Every scenario of `fixtures/native`: its path and its events.
pub(crate) fn scenarios() -> Vec<(PathBuf, Vec<Value>)> {
    files("fixtures/native", "events.jsonl")
        .into_iter()
        .map(|path| (path.clone(), events(&path)))
        .collect()
}

/// Checks events as a file of lines.
pub(crate) fn check(events: &[Value]) -> Report {
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    check_lines(text.as_bytes(), Options::default()).unwrap()
}

/// Findings of a name.
pub(crate) fn with_code<'a>(report: &'a Report, code: &str) -> Vec<&'a Finding> {
    report.findings.iter().filter(|finding| finding.code == code).collect()
}

/// A member of an event as text.
pub(crate) fn text<'a>(event: &'a Value, member: &str) -> Option<&'a str> {
    event.get(member)?.as_str()
}

/// The name of an event's type.
pub(crate) fn kind(event: &Value) -> &str {
    text(event, "type").unwrap_or_default()
}
