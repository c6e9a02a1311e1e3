//! Owns what the state of an agent says beyond the events. LangGraph keeps its messages in the state, as LangChain writes them:
//! they say how calls ended, with what arguments they were made, and by which model, none of which its events say.

use event_spine::JsonText;
use event_spine::event::value::ToolStatus;
use serde::Deserialize;

use super::cx::{Cx, Moment};
use super::frame::{self, list};
use super::tools::{self, Ended};

/// How many calls are remembered that no event has told of.
const MAX_ASKED: usize = 1024;

/// How many messages of the model are remembered, to find the one that a model wrote.
const MAX_SAID: usize = 64;

/// A state with messages in it.
#[derive(Debug, Deserialize)]
struct State {
    messages: JsonText,
}

/// A message, as LangChain writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    name: Option<String>,
    tool_call_id: Option<String>,
    /// `success` or `error`.
    status: Option<String>,
    content: Option<JsonText>,
    tool_calls: Option<JsonText>,
    response_metadata: Option<JsonText>,
}

#[derive(Debug, Deserialize)]
struct Call {
    id: String,
    name: String,
    #[serde(default)]
    args: Option<JsonText>,
}

/// A call that a message of the model asks for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) args: Option<JsonText>,
}

/// A message of the model in this run.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) owner: Option<String>,
    /// It is a text; otherwise it is known from a call only, which may name something else as its message.
    pub(super) text: bool,
    pub(super) model: Option<String>,
}

/// A result whose status the state of the step may still tell.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) call: String,
    pub(super) owner: Option<String>,
    pub(super) message: Option<String>,
    pub(super) output: JsonText,
    pub(super) moment: Moment,
}

/// The model says something under this message id.
pub(super) fn said(cx: &mut Cx<'_>, message: &str, owner: Option<&str>, text: bool) {
    if let Some(known) = cx.run.said.iter_mut().find(|said| said.message == message) {
        known.text |= text;
        return;
    }
    if cx.run.said.len() >= MAX_SAID {
        cx.run.said.pop_front();
    }
    let owner = owner.map(str::to_owned);
    cx.run.said.push_back(Said { message: message.to_owned(), owner, text, model: None });
}

/// STATE_SNAPSHOT.
pub(super) fn state(cx: &mut Cx<'_>, state: &JsonText) {
    let Ok(state) = state.read::<State>() else {
        return;
    };
    let messages: Vec<Message> = list(Some(&state.messages));
    // What a node gave is new; the whole state repeats the conversation from its beginning.
    let whole = messages
        .first()
        .is_some_and(|m| m.kind.as_deref().is_none_or(|kind| matches!(kind, "human" | "system")));
    let results = || messages.iter().filter(|m| m.tool_call_id.is_some());
    for message in messages.iter().filter(|m| m.kind.as_deref() == Some("ai")) {
        by_model(cx, message);
        for call in list::<Call>(message.tool_calls.as_ref()) {
            let over = results().any(|m| m.tool_call_id.as_deref() == Some(&call.id));
            if !(whole && over) {
                asked(cx, &call.id, Asked { name: call.name, args: call.args });
            }
        }
    }
    for held in std::mem::take(&mut cx.run.held) {
        let told = results().find(|m| m.tool_call_id.as_ref() == Some(&held.call));
        match told.and_then(Message::status) {
            Some(status) => release(cx, held, status),
            None => cx.run.held.push(held),
        }
    }
    for message in results() {
        ended(cx, message, whole);
    }
}

impl Message {
    /// How the call of a tool message ended.
    fn status(&self) -> Option<ToolStatus> {
        match self.status.as_deref()? {
            "success" => Some(ToolStatus::Succeeded),
            "error" => Some(ToolStatus::Failed),
            _ => None,
        }
    }
}

fn by_model(cx: &mut Cx<'_>, message: &Message) {
    #[derive(Deserialize)]
    struct Metadata {
        model_name: String,
    }
    let told = message.response_metadata.as_ref().and_then(|m| m.read::<Metadata>().ok());
    let known = cx.run.said.iter_mut().find(|said| Some(&said.message) == message.id.as_ref());
    if let (Some(said), Some(told)) = (known, told) {
        said.model = Some(told.model_name);
    }
}

