//! Owns the cards of a transcript: a tool call or a request to a person in a line or a few.

use std::io::{self, Write as _};

use event_spine::event::family::policy::Answer;
use read_model::projections::actions::{Action, ActionState};
use read_model::projections::tools::{CallStatus, ToolCall};
use serde_json::{Map, Value};

use super::{took, whole};
use crate::output::{BAD, DIM, GOOD, LIVE, Out, STRONG, WARN};
use crate::text::{columns, one_line, wrapped};

/// Lines of output under a card.
const OUTPUT_LINES: usize = 4;

/// A sign for how a call went, in its colour.
pub(crate) fn sign(out: &Out, status: CallStatus) -> String {
    let (style, sign) = match status {
        CallStatus::Succeeded => (GOOD, "✓"),
        CallStatus::PartialSucceeded => (WARN, "✓"),
        CallStatus::Failed | CallStatus::TimedOut | CallStatus::InputInvalid => (BAD, "✗"),
        CallStatus::Denied | CallStatus::Rejected => (BAD, "⊘"),
        CallStatus::Cancelled | CallStatus::Interrupted => (WARN, "■"),
        CallStatus::InputStreaming | CallStatus::InputAvailable | CallStatus::Running => {
            (LIVE, "●")
        }
        CallStatus::Unknown => (DIM, "○"),
    };
    out.paint(style, sign)
}

/// `left`, and `right` at the right margin, dim.
fn two_ends(
    out: &mut Out,
    indent: &str,
    left: &str,
    left_columns: usize,
    right: &str,
) -> io::Result<()> {
    let width = out.prose_width();
    let used = columns(indent) + left_columns + columns(right);
    let gap = " ".repeat(width.saturating_sub(used).max(2));
    let right = out.paint(DIM, right);
    writeln!(out, "{}", format!("{indent}{left}{gap}{right}").trim_end())
}

