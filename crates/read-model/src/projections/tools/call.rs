//! Owns one tool call and what each event does to it. The transcript shows the same struct, folded the same way.

use event_spine::event::family::ToolEvent;
use event_spine::event::family::tool as payload;
use event_spine::event::value::{ArgsState, ToolKind, ToolSafety, ToolStatus};
use event_spine::{RecordedEvent, Scope, ToolCallId};
use serde::{Deserialize, Serialize};

use crate::moment::{Elapsed, Moment};
use crate::projections::shared::{readable, spilled_under};
use crate::text::Text;
use crate::window::Row;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Its arguments arrive.
    InputStreaming,
    /// Its arguments are whole; it does not run yet.
    InputAvailable,
    /// Its arguments are whole and not what the tool can read.
    InputInvalid,
    /// It runs.
    Running,
    /// The source says that it succeeded.
    Succeeded,
    /// The source says that it succeeded in part.
    PartialSucceeded,
    /// It failed.
    Failed,
    /// A rule refused it.
    Denied,
    /// A person refused it.
    Rejected,
    /// It was stopped.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// It was cut off; nobody knows what it did.
    Interrupted,
    /// It returned, and the source does not say how it went.
    Unknown,
}

impl CallStatus {
    /// True when the call is over.
    #[must_use]
    pub const fn is_end(self) -> bool {
        !matches!(
            self,
            Self::InputStreaming | Self::InputAvailable | Self::InputInvalid | Self::Running
        )
    }

    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InputStreaming => "input_streaming",
            Self::InputAvailable => "input_available",
            Self::InputInvalid => "input_invalid",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::PartialSucceeded => "partial_succeeded",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }

    /// How a `tool.result` ended. Success is only what the source calls success.
    pub(crate) fn of_result(result: &payload::ToolResult) -> Self {
        result.status.map_or(Self::Unknown, Self::stated)
    }

    /// How a `tool.failed` ended: as stated, else by the words that the contract lists for the category.
    pub(crate) fn of_failure(failed: &payload::ToolFailed) -> Self {
        match failed.status.map(Self::stated) {
            Some(status) if !matches!(status, Self::Succeeded | Self::Unknown) => status,
            _ => match failed.failure_category.as_str() {
                "timeout" | "timed_out" => Self::TimedOut,
                "permission_denied" | "policy_blocked" | "denied" => Self::Denied,
                "approval_rejected" | "rejected" => Self::Rejected,
                "cancelled" | "canceled" => Self::Cancelled,
                "interrupted" => Self::Interrupted,
                _ => Self::Failed,
            },
        }
    }

    const fn stated(status: ToolStatus) -> Self {
        match status {
            ToolStatus::Succeeded => Self::Succeeded,
            ToolStatus::PartialSucceeded => Self::PartialSucceeded,
            ToolStatus::Failed => Self::Failed,
            ToolStatus::Denied => Self::Denied,
            ToolStatus::Rejected => Self::Rejected,
            ToolStatus::Cancelled => Self::Cancelled,
            ToolStatus::TimedOut => Self::TimedOut,
            ToolStatus::Interrupted => Self::Interrupted,
            ToolStatus::Unknown => Self::Unknown,
        }
    }
}

impl std::fmt::Display for CallStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is odd about the events of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallFlag {
    /// It ended, and nothing says that it began.
    ResultWithoutStart,
    /// It began again while it ran; the second beginning changed nothing.
    RepeatedStart,
    /// It ended again; the second end changed nothing.
    RepeatedResult,
    /// Its end came after the end of its turn had closed it; the end that came counts.
    LateResult,
    /// Output came after its end; it was not added.
    ProgressAfterEnd,
}

/// How far a running call is, by its own account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// What it is doing.
    pub message: Option<String>,
    /// 0 to 100.
    pub percent: Option<u8>,
}

