//! The pages of the rules: what they show as broken is found broken, what they show as mended is not.

use std::path::Path;

use conformance::{Options, Report, check_lines, rule};
use serde_json::{Map, Value, json};

fn page(number: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(format!("docs/rules/{number}.md"))).unwrap()
}

/// The lines of the example under a heading.
fn example<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let from = page.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
    let block = from.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    block.lines().collect()
}

/// Pages leave out the envelope, and write large texts as «5,000 bytes».
fn whole_event(line: &str, number: u64) -> String {
    let mut event: Map<String, Value> = serde_json::from_str(line).unwrap();
    for (member, value) in [
        ("schemaVersion", json!("0.1")),
        ("runtimeId", json!("rt")),
        ("sessionId", json!("sess_1")),
        ("eventId", json!(format!("evt_{number}"))),
        ("sequence", json!(number)),
        ("timestamp", json!(format!("2026-06-09T10:00:{number:02}Z"))),
    ] {
        event.entry(member).or_insert(value);
    }
    let text = Value::Object(event).to_string();
    let Some((before, rest)) = text.split_once('«') else {
        return text;
    };
    let (size, after) = rest.split_once(" bytes»").unwrap();
    format!("{before}{}{after}", "x".repeat(size.replace(',', "").parse().unwrap()))
}

fn check(number: &str, lines: &[&str]) -> Report {
    // The page of the envelope shows whole events: what they lack is the point.
    let fill = number != "SP0001";
    let number_lines = (1..).zip(lines);
    let text: String = number_lines
        .map(|(at, line)| if fill { whole_event(line, at) + "\n" } else { format!("{line}\n") })
        .collect();
    // A stream that says nothing of its end is not whole, but for the rule that is about that.
    let whole = number == "SP0062";
    check_lines(text.as_bytes(), Options { whole, ..Options::default() }).unwrap()
}

#[test]
fn examples_do_what_the_page_says() {
    for info in rule::all() {
        let page = page(info.number);
        let found = |heading: &str| {
            let report = check(info.number, &example(&page, heading));
            (report.findings.iter().any(|finding| finding.rule == info.number), report)
        };
        let (broken, report) = found("## Breaks it");
        assert!(broken, "{}: the broken example passes\n{report}", info.number);
        let (broken, report) = found("## Mends it");
        assert!(!broken, "{}: the mended example does not pass\n{report}", info.number);
        assert!(report.passed, "{}: the mended example breaks another rule\n{report}", info.number);
    }
}

#[test]
fn the_list_has_every_rule() {
    let list = page("README");
    for info in rule::all() {
        let row = format!(
            "| [{0}]({0}.md) | `{1}` | {2} | {3} |",
            info.number,
            info.code,
            info.severity.as_str(),
            info.demand
        );
        assert!(list.contains(&row), "docs/rules/README.md lacks\n{row}");
    }
}
