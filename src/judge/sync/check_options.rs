//! Selects what a check looks for, and for how long.

use super::budget::Budget;

/// Selects what to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// Test whether each barrier is needed.
    pub redundant: bool,
    /// Values read by atomics affect the result: barriers may matter to them without any conflict of two accesses.
    pub atomics_read: bool,
    /// Largest number of races for which a schedule with other outputs is looked for.
    pub witnesses: usize,
    /// The time that the check may take.
    pub budget: Budget,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { redundant: true, atomics_read: false, witnesses: 20, budget: Budget::unlimited() }
    }
}
