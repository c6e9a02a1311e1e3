//! Owns the rule on serde attributes of types that are stored: some can be written and not read back, or fit anything.

use anyhow::Result;
use syn::visit::Visit;

use super::Check;
use crate::repo::Repo;

/// Where types that are stored or travel stand.
const PLACES: &[&str] = &[
    "crates/event-spine/src/event/",
    "crates/event-spine/src/log/",
    "crates/event-spine/src/store/",
    "crates/event-spine/src/refs.rs",
    "crates/event-spine/src/codec.rs",
];

pub(super) const CHECK: Check = Check {
    rule: "Stored types carry no serde `flatten` or `untagged`: a stored format cannot carry the one, and the other lets a \
           later field decide what old bytes mean.",
    find,
};

struct Finder<'a> {
    path: &'a str,
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let syn::Meta::List(list) = &attribute.meta else {
            return;
        };
        if !list.path.is_ident("serde") && !list.path.is_ident("cfg_attr") {
            return;
        }
        let line = attribute.pound_token.span.start().line;
        let words = list.tokens.to_string();
        let words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words.filter(|word| ["flatten", "untagged"].contains(word)) {
            self.found.push(format!("{}:{line}: {word}", self.path));
        }
    }
}

fn find(repo: &Repo) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, text) in repo.rust().filter(|(path, _)| PLACES.iter().any(|p| path.starts_with(p))) {
        if let Ok(file) = syn::parse_file(text) {
            let mut finder = Finder { path, found: Vec::new() };
            finder.visit_file(&file);
            found.extend(finder.found);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_attributes() {
        let text = "//! a\nstruct A {\n    #[serde(default, flatten)]\n    b: B,\n}\n#[serde(untagged)]\nenum C {}\n// flatten\n#[serde(rename = \"x\")]\nstruct D;\n";
        super::super::assert_finds(
            &super::CHECK,
            &[("crates/event-spine/src/event/family/a.rs", text), ("crates/cli/src/a.rs", text)],
            &[
                "crates/event-spine/src/event/family/a.rs:3: flatten",
                "crates/event-spine/src/event/family/a.rs:6: untagged",
            ],
        );
    }
}