/// A tool call.
pub(crate) fn tool(out: &mut Out, call: &ToolCall, indent: &str, verbose: bool) -> io::Result<()> {
    let name = call.tool_name.as_deref().unwrap_or("tool");
    let mut right: Vec<String> = Vec::new();
    match call.status {
        CallStatus::Succeeded | CallStatus::Failed => {}
        // Many sources give a result and never say whether the tool succeeded.
        CallStatus::Unknown => right.push("returned".to_owned()),
        other => right.push(other.as_str().replace('_', " ")),
    }
    right.extend(call.exit_code.filter(|code| *code != 0).map(|code| format!("exit {code}")));
    right.extend(took(&call.elapsed));
    let right = right.join(" · ");
    let taken = columns(indent) + 2 + columns(name) + 2 + columns(&right) + 2;
    let what = one_line(&brief(call), out.prose_width().saturating_sub(taken).max(10));
    let left = format!("{} {}  {what}", sign(out, call.status), out.paint(STRONG, name));
    two_ends(out, indent, &left, 2 + columns(name) + 2 + columns(&what), &right)?;
    let below = format!("{indent}  ");
    if verbose && !call.args.is_empty() {
        lines(out, &whole(&call.args), &below, usize::MAX)?;
    }
    if let Some(failure) = &call.failure {
        let text = failure.error.as_deref().unwrap_or(&failure.category);
        for line in
            wrapped(text, out.prose_width(), &below).into_iter().take(if verbose { 200 } else { 6 })
        {
            let line = out.paint(BAD, line);
            writeln!(out, "{line}")?;
        }
        if let Some(recovery) = &failure.recovery {
            let line = out.paint(WARN, format!("{below}→ {}", one_line(recovery, 80)));
            writeln!(out, "{line}")?;
        }
    }
    let repeats_failure = call
        .failure
        .as_ref()
        .and_then(|f| f.error.as_deref())
        .is_some_and(|error| whole(&call.output).trim() == error.trim());
    if !call.output.is_empty() && !repeats_failure {
        lines(out, &whole(&call.output), &below, if verbose { usize::MAX } else { OUTPUT_LINES })?;
    }
    if let Some(reference) = call.output_ref.as_deref().filter(|_| call.truncated || verbose) {
        let line = out.paint(DIM, format!("{below}whole output: {}", one_line(reference, 80)));
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What a call is about: its title, else its arguments without their punctuation.
pub(crate) fn brief(call: &ToolCall) -> String {
    let name = call.tool_name.as_deref().unwrap_or_default();
    if let Some(title) = call.title.as_deref().filter(|title| *title != name && !title.is_empty()) {
        return title.to_owned();
    }
    arguments(call.args.head())
}

/// Arguments as one writes them to another person: `{"command":"ls","cwd":"/"}` is `command: ls, cwd: /`.
pub(crate) fn arguments(text: &str) -> String {
    let Ok(Value::Object(members)) = serde_json::from_str::<Value>(text) else {
        return text.to_owned();
    };
    // What is asked in words says more than the structure around it.
    if let Some(question) = question(&members) {
        return question;
    }
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    };
    match members.iter().collect::<Vec<_>>().as_slice() {
        [(_, only)] => plain(only),
        many => many
            .iter()
            .map(|(name, value)| format!("{name}: {}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The question among arguments, a few levels down at most.
fn question(members: &Map<String, Value>) -> Option<String> {
    fn below(value: &Value, name: &str, levels: u8) -> Option<String> {
        match value {
            Value::Object(members) => match members.get(name) {
                Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
                _ if levels == 0 => None,
                _ => members.values().find_map(|value| below(value, name, levels - 1)),
            },
            Value::Array(items) if levels > 0 => {
                items.iter().find_map(|item| below(item, name, levels - 1))
            }
            _ => None,
        }
    }
    let whole = Value::Object(members.clone());
    // Tools have arguments called `description` too; only what lies deeper is somebody's request.
    let request = || members.values().find_map(|value| below(value, "description", 3));
    below(&whole, "question", 3).or_else(request)
}

fn lines(out: &mut Out, text: &str, indent: &str, most: usize) -> io::Result<()> {
    let all = wrapped(text.trim(), out.prose_width(), indent);
    let shown = if all.len() <= most.saturating_add(1) { all.len() } else { most };
    for line in all.iter().take(shown) {
        let line = out.paint(DIM, line);
        writeln!(out, "{line}")?;
    }
    if all.len() > shown {
        let line = out.paint(DIM, format!("{indent}… {} more lines", all.len() - shown));
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A request to a person, and the answer.
pub(crate) fn action(out: &mut Out, action: &Action, indent: &str) -> io::Result<()> {
    let (style, verdict) = answer(action);
    let kind = action.action_type.as_deref().unwrap_or("action").replace('_', " ");
    let about = action.title.clone().or_else(|| action.tool_name.clone()).unwrap_or_default();
    // Some sources put the whole request where the title should be.
    let about = match about.as_str() {
        "" => arguments(action.arguments.head()),
        text if text.starts_with('{') => arguments(text),
        _ => about,
    };
    let right = took(&action.waited).map(|waited| format!("after {waited}")).unwrap_or_default();
    let taken =
        columns(indent) + 2 + columns(&kind) + 2 + columns(&verdict) + 3 + columns(&right) + 2;
    let about = one_line(&about, out.prose_width().saturating_sub(taken).max(10));
    let left = format!(
        "{} {}  {about} {}",
        out.paint(style, "▲"),
        out.paint(style.bold(), &kind),
        out.paint(style, format!("→ {verdict}")),
    );
    let used = 2 + columns(&kind) + 2 + columns(&about) + 1 + 2 + columns(&verdict);
    two_ends(out, indent, &left, used, &right)?;
    let mut notes: Vec<String> = Vec::new();
    notes.extend(action.risk.as_ref().map(|risk| format!("risk {risk}")));
    notes.extend(action.reason.as_ref().map(|reason| format!("asked because: {reason}")));
    let resolution = action.resolution.as_ref();
    notes.extend(
        resolution.and_then(|r| r.reason.as_ref()).map(|reason| format!("answered: {reason}")),
    );
    notes.extend(action.cancel_reason.clone());
    for note in notes {
        for line in wrapped(&note, out.prose_width(), &format!("{indent}  ")).into_iter().take(3) {
            let line = out.paint(DIM, line);
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The answer in a few words, and its colour.
pub(crate) fn answer(action: &Action) -> (anstyle::Style, String) {
    match (action.state, &action.resolution) {
        (ActionState::Pending, _) => (WARN, "waits for an answer".to_owned()),
        (ActionState::Cancelled, _) => (DIM, "cancelled".to_owned()),
        (ActionState::Expired, _) => (BAD, "expired".to_owned()),
        (ActionState::Resolved, None) => (DIM, "answered".to_owned()),
        (ActionState::Resolved, Some(resolution)) => {
            let word = resolution.resolved_as.as_deref().unwrap_or(&resolution.decision);
            let style = match resolution.answer() {
                Answer::Granted => GOOD,
                Answer::Refused | Answer::Expired => BAD,
                Answer::Cancelled | Answer::Unknown => WARN,
            };
            let by = resolution.decided_by.as_deref().or(resolution.source.as_deref());
            let by = by.map(|who| format!(" by {who}")).unwrap_or_default();
            (style, format!("{}{by}", word.replace('_', " ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_read_like_prose() {
        let check = |text: &str, expected: &str| assert_eq!(arguments(text), expected);
        check(r#"{"command":"ls -l"}"#, "ls -l");
        check(r#"{"command":["bash","-lc","ls"]}"#, "bash -lc ls");
        check(r#"{"path":"a.txt","depth":2}"#, "path: a.txt, depth: 2");
        check(r#"{"q":"#, r#"{"q":"#);
        check(r#"{"raw":{"action":"delete","question":"Delete it?"}}"#, "Delete it?");
        check(
            r#"{"raw":{"requests":[{"name":"rm","description":"Delete notes.txt"}]}}"#,
            "Delete notes.txt",
        );
        check(r#"{"description":"list","command":"ls"}"#, "description: list, command: ls");
        check("{}", "");
        check("plain", "plain");
    }
}