/// Why a call did not give its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Machine-readable category.
    pub category: String,
    /// The error as the source worded it.
    pub error: Option<String>,
    /// True when trying again can help.
    pub retryable: Option<bool>,
    /// What can be done about it.
    pub recovery: Option<String>,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Where it belongs; `toolCallId` names it.
    pub scope: Scope,
    /// Name of the tool; absent until a source says it.
    pub tool_name: Option<String>,
    /// What sort of tool it is.
    pub kind: Option<ToolKind>,
    /// Short title for people.
    pub title: Option<String>,
    /// Where it stands.
    pub status: CallStatus,
    /// The arguments, as text.
    pub args: Text,
    /// Ref that holds arguments too large to inline.
    pub args_ref: Option<String>,
    /// Head and tail of the output, as text. Empty when the tool gave nothing.
    pub output: Text,
    /// Ref that holds the whole output.
    pub output_ref: Option<String>,
    /// Size of the whole output in bytes, where the source says it.
    pub output_bytes: Option<u64>,
    /// True when the source cut the output.
    pub truncated: bool,
    /// True when the whole output was deleted on purpose.
    pub output_expired: bool,
    /// How far it is, while it runs.
    pub progress: Option<Progress>,
    /// Exit status of a process.
    pub exit_code: Option<i64>,
    /// Why it did not give its result.
    pub failure: Option<Failure>,
    /// How long it ran.
    pub elapsed: Elapsed,
    /// What may happen if it is made twice.
    pub safety: Option<ToolSafety>,
    /// Working directory of a command.
    pub cwd: Option<String>,
    /// The id the source uses, when it is another one.
    pub native_tool_call_id: Option<String>,
    /// What is odd about its events.
    pub flags: Vec<CallFlag>,
    /// Its first event.
    pub first: Moment,
    /// When it began to run.
    pub started: Option<Moment>,
    /// When it ended.
    pub ended: Option<Moment>,
    /// Sequence of its newest event.
    pub last_sequence: u64,
}

impl ToolCall {
    /// The call that the event is the first of.
    pub(crate) fn new(recorded: &RecordedEvent) -> Self {
        Self {
            scope: recorded.draft.scope.clone(),
            tool_name: None,
            kind: None,
            title: None,
            status: CallStatus::InputStreaming,
            args: Text::default(),
            args_ref: None,
            output: Text::default(),
            output_ref: None,
            output_bytes: None,
            truncated: false,
            output_expired: false,
            progress: None,
            exit_code: None,
            failure: None,
            elapsed: Elapsed::OPEN,
            safety: None,
            cwd: None,
            native_tool_call_id: None,
            flags: Vec::new(),
            first: Moment::of(recorded),
            started: None,
            ended: None,
            last_sequence: recorded.sequence,
        }
    }

    /// Takes an event of this call.
    pub(crate) fn fold(&mut self, recorded: &RecordedEvent, event: &ToolEvent, limit: usize) {
        self.last_sequence = recorded.sequence;
        match event {
            ToolEvent::ToolStarted(started) => self.start(recorded, started, limit),
            ToolEvent::ToolArgs(args) => self.arguments(recorded, args, limit),
            ToolEvent::ToolProgress(progress) => self.advance(progress, limit),
            ToolEvent::ToolResult(result) => {
                if self.end(recorded, CallStatus::of_result(result), result.duration_ms) {
                    self.take_output(
                        recorded,
                        result.preview.as_deref(),
                        result.output.as_ref(),
                        &result.output_ref,
                        limit,
                    );
                    self.truncated |= result.truncated;
                    self.exit_code = result.exit_code.or(self.exit_code);
                    named(&mut self.tool_name, result.tool_name.as_deref());
                    self.failure = None;
                }
            }
            ToolEvent::ToolFailed(failed) => {
                if self.end(recorded, CallStatus::of_failure(failed), failed.duration_ms) {
                    self.take_output(
                        recorded,
                        failed.preview.as_deref(),
                        failed.output.as_ref(),
                        &failed.output_ref,
                        limit,
                    );
                    self.truncated |= failed.truncated;
                    self.exit_code = failed.exit_code.or(self.exit_code);
                    named(&mut self.tool_name, failed.tool_name.as_deref());
                    self.failure = Some(Failure {
                        category: failed.failure_category.clone(),
                        error: failed.error.clone(),
                        retryable: failed.retryable,
                        recovery: failed.recovery.clone(),
                    });
                }
            }
            ToolEvent::OutputSpilled(spilled) => {
                self.output_ref = Some(spilled.output_ref.clone());
                self.output_bytes = Some(spilled.size_bytes);
                if let Some(preview) = spilled.preview.as_deref().filter(|_| self.output.is_empty())
                {
                    self.output.set(preview, limit);
                }
            }
            ToolEvent::OutputTruncated(truncated) => {
                self.truncated = true;
                self.output_bytes = truncated.size_bytes.or(self.output_bytes);
            }
            ToolEvent::OutputExpired(expired) => {
                self.output_expired |= self.output_ref.as_ref() == Some(&expired.output_ref);
            }
            ToolEvent::OutputRedacted(_) => {}
        }
    }

