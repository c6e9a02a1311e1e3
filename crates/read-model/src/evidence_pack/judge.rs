//! Owns how complete a pack is: its status, the categories, the signals, the gaps. A gap is a fact that is proven to be
//! missing, never a feature that nobody built.

use std::collections::BTreeSet;

use event_spine::{ChainHash, EvidenceId};

use super::collect::Facts;
use super::model::{
    ApprovalOutcome, Category, ChainResult, Completeness, Coverage, EvidencePack, FORMAT,
    FORMAT_VERSION, KnownGap, PackChain, PackScope, PackStatus, RuntimeCorrelation, Signal,
    SignalStatus, Summary, TurnOutcome,
};
use super::{PackOptions, model};
use crate::projections::graph::Figures;

/// Most sentences in a list of missing facts.
const MOST: usize = 20;

/// Makes the pack of what was gathered. `absent` are the bodies that the log does not have.
pub(super) fn judge(
    mut facts: Facts,
    options: &PackOptions,
    absent: &BTreeSet<String>,
) -> EvidencePack {
    for body in facts.bodies.values_mut() {
        body.present = !absent.contains(&body.id);
    }
    let total = facts.graph.derive().total;
    let genesis = facts.genesis.unwrap_or_else(|| ChainHash::genesis(&facts.session));
    let head = facts.last.unwrap_or(genesis);
    add_gaps(&mut facts, &total);
    let completeness = completeness(&facts, absent);
    let to = facts.range.to.to_string();
    let parts = ["evidence-pack", facts.session.as_str(), &to, &head.to_string()];
    EvidencePack {
        format: FORMAT.to_owned(),
        schema_version: FORMAT_VERSION.to_owned(),
        evidence_pack_id: EvidenceId::derived(&parts),
        status: status(&facts, absent),
        created_at: options.created_at,
        producer: options.producer.clone(),
        scope: PackScope { kind: "session".to_owned(), session_id: facts.session.clone() },
        runtime_correlation: correlation(&facts),
        chain: PackChain { algorithm: "blake3".to_owned(), genesis, head },
        verification: ChainResult {
            intact: facts.fault.is_none() && facts.verified == facts.range.events,
            verified_events: facts.verified,
            first_bad_sequence: facts.fault.as_ref().map(|(sequence, _)| *sequence),
            fault: facts.fault.as_ref().map(|(_, what)| what.clone()),
        },
        signal_coverage: signals(&facts, &total),
        completeness,
        summary: Summary {
            counts: total.counts,
            tokens: total.rolled_up,
            calls_without_usage: total.calls_without_usage,
            events_by_type: facts.by_type,
        },
        known_gaps: facts.gaps,
        redactions: facts.redactions,
        timeline: facts.timeline,
        tools: facts.tools,
        approvals: facts.approvals,
        refusals: facts.refusals,
        artifacts: facts.artifacts.into_values().collect(),
        evidence: facts.evidence.into_values().collect(),
        reviews: facts.reviews,
        bodies: facts.bodies.into_values().collect(),
        range: facts.range,
    }
}

fn status(facts: &Facts, absent: &BTreeSet<String>) -> PackStatus {
    if facts.fault.is_some() {
        PackStatus::Invalid
    } else if !facts.range.missing.is_empty() || !absent.is_empty() {
        PackStatus::Partial
    } else if facts.reviews.is_empty() {
        PackStatus::Verified
    } else {
        PackStatus::Reviewed
    }
}

fn correlation(facts: &Facts) -> RuntimeCorrelation {
    let ids = |name: &str| -> Vec<String> {
        facts.ids.get(name).into_iter().flatten().cloned().collect()
    };
    RuntimeCorrelation {
        session_id: facts.session.to_string(),
        recorded_by: ids("recordedBy"),
        runtime_ids: ids("runtimeIds"),
        thread_ids: ids("threadIds"),
        turn_ids: ids("turnIds"),
        task_ids: ids("taskIds"),
        run_ids: ids("runIds"),
        subagent_ids: ids("subagentIds"),
        trace_ids: ids("traceIds"),
    }
}

