//! Checks that `docs/operators.md` agrees with the registry of operators. `BLESS=1` regenerates it.

use std::collections::BTreeSet;

use kassay_judge::mutation::catalogue::operators::OPERATORS;
use kassay_judge::mutation::catalogue::reference;

use crate::common::stored::expect_file;

#[test]
fn the_document_matches_the_registry() {
    expect_file("docs/operators.md", &reference::markdown());
}

#[test]
fn ids_are_unique_and_upper_case() {
    let ids: BTreeSet<&str> = OPERATORS.iter().map(|operator| operator.id).collect();
    assert_eq!(ids.len(), OPERATORS.len());
    assert!(ids.iter().all(|id| id.chars().all(|c| c.is_ascii_uppercase())), "{ids:?}");
}
