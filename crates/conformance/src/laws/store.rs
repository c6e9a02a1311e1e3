//! Owns the laws of a log over any store: the memory twin, the journal, and those to come.
//!
//! A test gives a way to open logs ([`Stores`]) and runs [`LAWS`]; [`script`] gives the heads that every store must agree
//! on.
//!
//! Next: `append`, `identity`, `keep`, `fork`, `read`, `follow`.

mod append;
mod follow;
mod fork;
mod identity;
mod keep;
mod material;
mod read;

use event_spine::{EventLog, Expected, Head};

use super::{Broken, Law};
use material::{delta, runtime, session, tool_started};

/// Gives logs over the store that is to be tested. Every log has a clock and an entropy of its own, the same for all.
pub trait Stores {
    /// A new log without events.
    fn fresh(&self) -> EventLog;

    /// The same log after its handles went and it was opened again. A store that does not outlive its handles gives
    /// the log back as it is.
    fn reopened(&self, log: EventLog) -> EventLog;
}

/// A law of stores.
pub type StoreLaw = Law<dyn Stores>;

/// Lists the laws: the function that checks each, and what it says.
macro_rules! laws {
    ($( $says:literal => $module:ident::$law:ident ),* $(,)?) => {
        /// All laws.
        pub static LAWS: &[StoreLaw] = &[ $( Law { says: $says, check: $module::$law } ),* ];
    };
}

laws! {
    "a batch is stored whole or not at all" => append::batches_are_atomic,
    "an append goes where the caller believes the session to be, or nowhere" => append::expectations_hold,
    "sequences are dense, whoever writes" => append::writers_share_one_sequence,
    "sessions do not mix" => append::sessions_do_not_mix,
    "an event id is one fact, at any age and under any expectation" => identity::repeats_answer_with_the_first_place,
    "an event id with other content is a conflict and writes nothing" => identity::other_content_is_a_conflict,
    "equal drafts of a batch are stored once, unequal ones of one id not at all" => identity::within_a_batch,
    "equal content is equal as JSON, numbers as written" => identity::content_is_compared_as_json,
    "types without a row are kept whole" => keep::unknown_types,
    "numbers, member order and unknown members stay as written" => keep::payloads_as_written,
    "old records read with what they have" => keep::old_records,
    "what is stored is there after reopening, with the same heads" => keep::reopening_changes_nothing,
    "a read gives its range and nothing else" => read::ranges,
    "a session that is not there says so" => read::absent_sessions,
    "sessions are listed by their last activity in the log, not by any clock" => read::sessions_by_activity,
    "a follower sees every event once, history and then live" => follow::the_seam,
    "a cursor of another history is sent back" => follow::other_histories,
    "a fork has its parent's history by reference" => fork::shares_the_prefix,
    "a fork and its parent go their own ways" => fork::goes_its_own_way,
    "a fork knows the facts that it shares" => fork::knows_shared_facts,
    "a fork needs a point to fork at" => fork::needs_a_point,
}

/// Writes the same facts into a new log and gives the head of every session: equal on every store whose logs have
/// equal clocks and entropy.
///
/// # Errors
/// The store did not take them.
pub fn script(stores: &dyn Stores) -> Result<Vec<Head>, Broken> {
    let log = stores.fresh();
    let (a, b, c) = (session("sess_a")?, session("sess_b")?, session("sess_c")?);
    for n in 0..40_u32 {
        log.append(
            &a,
            Expected::Any,
            vec![tool_started(&format!("a{n}"))?, delta(&format!("d{n}"), "x")?],
        )?;
        log.append(&b, Expected::Exact(u64::from(n)), vec![delta(&format!("b{n}"), "y")?])?;
    }
    log.append(&a, Expected::Any, vec![tool_started("a3")?])?;
    log.fork(&a, 17, &c, &runtime()?, Some("another attempt"))?;
    log.append(&c, Expected::Exact(18), vec![tool_started("c1")?, delta("c2", "z")?])?;
    log.append(&b, Expected::Exact(40), vec![tool_started("last")?])?;
    let reader = log.reader();
    let mut heads = Vec::new();
    for session in [a, b, c] {
        if !reader.verify(&session)?.intact() {
            return Err(Broken::because(format!("{session} does not verify")));
        }
        heads.extend(reader.head(&session)?);
    }
    Ok(heads)
}
