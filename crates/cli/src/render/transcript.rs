//! Owns the flow of a transcript: who speaks, what stands close together, what was taken back.
//!
//! Next: [`part`], one part of it.

use std::collections::HashMap;
use std::io::{self, Write as _};

use event_spine::SubagentId;
use read_model::projections::transcript::{Body, Part, PartState, Transcript};

use super::part;
use crate::output::{DIM, LIVE, Out, STRONG};
use crate::raw;
use crate::text::{columns, counted};

/// Who a part is by.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Speaker {
    User,
    Agent(Option<SubagentId>),
    System,
}

/// Draws the whole view.
pub(crate) fn draw(out: &mut Out, transcript: &Transcript, verbose: bool) -> io::Result<()> {
    if transcript.parts.dropped() > 0 {
        let dropped = counted(transcript.parts.dropped(), "part");
        let note =
            format!("… {dropped} earlier, see --before {}", transcript.parts.before().unwrap_or(1));
        let note = out.paint(DIM, note);
        writeln!(out, "\n{note}")?;
    }
    let parts: Vec<&Part> =
        transcript.parts.iter().filter(|part| is_shown(part, verbose)).collect();
    let mut flow = Flow {
        speaker: None,
        model: None,
        after: After::Nothing,
        undone: false,
        names: transcript.parts.iter().filter_map(name_of_agent).collect(),
    };
    for (at, part) in parts.iter().enumerate() {
        flow.part(out, part, parts.get(at..).unwrap_or_default(), verbose)?;
    }
    Ok(())
}

/// Id and name of an agent, where a part tells them.
fn name_of_agent(part: &Part) -> Option<(SubagentId, String)> {
    match &part.body {
        Body::AgentTask(agent) | Body::AgentHandoff(agent) => {
            Some((part.scope.subagent_id.clone()?, agent.from.clone()?))
        }
        _ => None, // about no agent
    }
}

/// What the last line drawn belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    /// The name of a speaker: what he says follows at once.
    Label,
    /// A card: cards stand close together.
    Card,
    Text,
}

struct Flow {
    speaker: Option<Speaker>,
    model: Option<String>,
    after: After,
    /// What is drawn now was taken back later.
    undone: bool,
    names: HashMap<SubagentId, String>,
}

impl Flow {
    fn part(
        &mut self,
        out: &mut Out,
        part: &Part,
        rest: &[&Part],
        verbose: bool,
    ) -> io::Result<()> {
        self.mark_undone(out, part.rolled_back)?;
        self.introduce(out, part, rest)?;
        let kind = if is_card(part) { After::Card } else { After::Text };
        match (self.after, kind) {
            (After::Label, _) | (After::Card, After::Card) => {}
            _ => writeln!(out)?,
        }
        self.after = kind;
        let indent = match &self.speaker {
            Some(Speaker::Agent(Some(_))) => "    ",
            Some(Speaker::Agent(None) | Speaker::User | Speaker::System) | None => "  ",
        };
        part::draw(out, part, indent, verbose)
    }

    /// Says where the part of the conversation begins and ends that was taken back.
    fn mark_undone(&mut self, out: &mut Out, undone: bool) -> io::Result<()> {
        if undone == self.undone {
            return Ok(());
        }
        self.undone = undone;
        self.speaker = None;
        self.after = After::Nothing;
        let text = if undone {
            "┄┄ taken back later: "
        } else {
            "┄┄ the conversation goes on from here "
        };
        let line = format!("{text}{}", "┄".repeat(out.prose_width().saturating_sub(columns(text))));
        let line = out.paint(DIM, line);
        writeln!(out, "\n{line}")
    }

