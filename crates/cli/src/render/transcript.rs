//! Owns drawing the transcript: who spoke, in paragraphs; what was done, in cards.

use std::io::{self, Write as _};

use event_spine::SubagentId;
use event_spine::event::value::{PlanStatus, Role};
use read_model::projections::transcript::{Body, Part, PartState, TextPart, Transcript};

use super::{card, whole};
use crate::output::{BAD, DIM, GOOD, LIVE, Out, STRONG, WARN};
use crate::text::{columns, one_line, wrapped};

/// Lines of reasoning that are shown unless more is wanted.
const REASONING_LINES: usize = 3;

/// Who a part is by.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Speaker {
    User,
    Agent(Option<SubagentId>),
    System,
}

/// Draws the whole view.
pub(crate) fn draw(out: &mut Out, transcript: &Transcript, verbose: bool) -> io::Result<()> {
    let mut drawing = Drawing {
        verbose,
        speaker: None,
        model: None,
        after_card: false,
        undone: false,
    };
    if transcript.parts.dropped() > 0 {
        let note = format!(
            "… {} earlier, see --before {}",
            crate::text::counted(transcript.parts.dropped(), "part"),
            transcript.parts.before().unwrap_or(1)
        );
        let note = out.paint(DIM, note);
        writeln!(out, "\n{note}")?;
    }
    for part in transcript.parts.iter() {
        drawing.part(out, part)?;
    }
    Ok(())
}

struct Drawing {
    verbose: bool,
    speaker: Option<Speaker>,
    model: Option<String>,
    /// The last thing drawn was a card: cards stand close together.
    after_card: bool,
    /// What is drawn now was taken back later.
    undone: bool,
}