    /// Closes the call because its turn is over.
    pub(crate) fn interrupt(&mut self, recorded: &RecordedEvent) {
        self.close(recorded, CallStatus::Interrupted, None);
        self.failure = Some(Failure {
            category: "interrupted".into(),
            error: Some("the turn ended before the call did; its outcome is not known".into()),
            retryable: None,
            recovery: None,
        });
    }

    /// A message list names this call and its arguments; whether it ran is not known.
    pub(crate) fn begin_as_listed(&mut self, name: &str, arguments: &str, limit: usize) {
        named(&mut self.tool_name, Some(name));
        self.args.set(arguments, limit);
        self.status = CallStatus::InputAvailable;
    }

    /// A message list names what came out of this call. It does not say how it went, unless it names an error.
    pub(crate) fn end_as_listed(
        &mut self,
        recorded: &RecordedEvent,
        text: Option<&str>,
        error: Option<&str>,
        limit: usize,
    ) {
        let status = if error.is_some() { CallStatus::Failed } else { CallStatus::Unknown };
        self.close(recorded, status, None);
        self.failure = error.map(|error| Failure {
            category: "execution_failed".into(),
            error: Some(error.to_owned()),
            retryable: None,
            recovery: None,
        });
        if let Some(text) = text {
            self.output.set(text, limit);
        }
    }

    fn start(&mut self, recorded: &RecordedEvent, started: &payload::ToolStarted, limit: usize) {
        named(&mut self.tool_name, Some(&started.tool_name));
        if self.started.is_some() {
            return self.flag(CallFlag::RepeatedStart);
        }
        self.started = Some(Moment::of(recorded));
        self.status = CallStatus::Running;
        self.kind = started.tool_kind.or(self.kind);
        self.title.clone_from(&started.title);
        self.safety = started.safety;
        self.cwd.clone_from(&started.cwd);
        self.native_tool_call_id.clone_from(&started.native_tool_call_id);
        if let Some(args) = &started.args {
            self.args.set(&readable(args), limit);
        }
        let args_ref = || spilled_under(recorded, "/args").map(|whole| whole.id);
        self.args_ref = started.args_ref.clone().or_else(args_ref).or(self.args_ref.take());
    }

    fn arguments(&mut self, recorded: &RecordedEvent, args: &payload::ToolArgs, limit: usize) {
        named(&mut self.tool_name, args.tool_name.as_deref());
        if let Some(delta) = &args.delta {
            self.args.push(delta, limit);
        }
        match (&args.args, &args.raw) {
            (Some(whole), _) => self.args.set(&readable(whole), limit),
            (None, Some(raw)) => self.args.set(raw, limit),
            (None, None) => {}
        }
        let args_ref = || {
            let whole =
                spilled_under(recorded, "/args").or_else(|| spilled_under(recorded, "/raw"));
            whole.map(|whole| whole.id)
        };
        self.args_ref = args.args_ref.clone().or_else(args_ref).or(self.args_ref.take());
        if self.started.is_none() && !self.status.is_end() {
            self.status = match args.state {
                ArgsState::Streaming | ArgsState::Unknown => CallStatus::InputStreaming,
                ArgsState::Available => CallStatus::InputAvailable,
                ArgsState::Invalid => CallStatus::InputInvalid,
            };
        }
    }

    fn advance(&mut self, progress: &payload::ToolProgress, limit: usize) {
        if self.status.is_end() {
            return self.flag(CallFlag::ProgressAfterEnd);
        }
        self.status = CallStatus::Running;
        if let Some(piece) = &progress.preview {
            self.output.push(piece, limit);
        }
        if progress.output_ref.is_some() {
            self.output_ref.clone_from(&progress.output_ref);
        }
        if progress.message.is_some() || progress.percent.is_some() {
            self.progress =
                Some(Progress { message: progress.message.clone(), percent: progress.percent });
        }
    }

