//! Owns drawing one part of a transcript. Texts are paragraphs; what was done are [cards](super::card).

use std::io::{self, Write as _};

use event_spine::event::value::{PlanStatus, Role};
use read_model::projections::transcript::{
    Body, ContextPart, ErrorPart, MessagePart, Part, PartState, PlanPart, ReasoningPart, TextPart,
};

use super::{card, whole};
use crate::output::{BAD, DIM, GOOD, LIVE, Out, WARN};
use crate::text::{one_line, wrapped};

/// Lines of reasoning that are shown unless more is wanted.
const REASONING_LINES: usize = 3;

/// Draws it.
pub(crate) fn draw(out: &mut Out, part: &Part, indent: &str, verbose: bool) -> io::Result<()> {
    let all = |few: usize| if verbose { usize::MAX } else { few };
    match &part.body {
        Body::UserText(said)
        | Body::AssistantText(said)
        | Body::SystemText(said)
        | Body::OtherText(said) => text(out, said, part.state, indent, verbose),
        Body::Reasoning(reasoning) => dim(out, &thought(reasoning), indent, all(REASONING_LINES)),
        Body::Plan(steps) => plan(out, steps, indent),
        Body::ToolCall(call) => card::tool(out, call, indent, verbose),
        Body::Action(action) => card::action(out, action, indent),
        Body::ArtifactRef(artifact) => {
            let title = artifact.title.as_deref().unwrap_or("artifact");
            let sign = out.paint(LIVE, "◆");
            let title = one_line(title, out.prose_width().saturating_sub(24));
            writeln!(out, "{indent}{sign} {} {title}", artifact.change)
        }
        Body::EvidenceRef(evidence) => {
            let title = evidence.title.as_deref().unwrap_or_default();
            let status = evidence.status.as_deref().unwrap_or_default();
            let title = one_line(title, out.prose_width().saturating_sub(30));
            dim(out, &format!("◇ evidence: {title} {status}"), indent, 1)
        }
        Body::AgentTask(message)
        | Body::AgentHandoff(message)
        | Body::WorkerNotification(message) => agent(out, message, indent),
        Body::ContextEvent(context) => context_event(out, context, indent, all(4)),
        Body::Error(failure) => error(out, failure, indent),
    }
}

fn text(
    out: &mut Out,
    text: &TextPart,
    state: PartState,
    indent: &str,
    verbose: bool,
) -> io::Result<()> {
    let said = whole(&text.text);
    if matches!(text.role, Role::System | Role::Developer) && !verbose {
        dim(out, &said, indent, 2)?;
    } else if state == PartState::Superseded {
        dim(out, &format!("(another try took its place) {said}"), indent, usize::MAX)?;
    } else {
        paragraph(out, &said, indent)?;
    }
    for attachment in &text.attachments {
        let kind = attachment.media_type.as_deref().unwrap_or(&attachment.kind);
        let place =
            attachment.uri.as_deref().or(attachment.content_ref.as_deref()).unwrap_or_default();
        dim(out, &format!("[{kind}] {}", one_line(place, 60)), indent, 1)?;
    }
    let note = match state {
        PartState::Interrupted => out.paint(WARN, format!("{indent}■ cut off here")),
        PartState::Streaming => out.paint(LIVE, format!("{indent}● …")),
        PartState::Final | PartState::Superseded => return Ok(()),
    };
    writeln!(out, "{note}")
}

fn thought(reasoning: &ReasoningPart) -> String {
    match whole(&reasoning.text).trim() {
        "" => "thinks (its source keeps the words to itself)".to_owned(),
        text => format!("thinks: {text}"),
    }
}

fn plan(out: &mut Out, plan: &PlanPart, indent: &str) -> io::Result<()> {
    for item in &plan.items {
        let (style, sign) = match item.status {
            Some(PlanStatus::Completed) => (GOOD, "☑"),
            Some(PlanStatus::InProgress) => (LIVE, "▶"),
            Some(PlanStatus::Failed | PlanStatus::Blocked) => (BAD, "☒"),
            Some(PlanStatus::Cancelled) => (DIM, "☒"),
            Some(PlanStatus::Pending | PlanStatus::Unknown) | None => (DIM, "☐"),
        };
        let sign = out.paint(style, sign);
        writeln!(
            out,
            "{indent}{sign} {}",
            one_line(&item.text, out.prose_width().saturating_sub(8))
        )?;
    }
    paragraph(out, &whole(&plan.text), indent)
}

fn agent(out: &mut Out, message: &MessagePart, indent: &str) -> io::Result<()> {
    let from = message.from.as_deref().unwrap_or("agent");
    let to = message.to.as_deref().map(|to| format!(" → {to}")).unwrap_or_default();
    let status = message.status.as_deref().map(|status| format!("  {status}")).unwrap_or_default();
    let head = out.paint(LIVE, format!("⇢ {from}{to}"));
    writeln!(out, "{indent}{head}{status}")?;
    let below = format!("{indent}  ");
    paragraph(out, &whole(&message.text), &below)?;
    match &message.result {
        Some(result) => dim(out, &whole(result), &below, 6),
        None => Ok(()),
    }
}

fn context_event(
    out: &mut Out,
    context: &ContextPart,
    indent: &str,
    most: usize,
) -> io::Result<()> {
    let name =
        one_line(context.name.as_deref().unwrap_or_default(), out.prose_width().saturating_sub(30));
    dim(out, &format!("· context {}: {name}", context.what.replace('_', " ")), indent, 1)?;
    match &context.summary {
        Some(summary) => dim(out, &whole(summary), &format!("{indent}  "), most),
        None => Ok(()),
    }
}

fn error(out: &mut Out, error: &ErrorPart, indent: &str) -> io::Result<()> {
    let message = error.message.as_deref().unwrap_or(&error.category);
    for line in wrapped(&format!("✗ {message}"), out.prose_width(), indent) {
        let line = out.paint(BAD, line);
        writeln!(out, "{line}")?;
    }
    match &error.recovery {
        Some(recovery) => {
            let line = out.paint(WARN, format!("{indent}→ {}", one_line(recovery, 80)));
            writeln!(out, "{line}")
        }
        None => Ok(()),
    }
}

fn paragraph(out: &mut Out, text: &str, indent: &str) -> io::Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    for line in wrapped(text, out.prose_width(), indent) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn dim(out: &mut Out, text: &str, indent: &str, most: usize) -> io::Result<()> {
    let lines = wrapped(text, out.prose_width(), indent);
    let cut = lines.len() > most;
    for (at, line) in lines.iter().take(most).enumerate() {
        let more = if cut && at + 1 == most { " …" } else { "" };
        let line = out.paint(DIM, format!("{line}{more}"));
        writeln!(out, "{line}")?;
    }
    Ok(())
}
