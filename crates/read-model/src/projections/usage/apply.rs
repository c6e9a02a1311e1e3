//! Owns how statements find their call and what then counts; the rule stands in the module's documentation.

use std::collections::BTreeMap;

use event_spine::event::family::diagnostics::{BudgetChecked, LedgerReconciled, UsageUpdated};
use event_spine::event::family::message::{ModelCompleted, ModelRequested};
use event_spine::event::value::{Usage as UsagePayload, UsageSource};
use event_spine::event::{Entity, Pairing};
use event_spine::{RecordedEvent, Scope};

use super::figure::{Figure, Sum, Totals};
use super::state::{Account, AccountKey, BudgetCheck, Call, CallKey, Usage};
use crate::honesty::Known;
use crate::moment::Moment;
use crate::projection::Applied;
use crate::window::Place;

/// Models that are told apart; further ones stand together under `other`.
const MODELS: usize = 50;
/// How far back a statement without an id looks for its call.
const LOOK_BACK: usize = 16;

/// What states figures, the least trusted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Completed,
    Updated,
    Ledger,
}

/// Figures as an event states them.
pub(super) struct Stated<'a> {
    input: Figure,
    output: Figure,
    cached_input: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
    model: Option<&'a String>,
    provider: Option<&'a String>,
    request_hash: Option<&'a str>,
}

impl<'a> Stated<'a> {
    fn payload(usage: &UsagePayload, model: Option<&'a String>) -> Self {
        Self {
            input: Figure::observed(usage.input_tokens),
            output: Figure::observed(usage.output_tokens),
            cached_input: usage.cached_input_tokens,
            cache_write: usage.cache_write_tokens,
            reasoning: usage.reasoning_tokens,
            model,
            provider: None,
            request_hash: None,
        }
    }

    pub(super) fn updated(updated: &'a UsageUpdated) -> Self {
        let source = |source: Option<UsageSource>| source.unwrap_or(UsageSource::Observed);
        Self {
            input: Figure::of(updated.input_tokens, source(updated.input_source)),
            output: Figure::of(updated.output_tokens, source(updated.output_source)),
            cached_input: updated.cached_input_tokens,
            cache_write: updated.cache_write_tokens,
            reasoning: updated.reasoning_tokens,
            model: updated.model.as_ref(),
            provider: updated.provider.as_ref(),
            request_hash: None,
        }
    }

    pub(super) fn ledger(ledger: &'a LedgerReconciled) -> Self {
        Self {
            input: Figure::of(Some(ledger.input_tokens), ledger.input_source),
            output: Figure::of(Some(ledger.output_tokens), ledger.output_source),
            cached_input: None,
            cache_write: None,
            reasoning: None,
            model: ledger.model.as_ref(),
            provider: None,
            request_hash: Some(&ledger.request_hash),
        }
    }

    fn totals(&self) -> Totals {
        Totals {
            input: Sum::one(self.input),
            output: Sum::one(self.output),
            cached_input: Sum::one(Figure::observed(self.cached_input)),
            cache_write: Sum::one(Figure::observed(self.cache_write)),
            reasoning: Sum::one(Figure::observed(self.reasoning)),
        }
    }

    fn says_something(&self) -> bool {
        self.input.tokens.is_known()
            || self.output.tokens.is_known()
            || self.cached_input.is_some()
            || self.reasoning.is_some()
    }
}

impl Usage {
    pub(super) fn request(
        &mut self,
        recorded: &RecordedEvent,
        requested: &ModelRequested,
    ) -> Applied {
        // A call under the same message id that is still running is superseded by this one.
        self.close_running(recorded, |call| {
            call.scope.message_id.is_some()
                && call.scope.message_id == recorded.draft.scope.message_id
        });
        let mut call = Call::new(recorded);
        call.model.clone_from(&requested.model);
        call.provider.clone_from(&requested.provider);
        call.request_hash.clone_from(&requested.request_hash);
        call.estimated_input = requested.estimated_input_tokens.or_else(|| {
            let budget = self.budget.as_ref()?;
            (budget.at.sequence + 8 >= recorded.sequence).then_some(budget.estimated_input_tokens)
        });
        self.calls.push(call);
        self.account(recorded, |_| {});
        Applied::Changed
    }

