//! What the adapter makes of native streams.

use event_spine::{EventDraft, Timestamp};

use super::super::{AdapterContext, Batch, EndOfInput, Format, Framing, Pipeline};

fn line(session: &str, number: Option<u64>, name: &str) -> String {
    let sequence = number.map_or(String::new(), |n| format!("\"sequence\":{n},"));
    let id = number.map_or_else(|| "x".to_owned(), |n| n.to_string());
    format!(
        "{{\"schemaVersion\":\"0.1\",\"runtimeId\":\"rt\",\"sessionId\":\"{session}\",\
         \"threadId\":\"t\",\"turnId\":\"u\",\"eventId\":\"evt_{session}_{id}\",{sequence}\
         \"timestamp\":\"2026-01-01T00:00:0{}Z\",\"type\":\"{name}\",\"payload\":{{}}}}\n",
        9 - number.unwrap_or(0) % 10
    )
}

fn pipeline() -> Pipeline {
    let context = AdapterContext::at(Timestamp::verbatim("2026-01-01T00:00:00Z"));
    Pipeline::new(Format::RuntimeEvent, Framing::Lines, context)
}

fn run(text: &str) -> Batch {
    let mut pipeline = pipeline();
    let mut all = pipeline.push(text.as_bytes());
    let last = pipeline.finish(EndOfInput::Closed);
    all.drafts.extend(last.drafts);
    all.faults.extend(last.faults);
    all
}

/// Events as their numbers, facts of our own as their names.
fn spelled(batch: &Batch) -> String {
    let word = |draft: &EventDraft| match draft.event_id.as_str().strip_prefix("evt_s_") {
        Some(number) => number.to_owned(),
        None => draft.event_type.name().to_owned(),
    };
    let words: Vec<_> = batch.drafts.iter().map(|d| word(&d.draft)).collect();
    words.join(" ")
}

fn numbered(numbers: &[u64]) -> String {
    numbers.iter().map(|n| line("s", Some(*n), "run.status")).collect()
}

// verifies: R15 R59 R60 H43
#[test]
fn gaps_are_told_and_late_events_come_in_order() {
    let check = |numbers: &[u64], expected: &str| {
        assert_eq!(spelled(&run(&numbered(numbers))), expected, "{numbers:?}");
    };
    check(&[1, 2, 3], "1 2 3");
    check(&[7, 8], "7 8"); // a part of a stream
    check(&[1, 3, 4], "1 stream.interrupted 3 4");
    check(&[1, 3, 4, 2, 5], "1 stream.interrupted 2 3 4 stream.repaired 5");
    check(&[1, 3, 6, 2, 4, 5], "1 stream.interrupted stream.interrupted 2 3 4 5 6 stream.repaired");
    check(&[1, 2, 2, 1, 3], "1 2 2 1 3"); // for the conformance rules to judge
}

// verifies: R59
#[test]
fn a_gap_beyond_the_hold_lets_events_go_on_and_can_still_be_repaired() {
    let mut numbers = vec![1];
    numbers.extend(3..1100);
    numbers.push(2);
    let told = spelled(&run(&numbered(&numbers)));
    assert!(told.starts_with("1 stream.interrupted 3 4 "), "{told:.40}");
    assert!(told.ends_with("1099 2 stream.repaired"));
}

// verifies: R59
#[test]
fn a_later_input_repairs_the_gap_that_an_earlier_one_left() {
    let first = run(&numbered(&[1, 3]));
    let mut again = pipeline();
    for made in &first.drafts {
        again.recall(&made.session_id, &made.draft);
    }
    let batch = again.push(numbered(&[1, 2, 3]).as_bytes());
    assert_eq!(spelled(&batch), "2 stream.repaired");
    assert_eq!(batch.known, 2);
}

// verifies: H25
#[test]
fn sessions_in_one_stream_stay_apart() {
    let text = [
        line("s", Some(1), "run.status"),
        line("other", Some(1), "run.status"),
        line("s", Some(2), "run.status"),
        line("other", Some(2), "run.status"),
    ];
    let batch = run(&text.concat());
    let sessions: Vec<_> = batch.drafts.iter().map(|d| d.session_id.as_str()).collect();
    assert_eq!(sessions, ["s", "other", "s", "other"]);
}

#[test]
fn events_are_taken_verbatim_and_bad_lines_are_named() {
    let good = line("s", Some(1), "turn.vanished");
    let text = format!("{good}not json\n\n{{\"type\":\"x.y\"}}\n{}", numbered(&[2]));
    let batch = run(&text);
    assert_eq!(spelled(&batch), "1 2");
    let first = &batch.drafts[0].draft;
    assert_eq!(first.event_type.name(), "turn.vanished");
    assert!(first.refs.as_json().is_none());
    let faults: Vec<_> = batch.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "line 2: not valid JSON: two values without a comma between them",
            "line 4: `sessionId` is missing"
        ]
    );
    assert!(batch.faults.iter().all(|f| f.lost()));
}

// verifies: R57
#[test]
fn a_document_with_events_is_read_like_lines() {
    let lines = numbered(&[1, 2]);
    let mut list = lines.trim().replace('\n', ",\n  ");
    list = format!("{{\n \"id\": \"x\",\n \"events\": [\n  {list}\n ],\n \"expected\": {{}}\n}}");
    assert_eq!(Format::detect(list.as_bytes()), Some(Format::RuntimeEvent));
    let context = AdapterContext::at(Timestamp::verbatim("2026-01-01T00:00:00Z"));
    let framing = Framing::detect(list.as_bytes());
    let mut pipeline = Pipeline::new(Format::RuntimeEvent, framing, context);
    let mut batch = pipeline.push(list.as_bytes());
    batch.faults.extend(pipeline.finish(EndOfInput::Closed).faults);
    assert_eq!(spelled(&batch), "1 2");
    assert_eq!(batch.faults, []);
}
