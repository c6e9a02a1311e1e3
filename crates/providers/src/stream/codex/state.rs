//! Owns what the adapter knows of a rollout: the thread, the turn, what is open, and what has been told by which of the
//! two records that Codex keeps of everything.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use event_spine::event::value::{ToolKind, ToolStatus};
use event_spine::{
    ActionId, ArtifactId, EventDraft, MessageId, PartId, Scope, SessionId, StepId, SubagentId,
    TaskId, ThreadId, Timestamp, ToolCallId, TurnId,
};
use serde_json::Value;

use super::runs::{Recorded, Run, Used};

/// What Codex writes of a thread. Each form tells the whole of it, in ids of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The file in which it keeps the session.
    Rollout,
    /// Standard output of `codex exec --json`.
    Exec,
    /// What the app server sends.
    AppServer,
}

impl Form {
    /// What the form is called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rollout => "rollout",
            Self::Exec => "exec",
            Self::AppServer => "app-server",
        }
    }

    /// What a recording in this form is.
    pub(super) const fn recording(self) -> &'static str {
        match self {
            Self::Rollout => "rollout",
            Self::Exec => "exec output",
            Self::AppServer => "app-server messages",
        }
    }

    /// The session of a thread in this form. Two forms of one run are two tellings of it and must not be added up.
    pub(super) fn session(self, main: &str) -> SessionId {
        match self {
            Self::Rollout => session_id(main),
            Self::Exec | Self::AppServer => session_id(&format!("{main}.{}", self.name())),
        }
    }
}

/// One thread: one rollout file.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) session: SessionId,
    pub(super) id: ThreadId,
    pub(super) form: Form,
    /// The thread that the session is named after: that of the main agent.
    pub(super) main: ThreadId,
    /// The run of `codex exec` that goes on, and what the runs of the thread used.
    pub(super) run: Option<Run>,
    pub(super) runs_used: BTreeMap<u64, Used>,
    /// The file is that of a sub-agent.
    pub(super) agent: Option<SubagentId>,
    pub(super) turn: Option<Turn>,
    pub(super) turns: u64,
    /// The last turn that ended: events that come late belong to it.
    pub(super) last_turn: Option<TurnId>,
    /// A file of the oldest form, which has no events beside what went to the model.
    pub(super) bare: bool,
    /// The file says when turns begin and end; those of 2025 do not.
    pub(super) says_ends: bool,
    /// A turn broke off, and nothing has told since that the thread goes on.
    pub(super) broken: bool,
    /// A turn that an earlier, shorter copy of the stream left without an end.
    pub(super) left_open: Option<TurnId>,
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) open: BTreeMap<String, Tool>,
    pub(super) settled: HashSet<String>,
    pub(super) agents: HashMap<String, Agent>,
    /// Agents that the log knows from another file of the session.
    pub(super) known_agents: HashMap<SubagentId, EventDraft>,
    pub(super) compactions: Join,
    pub(super) usage: UsageSeen,
    /// The head of a sub-agent's file, until its first turn says what it works for.
    pub(super) birth: Option<Held>,
    pub(super) held_users: Vec<Held>,
    pub(super) held_reasoning: Option<Held>,
    /// An error, until the next line shows whether the turn ends with it.
    pub(super) held_error: Option<Held>,
    pub(super) last_context: Option<Value>,
}

/// A record that waits for its other half.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) place: super::cx::Place,
    pub(super) payload: Value,
}

/// Which record of the tokens the file keeps.
#[derive(Debug, Clone, Default)]
pub(super) struct UsageSeen {
    /// It keeps one a model call, so that the running totals say nothing new.
    pub(super) by_call: bool,
    pub(super) last_total: Option<Value>,
}

/// A fact that two or more records tell, in the same order, without ids to tell them apart: the n-th of one is the n-th of the
/// other, and is told once.
#[derive(Debug, Clone, Default)]
pub(super) struct Join {
    seen: BTreeMap<&'static str, u64>,
    told: u64,
}

impl Join {
    /// True when this record is the first to tell its fact.
    pub(super) fn first(&mut self, record: &'static str) -> bool {
        let seen = self.seen.entry(record).or_default();
        *seen += 1;
        let first = *seen > self.told;
        if first {
            self.told = *seen;
        }
        first
    }
}

/// One turn.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    /// The file gave it its id.
    pub(super) named: bool,
    /// What the file calls it, when it said so only after the turn had begun.
    pub(super) alias: Option<TurnId>,
    /// The turn that it goes back to, when that is another one.
    pub(super) root: Option<TurnId>,
    pub(super) submitted: bool,
    pub(super) started: bool,
    /// The model said or asked something, so that its tokens are missed when none are told.
    pub(super) spoke: bool,
    pub(super) counted: bool,
    pub(super) round: u64,
    pub(super) after_result: bool,
    /// The last thing that happened is that the model spoke.
    pub(super) ends_in_answer: bool,
    pub(super) actions: BTreeMap<String, Asked>,
    pub(super) messages: Join,
    pub(super) reasoning: Join,
    pub(super) plans: Join,
    /// Messages of which pieces came and not yet the whole.
    pub(super) streaming: BTreeSet<String>,
    /// Items that have been told, by their ids.
    pub(super) told: HashSet<String>,
    pub(super) nth_message: u64,
    pub(super) error: Option<Failure>,
}

