//! Owns text in pictures: how wide it is, how it is cut, how it is escaped.
//!
//! Nobody knows which font a viewer has, so widths come from a table of a common sans serif with a margin on top; what
//! is measured here fits with the usual system fonts.

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Font {
    /// Size in pixels.
    pub(super) size: i32,
    /// Heavier and wider.
    pub(super) bold: bool,
    /// All characters equally wide.
    pub(super) mono: bool,
}

/// Widths of U+0020 to U+007E in thousandths of the size.
const ASCII: [i32; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Other sans serifs are wider than the one of the table, by up to this part.
const MARGIN_PERCENT: i32 = 8;

impl Font {
    /// A regular font.
    pub(super) const fn regular(size: i32) -> Self {
        Self { size, bold: false, mono: false }
    }

    /// A bold font.
    pub(super) const fn bold(size: i32) -> Self {
        Self { size, bold: true, mono: false }
    }

    /// A font for code.
    pub(super) const fn mono(size: i32) -> Self {
        Self { size, bold: false, mono: true }
    }

    /// Width of a text in pixels, rounded up.
    pub(super) fn width(self, text: &str) -> i32 {
        let thousandths: i64 = text.chars().map(|c| i64::from(self.char_width(c))).sum();
        let pixels = (thousandths * i64::from(self.size) + 999) / 1000;
        i32::try_from(pixels).unwrap_or(i32::MAX)
    }

    /// Width of a character in thousandths of the size.
    fn char_width(self, c: char) -> i32 {
        let plain = match class(c) {
            Class::None => return 0,
            Class::Wide => return 1_000,
            Class::Emoji => return 1_400,
            Class::Ascii(_) if self.mono => return 610,
            Class::Other if self.mono => return 700,
            Class::Ascii(at) => ASCII.get(at).copied().unwrap_or(556),
            Class::Other => 640,
        };
        let wider = if self.bold { 6 } else { 0 };
        plain * (100 + MARGIN_PERCENT + wider) / 100
    }

    /// The text, cut with an ellipsis if it is wider than `most` pixels.
    pub(super) fn fit(self, text: &str, most: i32) -> String {
        let text = text.trim();
        if self.width(text) <= most {
            return text.to_owned();
        }
        let room = i64::from(most - self.width("…")) * 1000 / i64::from(self.size.max(1));
        let mut used = 0_i64;
        let mut end = 0; // after the last whole cluster that fits
        let mut joined = false;
        for (at, c) in text.char_indices() {
            if !joined && !continues_cluster(c) {
                end = at;
            }
            used += i64::from(self.char_width(c));
            if used > room {
                break;
            }
            joined = c == ZERO_WIDTH_JOINER;
        }
        format!("{}…", text.get(..end).unwrap_or_default().trim_end())
    }

    /// The text, cut in the middle if it is one long word, such as a path, whose end says most; else at the end.
    pub(super) fn fit_word(self, text: &str, most: i32) -> String {
        let text = text.trim();
        if self.width(text) <= most || text.contains(char::is_whitespace) {
            return self.fit(text, most);
        }
        let head = self.fit(text, most * 2 / 5);
        let room = most - self.width(&head);
        let tail = text.char_indices().map(|(at, _)| text.get(at..).unwrap_or_default());
        let starts = |tail: &&str| tail.chars().next().is_none_or(|c| !continues_cluster(c));
        let tail = tail.filter(starts).find(|tail| self.width(tail) <= room).unwrap_or_default();
        format!("{head}{tail}")
    }

    /// The text in at most `lines` lines of `most` pixels, the last one cut with an ellipsis.
    pub(super) fn wrap(self, text: &str, most: i32, lines: usize) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            if out.len() + 1 >= lines {
                out.push(self.fit(rest, most));
                break;
            }
            let at = self.break_at(rest, most);
            let (line, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.push(line.trim_end().to_owned());
            rest = after.trim_start();
        }
        out
    }

    /// Where a line of `most` pixels ends: after a space, or between wide characters, or where it must.
    fn break_at(self, text: &str, most: i32) -> usize {
        let room = i64::from(most) * 1000 / i64::from(self.size.max(1));
        let (mut used, mut last_break) = (0_i64, 0);
        for (at, c) in text.char_indices() {
            used += i64::from(self.char_width(c));
            if used > room {
                return if last_break > 0 { last_break } else { at.max(c.len_utf8()) };
            }
            if c == ' ' {
                last_break = at + c.len_utf8();
            } else if matches!(class(c), Class::Wide) && !closes(c) && at > 0 {
                last_break = at; // between wide characters, but never before a full stop
            }
        }
        text.len()
    }
}

