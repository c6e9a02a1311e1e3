//! Laws of the catalog.

use std::collections::HashSet;

use super::*;

#[test]
fn names_and_aliases_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for row in CATALOG.iter() {
        assert!(seen.insert(row.name), "{} is listed twice", row.name);
        assert!(crate::wire::well_formed_name(&EventType::Known(row)), "{}", row.name);
    }
    for row in CATALOG.iter() {
        for alias in row.aliases {
            assert!(
                !seen.contains(alias.name),
                "alias {} of {} is a type itself",
                alias.name,
                row.name
            );
        }
    }
}

#[test]
fn every_row_is_documented() {
    for row in CATALOG.iter() {
        let schema = (row.schema)();
        let text = schema.get("description").and_then(|d| d.as_str()).unwrap_or_default();
        assert!(text.len() > 10, "{} has no documentation", row.name);
    }
}
