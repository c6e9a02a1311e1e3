//! Owns the evidence pack: one file that says what happened in a session and proves it to whoever has only a JSON parser
//! and BLAKE3. `docs/evidence-pack.md` is the specification of the file.
//!
//! A pack is written in three passes over the log, so a session of a million events never stands in memory: the first
//! gathers what the pack says ([`collect`], [`judge`]), the others write ids and events. [`verify_pack`] derives all of
//! it again from the events and names the first that does not hold.
//!
//! Next: [`model`], what a pack says; [`write`](mod@write), the file; [`verify`].

mod collect;
mod entry;
mod judge;
mod model;
mod verify;
mod write;

use std::collections::BTreeSet;
use std::io::Write;

use event_spine::blob::BlobId;
use event_spine::{Entry, LogReader, ReadError, ReadMode, RecordedAt, RecordedEvent, SessionId};

use self::collect::Facts;
use self::write::PackWriter;

pub use model::{
    Approval, ApprovalOutcome, Body, BoundaryEntry, Category, ChainResult, Completeness, Coverage,
    EvidencePack, FORMAT, FORMAT_VERSION, KnownGap, Missing, PackChain, PackRange, PackScope,
    PackStatus, Producer, ProductEntry, Redaction, Refusal, Review, RuntimeCorrelation, Signal,
    SignalStatus, Summary, Timeline, ToolFailure, ToolSummary, ToolTally, TurnEntry, TurnOutcome,
};
pub use verify::{PackFault, PackVerification, verify_pack};
pub use write::PackPart;

/// What a pack says beside what is in the log.
#[derive(Debug, Clone)]
pub struct PackOptions {
    /// When it is written.
    pub created_at: RecordedAt,
    /// Who writes it.
    pub producer: Producer,
    /// Last event to take in; the newest when absent.
    pub to: Option<u64>,
}

impl PackOptions {
    /// A pack of the whole session.
    #[must_use]
    pub fn new(created_at: RecordedAt) -> Self {
        let producer =
            Producer { name: "spine".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        Self { created_at, producer, to: None }
    }
}

/// A pack could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The log could not be read.
    #[error("the evidence pack could not be built from the log")]
    Read(#[from] ReadError),
    /// The target could not be written.
    #[error("the evidence pack could not be written")]
    Write(#[from] std::io::Error),
    /// The log had other events when they were written than when they were gathered.
    #[error(
        "the log changed while the evidence pack was written, at event {sequence}; write it again"
    )]
    Changed {
        /// Where.
        sequence: u64,
    },
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What the pack says beside the events.
    pub pack: EvidencePack,
    /// The checksum in the last member, `blake3:` and hex.
    pub checksum: String,
}

impl EvidencePack {
    /// Gathers what a pack of the session says, without its events.
    ///
    /// Where the log is damaged the pack goes on behind the damage, names it and is `partial`.
    ///
    /// # Errors
    /// There is no such session, or the log cannot be read.
    pub fn build(
        reader: &LogReader,
        session: &SessionId,
        options: &PackOptions,
    ) -> Result<Self, ReadError> {
        let mut facts = Facts::new(session.clone());
        let to = last(reader, session, options)?;
        for entry in reader.read(session, 1..=to, ReadMode::Tolerant)? {
            match entry? {
                Entry::Event(event) => facts.take(&event),
                Entry::Gap(gap) => {
                    facts.miss(Missing { from: gap.from, to: gap.to, reason: gap.reason });
                }
            }
        }
        let absent = absent_bodies(reader, &facts);
        Ok(judge::judge(facts, options, &absent))
    }

    /// Gathers what a pack of these events says. `absent` names the bodies that are known not to be there.
    #[must_use]
    pub fn of_events<'a>(
        session: &SessionId,
        events: impl IntoIterator<Item = &'a RecordedEvent>,
        options: &PackOptions,
        absent: &BTreeSet<String>,
    ) -> Self {
        let mut facts = Facts::new(session.clone());
        for event in events {
            facts.take(event);
        }
        judge::judge(facts, options, absent)
    }
}

/// Writes the evidence pack of a session.
///
/// The writer gets one whole pack or an error; whoever writes a file writes to a temporary one beside it and renames it
/// when this returns, so that the target is always one whole pack whose checksum holds.
///
/// # Errors
/// There is no such session, the log cannot be read, or the writer fails.
pub fn write_pack(
    reader: &LogReader,
    session: &SessionId,
    options: &PackOptions,
    out: impl Write,
) -> Result<Written, PackError> {
    let pack = EvidencePack::build(reader, session, options)?;
    let mut writer = PackWriter::new(out)?;
    writer.header(&pack)?;
    let events = || -> Result<_, ReadError> {
        let entries = reader.read(session, 1..=pack.range.to, ReadMode::Tolerant)?;
        Ok(entries.filter_map(|entry| match entry {
            Ok(Entry::Event(event)) => Some(Ok(event)),
            Ok(Entry::Gap(_)) => None, // named in the range
            Err(error) => Some(Err(PackError::from(error))),
        }))
    };
    writer.event_ids(events()?)?;
    let mut head = pack.chain.genesis;
    let mut count = 0;
    writer.events(events()?.inspect(|event| {
        if let Ok(event) = event {
            (head, count) = (event.chain, count + 1);
        }
    }))?;
    if (head, count) != (pack.chain.head, pack.range.events) {
        return Err(PackError::Changed { sequence: pack.range.to });
    }
    let checksum = writer.finish()?;
    Ok(Written { pack, checksum })
}

fn last(reader: &LogReader, session: &SessionId, options: &PackOptions) -> Result<u64, ReadError> {
    let head =
        reader.head(session)?.ok_or_else(|| ReadError::NoSession { session: session.clone() })?;
    Ok(options.to.map_or(head.sequence, |to| to.min(head.sequence)))
}

/// Bodies that events name and the store does not have.
fn absent_bodies(reader: &LogReader, facts: &Facts) -> BTreeSet<String> {
    let has = |id: &str| {
        let id = id.parse::<BlobId>().ok();
        id.is_some_and(|id| reader.blobs().exists(&id).unwrap_or(false))
    };
    facts.bodies.keys().filter(|id| !has(id)).cloned().collect()
}

#[cfg(test)]
mod tests;
