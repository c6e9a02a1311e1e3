//! Owns how texts become previews: one line, bounded, cut between characters.

use event_spine::JsonText;

/// The most characters a preview has.
pub(super) const PREVIEW: usize = 160;

/// The most characters a title has.
pub(super) const TITLE: usize = 80;

/// Longest JSON text that is read for a preview; the head of a longer one is shown as it is.
const READABLE: usize = 4096;

/// The head of a text on one line.
pub(super) fn line(text: &str, most: usize) -> String {
    let mut out = String::new();
    extend(&mut out, text, most);
    out
}

/// Appends a text to a preview, up to `most` characters; runs of white space and control characters become one
/// space. Returns true once the preview is full.
pub(super) fn extend(out: &mut String, text: &str, most: usize) -> bool {
    if out.ends_with('…') {
        return true;
    }
    let mut length = out.chars().count();
    for c in text.chars() {
        let blank = c.is_whitespace() || c.is_control();
        if blank && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if length >= most {
            out.push('…');
            return true;
        }
        out.push(if blank { ' ' } else { c });
        length += 1;
    }
    false
}

/// The head of a text that is not empty.
pub(super) fn some_line(text: Option<&str>, most: usize) -> Option<String> {
    text.map(|text| line(text, most)).filter(|text| !text.trim().is_empty())
}

/// A JSON value in words: a string as it is, an object as `name: value, name: value`.
pub(super) fn json(text: &JsonText) -> Option<String> {
    let raw = text.as_str();
    if raw.len() > READABLE {
        return some_line(
            Some(raw.get(..raw.floor_char_boundary(READABLE)).unwrap_or(raw)),
            PREVIEW,
        );
    }
    match text.read::<serde_json::Value>() {
        Ok(serde_json::Value::Null) => None,
        Ok(serde_json::Value::Object(members)) if members.is_empty() => None,
        Ok(value) => some_line(Some(&words(&value)), PREVIEW),
        Err(_) => some_line(Some(raw), PREVIEW),
    }
}

fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(members) if members.len() == 1 => {
            members.values().next().map(scalar).unwrap_or_default()
        }
        serde_json::Value::Object(members) => {
            let parts = members.iter().map(|(name, value)| format!("{name}: {}", scalar(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        other => scalar(other),
    }
}

fn scalar(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
