//! `spine schema`: the event types, and the JSON Schema of each payload.

use std::io::Write as _;

use event_spine::event::{CATALOG, EventDescriptor};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::{Answer, Failure};
use crate::output::{DIM, LIVE, STRONG};
use crate::text::{columns, near, one_line};

/// List the event types, or print the JSON Schema of one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  spine schema                              all event types by family
  spine schema tool.started                 the JSON Schema of its payload
  spine schema --json | jq '.[].type'       everything that is known of every type")]
pub(crate) struct Args {
    /// An event type, such as `tool.started`; other names under which a type is read work too
    #[arg(value_name = "TYPE", conflicts_with = "types")]
    name: Option<String>,
    /// List the types (also what happens without a TYPE)
    #[arg(long)]
    types: bool,
}

pub(crate) fn run(app: &mut App, args: &Args) -> Result<Answer, Failure> {
    match &args.name {
        Some(name) => one(app, name)?,
        None if app.json => {
            app.out.json(&CATALOG.iter().map(|row| describe(row)).collect::<Vec<_>>())?
        }
        None => list(app)?,
    }
    Ok(Answer::Yes)
}

fn one(app: &mut App, name: &str) -> Result<(), Failure> {
    let found = CATALOG
        .iter()
        .find(|row| row.name == name || row.aliases.iter().any(|alias| alias.name == name));
    let Some(row) = found else {
        let names = CATALOG.iter().map(|row| row.name);
        let near = near(name, names);
        return Err(Failure::input(format!(
            "there is no event type `{name}`; {near}`spine schema` lists them all"
        )));
    };
    app.out.json(&(row.schema)())
}

fn list(app: &mut App) -> Result<(), Failure> {
    let wide = CATALOG.iter().map(|row| columns(row.name)).max().unwrap_or(0);
    let room = app.out.width.saturating_sub(wide + 4);
    let mut family = None;
    for row in CATALOG.iter() {
        if family.replace(row.family) != Some(row.family) {
            app.out.heading(row.family.title())?;
        }
        let name = app.out.paint(LIVE, format!("{:wide$}", row.name));
        let text = one_line(&description(row), room);
        writeln!(app.out, "  {name}  {text}")?;
    }
    let total = app.out.paint(STRONG, format!("{} types", CATALOG.len()));
    let hint = app.out.paint(DIM, "spine schema TYPE prints the JSON Schema of its payload");
    writeln!(app.out, "\n{total}  {hint}")?;
    Ok(())
}

/// The documentation of a type is the description of its schema.
fn description(row: &EventDescriptor) -> String {
    (row.schema)().get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn describe(row: &EventDescriptor) -> Value {
    json!({
        "type": row.name,
        "family": row.family.title(),
        "description": description(row),
        "requiredScope": row.scope.required(),
        "durability": row.durability,
        "pairing": row.pairing,
        "origin": row.origin,
        "aliases": row.aliases.iter().map(|alias| alias.name).collect::<Vec<_>>(),
        "neoCode": row.neo_code,
        "payloadSchema": (row.schema)(),
    })
}
