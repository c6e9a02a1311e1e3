//! Tests of the view of products.

use crate::testing::{brief, view};

#[test]
fn a_product_with_versions_and_exports() {
    insta::assert_snapshot!(brief(&view(
        r#"
        artifact.changed   turn=u1 tool=c1 artifact=f1 {"change":"created","kind":"file","title":"Report","path":"r.md","preview":"\# Report","sizeBytes":120}
        artifact.versioned artifact=f1 {"versionId":"v1","digest":"ab"}
        artifact.changed   turn=u2 artifact=f1 {"change":"updated","diff":"-a\n+b","sizeBytes":130}
        artifact.versioned artifact=f1 {"versionId":"v2","parentVersionId":"v1","readRef":"blake3:2"}
        artifact.exported  artifact=f1 {"target":"out/r.pdf","versionId":"v2","mediaType":"application/pdf"}
        artifact.changed   turn=u2 artifact=f2 {"change":"failed","title":"Chart"}
        artifact.versioned artifact=f3 {"versionId":"only"}
        artifact.changed   turn=u2 artifact=f3 {"change":"deleted"}
        "#
        .replace("\\#", "#")
        .as_str()
    ).artifacts));
}

#[test]
fn many_versions_leave_the_newest_and_the_count() {
    let lines: String = (0..50)
        .map(|n| format!("artifact.versioned artifact=f1 {{\"versionId\":\"v{n}\"}}\n"))
        .collect();
    let view = view(&lines);
    let artifact = view.artifacts.artifacts.iter().next().unwrap();
    assert_eq!((artifact.version_count, artifact.versions.len()), (50, 20));
    assert_eq!(artifact.versions[0].version_id, "v30");
    assert_eq!(artifact.version_id.as_deref(), Some("v49"));
}