impl Drawing {
    fn part(&mut self, out: &mut Out, part: &Part) -> io::Result<()> {
        if part.state == PartState::Superseded && !self.verbose {
            return Ok(());
        }
        self.mark_undone(out, part.rolled_back)?;
        self.introduce(out, part)?;
        let indent = self.indent();
        let is_card = matches!(
            part.body,
            Body::ToolCall(_) | Body::Action(_) | Body::ArtifactRef(_) | Body::EvidenceRef(_)
        );
        if is_card && !self.after_card {
            writeln!(out)?;
        }
        if !is_card {
            writeln!(out)?;
        }
        self.after_card = is_card;
        match &part.body {
            Body::UserText(text)
            | Body::AssistantText(text)
            | Body::SystemText(text)
            | Body::OtherText(text) => {
                self.text(out, text, part, &indent)?;
            }
            Body::Reasoning(reasoning) => {
                let most = if self.verbose {
                    usize::MAX
                } else {
                    REASONING_LINES
                };
                dim(
                    out,
                    &format!("thinks: {}", whole(&reasoning.text).trim()),
                    &indent,
                    most,
                )?;
            }
            Body::Plan(plan) => {
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
                        one_line(&item.text, out.prose_width() - 8)
                    )?;
                }
                paragraph(out, &whole(&plan.text), &indent)?;
            }
            Body::ToolCall(call) => card::tool(out, call, &indent, self.verbose)?,
            Body::Action(action) => card::action(out, action, &indent)?,
            Body::ArtifactRef(artifact) => {
                let title = artifact.title.as_deref().unwrap_or("artifact");
                let sign = out.paint(LIVE, "◆");
                writeln!(
                    out,
                    "{indent}{sign} {} {}",
                    artifact.change,
                    one_line(title, out.prose_width() - 20)
                )?;
            }
            Body::EvidenceRef(evidence) => {
                let title = evidence.title.as_deref().unwrap_or("evidence");
                let sign = out.paint(LIVE, "◇");
                let status = evidence.status.as_deref().unwrap_or_default();
                writeln!(
                    out,
                    "{indent}{sign} evidence {} {status}",
                    one_line(title, out.prose_width() - 30)
                )?;
            }
            Body::AgentTask(message)
            | Body::AgentHandoff(message)
            | Body::WorkerNotification(message) => {
                let from = message.from.as_deref().unwrap_or("agent");
                let to = message
                    .to
                    .as_deref()
                    .map(|to| format!(" → {to}"))
                    .unwrap_or_default();
                let status = message
                    .status
                    .as_deref()
                    .map(|s| format!("  {s}"))
                    .unwrap_or_default();
                let head = out.paint(LIVE, format!("⇢ {from}{to}"));
                writeln!(out, "{indent}{head}{status}")?;
                paragraph(out, &whole(&message.text), &format!("{indent}  "))?;
                if let Some(result) = &message.result {
                    dim(out, &whole(result), &format!("{indent}  "), 6)?;
                }
            }
            Body::ContextEvent(context) => {
                let name = context.name.as_deref().unwrap_or_default();
                dim(
                    out,
                    &format!("· context {} {name}", context.what.replace('_', " ")),
                    &indent,
                    2,
                )?;
                if let Some(summary) = &context.summary {
                    dim(
                        out,
                        &whole(summary),
                        &format!("{indent}  "),
                        if self.verbose { usize::MAX } else { 4 },
                    )?;
                }
            }
            Body::Error(error) => {
                let message = error.message.as_deref().unwrap_or(&error.category);
                for line in wrapped(&format!("✗ {message}"), out.prose_width(), &indent) {
                    let line = out.paint(BAD, line);
                    writeln!(out, "{line}")?;
                }
                if let Some(recovery) = &error.recovery {
                    let line = out.paint(WARN, format!("{indent}→ {}", one_line(recovery, 80)));
                    writeln!(out, "{line}")?;
                }
            }
        }
        Ok(())
    }

    /// Says where the part of the conversation begins and ends that was taken back.
    fn mark_undone(&mut self, out: &mut Out, undone: bool) -> io::Result<()> {
        if undone == self.undone {
            return Ok(());
        }
        self.undone = undone;
        self.speaker = None;
        let text = if undone {
            "┄┄ taken back later: "
        } else {
            "┄┄ the conversation goes on from here "
        };
        let line = format!(
            "{text}{}",
            "┄".repeat(out.prose_width().saturating_sub(columns(text)))
        );
        let line = out.paint(DIM, line);
        writeln!(out, "\n{line}")
    }

    /// Says who speaks when that is somebody else than before.
    fn introduce(&mut self, out: &mut Out, part: &Part) -> io::Result<()> {
        let speaker = match &part.body {
            Body::UserText(_) => Speaker::User,
            Body::SystemText(_) => Speaker::System,
            Body::OtherText(_)
            | Body::AssistantText(_)
            | Body::Reasoning(_)
            | Body::Plan(_)
            | Body::ToolCall(_)
            | Body::Action(_)
            | Body::ArtifactRef(_)
            | Body::EvidenceRef(_)
            | Body::ContextEvent(_)
            | Body::Error(_) => Speaker::Agent(part.scope.subagent_id.clone()),
            // Says itself which agents it is about.
            Body::AgentTask(_) | Body::AgentHandoff(_) | Body::WorkerNotification(_) => {
                match &self.speaker {
                    Some(agent @ Speaker::Agent(_)) => agent.clone(),
                    Some(Speaker::User | Speaker::System) | None => Speaker::Agent(None),
                }
            }
        };
        let model = match &part.body {
            Body::AssistantText(text) => text.model.clone(),
            _ => None,
        };
        let other_model = model.is_some() && model != self.model;
        if self.speaker.as_ref() == Some(&speaker) && !other_model {
            return Ok(());
        }
        let label = match &speaker {
            Speaker::User => out.paint(LIVE.bold(), "You"),
            Speaker::System => out.paint(DIM.bold(), "Instructions"),
            Speaker::Agent(None) => out.paint(STRONG, "Agent"),
            Speaker::Agent(Some(id)) => out.paint(STRONG, format!("  Sub-agent {id}")),
        };
        let detail = match &model {
            Some(model) => out.paint(DIM, format!(" · {model}")),
            None => String::new(),
        };
        writeln!(out, "\n{label}{detail}")?;
        self.model = model.or(self.model.take());
        self.speaker = Some(speaker);
        self.after_card = false;
        Ok(())
    }

    fn indent(&self) -> String {
        match &self.speaker {
            Some(Speaker::Agent(Some(_))) => "    ".to_owned(),
            _ => "  ".to_owned(),
        }
    }

    fn text(&self, out: &mut Out, text: &TextPart, part: &Part, indent: &str) -> io::Result<()> {
        let said = whole(&text.text);
        if matches!(text.role, Role::System | Role::Developer) && !self.verbose {
            dim(out, &said, indent, 2)?;
        } else if part.state == PartState::Superseded {
            dim(out, &format!("(superseded) {said}"), indent, usize::MAX)?;
        } else {
            paragraph(out, &said, indent)?;
        }
        for attachment in &text.attachments {
            let kind = attachment.media_type.as_deref().unwrap_or(&attachment.kind);
            let place = attachment
                .uri
                .as_deref()
                .or(attachment.content_ref.as_deref())
                .unwrap_or_default();
            dim(out, &format!("[{kind}] {}", one_line(place, 60)), indent, 1)?;
        }
        match part.state {
            PartState::Interrupted => {
                let note = out.paint(WARN, format!("{indent}■ cut off here"));
                writeln!(out, "{note}")
            }
            PartState::Streaming => {
                let note = out.paint(LIVE, format!("{indent}● …"));
                writeln!(out, "{note}")
            }
            PartState::Final | PartState::Superseded => Ok(()),
        }
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
