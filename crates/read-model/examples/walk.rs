//! A walk through this crate, in the order in which to read it: open a store, ingest, follow, read a view, page back,
//! replay from nothing, compare.
//!
//! ```text
//! cargo run -p read-model --example walk [FILE with RuntimeEvents, one JSON object a line]
//! ```
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::sync::Arc;
use std::time::Duration;

use event_spine::wire::WireEvent;
use event_spine::{
    EventLog, Expected, LogOptions, RecordedAt, SeededEntropy, SessionId, SteppingClock,
};
use read_model::{Engine, Replica, ReplicaOptions, compare, page, replay};

/// What is ingested when no file is named: a turn with one tool.
const RECORDING: &str = r#"
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_1","timestamp":"2026-06-09T12:00:00Z","type":"turn.submitted","threadId":"t1","turnId":"u1","payload":{"text":"What is in a.txt?"}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_2","timestamp":"2026-06-09T12:00:01Z","type":"turn.started","threadId":"t1","turnId":"u1","payload":{"model":"some-model"}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_3","timestamp":"2026-06-09T12:00:02Z","type":"tool.started","threadId":"t1","turnId":"u1","stepId":"s1","toolCallId":"c1","payload":{"toolName":"read","args":{"path":"a.txt"}}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_4","timestamp":"2026-06-09T12:00:03Z","type":"tool.result","threadId":"t1","turnId":"u1","stepId":"s1","toolCallId":"c1","payload":{"status":"succeeded","output":"hello"}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_5","timestamp":"2026-06-09T12:00:04Z","type":"model.delta","threadId":"t1","turnId":"u1","messageId":"m1","payload":{"delta":"It says "}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_6","timestamp":"2026-06-09T12:00:05Z","type":"model.completed","threadId":"t1","turnId":"u1","messageId":"m1","payload":{"text":"It says hello.","final":true,"usage":{"inputTokens":120,"outputTokens":4}}}
{"schemaVersion":"0.1","runtimeId":"rt_walk","sessionId":"sess_walk","eventId":"evt_7","timestamp":"2026-06-09T12:00:06Z","type":"turn.completed","threadId":"t1","turnId":"u1","payload":{"reason":"accepted"}}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1. A log in a folder. Time and randomness are passed in; a real program passes the system's.
    let dir = tempfile::tempdir()?;
    let clock = Arc::new(SteppingClock::new(RecordedAt(1_781_006_400_000_000), 1_000));
    let options = LogOptions::new(clock, Arc::new(SeededEntropy::new(1)));
    let log = EventLog::open(dir.path(), options)?;

    // 2. An engine beside it, and somebody who follows a session. The session need not exist yet.
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(file)?,
        None => RECORDING.to_owned(),
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let facts = lines.map(WireEvent::parse).collect::<Result<Vec<_>, _>>()?;
    let session = facts.first().map(|fact| fact.session_id.clone()).ok_or("no events")?;
    let engine = Engine::open(&log);
    let mut following = engine.follow(&session)?;

    // 3. Ingest: facts go in through one door, and the follower sees the view change.
    for fact in facts {
        log.append(&session, Expected::Any, vec![fact.draft])?;
        if let Some(view) = following.next_timeout(Duration::from_secs(5))? {
            println!("{:4}  {:10} {}", view.at.sequence, view.status.runtime, view.status.phase);
        }
    }

    // 4. Read the view: one struct, one member per view, the same in JSON.
    let view = engine.view(&session)?;
    for part in view.transcript.parts.iter() {
        let text = part.body.text().map(ToString::to_string).unwrap_or_default();
        println!("{:>16}  {text}", part.body.kind());
    }
    for entry in view.timeline.entries.iter() {
        println!("{:4}  {:10} {}", entry.first.sequence, entry.status, entry.title);
    }
    println!(
        "tokens: {} in, {} out",
        view.usage.session.input.tokens, view.usage.session.output.tokens
    );

    // 5. What a long session no longer shows is folded again from the log, a stretch at a time.
    let older = page(&log.reader(), &session, view.at.sequence + 1, 4)?;
    println!(
        "events {} to {} hold {} parts",
        older.from,
        older.to,
        older.view.transcript.parts.len()
    );

    // 6. The proof: from nothing to the same state, named by its stamp.
    let replayed = replay(&log.reader(), &session, None)?;
    match compare(&view, &replayed) {
        None => println!("equals replay at {} {}", view.at.sequence, view.at.chain.short()),
        Some(difference) => println!("{difference}"),
    }
    println!("state {}", view.state_hash());

    // 7. A consumer on the other side of a wire that loses and reorders: it says what it lacks, and converges.
    over_a_bad_wire(&log, &session)?;
    Ok(())
}

fn over_a_bad_wire(log: &EventLog, session: &SessionId) -> Result<(), Box<dyn std::error::Error>> {
    let view = replay(&log.reader(), session, None)?;
    let mut replica = Replica::new(session.clone(), view.limits, ReplicaOptions::default());
    let mut events = log.reader().read(session, .., event_spine::ReadMode::Strict)?;
    let mut all = Vec::new();
    while let Some(event) = events.next_event()? {
        all.push(event);
    }
    for event in all.iter().rev().filter(|event| event.sequence % 3 != 1) {
        replica.receive(event.clone());
    }
    println!("{:?} at {}", replica.freshness(), replica.view().at.sequence);
    while let Some(repair) = replica.repair() {
        println!("asks for {repair:?}");
        for event in &all {
            replica.receive(event.clone());
        }
    }
    println!("{:?}: {}", replica.freshness(), compare(replica.view(), &view).is_none());
    Ok(())
}
