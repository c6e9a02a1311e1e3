//! Owns the state of the usage view.

use std::collections::BTreeMap;

use event_spine::event::value::BudgetAction;
use event_spine::{MessageId, RecordedEvent, Scope, SubagentId, TurnId};
use serde::{Deserialize, Serialize};

use super::figure::{Figure, Sum, Totals};
use crate::honesty::{Absence, Known};
use crate::moment::Moment;
use crate::window::{Row, Window};

/// Tokens of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Of everything: the main agent and its sub-agents.
    pub session: Totals,
    /// Of the sub-agents, which are in the session's too.
    pub subagents: Totals,
    /// Of the calls of each model; calls whose model is not known stand under `unknown`. What only a turn or a
    /// sub-agent states belongs to no model.
    pub models: BTreeMap<String, Totals>,
    /// True while input or output of something is not known, or once the source said so.
    pub has_unknown_usage: bool,
    /// Of each turn and each sub-agent.
    pub accounts: Window<Account>,
    /// Of each call.
    pub calls: Window<Call>,
    /// The source's own totals of the session.
    pub source: SourceTotals,
    /// The newest answer of the budget.
    pub budget: Option<BudgetCheck>,
    /// What is odd about the figures.
    pub notes: UsageNotes,
}

/// The totals of the session that the source states. They are running totals; the newest one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceTotals {
    /// Tokens in so far.
    pub input: Known<u64>,
    /// Tokens out so far.
    pub output: Known<u64>,
    /// True when they were equal to ours when they were stated, as far as both were known.
    pub agrees: Known<bool>,
    /// True once the source said that some call did not say what it used.
    pub has_unknown_usage: bool,
    /// Sequence at which they were stated.
    pub at: Option<u64>,
}

impl Default for SourceTotals {
    fn default() -> Self {
        Self {
            input: Known::Not(Absence::Unavailable),
            output: Known::Not(Absence::Unavailable),
            agrees: Known::Not(Absence::NotApplicable),
            has_unknown_usage: false,
            at: None,
        }
    }
}

/// What is odd about the figures, in numbers of statements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageNotes {
    /// A counter went down; the smaller number was ignored.
    pub went_down: u64,
    /// Two kinds of statement about one call differ; the more trusted one counts.
    pub conflicts: u64,
    /// Parts are larger than the whole they are part of.
    pub parts_exceed_whole: u64,
    /// A turn or a sub-agent states another total than its calls add up to; the calls count.
    pub totals_differ: u64,
}

/// An answer of the budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetCheck {
    /// What was decided.
    pub action: BudgetAction,
    /// Why.
    pub reason: String,
    /// Estimate, in tokens.
    pub estimated_input_tokens: u64,
    /// What may be sent, in tokens.
    pub prompt_budget: u64,
    /// Context window of the model, in tokens.
    pub context_window: Option<u64>,
    /// When.
    pub at: Moment,
}

/// Which kinds of event stated the figures of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statements {
    /// `model.completed` did.
    pub completed: bool,
    /// `usage.updated` did.
    pub updated: bool,
    /// `ledger.reconciled` did.
    pub ledger: bool,
}

/// A model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Where it belongs.
    pub scope: Scope,
    /// Model.
    pub model: Option<String>,
    /// Provider.
    pub provider: Option<String>,
    /// What the request was known by.
    pub request_hash: Option<String>,
    /// Tokens in, cached ones included.
    pub input: Figure,
    /// Tokens out, reasoning included.
    pub output: Figure,
    /// Tokens in that came from a cache; part of the input.
    pub cached_input: Known<u64>,
    /// Tokens in that were written to a cache; part of the input.
    pub cache_write: Known<u64>,
    /// Tokens of reasoning; part of the output.
    pub reasoning: Known<u64>,
    /// Estimate of the input made before sending.
    pub estimated_input: Option<u64>,
    /// Who stated the figures.
    pub statements: Statements,
    /// True until the call or its turn ends; then what is not stated is unknown.
    pub running: bool,
    /// Its first event.
    pub first: Moment,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

/// A turn, or a sub-agent: whose tokens are counted together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The turn; absent for a sub-agent, whose calls count together over all turns.
    pub turn_id: Option<TurnId>,
    /// The sub-agent.
    pub subagent_id: Option<SubagentId>,
    /// What counts.
    pub counted: Totals,
    /// How that was found.
    pub counted_by: CountedBy,
    /// What its calls add up to.
    pub calls: Totals,
    /// What it states itself.
    pub stated: Option<Totals>,
    /// True when what it states is what its calls add up to.
    pub agrees: Known<bool>,
    /// Messages that no call is known for and that state no figures.
    pub silent_messages: u64,
    /// True once it ended.
    pub over: bool,
    /// Sequence of its first event.
    pub first_sequence: u64,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

