//! Owns the rule that a file says what it owns.

use super::Check;

pub(super) const CHECK: Check = Check {
    rule: "Every Rust file opens with `//!`: what it owns and where to read next; a reader never has to guess.",
    find: |repo| {
        let silent = repo.rust().filter(|(_, text)| !text.starts_with("//!"));
        Ok(silent.map(|(path, _)| format!("{path}:1: no `//!`")).collect())
    },
};

#[cfg(test)]
mod tests {
    #[test]
    fn finds_files_without() {
        super::super::assert_finds(
            &super::CHECK,
            &[("a.rs", "//! Owns a.\n"), ("b.rs", "use std::fmt;\n//! x\n"), ("c.md", "text")],
            &["b.rs:1: no `//!`"],
        );
    }
}
