//! Ids and sizes that work-item functions return (OpenCL C 1.2, 6.12.1; 2.0, 6.13.1).

/// An id or a size in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// `get_global_id`.
    Global,
    /// `get_local_id`.
    Local,
    /// `get_group_id`.
    Group,
    /// `get_global_size`.
    GlobalSize,
    /// `get_local_size`: of this work-group, which may be smaller than the others.
    LocalSize,
    /// `get_num_groups`.
    Groups,
    /// `get_global_offset`.
    Offset,
}

/// What all ids and sizes are made of: what a launch gives, in each dimension, and the ids of a work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The work-item's number in its group.
    LocalId,
    /// The group's number.
    GroupId,
    /// Work-items of the launch.
    GlobalSize,
    /// Work-items of a whole group.
    LocalSize,
    /// Groups of the launch.
    Groups,
    /// What global ids begin with.
    Offset,
    /// The number of dimensions, in each of them.
    Dimensions,
}

/// The builtins that return ids and sizes; of several that return the same, the first one is the usual one.
const BUILTINS: [(&str, Id); 8] = [
    ("get_global_id", Id::Global),
    ("get_local_id", Id::Local),
    ("get_group_id", Id::Group),
    ("get_global_size", Id::GlobalSize),
    ("get_local_size", Id::LocalSize),
    ("get_enqueued_local_size", Id::LocalSize),
    ("get_num_groups", Id::Groups),
    ("get_global_offset", Id::Offset),
];

/// Returns the id or size that a builtin returns.
pub fn id_of(base: &str) -> Option<Id> {
    BUILTINS.iter().find(|(name, _)| *name == base).map(|(_, id)| *id)
}

impl Id {
    /// Returns the builtin that returns it.
    pub fn builtin(self) -> &'static str {
        BUILTINS.iter().find(|(_, id)| *id == self).map_or("", |(name, _)| name)
    }

    /// Returns the part that this is; `None` for global ids, which are sums.
    pub fn part(self) -> Option<Part> {
        Some(match self {
            Id::Global => return None,
            Id::Local => Part::LocalId,
            Id::Group => Part::GroupId,
            Id::GlobalSize => Part::GlobalSize,
            Id::LocalSize => Part::LocalSize,
            Id::Groups => Part::Groups,
            Id::Offset => Part::Offset,
        })
    }

    /// Returns the value for a dimension beyond the third: sizes are 1, ids are 0.
    pub fn beyond(self) -> u64 {
        u64::from(matches!(self, Id::GlobalSize | Id::LocalSize | Id::Groups))
    }
}
