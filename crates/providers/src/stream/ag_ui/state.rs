//! Owns what the adapter knows of a thread: the turn, its runs, and what is open in them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use event_spine::event::value::Role;
use event_spine::{
    ActionId, RunId, Scope, SessionId, StepId, SubagentId, TaskId, ThreadId, ToolCallId, TurnId,
};

use super::stated::{Asked, Held, Said};

/// The longest argument or message text that is put together, in bytes. The pieces of longer ones are still recorded.
const MAX_TEXT: usize = 16 << 20;

/// One conversation.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) session: SessionId,
    pub(super) id: ThreadId,
    /// The turn of the last run.
    pub(super) turn: Option<Turn>,
    /// An earlier run broke off, and nothing has told since what was missed.
    pub(super) broken: bool,
    /// What the turn was, and whether the thread was broken, before each run of an earlier input began; see `recall`.
    pub(super) before: HashMap<RunId, (Option<Turn>, bool)>,
    /// Interrupt ids and the run that used them first: the protocol has them unique within a run only.
    pub(super) actions_used: HashMap<String, RunId>,
    /// Calls that the log has as ended with an unknown status, by run.
    pub(super) ended_unknown: HashSet<(RunId, String)>,
}

impl Thread {
    pub(super) fn new(session: SessionId, id: ThreadId) -> Self {
        Self {
            session,
            id,
            turn: None,
            broken: false,
            before: HashMap::new(),
            actions_used: HashMap::new(),
            ended_unknown: HashSet::new(),
        }
    }
}

/// One submitted input and everything done to answer it.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    pub(super) task: TaskId,
    pub(super) phase: Phase,
    pub(super) tools: BTreeMap<String, Tool>,
    pub(super) actions: BTreeMap<String, Action>,
    pub(super) subagents: BTreeMap<String, Subagent>,
}

/// How a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// A run works on it.
    Running,
    /// Its last run ended to ask something.
    Waiting,
    /// It has its terminal event.
    Over,
}

/// An open tool call.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) owner: Option<String>,
    pub(super) step: StepId,
    pub(super) message: Option<String>,
    pub(super) args: Text,
    /// `tool.started` has been written.
    pub(super) started: bool,
    /// A client was told to run it.
    pub(super) pending: bool,
    /// The state says that it was a success; the result is still to come.
    pub(super) succeeded: bool,
}

/// An open request to a person.
#[derive(Debug, Clone)]
pub(super) struct Action {
    pub(super) id: ActionId,
    pub(super) tool: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) reason: Option<String>,
}

/// An open sub-agent.
#[derive(Debug, Clone)]
pub(super) struct Subagent {
    pub(super) suspended: bool,
}

/// A text that is put together from pieces, up to a limit.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) over: bool,
}

impl Text {
    pub(super) fn add(&mut self, piece: &str) {
        if self.over || self.text.len() + piece.len() > MAX_TEXT {
            self.over = true;
        } else {
            self.text.push_str(piece);
        }
    }
}

/// One run of an agent on a thread.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: RunId,
    /// What the ids of its events derive from: its id, told apart from another run of that id.
    pub(super) key: String,
    /// Frames of the run so far; part of the ids of its events.
    pub(super) ordinal: u64,
    /// Set by the first terminal event.
    pub(super) ended: bool,
    pub(super) messages: BTreeMap<String, Message>,
    pub(super) reasoning: BTreeMap<String, Part>,
    /// How often a message id was opened.
    pub(super) openings: HashMap<String, u32>,
    pub(super) steps: Vec<Step>,
    pub(super) steps_begun: u64,
    pub(super) lanes: HashMap<Option<String>, Lane>,
    pub(super) raw_events: u64,
    /// The model said something, so that its tokens are missed when no usage comes.
    pub(super) spoke: bool,
    /// What custom events said that the run waits for.
    pub(super) asked: Vec<super::people::Asked>,
    /// Messages of `THINKING_*` have no ids.
    pub(super) thinking: u64,
    /// The last messages of the model.
    pub(super) said: VecDeque<Said>,
    /// Calls that messages ask for and no event told of.
    pub(super) asked_for: HashMap<String, Asked>,
    /// Calls that have ended.
    pub(super) settled: HashSet<String>,
    /// Results whose status may still be told.
    pub(super) held: Vec<Held>,
}

