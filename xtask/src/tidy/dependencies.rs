//! Owns the ceiling on what is built in. Every crate is code that somebody must trust and wait for.

use super::Check;

/// Raise it on purpose, in the commit that needs it, with the reason in that commit.
///
/// 300: the workspace as first built, `object_store`, `sled`, `clap` and the test libraries included, with some room.
const CEILING: usize = 300;

pub(super) const CHECK: Check = Check {
    rule: "The lock file stays under its ceiling; a new dependency is a decision, not an accident.",
    find: |repo| {
        let lock = repo.text("Cargo.lock").unwrap_or_default();
        let packages = lock.lines().filter(|line| *line == "[[package]]").count();
        Ok(if packages > CEILING {
            vec![format!("Cargo.lock: {packages} packages, the ceiling is {CEILING}")]
        } else {
            Vec::new()
        })
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_too_many() {
        let lock = "[[package]]\nname = \"a\"\n".repeat(CEILING);
        super::super::assert_finds(&CHECK, &[("Cargo.lock", &lock)], &[]);
        let lock = lock + "[[package]]\n";
        let complaint = format!("Cargo.lock: {} packages, the ceiling is {CEILING}", CEILING + 1);
        super::super::assert_finds(&CHECK, &[("Cargo.lock", &lock)], &[&complaint]);
    }
}
