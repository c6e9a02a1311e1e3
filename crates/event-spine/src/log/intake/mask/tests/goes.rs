//! Rows of secrets, each in the surroundings in which it turns up.

use super::super::encoded::{alnum, base64, dashed};
use super::super::rules::TOKENS;
use super::*;

fn check(text: &str, expected: &str) {
    let masker = masker();
    let (masked, counts) = masker.mask_text(text);
    assert_eq!(brief(&masked), expected, "{text}");
    assert_eq!(counts.total(), masked.matches("[masked:").count(), "{text}");
    let again = masker.mask_text(&masked).0.into_owned();
    assert_eq!(again, masked, "masking twice changes {text}");
}

#[test]
fn every_known_token_goes_in_every_surrounding() {
    for rule in TOKENS {
        let body = made_up(rule.class, rule.min.max(20).min(rule.max));
        let token = format!("{}{body}", rule.prefix);
        let name = rule.name;
        for (text, expected) in [
            (token.clone(), format!("[{name}]")),
            (format!("key: {token}\n"), format!("key: [{name}]\n")),
            (format!("use `{token}`."), format!("use `[{name}]`.")),
            (format!("It is {token}. Keep it."), format!("It is [{name}]. Keep it.")),
            (format!("X_TOKEN={token};"), format!("X_TOKEN=[{name}];")),
            (format!("{{\"a\":\"{token}\"}}"), format!("{{\"a\":\"[{name}]\"}}")),
            (format!("{token},{token}"), format!("[{name}],[{name}]")),
        ] {
            if name == "slack-webhook" && text.contains("X_TOKEN") {
                continue; // a base64 body takes the `=` of what follows; it is gone all the same
            }
            check(&text, &expected);
        }
    }
}

// verifies: H39
#[test]
fn shapes_go() {
    let s = made_up(alnum, 24);
    let key = made_up(base64, 64).replace('=', "a");
    let jwt =
        format!("eyJ{}.eyJ{}.{}", made_up(alnum, 20), made_up(alnum, 30), made_up(dashed, 43));
    check(
        &format!("curl -H 'Authorization: Bearer {s}' x"),
        "curl -H 'Authorization: Bearer [credential]' x",
    );
    check(&format!("authorization: bearer {s}\nnext"), "authorization: bearer [credential]\nnext");
    check("Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Authorization: Basic [credential]");
    check(&format!("Authorization: token {s}"), "Authorization: token [credential]");
    check(&format!("id: {jwt}"), "id: [jwt]");
    check(&format!("Bearer {jwt}."), "Bearer [jwt].");
    check("postgres://app:hunter2@db:5432/x?a=b", "postgres://app:[password]@db:5432/x?a=b");
    check("redis://:s3cr3t@cache", "redis://:[password]@cache");
    check(&format!("https://{s}1@github.com/a/b"), "https://[credential]@github.com/a/b");
    check(
        &format!(
            "a\n-----BEGIN RSA PRIVATE KEY-----\n{key}\n{key}\nAbc=\n-----END RSA PRIVATE KEY-----\nb"
        ),
        "a\n[private-key]\nb",
    );
    check(
        &format!("-----BEGIN PRIVATE KEY-----\n{key}\n{key} and so on"),
        "[private-key] and so on",
    );
    check(
        &format!("\"-----BEGIN EC PRIVATE KEY-----\\n{key}\\n-----END EC PRIVATE KEY-----\\n\""),
        "\"[private-key]\\n\"",
    );
    check(
        &format!(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{key}\n-----END PGP PRIVATE KEY BLOCK-----"
        ),
        "[private-key]",
    );
    check(&format!("123456789:AA{}", made_up(dashed, 33)), "[telegram-token]");
    check(
        &format!("AKIA{},{}", made_up(|b| b.is_ascii_uppercase(), 16), made_up(alnum, 40)),
        "[aws-access-key],[aws-secret-key]",
    );
}