/// Adds the gaps that show only at the end.
fn add_gaps(facts: &mut Facts, total: &Figures) {
    for (sequence, reason, repaired) in &facts.interruptions {
        if !repaired {
            let detail = format!("The stream broke off and was not repaired: {reason}");
            facts.gaps.push(KnownGap {
                code: "stream_interrupted".into(),
                sequence: *sequence,
                detail,
            });
        }
    }
    for body in facts.bodies.values().filter(|body| !body.present) {
        let detail = format!("The body {} is not in the log's store.", body.id);
        let sequence = body.first_sequence;
        facts.gaps.push(KnownGap { code: "body_missing".into(), sequence, detail });
    }
    if total.calls_without_usage > 0 {
        let detail =
            format!("{} model calls do not say what they used.", total.calls_without_usage);
        facts.gaps.push(KnownGap {
            code: "usage_not_stated".into(),
            sequence: facts.range.to,
            detail,
        });
    }
    facts.gaps.sort_by(|a, b| (a.sequence, &a.code).cmp(&(b.sequence, &b.code)));
}

fn category(status: Coverage, missing: impl IntoIterator<Item = String>) -> Category {
    let mut missing_facts: Vec<String> = missing.into_iter().collect();
    if missing_facts.len() > MOST {
        let more = missing_facts.len() - MOST;
        missing_facts.truncate(MOST);
        missing_facts.push(format!("and {more} more"));
    }
    Category { status, missing_facts }
}

/// Complete, or partial with what is missing.
fn complete_but(missing: Vec<String>) -> Category {
    let status = if missing.is_empty() { Coverage::Complete } else { Coverage::Partial };
    category(status, missing)
}

fn completeness(facts: &Facts, absent: &BTreeSet<String>) -> Completeness {
    let mut runtime: Vec<String> = facts
        .gaps
        .iter()
        .filter(|gap| gap.code != "usage_not_stated" && gap.code != "body_missing")
        .map(|gap| gap.detail.clone())
        .collect();
    let open = facts.timeline.turns.iter().filter(|turn| turn.outcome == TurnOutcome::Open);
    runtime.extend(open.map(|turn| format!("Turn {} has not ended.", turn.turn_id)));
    let bodies = || absent.iter().map(|id| format!("The body {id} is not in the log's store."));
    let mut replay: Vec<String> = bodies().collect();
    replay.extend(
        facts
            .range
            .missing
            .iter()
            .map(|m| format!("Events {} to {} cannot be read.", m.from, m.to)),
    );
    let (traced, events) = (facts.traced, facts.range.events);
    let telemetry = match traced {
        0 => category(Coverage::NotCollected, []),
        n if n == events => category(Coverage::Complete, []),
        n => category(
            Coverage::Partial,
            [format!("{} of {events} events name no trace.", events - n)],
        ),
    };
    Completeness {
        runtime: complete_but(runtime),
        telemetry,
        sources: sources(facts),
        claims: claims(facts),
        artifacts: artifacts(facts, absent),
        verification: verification(facts),
        privacy: if facts.redactions.is_empty() {
            category(
                Coverage::Unknown,
                ["No event says that something was masked, or that nothing had to be.".to_owned()],
            )
        } else {
            category(Coverage::Complete, [])
        },
        replay: complete_but(replay),
    }
}

fn sources(facts: &Facts) -> Category {
    let is_source = |kind: &str| matches!(kind, "source" | "citation");
    let sources = facts.evidence.values().filter(|e| e.kind.as_deref().is_some_and(is_source));
    let unlocated: Vec<String> = sources
        .clone()
        .filter(|source| source.location.is_none())
        .map(|source| format!("Source {} does not say where it lies.", source.id))
        .collect();
    if sources.count() == 0 {
        category(Coverage::NotCollected, [])
    } else {
        complete_but(unlocated)
    }
}

fn claims(facts: &Facts) -> Category {
    let claims: Vec<_> = facts.evidence.values().filter(|e| e.claim.is_some()).collect();
    if claims.is_empty() {
        return category(Coverage::NotCollected, []);
    }
    let unsupported = claims.iter().filter(|e| !matches!(e.state.as_str(), "ready" | "verified"));
    complete_but(unsupported.map(|e| format!("The claim of {} is {}.", e.id, e.state)).collect())
}

