//! Owns reading what a tool of Codex says to the model, as far as it is Codex's own wording: the lines it puts before an output,
//! and the few texts that stand in the place of an output when a call was refused. The output itself is never read.

use event_spine::event::value::ToolStatus;
use serde_json::Value;

use super::frame::text;

/// The longest preview, in characters.
const LONGEST: usize = 2000;

/// What the line before an output says.
const OUTPUT: &str = "Output:\n";

/// How a call was refused, when the text is the one that Codex has in the place of an output. A command that ran has lines of
/// Codex before its output, so that no output can look like it.
pub(super) fn refused(content: &Value) -> Option<ToolStatus> {
    let words = content.as_str()?.trim();
    let words = match words.strip_prefix("Wall time: ").and_then(|rest| rest.split_once('\n')) {
        Some((time, rest)) if time.ends_with(" seconds") => rest,
        _ => words,
    };
    let failed = words.strip_prefix("exec_command failed: ");
    if failed.is_some_and(|why| why.contains(r#"Rejected(\"rejected by user\")"#)) {
        return Some(ToolStatus::Rejected);
    }
    if words == "aborted by user" || words.starts_with("aborted by user after ") {
        return Some(ToolStatus::Cancelled);
    }
    let by_policy = words.strip_prefix("approval policy is ");
    by_policy.filter(|rest| rest.contains("; reject command")).map(|_| ToolStatus::Denied)
}

/// The text that a person reads, where the output is not that already: without the lines that Codex puts before it, and the
/// parts of a list one behind the other.
pub(super) fn preview(content: &Value) -> Option<String> {
    let whole = match content {
        Value::String(words) => words.clone(),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|part| text(part, "text")).collect();
            texts?.concat()
        }
        _ => return None,
    };
    let read = without_head(&whole);
    let is_same = content.as_str().is_some_and(|words| words.len() == read.len());
    (!is_same).then(|| read.chars().take(LONGEST).collect())
}

/// The text behind the lines of Codex: `Chunk ID`, `Wall time`, how the process stands, `Output:`.
fn without_head(whole: &str) -> &str {
    let is_own = |line: &str| {
        [
            "Chunk ID: ",
            "Wall time",
            "Process running with session ID ",
            "Process exited with code ",
            "Original token count: ",
            "Exit code: ",
            "Script completed",
            "Script failed",
            "Script running",
            "Total output lines: ",
        ]
        .iter()
        .any(|head| line.starts_with(head))
    };
    let mut rest = whole;
    while let Some((line, behind)) = rest.split_once('\n') {
        if rest.starts_with(OUTPUT) && rest.len() < whole.len() {
            return behind;
        }
        if !is_own(line) {
            break;
        }
        rest = behind;
    }
    whole
}