#[test]
fn named_values_go() {
    let s = made_up(alnum, 32);
    check("password=hunter2", "password=[password]");
    check("DB_PASSWORD=hunter2\nX=1", "DB_PASSWORD=[password]\nX=1");
    check("export PGPASS='a b c'", "export PGPASS='a b c'"); // no separator: `compass` ends so too
    check("SMTP_PASS: hunter2", "SMTP_PASS: [password]");
    check("password: hunter2!", "password: [password]!");
    check("mysql --password hunter2 -u x", "mysql --password [password] -u x");
    check("mysql --password=hunter2 -u x", "mysql --password=[password] -u x");
    check("CREATE USER a PASSWORD 'hunter2';", "CREATE USER a PASSWORD '[password]';");
    check("<password>hunter2</password>", "<password>[password]</password>");
    check(r#"{"password":"correct horse","n":1}"#, r#"{"password":"[password]","n":1}"#);
    check(r#"{\"password\":\"hunter2\",\"n\":1}"#, r#"{\"password\":\"[password]\",\"n\":1}"#);
    check("{'api_key': 'abc12345'}", "{'api_key': '[credential]'}");
    check(
        &format!("os.environ[\"API_KEY\"] = \"{s}\""),
        "os.environ[\"API_KEY\"] = \"[credential]\"",
    );
    check(&format!("(\"client_secret\", \"{s}\")"), "(\"client_secret\", \"[credential]\")");
    check(&format!("secretAccessKey: {s}"), "secretAccessKey: [credential]");
    check(&format!("https://x/?access_token={s}&b=1"), "https://x/?access_token=[credential]&b=1");
    check(&format!("token={s}"), "token=[credential]");
    check(&format!("X-Api-Key: {s}"), "X-Api-Key: [credential]");
    check(
        &format!("AccountName=a;AccountKey={s}{s}==;End=1"),
        "AccountName=a;AccountKey=[credential];End=1",
    );
    check("Server=a;Uid=sa;user_pwd=Secret1;", "Server=a;Uid=sa;user_pwd=[password];");
    check(&format!("X-Amz-Signature={s}{s}&x"), "X-Amz-Signature=[credential]&x");
}

#[test]
fn members_go_by_their_names() {
    let check = |payload: &str, expected: &str| {
        assert_eq!(brief(&masked_payload(payload)), expected, "{payload}");
    };
    check(
        r#"{"args":{"password":"hunter2","n":1.50}}"#,
        r#"{"args":{"password":"[password]","n":1.50}}"#,
    );
    check(r#"{"args":{"pass\u0077ord":"hunter2"}}"#, r#"{"args":{"pass\u0077ord":"[password]"}}"#);
    check(r#"{"env":{"API_KEY":"abc12345"}}"#, r#"{"env":{"API_KEY":"[credential]"}}"#);
    check(
        r#"{"headers":{"Authorization":"Bearer abcdefgh"}}"#,
        r#"{"headers":{"Authorization":"Bearer [credential]"}}"#.replace("abcdefgh", "").as_str(),
    );
    check(
        r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"name":"A","value":"b"}]}"#,
        r#"{"env":[{"name":"DB_PASSWORD","value":"[password]"},{"name":"A","value":"b"}]}"#,
    );
    check(r#"{"raw":"{\"password\":\"hunter2\"}"}"#, r#"{"raw":"{\"password\":\"[password]\"}"}"#);
    check(r#"{"url":"https:\/\/a:hunter2@b\/c"}"#, r#"{"url":"https://a:[password]@b/c"}"#);
    check(r#"{"t":"AK\u0049AABCDEFGHIJKLMNOP"}"#, r#"{"t":"[aws-access-key]"}"#);
    check(r#"{"AKIAABCDEFGHIJKLMNOP":1}"#, r#"{"[aws-access-key]":1}"#);
}

#[test]
fn extra_members_and_refs_are_masked_too() {
    let mut with = draft("tool.result", "{}");
    with.extra = Some(JsonText::parse(r#"{"env":{"DB_PASSWORD":"hunter2"},"z":1.0}"#).unwrap().0);
    with.refs = Refs::parse(
        &JsonText::parse(r#"[{"kind":"raw","id":"x","uri":"https://a:hunter2@b/c"}]"#).unwrap().0,
    )
    .unwrap();
    let masked = masker().mask(&session(), with);
    let extra = masked.draft.extra.unwrap();
    assert_eq!(brief(extra.as_str()), r#"{"env":{"DB_PASSWORD":"[password]"},"z":1.0}"#);
    let refs = masked.draft.refs.as_json().unwrap().as_str().to_owned();
    assert_eq!(brief(&refs), r#"[{"id":"x","kind":"raw","uri":"https://a:[password]@b/c"}]"#);
    assert_eq!(masked.counts.total(), 2);
    assert_eq!(Refs::parse(&JsonText::parse(&refs).unwrap().0).unwrap(), masked.draft.refs);
}

// verifies: H39
#[test]
fn equal_secrets_have_equal_placeholders_under_one_key_and_others_under_another() {
    let (first, second) = (masker(), masker());
    let of = |masker: &Masker, text: &str| masker.mask_text(text).0.into_owned();
    let a = of(&first, "password=hunter2");
    assert_eq!(a, of(&second, "password=hunter2"));
    let url = of(&first, "x://u:hunter2@h");
    assert!(url.contains(a.strip_prefix("password=").unwrap()), "{a} {url}");
    assert_ne!(a, of(&first, "password=hunter3"));
    assert_ne!(a, of(&Masker::new([8; 32]), "password=hunter2"));
}

#[test]
fn what_was_masked_is_counted_by_rule() {
    let payload = r#"{"a":"password=hunter2 password=hunter3","b":"x://u:pw@h","signature":"abcdefghijklmnopqrst"}"#;
    let counts = masker().mask(&session(), draft("tool.result", payload)).counts;
    let counted: Vec<_> = counts.iter().collect();
    assert_eq!(counted, [("password", 3), (OPAQUE_RULE, 1)]);
}
