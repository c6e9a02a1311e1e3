//! Owns finding the comment lines by which tests say what they verify, and naming those tests as nextest does.

use std::fmt;

use crate::repo::Repo;
use crate::rust_source::{Module, outline};

/// What such a line begins with.
const MARK: &str = concat!("// ", "verifies:");

/// A test that says what it verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Annotation {
    /// The ids it names, as written.
    pub(crate) ids: Vec<String>,
    /// The test.
    pub(crate) test: TestName,
    /// File.
    pub(crate) path: String,
    /// Line of the comment, 1 first.
    pub(crate) line: usize,
}

/// A test by its package, its test binary if it has one of its own, and its path in there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestName {
    owner: String,
    path: String,
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.owner, self.path)
    }
}

/// All annotations, and complaints about lines that are none (`path:line: why`).
pub(crate) fn annotations(repo: &Repo) -> (Vec<Annotation>, Vec<String>) {
    let mut found = Vec::new();
    let mut complaints = Vec::new();
    for (path, text) in repo.rust() {
        if !text.contains(MARK) {
            continue;
        }
        let modules = outline(text).map(|outline| outline.modules).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(ids) = line.trim_start().strip_prefix(MARK) else {
                continue;
            };
            let function = lines.iter().skip(at + 1).copied();
            match (home(path), function_below(function)) {
                (Some(home), Some(function)) => found.push(Annotation {
                    ids: ids.split_whitespace().map(str::to_owned).collect(),
                    test: home.test(&modules, at + 1, function),
                    path: path.to_owned(),
                    line: at + 1,
                }),
                _ => complaints.push(format!(
                    "{path}:{}: a `{MARK}` line stands directly above the attributes of a test",
                    at + 1
                )),
            }
        }
    }
    (found, complaints)
}

/// The function that attributes and comments lead to, and nothing else.
fn function_below<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut in_attribute = false;
    for line in lines {
        let line = line.trim();
        if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else if !line.starts_with("//") {
            let after =
                line.strip_prefix("fn ").or_else(|| line.split_once(" fn ").map(|(_, n)| n))?;
            return after.split(['(', '<']).next().map(str::trim);
        }
    }
    None
}

/// Where the tests of a file live.
struct Home {
    owner: String,
    modules: Vec<String>,
}

impl Home {
    fn test(self, modules: &[Module], line: usize, function: &str) -> TestName {
        let inline = modules.iter().filter(|module| (module.first..=module.last).contains(&line));
        let mut path = self.modules;
        path.extend(inline.map(|module| module.name.clone()));
        path.push(function.to_owned());
        TestName { owner: self.owner, path: path.join("::") }
    }
}

/// `crates/a/src/b/mod.rs` is module `b` of `a`; `crates/a/tests/it/b.rs` is module `b` of the test binary `a::it`.
fn home(path: &str) -> Option<Home> {
    let path = path.strip_prefix("crates/").unwrap_or(path);
    let mut parts: Vec<_> = path.strip_suffix(".rs")?.split('/').collect();
    let [package, place, ..] = *parts.as_slice() else {
        return None;
    };
    let mut rest = parts.split_off(2);
    let owner = match place {
        "src" => package.to_owned(),
        "tests" => {
            let binary = rest.remove(0);
            format!("{package}::{binary}")
        }
        _ => return None,
    };
    if matches!(rest.last(), Some(&("mod" | "lib" | "main"))) {
        rest.pop();
    }
    let modules = rest.into_iter().map(str::to_owned).collect();
    Some(Home { owner, modules })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(body: &str) -> String {
        body.replace("VERIFIES", MARK)
    }

    #[test]
    fn tests_are_named_as_nextest_names_them() {
        let check = |path: &str, body: &str, expected: &str| {
            let text = source(body);
            let (found, complaints) = annotations(&Repo::of(&[(path, &text)]));
            assert_eq!(complaints, [""; 0], "{body}");
            let names: Vec<_> =
                found.iter().map(|a| format!("{} {}", a.ids.join("+"), a.test)).collect();
            assert_eq!(names, [expected], "{path}: {body}");
        };
        let plain = "VERIFIES R1\n#[test]\nfn a() {}\n";
        check("crates/p/src/lib.rs", plain, "R1 p a");
        check("crates/p/src/x/mod.rs", plain, "R1 p x::a");
        check("crates/p/src/x/tests.rs", plain, "R1 p x::tests::a");
        check("crates/p/tests/it/main.rs", plain, "R1 p::it a");
        check("crates/p/tests/it/crash.rs", plain, "R1 p::it crash::a");
        check("crates/p/tests/one.rs", plain, "R1 p::one a");
        check("xtask/src/x.rs", plain, "R1 xtask x::a");
        let inline = "fn b() {}\n#[cfg(test)]\nmod tests {\n    // why\n    VERIFIES R1 H07\n    // more\n    #[tokio::test(\n        flavor = \"x\"\n    )]\n    async fn a() {}\n}\n";
        check("crates/p/src/x.rs", inline, "R1+H07 p x::tests::a");
        let in_macro = "proptest! {\n    VERIFIES R1\n    #[test]\n    fn a(x in 0..9) {}\n}\n";
        check("crates/p/src/x.rs", in_macro, "R1 p x::a");
    }

    #[test]
    fn stray_lines_are_named() {
        let text = source("VERIFIES R1\nstruct A;\n#[test]\nfn a() {}\nVERIFIES R2\n");
        let (found, complaints) = annotations(&Repo::of(&[("crates/p/src/x.rs", &text)]));
        assert_eq!(found, []);
        assert_eq!(complaints.len(), 2);
        assert!(complaints.first().unwrap().starts_with("crates/p/src/x.rs:1: "), "{complaints:?}");
    }
}
