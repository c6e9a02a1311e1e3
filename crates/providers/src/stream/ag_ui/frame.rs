//! Owns AG-UI's own shapes: its events of 1.0 and 0.x as one flat struct, and what they contain.
//!
//! Only members that some fact is made of are named. What is nested is read when it is needed, so that an odd `usage` never
//! costs the end of a run. `rawEvent` and `metadata` stay in the raw input.

use event_spine::JsonText;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// An event, or the input of a run (which has no `type`).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wire {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) timestamp: Option<serde_json::Number>,
    pub(super) subagent_run_id: Option<String>,
    pub(super) thread_id: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) input: Option<JsonText>,
    pub(super) result: Option<JsonText>,
    pub(super) outcome: Option<JsonText>,
    /// How a draft of 0.x told what a run waits for.
    pub(super) interrupt: Option<JsonText>,
    pub(super) usage: Option<JsonText>,
    pub(super) message: Option<String>,
    pub(super) code: Option<String>,
    pub(super) step_name: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) role: Option<String>,
    /// A piece of text, or a JSON Patch.
    pub(super) delta: Option<JsonText>,
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_call_name: Option<String>,
    pub(super) parent_message_id: Option<String>,
    /// A string, a list of parts, or the object of an activity.
    pub(super) content: Option<JsonText>,
    pub(super) snapshot: Option<JsonText>,
    pub(super) messages: Option<JsonText>,
    pub(super) activity_type: Option<String>,
    pub(super) replace: Option<bool>,
    pub(super) patch: Option<JsonText>,
    pub(super) subtype: Option<String>,
    pub(super) entity_id: Option<String>,
    /// Name of a sub-agent or of a custom event.
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) parent_subagent_run_id: Option<String>,
    pub(super) parent_tool_call_id: Option<String>,
    pub(super) value: Option<JsonText>,
    pub(super) raw_event: Option<Box<RawValue>>,
    pub(super) resume: Option<JsonText>,
    pub(super) forwarded_props: Option<JsonText>,
}

impl Wire {
    /// The piece of text that the event brings.
    pub(super) fn text_delta(&self) -> Option<String> {
        self.delta.as_ref()?.read().ok()
    }

    /// The input of a run, if this is one.
    pub(super) fn as_input(&self) -> Option<RunInput> {
        (self.kind.is_none() && self.run_id.is_some() && self.messages.is_some()).then(|| {
            RunInput {
                messages: list(self.messages.as_ref()),
                resume: list(self.resume.as_ref()),
                command: command(self.forwarded_props.as_ref()),
            }
        })
    }

    /// The input that RUN_STARTED repeats.
    pub(super) fn carried_input(&self) -> Option<RunInput> {
        let wire: Self = self.input.as_ref()?.read().ok()?;
        wire.as_input()
    }
}

/// Reads the elements of a list that can be read.
pub(super) fn list<T: DeserializeOwned>(text: Option<&JsonText>) -> Vec<T> {
    let raw: Vec<JsonText> = text.and_then(|text| text.read().ok()).unwrap_or_default();
    raw.iter().filter_map(|item| item.read().ok()).collect()
}

/// How LangGraph's integrations answer an interrupt.
fn command(props: Option<&JsonText>) -> Option<JsonText> {
    #[derive(Deserialize)]
    struct Props {
        command: Command,
    }
    #[derive(Deserialize)]
    struct Command {
        resume: JsonText,
    }
    let props: Props = props?.read().ok()?;
    Some(props.command.resume)
}

/// What a client asked a run to do.
#[derive(Debug, Clone, Default)]
pub(super) struct RunInput {
    pub(super) messages: Vec<Message>,
    pub(super) resume: Vec<Resume>,
    /// `forwardedProps.command.resume`.
    pub(super) command: Option<JsonText>,
}

impl RunInput {
    /// True when it answers what an earlier run asked.
    pub(super) fn answers(&self) -> bool {
        !self.resume.is_empty() || self.command.is_some()
    }

    /// The last message, if a person spoke last.
    pub(super) fn new_message(&self) -> Option<&Message> {
        self.messages.last().filter(|m| m.role == "user")
    }
}

