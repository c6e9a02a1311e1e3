//! Owns canonical JSON (RFC 8785) for what is hashed: strings, safe integers, arrays and objects of the envelope.
//!
//! Payloads do not pass through here; they are hashed as the text they are.

use serde_json::Value;

/// Appends `value` in canonical form.
///
/// # Errors
/// Gives back a number that is not an integer within ±(2^53−1), as written.
pub(crate) fn write_value(value: &Value, out: &mut String) -> Result<(), String> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => {
            let exact = number
                .as_i64()
                .filter(|n| n.unsigned_abs() < (1 << 53))
                .filter(|n| n.to_string() == number.to_string());
            out.push_str(&exact.ok_or_else(|| number.to_string())?.to_string());
        }
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(item, out)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (at, (name, member)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write_value(member, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Appends a JSON string with the escapes of RFC 8785: the short ones, `\u00xx` for other control characters, no more.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    // Nearly all strings of an envelope are ids, with nothing to escape. No early exit: so it takes whole vectors.
    let escapes = |bad: bool, byte: &u8| bad | (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\');
    if !text.as_bytes().iter().fold(false, escapes) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0C => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digit = |n: u8| char::from(HEX.get(usize::from(n)).copied().unwrap_or(b'0'));
                out.push_str("\\u00");
                out.push(digit(byte >> 4));
                out.push(digit(byte & 15));
            }
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_escape_as_rfc_8785_says() {
        let mut out = String::new();
        write_string("\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{8}", &mut out);
        // Section 3.2.2.2 of RFC 8785.
        assert_eq!(out, "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\\b\"");
    }

    #[test]
    fn members_sort_by_utf16_units_and_numbers_are_exact() {
        let check = |input: &str, expected: Result<&str, &str>| {
            let mut out = String::new();
            let got =
                write_value(&serde_json::from_str(input).unwrap(), &mut out).map(|()| out.as_str());
            assert_eq!(got.map_err(|e| e.clone()), expected.map_err(str::to_owned), "{input}");
        };
        check(
            r#"{"\ufb33":1,"\ud83d\ude00":2,"a":[true,null]}"#,
            Ok("{\"a\":[true,null],\"\u{1f600}\":2,\"\u{fb33}\":1}"),
        );
        check("9007199254740991", Ok("9007199254740991"));
        check("9007199254740993", Err("9007199254740993"));
        check("1.0", Err("1.0"));
    }
}
