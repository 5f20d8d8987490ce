//! What may hold whenever a loop's header is reached.

use crate::program::ValueId;

/// A guess about a `phi`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invariant {
    /// It is at least this number.
    AtLeast(ValueId, i64),
    /// It is at least the value with which the loop was entered.
    FromEntry(ValueId),
    /// It is at most that value.
    ToEntry(ValueId),
    /// It is at most this other value, or as the loop was entered.
    Bounded(ValueId, ValueId),
}