/// An open text message.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) part: Part,
    pub(super) role: Option<Role>,
}

/// A part of a message that is being written.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) message: String,
    pub(super) name: String,
    pub(super) owner: Option<String>,
    pub(super) step: StepId,
}

/// A step that has begun and not ended.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) owner: Option<String>,
    pub(super) name: String,
    pub(super) id: StepId,
}

/// One agent's line of events; chunks belong together within it.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) chunk: Option<Chunk>,
    /// Round of model and tools, for runs without steps.
    pub(super) round: u64,
    /// A result came since the model last spoke.
    pub(super) after_result: bool,
}

/// What a chunk form has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chunk {
    Text(String),
    Reasoning(String),
    Tool(String),
}

impl Run {
    pub(super) fn new(id: RunId, key: String) -> Self {
        Self {
            id,
            key,
            ordinal: 0,
            ended: false,
            messages: BTreeMap::new(),
            reasoning: BTreeMap::new(),
            openings: HashMap::new(),
            steps: Vec::new(),
            steps_begun: 0,
            lanes: HashMap::new(),
            raw_events: 0,
            spoke: false,
            asked: Vec::new(),
            thinking: 0,
            said: VecDeque::new(),
            asked_for: HashMap::new(),
            settled: HashSet::new(),
            held: Vec::new(),
        }
    }

    pub(super) fn lane(&mut self, owner: Option<&str>) -> &mut Lane {
        self.lanes.entry(owner.map(str::to_owned)).or_default()
    }

    /// The step that the owner is in: the one it named, else the round of model and tools.
    pub(super) fn step(&self, session: &SessionId, owner: Option<&str>) -> StepId {
        let named = self.steps.iter().rev().find(|s| s.owner.as_deref() == owner);
        if let Some(step) = named {
            return step.id.clone();
        }
        let round = self.lanes.get(&owner.map(str::to_owned)).map_or(0, |lane| lane.round);
        StepId::derived(&[
            session.as_str(),
            self.id.as_str(),
            owner.unwrap_or_default(),
            "round",
            &round.to_string(),
        ])
    }

    /// The model speaks: after a result that is a new round.
    pub(super) fn model_speaks(&mut self, owner: Option<&str>) {
        self.spoke = true;
        let lane = self.lane(owner);
        if std::mem::take(&mut lane.after_result) {
            lane.round += 1;
        }
    }
}

impl Turn {
    pub(super) fn new(session: &SessionId, thread: &ThreadId, first_run: &RunId) -> Self {
        let parts = [session.as_str(), thread.as_str(), first_run.as_str()];
        Self {
            id: TurnId::derived(&parts),
            task: TaskId::derived(&parts),
            phase: Phase::Running,
            tools: BTreeMap::new(),
            actions: BTreeMap::new(),
            subagents: BTreeMap::new(),
        }
    }

    /// Where events of this turn belong.
    pub(super) fn scope(&self, thread: &ThreadId, run: &RunId, owner: Option<&str>) -> Scope {
        Scope {
            thread_id: Some(thread.clone()),
            turn_id: Some(self.id.clone()),
            task_id: Some(self.task.clone()),
            run_id: Some(run.clone()),
            subagent_id: owner.map(subagent_id),
            ..Scope::default()
        }
    }
}

macro_rules! foreign_ids {
    ($( $(#[$doc:meta])* $name:ident: $ty:ty; )*) => { $(
        $(#[$doc])*
        pub(super) fn $name(text: &str) -> $ty {
            <$ty>::parse(text).unwrap_or_else(|_| <$ty>::derived(&["ag-ui", text]))
        }
    )* };
}

// A foreign id is kept verbatim; what cannot be an id stands as its hash.
foreign_ids! {
    /// Thread.
    thread_id: ThreadId;
    /// Run.
    run_id: RunId;
    /// Tool call.
    tool_call_id: ToolCallId;
    /// Action.
    action_id: ActionId;
    /// Sub-agent.
    subagent_id: SubagentId;
    /// Message.
    message_id: event_spine::MessageId;
    /// Part of a message.
    part_id: event_spine::PartId;
}
