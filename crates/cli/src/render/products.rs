//! Owns drawing what came out: artifacts, evidence, reviews.

use std::io::{self, Write as _};

use read_model::projections::artifacts::Artifacts;
use read_model::projections::evidence::Evidence;

use super::word;
use crate::output::{DIM, Out, left, right};
use crate::text::{bytes, one_line};

/// Artifacts.
pub(crate) fn artifacts(out: &mut Out, artifacts: &Artifacts) -> io::Result<()> {
    writeln!(out)?;
    if artifacts.artifacts.is_empty() {
        let none = out.paint(DIM, "no artifact");
        return writeln!(out, "{none}");
    }
    let rows = artifacts
        .artifacts
        .iter()
        .map(|artifact| {
            let id =
                artifact.scope.artifact_id.as_ref().map(ToString::to_string).unwrap_or_default();
            let title = artifact.title.as_deref().or(artifact.path.as_deref()).unwrap_or_default();
            vec![
                id,
                word(&artifact.state),
                artifact.changes.to_string(),
                artifact.version_count.to_string(),
                artifact.export_count.to_string(),
                artifact.size_bytes.map(bytes).unwrap_or_default(),
                one_line(title, 60),
            ]
        })
        .collect();
    let columns = [
        left("artifact"),
        left("state"),
        right("changes"),
        right("versions"),
        right("exports"),
        right("size"),
        left("title"),
    ];
    out.table(&columns, rows)
}

/// Evidence, exports of it, and reviews.
pub(crate) fn evidence(out: &mut Out, evidence: &Evidence) -> io::Result<()> {
    if evidence.items.is_empty() && evidence.exports.is_empty() && evidence.reviews.is_empty() {
        let none = out.paint(DIM, "no evidence");
        return writeln!(out, "\n{none}");
    }
    writeln!(out)?;
    let rows = evidence
        .items
        .iter()
        .map(|item| {
            let id = item.scope.evidence_id.as_ref().map(ToString::to_string).unwrap_or_default();
            let about = item.title.as_deref().or(item.claim.as_deref()).or(item.summary.as_deref());
            vec![
                id,
                item.status.as_ref().map(word).unwrap_or_else(|| "unknown".into()),
                item.verdict.as_ref().map(word).unwrap_or_default(),
                item.kind.clone().unwrap_or_default(),
                one_line(about.unwrap_or_default(), 60),
            ]
        })
        .collect();
    out.table(
        &[left("evidence"), left("status"), left("verdict"), left("kind"), left("about")],
        rows,
    )?;
    if !evidence.exports.is_empty() {
        out.heading("Exports")?;
        let rows = evidence
            .exports
            .iter()
            .map(|export| {
                let range = match (export.from_sequence, export.to_sequence) {
                    (Some(from), Some(to)) => format!("{from} to {to}"),
                    _ => String::new(),
                };
                let to = export.target.as_deref().unwrap_or_default();
                vec![
                    export.at.sequence.to_string(),
                    export.format.clone().unwrap_or_default(),
                    range,
                    one_line(to, 60),
                ]
            })
            .collect();
        out.table(&[right("at"), left("format"), left("events"), left("to")], rows)?;
    }
    if !evidence.reviews.is_empty() {
        out.heading("Reviews")?;
        let rows = evidence
            .reviews
            .iter()
            .map(|review| {
                vec![
                    review.at.sequence.to_string(),
                    word(&review.verdict),
                    review.reviewer.clone().unwrap_or_default(),
                    one_line(
                        review.reason.as_deref().or(review.target.as_deref()).unwrap_or_default(),
                        60,
                    ),
                ]
            })
            .collect();
        out.table(&[right("at"), left("verdict"), left("reviewer"), left("why")], rows)?;
    }
    Ok(())
}