/// How the tokens of a turn or a sub-agent were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// Its calls, all of them known.
    Calls,
    /// Its own statement, since not all of its calls are known.
    OwnStatement,
    /// Its calls, as far as they are known; nothing better is stated.
    CallsInPart,
    /// Nothing is known of it.
    Nothing,
}

/// What a call is found by: its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallKey<'a> {
    turn: &'a Option<TurnId>,
    subagent: &'a Option<SubagentId>,
    message: &'a MessageId,
}

/// What an account is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountKey<'a> {
    /// A turn of the main agent; none for what belongs to no turn.
    Turn(&'a Option<TurnId>),
    /// A sub-agent.
    Subagent(&'a SubagentId),
}

impl<'a> AccountKey<'a> {
    pub(super) const fn of(scope: &'a Scope) -> Self {
        match &scope.subagent_id {
            Some(agent) => Self::Subagent(agent),
            None => Self::Turn(&scope.turn_id),
        }
    }
}

impl<'a> CallKey<'a> {
    pub(super) fn of(scope: &'a Scope) -> Option<Self> {
        let message = scope.message_id.as_ref()?;
        Some(Self { turn: &scope.turn_id, subagent: &scope.subagent_id, message })
    }
}

impl Call {
    /// A call that has stated nothing yet, so that it counts for nothing.
    pub(super) fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            model: None,
            provider: None,
            request_hash: None,
            input: Figure::UNKNOWN,
            output: Figure::UNKNOWN,
            cached_input: Known::UNKNOWN,
            cache_write: Known::UNKNOWN,
            reasoning: Known::UNKNOWN,
            estimated_input: None,
            statements: Statements::default(),
            running: true,
            first: Moment::of(recorded),
            last_sequence: recorded.sequence,
        }
    }

    /// What the call adds to a sum: nothing while it runs and has stated nothing.
    #[must_use]
    pub fn totals(&self) -> Totals {
        if self.running && self.statements == Statements::default() {
            return Totals::default();
        }
        let part = |known: Known<u64>| Sum::one(Figure::observed(known.value().copied()));
        Totals {
            input: Sum::one(self.input),
            output: Sum::one(self.output),
            cached_input: part(self.cached_input),
            cache_write: part(self.cache_write),
            reasoning: part(self.reasoning),
        }
    }
}

impl Account {
    pub(super) fn new(recorded: &RecordedEvent) -> Self {
        let scope = &recorded.draft.scope;
        let subagent_id = scope.subagent_id.clone();
        Self {
            turn_id: scope.turn_id.clone().filter(|_| subagent_id.is_none()),
            subagent_id,
            counted: Totals::default(),
            counted_by: CountedBy::Nothing,
            calls: Totals::default(),
            stated: None,
            agrees: Known::Not(Absence::NotApplicable),
            silent_messages: 0,
            over: false,
            first_sequence: recorded.sequence,
            last_sequence: recorded.sequence,
        }
    }

    /// Finds what counts, by the rule in the module's documentation.
    pub(super) fn count(&mut self) {
        (self.counted, self.counted_by) = match self.stated {
            _ if self.calls.is_known() => (self.calls, CountedBy::Calls),
            Some(stated) => (stated, CountedBy::OwnStatement),
            None if self.calls.input.figures > 0 => (self.calls, CountedBy::CallsInPart),
            None => (Totals::unknown(self.silent_messages), CountedBy::Nothing),
        };
        self.agrees = match self.stated {
            Some(stated) if self.calls.is_known() && stated.is_known() => {
                let tokens = |t: &Totals| (t.input.tokens, t.output.tokens);
                Known::Is(tokens(&stated) == tokens(&self.calls))
            }
            Some(_) => Known::UNKNOWN,
            None => Known::Not(Absence::NotApplicable),
        };
    }
}

impl Row for Call {
    type Key<'a> = CallKey<'a>;
    fn key(&self) -> Option<CallKey<'_>> {
        CallKey::of(&self.scope)
    }
    fn first(&self) -> u64 {
        self.first.sequence
    }
    fn settled(&self) -> Option<u64> {
        (!self.running).then_some(self.last_sequence)
    }
}

impl Row for Account {
    type Key<'a> = AccountKey<'a>;
    fn key(&self) -> Option<AccountKey<'_>> {
        Some(match &self.subagent_id {
            Some(agent) => AccountKey::Subagent(agent),
            None => AccountKey::Turn(&self.turn_id),
        })
    }
    fn first(&self) -> u64 {
        self.first_sequence
    }
    fn settled(&self) -> Option<u64> {
        self.over.then_some(self.last_sequence)
    }
}
