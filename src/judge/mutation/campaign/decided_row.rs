//! Rows as the journal of a run keeps them: with the positions of tests, because a row may name thousands, and rows are
//! decided by the thousand.

use kassay_results::result::mutate as result;
use serde::{Deserialize, Serialize};

use crate::mutation::catalogue::indices::TestIndex;
use crate::mutation::run::test_lists::{TestLists, TestSpans};

/// The row of a mutant whose outcome is final.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DecidedRow {
    /// Without the tests.
    row: result::Mutant,
    killed_by: TestSpans,
    covered_by: TestSpans,
}

impl DecidedRow {
    /// Takes a row without tests, and the tests that detect the mutant and reach it.
    pub fn new(
        row: result::Mutant,
        killed_by: impl Iterator<Item = TestIndex>,
        covered_by: impl Iterator<Item = TestIndex>,
    ) -> DecidedRow {
        debug_assert!(row.killed_by.is_empty() && row.covered_by.is_empty(), "tests are named apart from the row");
        DecidedRow { row, killed_by: killed_by.collect(), covered_by: covered_by.collect() }
    }

    /// Returns the row with the names of its tests. `None` if one is none of the suite's: the journal is damaged.
    pub fn with_names(self, lists: &TestLists) -> Option<result::Mutant> {
        let (killed_by, covered_by) = (lists.of_spans(self.killed_by)?, lists.of_spans(self.covered_by)?);
        Some(result::Mutant { killed_by, covered_by, ..self.row })
    }
}
