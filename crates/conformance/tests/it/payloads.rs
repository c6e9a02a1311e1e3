//! The path of a fault in a payload.

use conformance::{Options, check_lines};

fn check(event_type: &str, payload: &str, path: &str) {
    let line = format!(
        r#"{{"schemaVersion":"0.1","runtimeId":"r","sessionId":"s","eventId":"e","sequence":1,
        "timestamp":"2026-06-09T10:00:00Z","type":"{event_type}","threadId":"t","turnId":"u","stepId":"st",
        "toolCallId":"c","taskId":"k","artifactId":"a","payload":{payload}}}"#
    )
    .replace('\n', "");
    let report = check_lines(line.as_bytes(), Options::default()).unwrap();
    let paths: Vec<_> = report.findings.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, [path], "{report}");
}

#[test]
fn names_the_member() {
    check("tool.started", r#"{"toolName":5}"#, "payload.toolName");
    check("tool.started", r#"{"toolKind":"function"}"#, "payload.toolName");
    check("tool.started", r#"{"toolName":"x","toolKind":7}"#, "payload.toolKind");
    check("task.created", r#"{"dependsOn":["a",{"b":1}]}"#, "payload.dependsOn.1");
    check("task.created", r#"{"dependsOn":"a"}"#, "payload.dependsOn");
    check("artifact.changed", r#"{"change":{"x":1}}"#, "payload.change.x");
    check("plan.final", r#"{"items":[{"text":"a"},{"id":"i"}]}"#, "payload.items.1");
    check("model.delta", r#""I wrote it""#, "payload");
    check("tool.started", r#"{"text":"I am writing"}"#, "payload");
}
