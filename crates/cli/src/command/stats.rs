//! `spine stats`: how much is stored, and where the bytes are.

use std::io::Write as _;

use serde_json::json;

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::folder::{Folder, Part};
use crate::output::{DIM, STRONG, WARN, left, right};
use crate::store;
use crate::text::{bytes, count, counted};

/// Show how much is stored: bytes by session and by kind of file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine stats
  spine stats --json | jq .folder")]
pub(crate) struct Args {
    /// Show so many sessions, the largest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    let reader = store::reader(app)?;
    let stats = reader.stats()?;
    let folder = Folder::measure(&app.data)?;
    let total = folder.total();
    let mut sessions = stats.sessions;
    sessions.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.session_id.cmp(&b.session_id)));
    if app.json {
        let list: Vec<_> = sessions
            .iter()
            .map(
                |s| json!({"sessionId": s.session_id, "events": s.head.sequence, "liveBytes": s.bytes, "totalBytes": s.bytes}),
            )
            .collect();
        let parts: serde_json::Map<_, _> = Part::ALL
            .iter()
            .map(|part| {
                (
                    part.name().to_owned(),
                    json!({"files": folder.files(*part), "bytes": folder.bytes(*part)}),
                )
            })
            .collect();
        app.out.json(&json!({
            "events": stats.events, "eventBytes": stats.event_bytes, "totalBytes": total,
            "folder": parts, "sessions": list,
        }))?;
        return Ok(Answer::Yes);
    }
    let events = app.out.paint(STRONG, counted(stats.events, "event"));
    writeln!(
        app.out,
        "{events} in {}, {} on disk",
        counted(sessions.len() as u64, "session"),
        bytes(total)
    )?;
    writeln!(app.out)?;
    draw_parts(app, &folder)?;
    if sessions.is_empty() {
        return Ok(Answer::Yes);
    }
    writeln!(app.out)?;
    let rows = sessions
        .iter()
        .take(args.limit)
        .map(|s| vec![s.session_id.to_string(), count(s.head.sequence), bytes(s.bytes)])
        .collect();
    app.out.table(&[left("session"), right("events"), right("bytes")], rows)?;
    if sessions.len() > args.limit {
        let more = app
            .out
            .paint(DIM, format!("… and {} more; --limit shows them", sessions.len() - args.limit));
        writeln!(app.out, "{more}")?;
    }
    for warning in &stats.warnings {
        let text = app
            .out
            .paint(WARN, format!("{} has grown to {}", warning.session_id, bytes(warning.bytes)));
        writeln!(app.out, "{text}")?;
    }
    Ok(Answer::Yes)
}

/// What lies in the folder, by kind of file.
fn draw_parts(app: &mut App, folder: &Folder) -> Result<(), Failure> {
    let rows = Part::ALL
        .iter()
        .filter(|part| folder.files(**part) > 0)
        .map(|part| {
            vec![
                part.name().to_owned(),
                count(folder.files(*part)),
                bytes(folder.bytes(*part)),
                app.out.paint(DIM, part.what()),
            ]
        })
        .collect();
    app.out.table(&[left("kind"), right("files"), right("bytes"), left("")], rows)?;
    Ok(())
}
