//! Measures how fast all projections fold together, with decoding, and how much memory a long session takes.
//!
//! ```text
//! cargo run --release -p read-model --example fold_speed [events [shape]]
//! ```
//! Three shapes: a session that is mostly streamed text, one that is mostly tools, and one whose single turn never ends.
//! The events are made in rounds and
//! only the folding is timed.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::time::{Duration, Instant};

use event_spine::{
    ChainHash, Event, EventDraft, EventId, EventType, JsonText, RecordedAt, RecordedEvent, Refs,
    RuntimeId, SCHEMA_VERSION, Scope, SessionId, Timestamp,
};
use read_model::projections as p;
use read_model::{Limits, Projection, SessionView};

/// Events of a round. They fit in a core's cache, as events do that come from the log one batch after the other.
const ROUND: usize = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let events: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |n| n.parse())?;
    let only = std::env::args().nth(2);
    for (name, turn) in [
        ("streamed text", deltas as fn(&mut Maker, u64)),
        ("tools", tools),
        ("one giant turn", giant),
    ] {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let session = SessionId::parse("sess_speed")?;
        let mut view = SessionView::with_limits(session.clone(), Limits::default());
        let mut maker = Maker::new(session);
        let mut each = Each::default();
        let (mut spent, mut decoding, mut round) = (Duration::ZERO, Duration::ZERO, 0);
        while view.at.sequence < events {
            maker.ready.clear();
            while maker.ready.len() < ROUND {
                turn(&mut maker, round);
                round += 1;
            }
            let begun = cpu_time();
            let decoded: Vec<_> = maker.ready.iter().map(RecordedEvent::event).collect();
            decoding += cpu_time() - begun;
            each.time(&maker.ready, &decoded);
            drop(decoded);
            let begun = cpu_time();
            for event in &maker.ready {
                view.apply(event);
            }
            spent += cpu_time() - begun;
        }
        let rate = |time: Duration| view.at.sequence as f64 / time.as_secs_f64() / 1e6;
        let begun = Instant::now();
        let saved = postcard::to_stdvec(&view)?; // as a checkpoint holds it
        let saving = begun.elapsed();
        let begun = Instant::now();
        let read: SessionView = postcard::from_bytes(&saved)?;
        let loading = begun.elapsed();
        assert_eq!(read, view);
        println!(
            "{name:15} {:9} events, {:5.2} M/s with decoding, {:5.2} M/s decoding alone; \
             checkpoint {} KiB, written in {saving:.1?}, read in {loading:.1?}; JSON {} KiB; peak memory {} MiB",
            view.at.sequence,
            rate(spent),
            rate(decoding),
            saved.len() / 1024,
            serde_json::to_vec(&view)?.len() / 1024,
            peak_memory().unwrap_or_default() / 1024,
        );
        each.print(view.at.sequence);
        each.print_sizes();
    }
    Ok(())
}

/// Each projection by itself.
macro_rules! each {
    ($($field:ident: $view:ty),* $(,)?) => {
        #[derive(Default)]
        struct Each { $( $field: (<$view as Projection>::State, Duration), )* }

        impl Each {
            fn time(&mut self, recorded: &[RecordedEvent], events: &[Event]) {
                $(
                    let begun = cpu_time();
                    for (recorded, event) in recorded.iter().zip(events) {
                        <$view as Projection>::apply(&mut self.$field.0, recorded, event);
                    }
                    self.$field.1 += cpu_time() - begun;
                )*
            }

            fn print(&self, events: u64) {
                $(
                    let nanos = self.$field.1.as_nanos() as f64 / events as f64;
                    print!("{} {nanos:.0}  ", <$view as Projection>::NAME);
                )*
                println!("(nanoseconds an event)");
            }

            fn print_sizes(&self) {
                $(
                    let bytes = postcard::to_stdvec(&self.$field.0).map_or(0, |bytes| bytes.len());
                    print!("{} {}  ", <$view as Projection>::NAME, bytes / 1024);
                )*
                println!("(KiB of checkpoint)");
            }
        }
    };
}
each! {
    transcript: p::transcript::Transcript,
    status: p::status::Status,
    timeline: p::timeline::Timeline,
    tools: p::tools::Tools,
    actions: p::actions::Actions,
    tasks: p::tasks::Tasks,
    graph: p::graph::Graph,
    artifacts: p::artifacts::Artifacts,
    evidence: p::evidence::Evidence,
    usage: p::usage::Usage,
    context: p::context::Context,
    queue: p::queue::Queue,
    diagnostics: p::diagnostics::Diagnostics,
}

/// Time that this program had a core, so that a busy machine does not count; else the wall's time. It moves in steps
/// of some milliseconds, which even out over the rounds.
fn cpu_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// The most memory this process ever held, in KiB, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

struct Maker {
    session: SessionId,
    sequence: u64,
    scope: Scope,
    ready: Vec<RecordedEvent>,
}