    pub(super) fn complete(
        &mut self,
        recorded: &RecordedEvent,
        completed: &ModelCompleted,
    ) -> Applied {
        let stated =
            completed.usage.as_ref().map(|usage| Stated::payload(usage, completed.model.as_ref()));
        match stated.filter(Stated::says_something) {
            Some(stated) => {
                self.state(recorded, Kind::Completed, &stated);
            }
            None => {
                let closed = self.close_running(recorded, |call| {
                    same_message_or_step(&call.scope, &recorded.draft.scope)
                });
                if closed == 0 && self.find(recorded, Kind::Completed, None).is_none() {
                    self.account(recorded, |account| account.silent_messages += 1);
                }
            }
        }
        Applied::Changed
    }

    pub(super) fn fail(&mut self, recorded: &RecordedEvent) -> Applied {
        let scope = &recorded.draft.scope;
        let closed = self.close_running(recorded, |call| same_message_or_step(&call.scope, scope));
        Applied::when(closed > 0)
    }

    /// Takes what an event states about a call.
    pub(super) fn state(
        &mut self,
        recorded: &RecordedEvent,
        kind: Kind,
        stated: &Stated<'_>,
    ) -> Applied {
        let says_nothing = kind == Kind::Updated && !stated.says_something();
        let found = self.find(recorded, kind, stated.request_hash);
        let place = match found {
            Some(place) => place,
            // Running totals alone are no statement about a call.
            None if says_nothing => return Applied::Changed,
            None => self.calls.push(Call::new(recorded)),
        };
        self.change(recorded, place, |call, notes| {
            take(&mut call.model, stated.model);
            take(&mut call.provider, stated.provider);
            if call.request_hash.is_none() {
                call.request_hash = stated.request_hash.map(str::to_owned);
            }
            let trusted = kind >= call.highest();
            let again = call.stated(kind);
            settle(&mut call.input, stated.input, trusted, again, notes);
            settle(&mut call.output, stated.output, trusted, again, notes);
            settle_part(&mut call.cached_input, stated.cached_input, notes);
            settle_part(&mut call.cache_write, stated.cache_write, notes);
            settle_part(&mut call.reasoning, stated.reasoning, notes);
            let (input, output) = (call.input.tokens.value(), call.output.tokens.value());
            let part = |part: Known<u64>| part.value().copied().unwrap_or(0);
            let of_input = part(call.cached_input).saturating_add(part(call.cache_write));
            if input.is_some_and(|whole| of_input > *whole)
                || output.is_some_and(|whole| part(call.reasoning) > *whole)
            {
                notes.parts_exceed_whole += 1;
            }
            match kind {
                Kind::Completed => call.statements.completed = true,
                Kind::Updated => call.statements.updated = true,
                Kind::Ledger => call.statements.ledger = true,
            }
            // A call that was asked for may state more; one that only figures tell of is over.
            call.running &= kind == Kind::Updated && found.is_some();
        });
        Applied::Changed
    }

    /// The call that a statement is about.
    fn find(&self, recorded: &RecordedEvent, kind: Kind, hash: Option<&str>) -> Option<Place> {
        let scope = &recorded.draft.scope;
        if let Some(place) = CallKey::of(scope).and_then(|key| self.calls.place(key)) {
            return Some(place);
        }
        let recent = || {
            let newest = self.calls.places().rev().take(LOOK_BACK);
            newest.filter(|(_, call)| same_account(&call.scope, scope))
        };
        let free = |call: &Call| {
            let is_another_message = scope.message_id.is_some() && call.scope.message_id.is_some();
            !call.stated(kind) && !is_another_message
        };
        let by_hash = hash.and_then(|hash| {
            recent().find(|(_, call)| call.request_hash.as_deref() == Some(hash) && free(call))
        });
        let by_step = || {
            let step = scope.step_id.as_ref()?;
            recent().find(|(_, call)| call.scope.step_id.as_ref() == Some(step) && free(call))
        };
        let by_order = || {
            let other_step = |call: &Call| scope.step_id.is_some() && call.scope.step_id.is_some();
            // The newest call only: an older one without figures stays without.
            recent().next().filter(|(_, call)| free(call) && !other_step(call))
        };
        by_hash.or_else(by_step).or_else(by_order).map(|(place, _)| place)
    }

    pub(super) fn source_totals(&mut self, recorded: &RecordedEvent, updated: &UsageUpdated) {
        self.source.has_unknown_usage |= updated.has_unknown_usage;
        self.has_unknown_usage |= updated.has_unknown_usage;
        if updated.session_input_tokens.is_none() && updated.session_output_tokens.is_none() {
            return;
        }
        let notes = &mut self.notes;
        let newer = |kept: &mut Known<u64>, stated: Option<u64>, notes: &mut u64| match (
            kept.value(),
            stated,
        ) {
            (Some(before), Some(stated)) if stated < *before => *notes += 1,
            (_, Some(stated)) => *kept = Known::Is(stated),
            (_, None) => {}
        };
        newer(&mut self.source.input, updated.session_input_tokens, &mut notes.went_down);
        newer(&mut self.source.output, updated.session_output_tokens, &mut notes.went_down);
        self.source.at = Some(recorded.sequence);
    }

