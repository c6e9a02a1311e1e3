//! Framing, as data: bytes in, frames and faults out; and the law that cuts between chunks never show.

use proptest::prelude::*;

use super::*;

/// Frames as `line:text`, unended ones with `…`, faults as `!` and their message.
fn frames_of(framing: Framing, limit: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut out = Vec::new();
    let mut sink = |framed: Framed| {
        out.push(match framed {
            Ok(f) => format!("{}:{}{}", f.line, f.text, if f.ended { "" } else { "…" }),
            Err(e) => format!("!{e}"),
        });
    };
    let mut framer = Framer::new(framing, limit);
    for chunk in chunks {
        framer.push(chunk, &mut sink);
    }
    framer.finish(&mut sink);
    out
}

fn check(framing: Framing, input: &str, expected: &[&str]) {
    assert_eq!(Framing::detect(input.as_bytes()), framing, "{input:?}");
    let whole = frames_of(framing, 40, &[input.as_bytes()]);
    assert_eq!(whole, expected, "{input:?}");
    for cut in 0..=input.len() {
        let (a, b) = input.as_bytes().split_at(cut);
        assert_eq!(frames_of(framing, 40, &[a, b]), expected, "{input:?} cut at {cut}");
    }
    let bytes: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
    assert_eq!(frames_of(framing, 40, &bytes), expected, "{input:?} byte by byte");
}

// verifies: H19
#[test]
fn lines() {
    use Framing::Lines;
    check(Lines, "{\"a\":1}\n{\"b\":2}\n", &["1:{\"a\":1}", "2:{\"b\":2}"]);
    check(Lines, "{\"a\":\"naïve 你好 🌍\"}\n", &["1:{\"a\":\"naïve 你好 🌍\"}"]);
    check(Lines, "\u{feff}{}\r\n\r\n \n{}", &["1:{}", "4:{}…"]);
    check(Lines, "{\"a\":\n{}\n{}\n", &["1:{\"a\":", "2:{}", "3:{}"]);
    check(Lines, "", &[]);
    let long = format!("{{}}\n\"{}\"\n{{}}\n", "x".repeat(50));
    check(
        Lines,
        &long,
        &[
            "1:{}",
            "!line 2: the frame is larger than 40 bytes and was skipped; raise the limit to take it",
            "3:{}",
        ],
    );
}

#[test]
fn documents() {
    use Framing::Document;
    check(Document, "[{\"a\":[1,\"]\"]},\n {}, 3]\n", &["1:{\"a\":[1,\"]\"]}", "2:{}", "2:3"]);
    check(Document, "{\n \"a\": 1\n}\n{\n}", &["1:{\n \"a\": 1\n}", "4:{\n}"]);
    check(
        Document,
        "{\"id\":\"events\",\"n\":{\"events\":[0]},\n\"events\":[{\"a\":1},{}],\"x\":[{}]}\n",
        &["2:{\"a\":1}", "2:{}"],
    );
    check(Document, "[{\"a\":1},{\"b\":", &["1:{\"a\":1}", "1:{\"b\":…"]);
    check(Document, "[{}", &["1:{}", "1:…"]);
    check(Document, "[]", &[]);
    let long = format!("[{{\"a\":\"{}\"}},{{}}]", "}".repeat(50));
    check(
        Document,
        &long,
        &[
            "!line 1: the frame is larger than 40 bytes and was skipped; raise the limit to take it",
            "1:{}",
        ],
    );
}

#[test]
fn server_sent_events() {
    use Framing::Sse;
    check(
        Sse,
        ": open\nid: 1\nevent: x\ndata: {\"a\":\ndata: 1}\n\ndata:{}\r\n\r\ndata: [DONE]\n\n",
        &["4:{\"a\":\n1}", "7:{}"],
    );
    check(Sse, "data: {}\r\rdata: {}\r\r", &["1:{}", "3:{}"]);
    check(Sse, "data: {\"é\":1}\n\ndata: {\"b\"", &["1:{\"é\":1}", "3:{\"b\"…"]);
    check(Sse, "data: {}\n\ndatax: 1\n\n", &["1:{}"]);
    let long = format!("data: \"{}\"\n\ndata: {{}}\n\n", "x".repeat(60));
    check(
        Sse,
        &long,
        &[
            "!line 1: the frame is larger than 40 bytes and was skipped; raise the limit to take it",
            "3:{}",
        ],
    );
}

// verifies: H19
#[test]
fn bytes_that_are_no_utf8_are_named_and_a_stream_cut_in_a_character_is_a_cut_stream() {
    let run = |bytes: &[u8]| frames_of(Framing::Lines, 40, &[bytes]);
    assert_eq!(
        run(b"{}\n{\"a\":\"\xff\"}\n"),
        [
            "1:{}",
            "!line 2: byte 6 of the line is not UTF-8; it was replaced by U+FFFD",
            "2:{\"a\":\"\u{fffd}\"}"
        ]
    );
    assert_eq!(
        run("{}\n{\"a\":\"🌍".as_bytes().split_last().unwrap().1),
        [
            "1:{}",
            "!line 2: the input ends in the middle of this frame; what came of it was not taken"
        ]
    );
}

proptest! {
    // verifies: H19
    #[test]
    fn any_bytes_in_any_chunks_give_the_same_frames(
        bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'{'), Just(b'}'), Just(b'['), Just(b']'),
                Just(b'"'), Just(b','), Just(b':'), Just(b' '), any::<u8>()], 0..200),
        cuts in proptest::collection::vec(0_usize..200, 0..6),
        framing in prop_oneof![Just(Framing::Lines), Just(Framing::Document), Just(Framing::Sse)],
    ) {
        let whole = frames_of(framing, 20, &[&bytes]);
        let mut cuts: Vec<_> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for cut in cuts {
            chunks.push(&bytes[from..cut]);
            from = cut;
        }
        chunks.push(&bytes[from..]);
        prop_assert_eq!(frames_of(framing, 20, &chunks), whole);
    }
}