/// MESSAGES_SNAPSHOT: calls that messages of this run ask for.
pub(super) fn asked_in(cx: &mut Cx<'_>, messages: &[frame::Message]) {
    for message in messages {
        if !cx.run.said.iter().any(|said| Some(&said.message) == message.id.as_ref()) {
            continue;
        }
        for call in message.tool_calls.iter().flatten() {
            let args = call.function.arguments.as_deref();
            let args = args.and_then(|text| JsonText::parse(text).ok()).map(|(json, _)| json);
            asked(cx, &call.id, Asked { name: call.function.name.clone(), args });
        }
    }
}

/// A message says that a call was asked for. Integrations join the pieces of calls that the model asks for at once, so that the
/// arguments of an open call may be no JSON; here they are whole.
fn asked(cx: &mut Cx<'_>, id: &str, asked: Asked) {
    if cx.turn().is_some_and(|turn| turn.tools.contains_key(id)) {
        if let Some(args) = &asked.args {
            tools::correct(cx, id, args);
        }
        return;
    }
    let room = cx.run.asked_for.len() < MAX_ASKED;
    if room && !cx.run.settled.contains(id) {
        cx.run.asked_for.insert(id.to_owned(), asked);
    }
}

/// A tool message says how its call ended.
fn ended(cx: &mut Cx<'_>, message: &Message, whole: bool) {
    let Some(id) = message.tool_call_id.as_deref() else {
        return;
    };
    let Some(status) = message.status() else {
        return;
    };
    let failed = status == ToolStatus::Failed;
    let open = cx.turn().is_some_and(|turn| turn.tools.contains_key(id));
    if !failed {
        if let Some(tool) = cx.turn().and_then(|turn| turn.tools.get_mut(id)) {
            tool.succeeded = true;
        }
        return;
    }
    if !open && !unseen(cx, id, message.name.as_deref(), whole) {
        return;
    }
    let error = message.content.as_ref().and_then(|content| content.read().ok());
    let error = error.unwrap_or_else(|| "error".to_owned());
    let output = message.content.clone();
    tools::close(cx, id, None, message.id.as_deref(), Ended::Failed { error, output });
}

/// Opens a call that no event told of, when it is one of this run.
fn unseen(cx: &mut Cx<'_>, id: &str, name: Option<&str>, whole: bool) -> bool {
    if cx.run.settled.contains(id) {
        return false;
    }
    match (cx.run.asked_for.remove(id), name) {
        (Some(asked), _) => tools::open_asked(cx, id, &asked),
        (None, Some(name)) if !whole => {
            tools::open_asked(cx, id, &Asked { name: name.to_owned(), args: None });
        }
        (None, _) => return false,
    }
    true
}

/// A tool message of MESSAGES_SNAPSHOT tells of a failure that no event told of.
pub(super) fn open_failed(cx: &mut Cx<'_>, id: &str) -> bool {
    unseen(cx, id, None, true)
}

/// Results whose status nothing told, of an agent or of all of them.
pub(super) fn release_held(cx: &mut Cx<'_>, of: Option<Option<&str>>) {
    let is_of = |held: &Held| of.is_none_or(|owner| held.owner.as_deref() == owner);
    let (released, kept) = std::mem::take(&mut cx.run.held).into_iter().partition(is_of);
    cx.run.held = kept;
    let released: Vec<Held> = released;
    for held in released {
        release(cx, held, ToolStatus::Unknown);
    }
}

/// Tells a held result, as of the frame that brought it.
fn release(cx: &mut Cx<'_>, held: Held, status: ToolStatus) {
    let told_before = (cx.run.id.clone(), held.call.clone());
    let as_before = cx.thread.ended_unknown.contains(&told_before);
    let ended = match status {
        ToolStatus::Failed if !as_before => {
            let error = held.output.read().unwrap_or_else(|_| "error".to_owned());
            Ended::Failed { error, output: Some(held.output.clone()) }
        }
        // An input that broke off here left it unknown, and so it stays.
        _ if as_before => {
            Ended::Result { status: ToolStatus::Unknown, output: held.output.clone() }
        }
        status => Ended::Result { status, output: held.output.clone() },
    };
    let (call, owner, message) = (held.call, held.owner, held.message);
    cx.as_of(held.moment, |cx| {
        tools::close(cx, &call, owner.as_deref(), message.as_deref(), ended);
    });
}