/// A question to a person that is open.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) id: ActionId,
    /// It was answered, at that time; what was answered is not known yet.
    pub(super) answered: Option<Option<Timestamp>>,
}

/// Why a turn failed, as an earlier event said.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) category: String,
    pub(super) message: Option<String>,
}

/// An open tool call.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) kind: Option<ToolKind>,
    pub(super) step: StepId,
    /// What an item said of its end, when the output comes by another record.
    pub(super) verdict: Option<ToolStatus>,
    /// It is known to be over, though not how.
    pub(super) over: bool,
    pub(super) changes: Option<Value>,
}

/// A sub-agent that this thread started.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Agent {
    pub(super) ended: bool,
}

impl Thread {
    pub(super) fn new(session: SessionId, id: ThreadId, main: ThreadId, form: Form) -> Self {
        Self {
            session,
            id,
            form,
            main,
            run: None,
            runs_used: BTreeMap::new(),
            agent: None,
            turn: None,
            turns: 0,
            last_turn: None,
            bare: false,
            says_ends: false,
            broken: false,
            left_open: None,
            model: None,
            provider: None,
            cwd: None,
            open: BTreeMap::new(),
            settled: HashSet::new(),
            agents: HashMap::new(),
            known_agents: HashMap::new(),
            compactions: Join::default(),
            usage: UsageSeen::default(),
            birth: None,
            held_users: Vec::new(),
            held_reasoning: None,
            held_error: None,
            last_context: None,
        }
    }

    /// Another run of `codex exec` goes on in the thread.
    pub(super) fn enter(&mut self, run: Option<Run>, recorded: &Recorded) {
        self.turns = 0;
        for (number, used) in recorded.runs(&self.id) {
            self.runs_used.entry(number).or_insert(used);
        }
        if let Some(run) = &run {
            self.runs_used.remove(&run.number); // it tells them again
        }
        self.run = run;
    }

    /// Where an event of the thread belongs.
    pub(super) fn scope(&self) -> Scope {
        Scope {
            thread_id: Some(self.id.clone()),
            turn_id: self.turn.as_ref().map(|turn| turn.id.clone()),
            task_id: self.turn.as_ref().map(|turn| self.task(turn)),
            subagent_id: self.agent.clone(),
            ..Scope::default()
        }
    }

    /// The task of a turn: the turn that it goes back to, which for sub-agents is one of the main agent's.
    pub(super) fn task(&self, turn: &Turn) -> TaskId {
        let root = turn.root.as_ref().unwrap_or(&turn.id);
        TaskId::derived(&[self.session.as_str(), root.as_str()])
    }

    /// The round of model and tools that goes on.
    pub(super) fn step(&self) -> StepId {
        let (turn, round) = self.turn.as_ref().map_or(("", 0), |t| (t.id.as_str(), t.round));
        StepId::derived(&[self.id.as_str(), turn, &round.to_string()])
    }

    /// An artifact of the thread.
    pub(super) fn artifact(&self, name: &str) -> ArtifactId {
        ArtifactId::derived(&[self.session.as_str(), name])
    }
}

impl Turn {
    pub(super) fn new(id: TurnId) -> Self {
        Self {
            id,
            named: false,
            alias: None,
            root: None,
            submitted: false,
            started: false,
            spoke: false,
            counted: false,
            round: 0,
            after_result: false,
            ends_in_answer: false,
            actions: BTreeMap::new(),
            messages: Join::default(),
            reasoning: Join::default(),
            plans: Join::default(),
            streaming: BTreeSet::new(),
            told: HashSet::new(),
            nth_message: 0,
            error: None,
        }
    }

    /// The model speaks or asks: behind a result that is a new round.
    pub(super) fn model_acts(&mut self) {
        self.spoke = true;
        if std::mem::take(&mut self.after_result) {
            self.round += 1;
        }
    }
}

/// What sort of tool a name stands for.
pub(super) fn kind_of(name: &str, namespace: Option<&str>) -> Option<ToolKind> {
    match name {
        "exec_command" | "shell" | "shell_command" | "local_shell" | "container.exec"
        | "write_stdin" => Some(ToolKind::Command),
        "apply_patch" => Some(ToolKind::FileChange),
        "web_search" => Some(ToolKind::WebSearch),
        _ => match namespace {
            Some(space) if space.starts_with("multi_agent") => Some(ToolKind::Agent),
            Some(space) if space.starts_with("mcp__") => Some(ToolKind::Mcp),
            _ => None,
        },
    }
}

macro_rules! foreign_ids {
    ($( $name:ident: $ty:ty; )*) => { $(
        pub(super) fn $name(text: &str) -> $ty {
            <$ty>::parse(text).unwrap_or_else(|_| <$ty>::derived(&["codex", text]))
        }
    )* };
}

// A foreign id is kept verbatim; what cannot be an id stands as its hash.
foreign_ids! {
    session_id: SessionId;
    thread_id: ThreadId;
    turn_id: TurnId;
    tool_call_id: ToolCallId;
    action_id: ActionId;
    message_id: MessageId;
    part_id: PartId;
    subagent_id: SubagentId;
}
