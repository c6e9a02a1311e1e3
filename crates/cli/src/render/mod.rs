//! Views as a person reads them. Each file draws one view onto [`Out`](crate::output::Out); none of them decides anything.
//!
//! Next: [`transcript`], the one that people look at most.

pub(crate) mod transcript;

pub(crate) mod figures;
pub(crate) mod graph;
pub(crate) mod header;
pub(crate) mod health;
pub(crate) mod products;
pub(crate) mod tables;
pub(crate) mod timeline;
pub(crate) mod work;

mod card;
mod part;

use read_model::{Elapsed, Known, Text};

use crate::text::bytes;
use crate::when;

/// The text as far as the view holds it, with a word about what it does not hold.
pub(crate) fn whole(text: &Text) -> String {
    match text.omitted_bytes() {
        0 => format!("{}{}", text.head(), text.tail()),
        omitted => format!(
            "{}\n… {} left out here, all of it is in the log …\n{}",
            text.head(),
            bytes(omitted),
            text.tail()
        ),
    }
}

/// A duration, or nothing when there is none to tell.
pub(crate) fn took(elapsed: &Elapsed) -> Option<String> {
    match elapsed.ms {
        // Sources without times of their own: everything happens at once.
        Known::Is(0) => None,
        Known::Is(ms) | Known::Stale(ms) => {
            Some(when::lasted(i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1000)))
        }
        Known::Not(_) if elapsed.clock_stepped_back => Some("clock stepped back".to_owned()),
        Known::Not(_) => None,
    }
}

/// The word that a value is in JSON, for people.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