    /// Says who speaks when that is somebody else than before.
    fn introduce(&mut self, out: &mut Out, part: &Part, rest: &[&Part]) -> io::Result<()> {
        let Some(speaker) = self.speaker_of(part) else {
            return Ok(());
        };
        let same = self.speaker.as_ref() == Some(&speaker);
        let model = match &speaker {
            // Named from the first thing on that this model does, not only where it speaks.
            Speaker::Agent(_) if !same => model_ahead(rest),
            Speaker::Agent(_) => model_of(part),
            Speaker::User | Speaker::System => None,
        };
        if same && (model.is_none() || model == self.model.as_deref()) {
            return Ok(());
        }
        let label = match &speaker {
            Speaker::User => out.paint(LIVE.bold(), "You"),
            Speaker::System => out.paint(DIM.bold(), "Instructions"),
            Speaker::Agent(None) => out.paint(STRONG, "Agent"),
            Speaker::Agent(Some(id)) => {
                let name = self.names.get(id).map_or(id.as_str(), String::as_str);
                out.paint(STRONG, format!("  Sub-agent {name}"))
            }
        };
        let detail = model.map(|model| out.paint(DIM, format!(" · {model}"))).unwrap_or_default();
        writeln!(out, "\n{label}{detail}")?;
        if let Some(model) = model {
            self.model = Some(model.to_owned());
        }
        self.speaker = Some(speaker);
        self.after = After::Label;
        Ok(())
    }

    /// Who a part is by; nothing for what says itself whom it is about.
    fn speaker_of(&self, part: &Part) -> Option<Speaker> {
        match &part.body {
            Body::UserText(_) => Some(Speaker::User),
            Body::SystemText(_) => Some(Speaker::System),
            Body::OtherText(_)
            | Body::AssistantText(_)
            | Body::Reasoning(_)
            | Body::Plan(_)
            | Body::ToolCall(_)
            | Body::Action(_)
            | Body::ArtifactRef(_)
            | Body::EvidenceRef(_)
            | Body::Error(_) => Some(Speaker::Agent(part.scope.subagent_id.clone())),
            Body::AgentTask(_)
            | Body::AgentHandoff(_)
            | Body::WorkerNotification(_)
            | Body::ContextEvent(_) => None,
        }
    }
}

/// The model of the next thing that is said, before somebody else speaks.
fn model_ahead<'a>(rest: &[&'a Part]) -> Option<&'a str> {
    rest.iter()
        .take_while(|part| !matches!(part.body, Body::UserText(_)))
        .find_map(|part| model_of(part))
}

fn model_of(part: &Part) -> Option<&str> {
    match &part.body {
        Body::AssistantText(text) => text.model.as_deref(),
        _ => None,
    }
}

fn is_card(part: &Part) -> bool {
    matches!(
        part.body,
        Body::ToolCall(_)
            | Body::Action(_)
            | Body::ArtifactRef(_)
            | Body::EvidenceRef(_)
            | Body::ContextEvent(_)
    )
}

/// False for what another try took the place of, for a text without words that nothing more comes of, and for where the
/// raw input lies.
fn is_shown(part: &Part, verbose: bool) -> bool {
    let bookkeeping = match &part.body {
        Body::EvidenceRef(evidence) => {
            evidence.title.as_deref().is_some_and(|title| title.starts_with(raw::TITLE))
        }
        _ => false,
    };
    if bookkeeping && !verbose {
        return false;
    }
    if part.state == PartState::Superseded && !verbose {
        return false;
    }
    let bare = match &part.body {
        Body::UserText(text)
        | Body::AssistantText(text)
        | Body::SystemText(text)
        | Body::OtherText(text) => {
            text.text.is_empty() && text.attachments.is_empty() && text.content_ref.is_none()
        }
        Body::Reasoning(reasoning) => reasoning.text.is_empty() && !reasoning.encrypted,
        Body::Plan(plan) => plan.items.is_empty() && plan.text.is_empty(),
        Body::ToolCall(_)
        | Body::Action(_)
        | Body::ArtifactRef(_)
        | Body::EvidenceRef(_)
        | Body::AgentTask(_)
        | Body::AgentHandoff(_)
        | Body::WorkerNotification(_)
        | Body::ContextEvent(_)
        | Body::Error(_) => false,
    };
    !bare || part.state != PartState::Final
}
