//! What generated launches put into buffers in the place of pointers: where memory of their own begins, or links.

/// Elements of a list that links make up.
const LIST: u64 = 8;

/// Indices at one place of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldIndices {
    /// Where in an element, in bytes.
    pub offset: u64,
    /// What they are.
    pub pattern: IndexPattern,
}

/// A pattern of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexPattern {
    /// So far apart, as if each pointer had memory of its own.
    Apart(u64),
    /// To the next element; from the last of some back to their first.
    Rings,
    /// To the next element; from the last of some to none.
    Lists,
}

impl IndexPattern {
    /// Returns the index in element `i`.
    pub fn at(self, i: u64) -> i128 {
        let is_last = i % LIST == LIST - 1;
        match self {
            IndexPattern::Apart(step) => i128::from(i) * i128::from(step),
            IndexPattern::Rings if is_last => i128::from(i + 1 - LIST),
            IndexPattern::Lists if is_last => -1,
            IndexPattern::Rings | IndexPattern::Lists => i128::from(i + 1),
        }
    }
}
