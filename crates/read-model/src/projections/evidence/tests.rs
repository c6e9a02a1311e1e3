//! Tests of the view of evidence.

use crate::testing::{brief, view};

#[test]
fn evidence_reviews_and_exports() {
    insta::assert_snapshot!(brief(&view(
        r#"
        evidence.changed  turn=u1 evidence=e1 {"kind":"verification","title":"Tests","status":"collecting"}
        evidence.changed  turn=u1 evidence=e1 {"status":"verified","summary":"12 passed","claim":"it works"}
        review.verdict    evidence=e1 {"verdict":"needs_changes","reviewer":"ann","fixes":["name it"]}
        review.verdict    evidence=e1 {"verdict":"approved","reviewer":"bob"}
        evidence.exported evidence=e1 {"target":"pack.json","fromSequence":1,"toSequence":4,"chainHead":"00"}
        evidence.changed  turn=u1 evidence=e1 {"status":"disputed"}
        review.verdict    evidence=e2 {"verdict":"waived"}
        "#
    ).evidence));
}