    /// Ends the call; false when it had ended already and this end does not count.
    fn end(&mut self, recorded: &RecordedEvent, status: CallStatus, stated: Option<u64>) -> bool {
        match (self.status.is_end(), self.closed_by_its_turn()) {
            (false, _) => {
                if self.started.is_none() {
                    self.flag(CallFlag::ResultWithoutStart);
                }
            }
            (true, true) => self.flag(CallFlag::LateResult),
            (true, false) => {
                self.flag(CallFlag::RepeatedResult);
                return false;
            }
        }
        self.close(recorded, status, stated);
        true
    }

    fn closed_by_its_turn(&self) -> bool {
        self.status == CallStatus::Interrupted && !self.flags.contains(&CallFlag::LateResult)
    }

    fn close(&mut self, recorded: &RecordedEvent, status: CallStatus, stated: Option<u64>) {
        self.status = status;
        self.last_sequence = recorded.sequence;
        self.progress = None;
        self.elapsed = match &self.started {
            Some(started) => {
                Elapsed::stated_or_between(stated, &started.timestamp, &recorded.draft.timestamp)
            }
            // Without a beginning only the source can say how long it took.
            None => Elapsed { ms: stated.into(), clock_stepped_back: false },
        };
        self.ended = Some(Moment::of(recorded));
    }

    fn take_output(
        &mut self,
        recorded: &RecordedEvent,
        preview: Option<&str>,
        output: Option<&event_spine::JsonText>,
        output_ref: &Option<String>,
        limit: usize,
    ) {
        match (preview, output) {
            (Some(preview), _) => self.output.set(preview, limit),
            (None, Some(output)) => self.output.set(&readable(output), limit),
            // Nothing is repeated: what was streamed stands.
            (None, None) => {}
        }
        if output_ref.is_some() {
            self.output_ref.clone_from(output_ref);
        } else if let Some(whole) =
            spilled_under(recorded, "/output").or_else(|| spilled_under(recorded, "/preview"))
        {
            self.output_bytes = whole.size_bytes.or(self.output_bytes);
            self.output_ref = Some(whole.id);
        }
    }

    fn flag(&mut self, flag: CallFlag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }
}

impl Row for ToolCall {
    type Key<'a> = &'a Option<ToolCallId>;

    fn key(&self) -> Option<Self::Key<'_>> {
        Some(&self.scope.tool_call_id)
    }

    fn first(&self) -> u64 {
        self.first.sequence
    }

    fn settled(&self) -> Option<u64> {
        self.status.is_end().then_some(self.last_sequence)
    }

    fn weight(&self) -> usize {
        self.args.kept_bytes() + self.output.kept_bytes()
    }
}

/// True for the events that a call is made of; the others say something about outputs in general.
pub(crate) fn concerns_a_call(event: &ToolEvent) -> bool {
    match event {
        ToolEvent::ToolStarted(_)
        | ToolEvent::ToolArgs(_)
        | ToolEvent::ToolProgress(_)
        | ToolEvent::ToolResult(_)
        | ToolEvent::ToolFailed(_)
        | ToolEvent::OutputSpilled(_)
        | ToolEvent::OutputTruncated(_)
        | ToolEvent::OutputExpired(_) => true,
        ToolEvent::OutputRedacted(_) => false,
    }
}

/// True for the events that show a call that nothing was heard of before.
pub(crate) fn can_be_first(event: &ToolEvent) -> bool {
    match event {
        ToolEvent::ToolStarted(_)
        | ToolEvent::ToolArgs(_)
        | ToolEvent::ToolProgress(_)
        | ToolEvent::ToolResult(_)
        | ToolEvent::ToolFailed(_) => true,
        ToolEvent::OutputSpilled(_)
        | ToolEvent::OutputTruncated(_)
        | ToolEvent::OutputExpired(_)
        | ToolEvent::OutputRedacted(_) => false,
    }
}

/// A name is never replaced by an empty one.
fn named(name: &mut Option<String>, stated: Option<&str>) {
    if let Some(stated) = stated.filter(|s| !s.is_empty())
        && name.as_deref() != Some(stated)
    {
        *name = Some(stated.to_owned());
    }
}