fn artifacts(facts: &Facts, absent: &BTreeSet<String>) -> Category {
    if facts.artifacts.is_empty() {
        return category(Coverage::NotApplicable, []);
    }
    let lost = facts
        .artifacts
        .values()
        .filter(|a| a.read_ref.as_ref().is_some_and(|r| absent.contains(r)));
    let mut missing: Vec<String> =
        lost.map(|a| format!("The body of artifact {} is not in the log's store.", a.id)).collect();
    let bare = facts.artifacts.values().filter(|a| a.read_ref.is_none() && a.location.is_none());
    missing.extend(bare.map(|a| format!("Artifact {} does not say where it lies.", a.id)));
    complete_but(missing)
}

fn verification(facts: &Facts) -> Category {
    let checks: Vec<_> = facts.evidence.values().collect();
    if checks.is_empty() && facts.reviews.is_empty() {
        return category(Coverage::NotCollected, []);
    }
    let open =
        checks.iter().filter(|e| !matches!(e.state.as_str(), "verified" | "ready" | "exported"));
    complete_but(open.map(|e| format!("Evidence {} is {}.", e.id, e.state)).collect())
}

/// The signals that a session can have, by the first word of the types that carry them.
const SIGNALS: [(&str, &[&str]); 13] = [
    ("request", &["model"]),
    ("usage", &["usage", "ledger"]),
    ("tool", &["tool", "output"]),
    ("action", &["action"]),
    ("permission", &["permission"]),
    ("sandbox", &["sandbox"]),
    ("task", &["task", "job"]),
    ("subagent", &["subagent", "channel"]),
    ("context", &["context", "history"]),
    ("limits", &["budget", "rate_limit"]),
    ("artifact", &["artifact"]),
    ("evidence", &["evidence"]),
    ("review", &["review"]),
];

fn signals(facts: &Facts, total: &Figures) -> Vec<Signal> {
    let mut signals: Vec<Signal> =
        SIGNALS.iter().map(|(name, words)| signal(facts, total, name, words)).collect();
    signals.extend(["routing", "hook"].map(unsupported));
    signals
}

fn signal(facts: &Facts, total: &Figures, name: &str, words: &[&str]) -> Signal {
    let carries = |event_type: &&String| {
        event_type.split_once('.').is_some_and(|(word, _)| words.contains(&word))
    };
    let types: Vec<&str> = facts.by_type.keys().filter(carries).map(String::as_str).collect();
    let mut source = types.join(", ");
    let loose = facts.uncorrelated.get(name).copied().unwrap_or(0);
    let mut status = match (types.is_empty(), loose) {
        (true, _) => SignalStatus::NotApplicable,
        (false, 0) => SignalStatus::Exported,
        (false, _) => SignalStatus::MissingCorrelation,
    };
    let mut detail = match loose {
        0 => String::new(),
        n => format!("{n} without the id of what they are about"),
    };
    let with = |outcome| facts.approvals.iter().filter(|a| a.outcome == outcome).count();
    let (open, unknown) = (with(ApprovalOutcome::Open), with(ApprovalOutcome::Unknown));
    match (name, types.is_empty()) {
        ("request", true) => status = SignalStatus::NotRecorded,
        ("usage", true) if total.rolled_up.is_some() => {
            status = SignalStatus::Exported; // stated with the answers themselves
            source = "model.completed, turn.completed".to_owned();
        }
        ("usage", true) if total.counts.model_calls > 0 => status = SignalStatus::NotRecorded,
        ("action", false) if unknown > 0 => {
            detail = format!("{unknown} answered, and nobody recorded how");
        }
        ("action", false) if open > 0 => detail = format!("{open} not answered"),
        _ => {} // not an event: nothing more to say of the others
    }
    if name == "usage" && total.calls_without_usage > 0 {
        let (silent, calls) = (total.calls_without_usage, total.counts.model_calls);
        detail = format!("{silent} of {calls} model calls do not say");
    } else if name == "usage" && total.rolled_up.is_some_and(|tokens| tokens.estimated) {
        detail = "a part is estimated".to_owned();
    }
    Signal { signal: name.to_owned(), status, source, detail }
}

fn unsupported(name: &str) -> Signal {
    Signal {
        signal: name.to_owned(),
        status: SignalStatus::Unsupported,
        source: String::new(),
        detail: format!("no event type of version {} carries it", model::FORMAT_VERSION),
    }
}