const ZERO_WIDTH_JOINER: char = '\u{200D}';

/// True for punctuation that does not begin a line.
fn closes(c: char) -> bool {
    "、。，．：；！？）」』】》〉…".contains(c)
}

/// True for characters that belong to the one before: accents, variation selectors, skin tones, joiners.
fn continues_cluster(c: char) -> bool {
    matches!(class(c), Class::None) || matches!(u32::from(c), 0x1F3FB..=0x1F3FF)
}

enum Class {
    None,
    Ascii(usize),
    Wide,
    Emoji,
    Other,
}

fn class(c: char) -> Class {
    match u32::from(c) {
        code @ 0x20..=0x7E => Class::Ascii(usize::try_from(code - 0x20).unwrap_or_default()),
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF => Class::None,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x20000..=0x3FFFD
        | 0x2014
        | 0x2015
        | 0x2026 => Class::Wide,
        0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x1F000..=0x1FAFF => Class::Emoji,
        0x2190..=0x22FF | 0x2500..=0x25FF => Class::Wide,
        _ => Class::Other,
    }
}

/// Appends a text to XML: markup escaped, characters that XML does not allow replaced, characters that turn the
/// direction of text left out.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if super::is_invisible(c) => {}
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
}

/// A number with a unit of a thousand: `842`, `1.2k`, `12k`, `3.4M`.
pub(super) fn short_number(n: u64) -> String {
    let (unit, divisor) = match n {
        0..=999 => return n.to_string(),
        1_000..=999_499 => ("k", 1_000),
        999_500..=999_499_999 => ("M", 1_000_000),
        _ => ("G", 1_000_000_000),
    };
    let tenths = (n.saturating_mul(10) + divisor / 2) / divisor;
    if tenths < 100 && !tenths.is_multiple_of(10) {
        format!("{}.{}{unit}", tenths / 10, tenths % 10)
    } else {
        format!("{}{unit}", (n + divisor / 2) / divisor)
    }
}

/// A duration for people: `840 ms`, `1.2 s`, `45 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`.
pub(super) fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match ms {
        0..=999 => format!("{ms} ms"),
        1_000..=9_949 => {
            let tenths = (ms + 50) / 100;
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
        9_950..=59_999 => format!("{} s", (ms + 500).min(59_999) / 1000),
        60_000..=3_599_999 => format!("{} m {} s", seconds / 60, seconds % 60),
        3_600_000..=86_399_999 => format!("{} h {} m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fit_and_fall_between_characters() {
        let font = Font::regular(12);
        for text in [
            "short",
            "a rather long line of text that goes on",
            "全部都是中文字符的一行文本内容",
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ] {
            for most in [20, 40, 80, 160] {
                let cut = font.fit(text, most);
                assert!(font.width(&cut) <= most, "{cut} in {most}");
                let cut = font.fit_word(&text.replace(' ', "_"), most);
                assert!(font.width(&cut) <= most, "{cut} in {most}");
                for line in font.wrap(text, most, 2) {
                    assert!(font.width(&line) <= most, "{line} in {most}");
                }
            }
        }
        assert_eq!(font.wrap("one two three four", 60, 3), ["one two", "three four"]);
    }

    #[test]
    fn wide_characters_count_double_and_marks_nothing() {
        let mono = Font::mono(10);
        assert_eq!(mono.width("字"), 10);
        assert_eq!(mono.width("e\u{301}"), mono.width("e"));
        assert!(mono.width("😀") > mono.width("字"));
    }

    #[test]
    fn escapes_what_xml_and_readers_cannot_take() {
        let mut out = String::new();
        escape("<a href=\"x\">&'\u{0}\u{202E}evil\u{FFFE}", &mut out);
        assert_eq!(out, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{FFFD}evil\u{FFFD}");
    }

    #[test]
    fn numbers_and_durations_are_short() {
        let numbers = [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_240, "1.2k"),
            (12_400, "12k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (3_400_000, "3.4M"),
        ];
        for (n, expected) in numbers {
            assert_eq!(short_number(n), expected);
        }
        let durations = [
            (0, "0 ms"),
            (1_249, "1.2 s"),
            (9_949, "9.9 s"),
            (9_950, "10 s"),
            (59_999, "59 s"),
            (200_000, "3 m 20 s"),
            (7_500_000, "2 h 5 m"),
            (273_600_000, "3 d 4 h"),
        ];
        for (ms, expected) in durations {
            assert_eq!(duration(ms), expected);
        }
    }
}