/// An answer to an interrupt.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resume {
    pub(super) interrupt_id: String,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) payload: Option<JsonText>,
}

/// A message of the conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    #[serde(default)]
    pub(super) id: Option<String>,
    pub(super) role: String,
    #[serde(default)]
    pub(super) content: Option<JsonText>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<ToolCall>>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) error: Option<String>,
}

impl Message {
    /// Its text: the content, or the text parts of it, one a line.
    pub(super) fn text(&self) -> Option<String> {
        let content = self.content.as_ref()?;
        if let Ok(text) = content.read::<String>() {
            return Some(text);
        }
        let texts: Vec<String> = self.parts().into_iter().filter_map(|p| p.text).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Its parts, when it has parts.
    pub(super) fn parts(&self) -> Vec<Part> {
        list(self.content.as_ref())
    }
}

/// A part of a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) mime_type: Option<String>,
    #[serde(default)]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) source: Option<Source>,
}

/// Where the content of a part lies.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    #[serde(rename = "type", default)]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) mime_type: Option<String>,
}

/// A call inside an assistant message.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) function: Function,
}

/// What a call calls.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With success, or without a word, which the protocol reads as success.
    Success { pending: Vec<String> },
    /// It waits for answers.
    Interrupt,
    /// It was stopped.
    Cancelled,
    /// A word that we do not know.
    Other(String),
}

/// Something that a run waits for.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Interrupt {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) reason: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
    #[serde(default)]
    pub(super) response_schema: Option<JsonText>,
    #[serde(default)]
    pub(super) expires_at: Option<String>,
    /// The facts that frameworks put beside it.
    #[serde(default, alias = "payload")]
    pub(super) metadata: Option<JsonText>,
    #[serde(default)]
    pub(super) subagent_run_id: Option<String>,
}

/// Reads the outcome of RUN_FINISHED or SUBAGENT_FINISHED, with what it waits for.
pub(super) fn outcome(wire: &Wire) -> (Outcome, Vec<Interrupt>) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tagged {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        interrupts: Option<JsonText>,
        #[serde(default)]
        pending_tool_call_ids: Option<Vec<String>>,
    }
    let drafted: Vec<Interrupt> = wire.interrupt.iter().filter_map(|i| i.read().ok()).collect();
    let Some(text) = &wire.outcome else {
        let outcome = if drafted.is_empty() {
            Outcome::Success { pending: vec![] }
        } else {
            Outcome::Interrupt
        };
        return (outcome, drafted);
    };
    let tagged = text.read().unwrap_or_else(|_| Tagged {
        kind: text.read().unwrap_or_else(|_| text.as_str().to_owned()),
        interrupts: None,
        pending_tool_call_ids: None,
    });
    let outcome = match tagged.kind.as_str() {
        "success" => Outcome::Success { pending: tagged.pending_tool_call_ids.unwrap_or_default() },
        "interrupt" | "suspended" => Outcome::Interrupt,
        "cancelled" | "canceled" => Outcome::Cancelled,
        _ => Outcome::Other(tagged.kind),
    };
    let mut interrupts = list(tagged.interrupts.as_ref());
    interrupts.extend(drafted);
    (outcome, interrupts)
}

/// Tokens of one model in one run.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct Usage {
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) reasoning_tokens: Option<u64>,
    pub(super) cached_input_tokens: Option<u64>,
    pub(super) cache_write_input_tokens: Option<u64>,
}

/// What the custom event `on_interrupt` of LangGraph's and Mastra's integrations says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CustomInterrupt {
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) args: Option<JsonText>,
    pub(super) question: Option<JsonText>,
    /// What a tool of Mastra says when it suspends itself.
    pub(super) suspend_payload: Option<JsonText>,
}

impl CustomInterrupt {
    /// The question, in words.
    pub(super) fn asks(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Suspended {
            #[serde(alias = "message")]
            question: String,
        }
        let own = self.question.as_ref().and_then(|question| question.read().ok());
        own.or_else(|| Some(self.suspend_payload.as_ref()?.read::<Suspended>().ok()?.question))
    }
}
