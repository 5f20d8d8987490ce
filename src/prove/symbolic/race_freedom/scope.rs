//! Which launches, and which two work-items of them, are asked about.

/// What is given of a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// The size of a work-group.
    pub local: Option<[u64; 3]>,
    /// The number of work-groups.
    pub groups: Option<[u64; 3]>,
}

/// Which two work-items are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Two of one work-group.
    IntraGroup,
    /// Two of different work-groups.
    InterGroup,
}

/// One of the two work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    First,
    Second,
}

impl Item {
    /// What names of its own symbols end with.
    pub fn suffix(self) -> &'static str {
        match self {
            Item::First => "^1",
            Item::Second => "^2",
        }
    }
}
