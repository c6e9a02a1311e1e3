//! Owns the register of rules: one per file, each with a page `docs/rules/<number>.md` and broken streams under
//! `fixtures/invalid/<number>-<case>/`. A test pairs the three, so none can be forgotten.
//!
//! Rules have no state: what has to be remembered of a stream is in one place, `Stream`. To add a rule: write its
//! file, name it in the list below, write its page and a broken stream.
//!
//! Next: `Rule`; then `sp0010_missing_scope_id`, a plain one.

use crate::check::Options;
use crate::finding::{Finding, Severity};
use crate::place::Place;
use crate::stream::{Identity, Stream};
use crate::subject::{Fault, Subject};

/// What is known of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Number, `SP0010`. Numbers are never given twice; tens group what belongs together.
    pub number: &'static str,
    /// Name, `missing_scope_id`.
    pub code: &'static str,
    /// How much a broken rule matters.
    pub severity: Severity,
    /// What it demands, in one sentence.
    pub demand: &'static str,
}

/// A demand on streams of facts.
pub(crate) trait Rule: Sync {
    /// What is known of the rule.
    fn info(&self) -> &'static Info;

    /// Judges the envelope of a line, whether or not the line can be read as an event.
    fn envelope(&self, _faults: &[Fault], _out: &mut Out<'_>) {}

    /// Judges an event, given what came before it in its stream.
    fn event(&self, _look: &Look<'_>, _out: &mut Out<'_>) {}

    /// Judges an event that the stream has had, the same in all it says. Nothing else looks at it.
    fn repeat(&self, _look: &Look<'_>, _out: &mut Out<'_>) {}

    /// Judges a stream that has come to its end and is said to be whole.
    fn end(&self, _stream: &Stream, _out: &mut Out<'_>) {}
}

/// An event and the state of its stream before it.
pub(crate) struct Look<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) identity: Identity,
    pub(crate) stream: &'a Stream,
    pub(crate) options: &'a Options,
}

/// Takes the findings of one rule at one place.
pub(crate) struct Out<'a> {
    pub(crate) info: &'static Info,
    pub(crate) place: &'a Place,
    pub(crate) found: &'a mut Vec<Finding>,
}

impl Out<'_> {
    /// Adds a finding of the rule's own severity.
    pub(crate) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.add_as(self.info.severity, path, message);
    }

    /// Adds a finding of another severity.
    pub(crate) fn add_as(
        &mut self,
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.found.push(Finding {
            rule: self.info.number,
            code: self.info.code,
            severity,
            path: path.into(),
            message: message.into(),
            event_id: self.place.event_id.clone(),
            sequence: self.place.sequence,
            frame: self.place.frame,
            line: self.place.line,
        });
    }
}

/// Names the rules: module and type. The order is that of the findings at one place.
macro_rules! rules {
    ($( $module:ident :: $rule:ident ),* $(,)?) => {
        $( mod $module; )*

        /// All rules, by number.
        pub(crate) static RULES: &[&dyn Rule] = &[$( &$module::$rule ),*];
    };
}

mod look;

rules! {
    sp0001_envelope::Envelope,
    sp0002_payload_shape::PayloadShape,
    sp0003_prose_only::ProseOnly,
    sp0004_unknown_event_type::UnknownEventType,
    sp0005_aliased_event_type::AliasedEventType,
    sp0006_unknown_word::UnknownWord,
    sp0010_missing_scope_id::MissingScopeId,
    sp0011_missing_correlation::MissingCorrelation,
    sp0012_subagent_without_parent::SubagentWithoutParent,
    sp0013_subagent_ended_without_start::SubagentEndedWithoutStart,
    sp0020_duplicate_event_id::DuplicateEventId,
    sp0021_event_repeated::EventRepeated,
    sp0022_sequence_not_increasing::SequenceNotIncreasing,
    sp0023_sequence_gap::SequenceGap,
    sp0024_timestamp_not_rfc3339::TimestampNotRfc3339,
    sp0025_timestamp_backwards::TimestampBackwards,
    sp0030_tool_started_already_active::ToolStartedAlreadyActive,
    sp0031_tool_result_without_start::ToolResultWithoutStart,
    sp0032_tool_failed_without_start::ToolFailedWithoutStart,
    sp0033_tool_unclosed_at_turn_end::ToolUnclosedAtTurnEnd,
    sp0034_tool_failure_unexplained::ToolFailureUnexplained,
    sp0035_tool_result_not_success::ToolResultNotSuccess,
    sp0040_action_required_already_active::ActionRequiredAlreadyActive,
    sp0041_action_resolved_without_request::ActionResolvedWithoutRequest,
    sp0042_action_unresolved_at_turn_end::ActionUnresolvedAtTurnEnd,
    sp0043_approval_not_honoured::ApprovalNotHonoured,
    sp0044_answered_after_expiry::AnsweredAfterExpiry,
    sp0050_model_unclosed_at_turn_end::ModelUnclosedAtTurnEnd,
    sp0051_final_for_another_part::FinalForAnotherPart,
    sp0052_delta_after_final::DeltaAfterFinal,
    sp0053_final_text_doubled::FinalTextDoubled,
    sp0054_final_mode_contradicted::FinalModeContradicted,
    sp0060_execution_after_turn_terminal::ExecutionAfterTurnTerminal,
    sp0061_turn_terminal_repeated::TurnTerminalRepeated,
    sp0062_turn_unclosed_at_end::TurnUnclosedAtEnd,
    sp0070_large_payload_inline::LargePayloadInline,
    sp0071_large_output_in_pieces::LargeOutputInPieces,
    sp0072_large_body_repeated::LargeBodyRepeated,
    sp0073_truncated_without_ref::TruncatedWithoutRef,
    sp0074_dangling_ref::DanglingRef,
    sp0075_raw_payload_inline::RawPayloadInline,
    sp0080_secret_leak_risk::SecretLeakRisk,
    sp0090_unknown_usage_as_number::UnknownUsageAsNumber,
    sp0091_usage_parts_exceed_total::UsagePartsExceedTotal,
}

/// What is known of all rules, by number.
pub fn all() -> impl Iterator<Item = &'static Info> {
    RULES.iter().map(|rule| rule.info())
}

/// What is known of the rules of a number or name.
pub fn find(name: &str) -> impl Iterator<Item = &'static Info> {
    all().filter(move |info| info.number.eq_ignore_ascii_case(name) || info.code == name)
}
