//! What holds for every payload.

use proptest::prelude::*;

use super::super::encoded::alnum;
use super::*;
use crate::json::strings::{Kind, Tokens};

/// JSON with white space, odd numbers, escapes and repeated members, as a source may write it.
fn any_json(
    names: &'static str,
    leaf_text: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let text = leaf_text.prop_map(|text| serde_json::to_string(&text).unwrap());
    let number = prop_oneof![
        Just("1.10".to_owned()),
        Just("9007199254740993".into()),
        Just("-1e400".into())
    ];
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".into()), number, text];
    let tree = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((names, inner), 0..4).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(n, v)| format!("\"{n}\":{v}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    tree.prop_map(|tree| format!("{{\"x\":{tree}}}"))
}

/// Everything but strings, in order.
fn bare(json: &str) -> Vec<String> {
    Tokens::new(json)
        .filter(|token| !matches!(token.kind, Kind::Text | Kind::Name))
        .map(|token| json[token.range()].to_owned())
        .collect()
}

fn canary() -> String {
    format!("ghp_{}", made_up(alnum, 36))
}

/// Texts with and without the canary.
fn salted() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        ".{0,20}".prop_map(|text| text),
        (".{0,12}", ".{0,12}").prop_map(|(a, b)| {
            let clean = |text: String| {
                text.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).to_owned()
            };
            let after =
                b.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').to_owned();
            format!("{}{}{after}", clean(a), canary())
        }),
    ]
}

/// Long runs of what begins secrets: the time must not grow with the square of their length.
#[test]
fn long_runs_of_beginnings_take_linear_time() {
    let check = |unit: &str, len: usize| {
        let text = unit.repeat(len / unit.len());
        let start = std::time::Instant::now();
        let masker = masker();
        let _ = masker.mask_text(&text);
        let payload = serde_json::json!({ "output": text, "preview": text }).to_string();
        let _ = masker.mask(&session(), draft("tool.result", &payload));
        let took = start.elapsed();
        assert!(took.as_secs() < 10, "{unit}: {took:?}"); // the square takes minutes
    };
    for rule in super::super::rules::TOKENS {
        check(rule.prefix, 20_000);
    }
    for unit in [
        "eyJ",
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----a ",
        "bearer ",
        "Basic a",
        "a://",
        "a://b:c@",
        ":AA",
        "12345678:AA",
        "password=",
        "password=\"",
        "password:'`\"",
        "token",
        "_key ",
        "{\"a\":",
        "\\u00",
        "x-api-key\\",
        "[masked:aws-access-key:",
        "authorization: x ",
    ] {
        check(unit, 60_000);
    }
}

proptest! {
    #[test]
    fn a_canary_never_survives_and_nothing_but_strings_changes(json in any_json("[a-z_]{1,8}|password|api_key|signature", salted())) {
        let masked = masked_payload(&json);
        prop_assert!(!masked.contains(&canary()[8..]), "{}", masked);
        prop_assert_eq!(bare(&masked), bare(&json));
        prop_assert!(JsonText::parse(&masked).is_ok());
        prop_assert_eq!(masked_payload(&masked), masked.clone(), "masking twice");
    }

    #[test]
    fn texts_without_anything_to_find_stay(json in any_json("[a-z_]{1,8}", "[ g-z0-9.,]{0,24}")) {
        prop_assert_eq!(masked_payload(&json), json);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(.|[\\-_:=\"'\\\\ ]|eyJ|://|password|token=|-----BEGIN|PRIVATE KEY|Bearer |AKIA|\u{e9}){0,40}") {
        let masker = masker();
        let (masked, counts) = masker.mask_text(&text);
        prop_assert!(counts.iter().all(|(rule, _)| rule != WITHHELD_RULE), "{}", masked);
        let payload = serde_json::json!({ "delta": text }).to_string();
        for _ in 0..2 {
            let masked = masker.mask(&session(), draft("model.delta", &payload));
            prop_assert!(masked.counts.iter().all(|(rule, _)| rule != WITHHELD_RULE));
        }
    }

    #[test]
    fn pieces_of_a_text_without_secrets_are_the_text(text in "[ a-z.,\u{e9}\u{1f980}]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..6)) {
        let masker = masker();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(*cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        for pair in cuts.windows(2) {
            let payload = serde_json::json!({ "delta": &text[pair[0]..pair[1]] }).to_string();
            let masked = masker.mask(&session(), draft("model.delta", &payload)).draft;
            prop_assert_eq!(masked.payload.as_str(), payload);
        }
    }
}
