//! Owns the way of a recording into the log: recognise it, check all of it, then store it.
//!
//! All of it is checked before anything is stored. Only what storing shows stops it midway: facts that the log has with other
//! content, or a full disk, after which the same recording goes on where it stopped. Memory does not grow with the recording:
//! both passes go piece by piece.

use std::collections::HashSet;

use event_spine::{
    AppendError, EventDraft, EventId, EventLog, ReadMode, SessionId, Timestamp, validate,
};
use providers::stream::{
    AdaptError, AdaptErrorKind, AdapterContext, Batch, EndOfInput, Format, Framing, Pipeline,
    SessionDraft,
};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::raw;
use crate::source::{LONGEST, LineGuard, Source};
use crate::tally::{Taken, Writer};
use crate::text::bytes;

/// So many facts are stored at once, unless a plan says otherwise.
pub(crate) const BATCH: usize = 512;

/// How a recording is to be read.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) format: Format,
    /// Puts everything into this session instead of the one that the recording names.
    pub(crate) session: Option<SessionId>,
    /// Takes what can be read instead of refusing the recording: lines that cannot be read are left out, bytes that are
    /// no UTF-8 become U+FFFD.
    pub(crate) lenient: bool,
    /// The recording is a part; the rest comes later.
    pub(crate) paused: bool,
    /// So many facts are stored at once.
    pub(crate) batch: usize,
}

/// Recognises the format of a recording, or says that nobody does.
pub(crate) fn recognise(source: &Source) -> Result<Format, Failure> {
    Format::detect(&source.head).ok_or_else(|| unrecognised(source))
}

/// Nobody recognises the recording.
pub(crate) fn unrecognised(source: &Source) -> Failure {
    let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    let looks = if source.head.contains(&0) {
        "looks like binary data"
    } else {
        "is no recording that spine recognises"
    };
    Failure::input(format!(
        "{} {looks}; name its format with --from ({})",
        source.name,
        known.join(", ")
    ))
}

impl Plan {
    fn context(&self, source: &Source, raw: Option<String>) -> AdapterContext {
        let mut context = AdapterContext::at(Timestamp::from(source.time));
        context.session = self.session.clone();
        context.raw = raw;
        context
    }

    fn pipeline(&self, source: &Source, raw: Option<String>) -> Pipeline {
        Pipeline::new(self.format, Framing::detect(&source.head), self.context(source, raw))
    }

    fn end(&self) -> EndOfInput {
        if self.paused { EndOfInput::Paused } else { EndOfInput::Closed }
    }

    /// Turns a recording into drafts, piece by piece.
    pub(crate) fn adapt(
        &self,
        source: &mut Source,
        progress: &mut Progress,
        mut take: impl FnMut(Batch) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut pipeline = self.pipeline(source, None);
        let mut lines = LineGuard::default();
        let name = source.name.clone();
        source.for_each_piece(|piece| {
            progress.advance(piece.len() as u64);
            match lines.too_long(piece).filter(|_| !self.lenient) {
                Some(line) => Err(too_long(&name, line)),
                None => take(pipeline.push(piece)),
            }
        })?;
        take(pipeline.finish(self.end()))
    }

    /// Reads all of a recording without storing anything, and refuses it when a part of it cannot be taken.
    pub(crate) fn check(
        &self,
        source: &mut Source,
        progress: &mut Progress,
    ) -> Result<Checked, Failure> {
        let name = source.name.clone();
        let mut last = None;
        self.adapt(source, progress, |batch| {
            for made in &batch.drafts {
                validate(std::slice::from_ref(&made.draft))
                    .map_err(|e| invalid(&name, &made.draft, &e))?;
            }
            if let Some(fault) = batch.faults.iter().find(|fault| !self.lenient && refused(fault)) {
                return Err(refuse(&name, fault));
            }
            last = batch.drafts.into_iter().next_back().or(last.take());
            Ok(())
        })?;
        match last {
            Some(last) => Ok(Checked { last }),
            None => {
                Err(Failure::input(format!("{name} holds no event in the format {}", self.format)))
            }
        }
    }