    /// Compares the source's totals with ours, once the event that states them has been counted.
    pub(super) fn compare_with_source(&mut self, recorded: &RecordedEvent) {
        if self.source.at != Some(recorded.sequence) {
            return;
        }
        let pairs = [
            (self.source.input, self.session.input.tokens),
            (self.source.output, self.session.output.tokens),
        ];
        let known = pairs.iter().filter_map(|(a, b)| Some((a.value()?, b.value()?)));
        let compared: Vec<bool> = known.map(|(a, b)| a == b).collect();
        self.source.agrees = match compared.as_slice() {
            [] => Known::UNKNOWN,
            all => Known::Is(all.iter().all(|same| *same)),
        };
    }

    pub(super) fn budget(&mut self, recorded: &RecordedEvent, checked: &BudgetChecked) -> Applied {
        self.budget = Some(BudgetCheck {
            action: checked.action,
            reason: checked.reason.clone(),
            estimated_input_tokens: checked.estimated_input_tokens,
            prompt_budget: checked.prompt_budget,
            context_window: checked.context_window,
            at: Moment::of(recorded),
        });
        Applied::Changed
    }

    pub(super) fn end_turn(
        &mut self,
        recorded: &RecordedEvent,
        usage: Option<&UsagePayload>,
    ) -> Applied {
        let turn = &recorded.draft.scope.turn_id;
        self.close_running(recorded, |call| {
            call.scope.turn_id == *turn && call.scope.subagent_id.is_none()
        });
        self.end(recorded, usage)
    }

    pub(super) fn end_agent(
        &mut self,
        recorded: &RecordedEvent,
        usage: Option<&UsagePayload>,
    ) -> Applied {
        let agent = &recorded.draft.scope.subagent_id;
        if agent.is_none() {
            return Applied::Unchanged;
        }
        self.close_running(recorded, |call| call.scope.subagent_id == *agent);
        self.end(recorded, usage)
    }

    fn end(&mut self, recorded: &RecordedEvent, usage: Option<&UsagePayload>) -> Applied {
        let known = self.accounts.place(AccountKey::of(&recorded.draft.scope)).is_some();
        if usage.is_none() && !known {
            return Applied::Unchanged;
        }
        // What a sub-agent used in one turn is not what it used in all of them.
        let turn_of_agent = recorded.draft.scope.subagent_id.is_some()
            && matches!(
                recorded.draft.event_type.descriptor().map(|row| row.pairing),
                Some(Pairing::Closes(Entity::Turn))
            );
        let stated = usage.filter(|_| !turn_of_agent);
        let stated = stated.map(|usage| Stated::payload(usage, None));
        let stated = stated.filter(Stated::says_something).map(|stated| stated.totals());
        self.account(recorded, |account| {
            account.over |= !turn_of_agent;
            account.stated = stated.or(account.stated);
        });
        if stated.is_some() {
            let key = AccountKey::of(&recorded.draft.scope);
            if self.accounts.get(key).is_some_and(|a| a.agrees == Known::Is(false)) {
                self.notes.totals_differ += 1;
            }
        }
        Applied::Changed
    }

    /// Ends calls that run: what they have not stated is unknown, or the estimate.
    fn close_running(&mut self, recorded: &RecordedEvent, pick: impl Fn(&Call) -> bool) -> usize {
        let scope = &recorded.draft.scope;
        let places: Vec<Place> = self
            .calls
            .open_places()
            .filter(|(_, call)| same_account(&call.scope, scope) && pick(call))
            .map(|(place, _)| place)
            .collect();
        for place in &places {
            self.change(recorded, *place, |call, _| {
                call.running = false;
                if !call.input.tokens.is_known() {
                    call.input = Figure::of(call.estimated_input, UsageSource::Estimated);
                }
            });
        }
        places.len()
    }

