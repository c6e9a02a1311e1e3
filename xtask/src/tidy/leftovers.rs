//! Owns the rule against words that mean "later".

use super::Check;

/// Put together here, so that this file does not break its own rule.
const WORDS: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("dbg", "!")];

pub(super) const CHECK: Check = Check {
    rule: "No leftovers in sources: what is to be done stands in the issue tracker, where somebody looks.",
    find: |repo| {
        let mut found = Vec::new();
        for ending in [".rs", ".toml", ".ts", ".md"] {
            for (path, text) in
                repo.texts(ending).filter(|(path, _)| !path.starts_with("fixtures/"))
            {
                for (at, line) in text.lines().enumerate() {
                    found.extend(words(line).map(|word| format!("{path}:{}: {word}", at + 1)));
                }
            }
        }
        Ok(found)
    },
};

fn words(line: &str) -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied().filter(move |word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
            let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !joins(before) && (word.ends_with('!') || !joins(after))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::assert_finds;
    use super::*;

    #[test]
    fn finds_whole_words() {
        for word in WORDS {
            let text = format!("//! a\nx {word}(1)\nmy_{word} {word}_S\n");
            let found = format!("a.rs:2: {word}");
            let joined = format!("a.rs:3: {word}");
            let expected = [found.as_str(), joined.as_str()];
            let expected = if word.ends_with('!') { &expected[..] } else { &expected[..1] };
            assert_finds(&CHECK, &[("a.rs", &text), ("fixtures/a.md", &text)], expected);
        }
    }
}