    /// Stores a recording that was checked.
    pub(crate) fn store(
        &self,
        source: &mut Source,
        log: &EventLog,
        checked: Checked,
        progress: &mut Progress,
    ) -> Result<Taken, Failure> {
        // Events in their own form are kept word for word; what others wrote is kept beside what was made of it.
        let foreign = self.format != Format::RuntimeEvent;
        let mut pipeline = self.pipeline(source, foreign.then(|| raw::name(source)));
        let known_inputs =
            if foreign { self.recall(source, log, &mut pipeline)? } else { HashSet::new() };
        let mut keeper = foreign.then(|| raw::Keeper::new(source, log.blobs(), log.masker()));
        let source_name = source.name.clone();
        let mut writer = Writer::new(log, &source_name, self.batch);
        source.for_each_piece(|piece| {
            progress.advance(piece.len() as u64);
            if let Some(keeper) = &mut keeper {
                keeper.push(piece)?;
            }
            let batch = pipeline.push(piece);
            no_conflict(&batch, &source_name)?;
            writer.take(batch, pipeline.session_id())
        })?;
        let last = pipeline.finish(self.end());
        no_conflict(&last, &source_name)?;
        writer.take(last, pipeline.session_id())?;
        if let Some(keeper) = keeper {
            writer.keep(keeper.finish(checked.last, self.format)?, &known_inputs)?;
        }
        writer.finish()
    }

    /// Tells the adapter what the log has of the session already: a recording may repeat or continue it. Gives the
    /// states of its input that were recorded.
    fn recall(
        &self,
        source: &Source,
        log: &EventLog,
        pipeline: &mut Pipeline,
    ) -> Result<HashSet<EventId>, Failure> {
        let mut inputs = HashSet::new();
        let context = self.context(source, Some(raw::name(source)));
        let Some(session) = Pipeline::session_of(self.format, &source.head, context) else {
            return Ok(inputs);
        };
        let reader = log.reader();
        if reader.head(&session)?.is_none() {
            return Ok(inputs);
        }
        let mut events = reader.read(&session, .., ReadMode::Tolerant)?;
        while let Some(event) = events.next_event()? {
            pipeline.recall(&session, &event.draft);
            if raw::is_input(&event.draft) {
                inputs.insert(event.draft.event_id);
            }
        }
        Ok(inputs)
    }
}

/// A recording that was read to its end without a fault.
pub(crate) struct Checked {
    /// The last fact of it.
    last: SessionDraft,
}

/// A draft that the log would refuse, with the frame that it came from when the adapter says so.
fn invalid(name: &str, draft: &EventDraft, error: &AppendError) -> Failure {
    let frame = draft.refs.to_vec().into_iter().find_map(|r| r.origin).map(|origin| origin.frame);
    let place = frame
        .filter(|frame| *frame > 0)
        .map_or_else(String::new, |frame| format!(", event {frame} of it"));
    let what = match error {
        AppendError::Invalid { event_id, event_type, defect, .. } => {
            format!("{event_type} {event_id}: {defect}")
        }
        other => other.to_string(),
    };
    Failure::input(format!(
        "{name}{place}: {what}; mend it, `spine check` lists everything that is wrong"
    ))
}

/// True when a recording with this fault is refused. Half of a surrogate pair is a common slip of good sources and costs
/// one character; bytes that are no UTF-8 say that the file itself is damaged.
fn refused(fault: &AdaptError) -> bool {
    fault.lost() || matches!(fault.kind, AdaptErrorKind::InvalidUtf8 { .. })
}

fn refuse(name: &str, fault: &AdaptError) -> Failure {
    let what = match &fault.kind {
        AdaptErrorKind::TooLong { .. } => return too_long(name, fault.line),
        AdaptErrorKind::InvalidUtf8 { byte } => format!("byte {byte} of it is not UTF-8"),
        AdaptErrorKind::CutOff => "the recording ends in the middle of it".to_owned(),
        kind => kind.to_string(),
    };
    let line = fault.line;
    Failure::input(format!(
        "{name}, line {line}: {what}; mend the file, or take the rest of it with --lenient"
    ))
}

fn too_long(name: &str, line: u64) -> Failure {
    let most = bytes(LONGEST as u64);
    Failure::input(format!(
        "{name}, line {line}: longer than {most}; mend it, or take the rest with --lenient"
    ))
}

/// Refuses a recording of which the log has another version under the same ids, before any of the batch is stored.
fn no_conflict(batch: &Batch, name: &str) -> Result<(), Failure> {
    match &batch.conflict {
        None => Ok(()),
        Some(conflict) => Err(Failure::input(format!("{name}: {conflict} with `--session ID`"))),
    }
}
