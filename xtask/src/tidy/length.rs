//! Owns the limits on files and functions. Tests do not count: a table of rows may be as long as it is.

use anyhow::Result;

use super::Check;
use crate::repo::Repo;
use crate::rust_source::{is_test_file, outline};

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;

pub(super) const FILES: Check = Check {
    rule: "A file has at most 600 lines without tests: what is longer is read by its author only.",
    find: long_files,
};

pub(super) const FUNCTIONS: Check = Check {
    rule: "A function has at most 70 lines of code: it fits on a screen. Comments and blank lines are free, so that nobody \
           drops one to fit.",
    find: long_functions,
};

fn long_files(repo: &Repo) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust().filter(|(path, _)| !is_test_file(path)) {
        let tests: usize = outline(text)
            .map(|outline| outline.modules)
            .unwrap_or_default()
            .iter()
            .filter(|module| module.is_test && module.name == "tests")
            .map(|module| module.last - module.first + 1)
            .sum();
        let lines = text.lines().count().saturating_sub(tests);
        if lines > FILE_LINES {
            found.push(format!("{path}:1: {lines} lines without tests"));
        }
    }
    Ok(found)
}

fn long_functions(repo: &Repo) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust().filter(|(path, _)| !is_test_file(path)) {
        let functions = match outline(text) {
            Ok(outline) => outline.functions,
            Err(error) => {
                found.push(format!("{path}:{}: {error}", error.span().start().line));
                continue;
            }
        };
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let is_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
        for function in functions.iter().filter(|function| !function.is_test) {
            let body = lines.get(function.first - 1..function.last).unwrap_or_default();
            let lines = body.iter().filter(is_code).count();
            if lines > FUNCTION_LINES {
                found.push(format!(
                    "{path}:{}: `{}` has {lines} lines",
                    function.first, function.name
                ));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::assert_finds;
    use super::*;

    #[test]
    fn finds_long_files_and_leaves_tests_out() {
        let long = "fn a() {}\n".repeat(601);
        let tested = format!(
            "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "fn a() {}\n".repeat(600),
            "fn a() {}\n".repeat(90)
        );
        assert_finds(
            &FILES,
            &[("a.rs", &long), ("b.rs", &tested), ("x/tests/it.rs", &long)],
            &["a.rs:1: 601 lines without tests"],
        );
    }

    #[test]
    fn finds_long_functions_and_leaves_tests_out() {
        let body = "    f();\n".repeat(69);
        let long = format!("struct A;\nimpl A {{\n/// Doc.\nfn a() {{\n{body}}}\n}}\n");
        let fits = format!("fn a() {{\n    // Why.\n\n{}}}\n", "    f();\n".repeat(68));
        let test = format!("#[test]\nfn a() {{\n{body}}}\n");
        assert_finds(
            &FUNCTIONS,
            &[("a.rs", &long), ("b.rs", &fits), ("c.rs", &test), ("d.rs", "fn = 1")],
            &["a.rs:4: `a` has 71 lines", "d.rs:1: expected identifier"],
        );
    }
}
