//! Owns numbers of tokens that know where they are from, and sums that know what they lack.

use event_spine::event::value::UsageSource;
use serde::{Deserialize, Serialize};

use crate::honesty::{Absence, Known};

/// A number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figure {
    /// The number.
    pub tokens: Known<u64>,
    /// Where it is from; `unknown` when there is none.
    pub source: UsageSource,
}

impl Figure {
    /// Nobody said.
    pub const UNKNOWN: Self = Self { tokens: Known::UNKNOWN, source: UsageSource::Unknown };

    /// The provider said so, if it said something.
    #[must_use]
    pub fn observed(tokens: Option<u64>) -> Self {
        Self::of(tokens, UsageSource::Observed)
    }

    /// A number with its source; no number has no source.
    #[must_use]
    pub fn of(tokens: Option<u64>, source: UsageSource) -> Self {
        match (tokens, source) {
            // A number that no integer of JSON holds is no count of tokens.
            (Some(tokens), UsageSource::Observed | UsageSource::Estimated)
                if tokens < (1 << 53) =>
            {
                Self { tokens: Known::Is(tokens), source }
            }
            _ => Self::UNKNOWN,
        }
    }

    pub(super) const fn trust(self) -> u8 {
        match self.source {
            UsageSource::Unknown => 0,
            UsageSource::Estimated => 1,
            UsageSource::Observed => 2,
        }
    }
}

/// A sum of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// The sum, if every figure in it is known; `not_applicable` when there is none.
    pub tokens: Known<u64>,
    /// The sum of the known figures.
    pub at_least: u64,
    /// How much of that is an estimate.
    pub estimated: u64,
    /// How many figures are in it.
    pub figures: u64,
    /// How many of them are not known.
    pub unknown: u64,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            tokens: Known::Not(Absence::NotApplicable),
            at_least: 0,
            estimated: 0,
            figures: 0,
            unknown: 0,
        }
    }
}

impl Sum {
    /// One figure as a sum.
    #[must_use]
    pub fn one(figure: Figure) -> Self {
        let tokens = figure.tokens.value().copied();
        let estimated = tokens.filter(|_| figure.source == UsageSource::Estimated);
        Self {
            tokens: figure.tokens,
            at_least: tokens.unwrap_or(0),
            estimated: estimated.unwrap_or(0),
            figures: 1,
            unknown: u64::from(tokens.is_none()),
        }
    }

    fn with(self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let mut sum = Self {
            tokens: Known::UNKNOWN,
            at_least: join(self.at_least, other.at_least),
            estimated: join(self.estimated, other.estimated),
            figures: join(self.figures, other.figures),
            unknown: join(self.unknown, other.unknown),
        };
        sum.tokens = match (sum.figures, sum.unknown) {
            (0, _) => Known::Not(Absence::NotApplicable),
            (_, 0) => Known::Is(sum.at_least),
            _ => Known::UNKNOWN,
        };
        sum
    }
}

/// Tokens of several calls together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Tokens in, cached ones included.
    pub input: Sum,
    /// Tokens out, reasoning included.
    pub output: Sum,
    /// Tokens in that came from a cache; part of the input.
    pub cached_input: Sum,
    /// Tokens in that were written to a cache; part of the input.
    pub cache_write: Sum,
    /// Tokens of reasoning; part of the output.
    pub reasoning: Sum,
}

impl Totals {
    /// Calls of which nothing is known.
    #[must_use]
    pub fn unknown(calls: u64) -> Self {
        let sum = Sum {
            tokens: if calls == 0 { Sum::default().tokens } else { Known::UNKNOWN },
            figures: calls,
            unknown: calls,
            ..Sum::default()
        };
        Self { input: sum, output: sum, cached_input: sum, cache_write: sum, reasoning: sum }
    }

    /// True when input and output of everything in it are known, and there is something in it.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.input.tokens.is_known() && self.output.tokens.is_known()
    }

    fn with(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: self.input.with(&other.input, &join),
            output: self.output.with(&other.output, &join),
            cached_input: self.cached_input.with(&other.cached_input, &join),
            cache_write: self.cache_write.with(&other.cache_write, &join),
            reasoning: self.reasoning.with(&other.reasoning, &join),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// Puts `new` in place of `old`, which is in it.
    pub(super) fn replace(&mut self, old: &Self, new: &Self) {
        if old != new {
            *self = self.with(old, u64::saturating_sub).with(new, u64::saturating_add);
        }
    }
}
