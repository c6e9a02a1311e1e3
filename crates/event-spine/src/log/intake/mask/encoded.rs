//! Owns small questions about bytes: which alphabet, how random, what a base64 text says.

pub(super) fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Letters, digits, `_`.
pub(super) fn word(byte: u8) -> bool {
    alnum(byte) || byte == b'_'
}

/// Letters, digits, `_`, `-`: base64url.
pub(super) fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

/// Base64url and dots.
pub(super) fn dotted(byte: u8) -> bool {
    dashed(byte) || byte == b'.'
}

pub(super) fn base64(byte: u8) -> bool {
    alnum(byte) || matches!(byte, b'+' | b'/' | b'=')
}

/// What may stand behind `Bearer`.
pub(super) fn token68(byte: u8) -> bool {
    dotted(byte) || matches!(byte, b'~' | b'+' | b'/' | b'=')
}

pub(super) fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

pub(super) fn lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')
}

/// Upper case letters and digits.
pub(super) fn upper(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

/// How many bytes from `at` on are of a class, at most `max`.
pub(super) fn run(text: &[u8], at: usize, max: usize, class: fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(max).take_while(|b| class(**b)).count()
}

/// The longest run of letters and digits.
pub(super) fn longest_run(bytes: &[u8]) -> usize {
    let runs = bytes.split(|b| !alnum(*b));
    runs.map(<[u8]>::len).max().unwrap_or(0)
}

pub(super) fn has_digit(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_digit)
}

/// True when a cut text has more of a token than a word would: a digit, an upper case letter, or thirteen letters.
pub(super) fn beyond_a_word(bytes: &[u8]) -> bool {
    bytes.len() > 12 || bytes.iter().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// True for `user:password` in base64: what stands behind `Basic`.
pub(super) fn is_basic_credentials(encoded: &[u8]) -> bool {
    let mut decoded = Vec::with_capacity(encoded.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in encoded {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push(u8::try_from((bits >> held) & 0xFF).unwrap_or_default());
        }
    }
    decoded.contains(&b':')
        && std::str::from_utf8(&decoded).is_ok_and(|text| !text.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_told_from_words() {
        let check = |text: &str, expected: bool| {
            assert_eq!(is_basic_credentials(text.as_bytes()), expected, "{text}");
        };
        check("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", true); // RFC 7617
        check("dGVzdDoxMjPCow==", true); // RFC 7617, UTF-8
        check("authentication", false);
        check("structures", false);
        check("", false);
        check("not base64!", false);
    }
}