impl Maker {
    fn new(session: SessionId) -> Self {
        let mut scope = Scope::default();
        let _ = scope.set("threadId", "thread_01K0000000000000000000000");
        Self { session, sequence: 0, scope, ready: Vec::new() }
    }

    fn within(&mut self, ids: &[(&str, String)]) {
        for name in ["turnId", "stepId", "messageId", "toolCallId"] {
            if let Some((_, id)) = ids.iter().find(|(wire, _)| *wire == name) {
                let _ = self.scope.set(name, id);
            }
        }
    }

    fn put(&mut self, name: &str, payload: &str) {
        self.sequence += 1;
        let at = RecordedAt(1_781_006_400_000_000 + self.sequence as i64 * 1_000);
        let Ok((payload, _)) = JsonText::parse(payload) else {
            return;
        };
        let Ok(event_id) = EventId::parse(format!("evt_01K{:023}", self.sequence)) else {
            return;
        };
        self.ready.push(RecordedEvent {
            session_id: self.session.clone(),
            sequence: self.sequence,
            recorded_at: at,
            salt: [0; 16],
            chain: ChainHash([self.sequence as u8; 32]),
            draft: EventDraft {
                schema_version: SCHEMA_VERSION.into(),
                runtime_id: RuntimeId::derived(&["speed"]),
                event_id,
                timestamp: Timestamp::verbatim(at.to_string()),
                event_type: EventType::named(name),
                scope: self.scope.clone(),
                refs: Refs::NONE,
                payload,
                extra: None,
            },
        });
    }
}

/// A turn of four hundred pieces of text.
fn deltas(maker: &mut Maker, turn: u64) {
    maker.scope.tool_call_id = None;
    maker.within(&[
        ("turnId", format!("turn_01K{turn:022}")),
        ("messageId", format!("msg_01K{turn:022}")),
    ]);
    maker
        .put("turn.submitted", r#"{"text":"Explain how the scheduler decides what to run next."}"#);
    maker.put("turn.started", r#"{"model":"some-model"}"#);
    maker.put("model.requested", r#"{"model":"some-model","provider":"some"}"#);
    for _ in 0..400 {
        maker.put("model.delta", r#"{"delta":" the scheduler picks"}"#);
    }
    maker.put(
        "model.completed",
        r#"{"finishReason":"stop","final":true,"usage":{"inputTokens":1200,"outputTokens":400}}"#,
    );
    maker.put("turn.completed", r#"{"reason":"accepted"}"#);
}

/// A turn of ten rounds with a tool each.
fn tools(maker: &mut Maker, turn: u64) {
    maker.scope.tool_call_id = None;
    maker.within(&[("turnId", format!("turn_01K{turn:022}"))]);
    maker.put("turn.submitted", r#"{"text":"Fix the failing test."}"#);
    maker.put("turn.started", r#"{"model":"some-model"}"#);
    for round in 0..10 {
        rounds(maker, turn * 10 + round);
    }
    maker.scope.tool_call_id = None;
    maker.put("turn.completed", r#"{"reason":"accepted"}"#);
}

fn rounds(maker: &mut Maker, round: u64) {
    maker.scope.tool_call_id = None;
    maker.within(&[
        ("stepId", format!("step_01K{round:022}")),
        ("messageId", format!("msg_01K{round:022}")),
    ]);
    maker.put("model.requested", r#"{"model":"some-model"}"#);
    maker.put("model.delta", r#"{"delta":"Let me look at the file."}"#);
    maker.put(
        "model.completed",
        r#"{"text":"Let me look at the file.","usage":{"inputTokens":1200,"outputTokens":40}}"#,
    );
    maker.within(&[("toolCallId", format!("call_01K{round:022}"))]);
    maker.put("tool.args", r#"{"state":"input-streaming","delta":"{\"path\":"}"#);
    maker.put("tool.args", r#"{"state":"input-available","delta":"\"src/lib.rs\"}"}"#);
    maker.put(
        "tool.started",
        r#"{"toolName":"read_file","toolKind":"function","args":{"path":"src/lib.rs"}}"#,
    );
    maker.put("tool.progress", r#"{"preview":"fn main() {\n    println!(\"hello\");\n}\n"}"#);
    maker.put(
        "tool.result",
        r#"{"status":"succeeded","output":"fn main() {\n    println!(\"hello\");\n}\n","durationMs":12}"#,
    );
}

/// Rounds without end, in one turn.
fn giant(maker: &mut Maker, round: u64) {
    if round == 0 {
        maker.scope.tool_call_id = None;
        maker.within(&[("turnId", "turn_01K0000000000000000000000".to_owned())]);
        maker.put("turn.submitted", r#"{"text":"Go on for ever."}"#);
        maker.put("turn.started", "{}");
    }
    rounds(maker, round);
}