    /// Changes a call, and with it everything it is part of.
    fn change(
        &mut self,
        recorded: &RecordedEvent,
        place: Place,
        change: impl FnOnce(&mut Call, &mut super::state::UsageNotes),
    ) {
        let notes = &mut self.notes;
        let changed = self.calls.update_at(place, |call| {
            let before = (call.model.clone(), call.totals());
            call.last_sequence = recorded.sequence;
            change(call, notes);
            let is_moved = call.model != before.0;
            (before.1, call.totals(), is_moved.then_some(before.0))
        });
        let Some((old, new, moved_from)) = changed else {
            return;
        };
        let model = self.calls.at(place).and_then(|call| call.model.as_deref());
        match moved_from {
            Some(from) => {
                count_for_model(&mut self.models, from.as_deref(), &old, &Totals::default());
                count_for_model(&mut self.models, model, &Totals::default(), &new);
            }
            None => count_for_model(&mut self.models, model, &old, &new),
        }
        self.account(recorded, |account| account.calls.replace(&old, &new));
    }

    /// Changes the account of the event, and with it the session.
    fn account(&mut self, recorded: &RecordedEvent, change: impl FnOnce(&mut Account)) {
        let key = AccountKey::of(&recorded.draft.scope);
        let known = self.accounts.place(key);
        let place = known.unwrap_or_else(|| self.accounts.push(Account::new(recorded)));
        let counted = self.accounts.update_at(place, |account| {
            let before = account.counted;
            account.last_sequence = recorded.sequence;
            change(account);
            account.count();
            (before, account.counted)
        });
        let Some((before, after)) = counted else {
            return;
        };
        self.session.replace(&before, &after);
        if matches!(key, AccountKey::Subagent(_)) {
            self.subagents.replace(&before, &after);
        }
        self.has_unknown_usage = self.source.has_unknown_usage
            || self.session.input.unknown > 0
            || self.session.output.unknown > 0;
    }
}

/// Moves the figures of a call in the sums of its model.
fn count_for_model(
    models: &mut BTreeMap<String, Totals>,
    name: Option<&str>,
    old: &Totals,
    new: &Totals,
) {
    if old == new {
        return;
    }
    let name = name.unwrap_or("unknown");
    let room = models.len() < MODELS;
    if let Some(totals) = models.get_mut(name) {
        totals.replace(old, new);
        // While there is room for every model, a name that nothing counts for any more can go.
        if *totals == Totals::default() && room {
            models.remove(name);
        }
        return;
    }
    let name = if room { name } else { "other" };
    models.entry(name.to_owned()).or_default().replace(old, new);
}

impl Call {
    fn stated(&self, kind: Kind) -> bool {
        match kind {
            Kind::Completed => self.statements.completed,
            Kind::Updated => self.statements.updated,
            Kind::Ledger => self.statements.ledger,
        }
    }

    fn highest(&self) -> Kind {
        if self.statements.ledger {
            Kind::Ledger
        } else if self.statements.updated {
            Kind::Updated
        } else {
            Kind::Completed
        }
    }
}

/// Puts a stated figure in place of the known one, if it is better.
fn settle(
    known: &mut Figure,
    stated: Figure,
    trusted: bool,
    again: bool,
    notes: &mut super::state::UsageNotes,
) {
    let (Some(new), old) = (stated.tokens.value(), known.tokens.value()) else {
        return;
    };
    if stated.trust() != known.trust() {
        if stated.trust() > known.trust() {
            *known = stated;
        }
        return;
    }
    match old {
        Some(old) if again && new < old => notes.went_down += 1,
        Some(old) if !again && new != old => {
            notes.conflicts += 1;
            if trusted {
                *known = stated;
            }
        }
        _ => *known = stated,
    }
}

fn settle_part(known: &mut Known<u64>, stated: Option<u64>, notes: &mut super::state::UsageNotes) {
    match (known.value(), stated) {
        (Some(old), Some(new)) if new < *old => notes.went_down += 1,
        (_, Some(new)) => *known = Known::Is(new),
        (_, None) => {}
    }
}

fn take(kept: &mut Option<String>, stated: Option<&String>) {
    if let Some(stated) = stated
        && kept.as_ref() != Some(stated)
    {
        *kept = Some(stated.clone());
    }
}

/// True when both are of one turn of the main agent, or of one sub-agent.
fn same_account(a: &Scope, b: &Scope) -> bool {
    a.subagent_id == b.subagent_id && (a.subagent_id.is_some() || a.turn_id == b.turn_id)
}

/// True when both are about one message, or about one step where one of them names no message.
fn same_message_or_step(call: &Scope, event: &Scope) -> bool {
    match (&call.message_id, &event.message_id) {
        (Some(a), Some(b)) => a == b,
        _ => match (&call.step_id, &event.step_id) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        },
    }
}
