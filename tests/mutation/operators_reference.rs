//! Checks that `docs/operators.md` agrees with the registry of operators. `BLESS=1` regenerates it.

use std::collections::BTreeSet;

use kassay::mutation::operators::OPERATORS;
use kassay::mutation::reference;

#[test]
fn the_document_matches_the_registry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operators.md");
    let text = reference::markdown();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(stored == text, "{path} is out of date; BLESS=1 writes it anew");
}

#[test]
fn ids_are_unique_and_upper_case() {
    let ids: BTreeSet<&str> = OPERATORS.iter().map(|operator| operator.id).collect();
    assert_eq!(ids.len(), OPERATORS.len());
    assert!(ids.iter().all(|id| id.chars().all(|c| c.is_ascii_uppercase())), "{ids:?}");
}
