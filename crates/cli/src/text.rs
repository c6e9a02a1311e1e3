//! Owns text for people: cut to one line, wrapped to a width, numbers and sizes, hints at what was meant.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// One line of at most `width` columns: line breaks become spaces, control characters go, what is cut ends in `…`.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::with_capacity(text.len().min(width * 4));
    let mut used = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = !line.is_empty();
            continue;
        }
        let columns = c.width().unwrap_or(0) + usize::from(gap);
        if used + columns > width {
            while used + 1 > width {
                used -= line.pop().and_then(|c| c.width()).unwrap_or(1);
            }
            line.push('…');
            return line;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
        }
        line.push(c);
        used += columns;
    }
    line
}

/// Columns that `text` takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A count with thin groups of three: `1 234 567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 event`, `2 events`, `3 bodies`, `4 hashes`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let number_text = count(number);
    if number == 1 {
        return format!("{number_text} {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) => format!("{number_text} {stem}ies"),
        None if noun.ends_with("sh") || noun.ends_with("ch") => format!("{number_text} {noun}es"),
        None => format!("{number_text} {noun}s"),
    }
}

/// So many a second: `1.2 M events/s`; nothing to say about what took no time.
pub(crate) fn rate(number: u64, seconds: f64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let rate = number as f64 / seconds.max(1e-6);
    if rate >= 1e6 {
        format!("{:.1} M events/s", rate / 1e6)
    } else if rate >= 1e3 {
        format!("{:.0} k events/s", rate / 1e3)
    } else {
        format!("{rate:.0} events/s")
    }
}

/// A size in bytes for people: `512 B`, `8.0 KiB`, `1.4 GiB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    #[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let mut value = number as f64;
    if number < 1024 {
        return format!("{number} B");
    }
    let mut unit = "B";
    for name in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = name;
    }
    format!("{value:.1} {unit}")
}

/// The candidates that `text` may have meant, as the start of a hint: `did you mean a or b? `, or nothing.
pub(crate) fn near<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let wanted = text.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .map(|candidate| {
            let known = candidate.to_lowercase();
            let part = !wanted.is_empty() && (known.contains(&wanted) || wanted.contains(&known));
            let likeness = strsim::normalized_damerau_levenshtein(&wanted, &known);
            (if part { likeness.max(0.8) } else { likeness }, candidate)
        })
        .filter(|(likeness, _)| *likeness >= 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<_> = scored.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!("did you mean {}? ", names.join(" or ")) }
}

/// `text` wrapped to `width` columns, each line behind `indent`. Line breaks and the indentation of code are kept; control
/// characters, such as the escapes with which a recording could repaint the terminal, are not.
pub(crate) fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().split('\n') {
        let line = clean(line);
        let body = line.trim_start();
        if body.is_empty() {
            lines.push(String::new());
            continue;
        }
        let lead = " ".repeat(columns(&line) - columns(body));
        let lead = if columns(&lead) > width / 2 { String::new() } else { lead };
        let options = textwrap::Options::new(width)
            .initial_indent(indent)
            .subsequent_indent(indent)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        lines.extend(textwrap::wrap(&format!("{lead}{body}"), options).into_iter().map(Into::into));
    }
    lines
}

/// `text` without control characters; tabs become four spaces.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    text.replace('\t', "    ").replace(char::is_control, "").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_cuts_by_columns_and_never_inside_a_character() {
        let check = |text: &str, width, expected: &str| {
            let line = one_line(text, width);
            assert_eq!(line, expected);
            assert!(columns(&line) <= width, "{line:?}");
        };
        check("short", 10, "short");
        check("two\n\n  lines\there", 20, "two lines here");
        check("exactly ten", 11, "exactly ten");
        check("exactly ten!", 11, "exactly te…");
        check("你好世界", 5, "你好…");
        check("你好世界", 4, "你…");
        check("\u{1b}[31mred", 20, "[31mred");
        check("", 3, "");
    }

    #[test]
    fn wrapping_keeps_lines_and_indentation_and_drops_escapes() {
        let check = |text: &str, width, expected: &[&str]| {
            assert_eq!(wrapped(text, width, "| "), expected, "{text:?}");
        };
        check("one two three", 9, &["| one two", "| three"]);
        check("a\n\n    code();\n", 20, &["| a", "", "|     code();"]);
        check("\u{1b}[2Jgone\u{7}", 20, &["| [2Jgone"]);
        check("你好世界", 6, &["| 你好", "| 世界"]);
        check("", 20, &[""]);
    }

    #[test]
    fn hints_name_what_is_near_and_nothing_else() {
        let known = ["sess_01ABC", "thread-7", "other"];
        assert_eq!(near("sess_01ABD", known.into_iter()), "did you mean `sess_01ABC`? ");
        assert_eq!(near("thread", known.into_iter()), "did you mean `thread-7`? ");
        assert_eq!(near("xyzzy", known.into_iter()), "");
        assert_eq!(near("", known.into_iter()), "");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1023, 1024, 1_500_000].map(bytes), ["0 B", "1023 B", "1.0 KiB", "1.4 MiB"]);
        assert_eq!([1, 2].map(|n| counted(n, "event")), ["1 event", "2 events"]);
        assert_eq!([0, 1].map(|n| counted(n, "body")), ["0 bodies", "1 body"]);
        assert_eq!(counted(2, "hash"), "2 hashes");
    }
}
