//! How many work-items sub-groups have.

/// The sizes that can be asked for: powers of two up to this. Ballots have bits for more, but no device has such
/// sub-groups.
pub const LARGEST: u32 = 64;

/// The size that the simulator gives the sub-groups of a kernel that requires none.
pub const SIMULATED: u32 = 16;

/// Says which sizes there are.
pub const SIZES: &str = "give 1, 2, 4, 8, 16, 32 or 64";

/// Returns whether this is a size that can be asked for.
pub fn is_size(size: u32) -> bool {
    size.is_power_of_two() && size <= LARGEST
}

/// What a kernel says of its sub-groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum SubGroups {
    /// It does not use them.
    #[default]
    Unused,
    /// It uses them, whatever size they have.
    Any,
    /// It requires sub-groups of so many work-items; the last one of a group may have fewer.
    Of(u32),
}

impl SubGroups {
    /// The size with which the simulator runs a kernel that uses them.
    pub fn simulated(self) -> Option<u32> {
        match self {
            SubGroups::Unused => None,
            SubGroups::Any => Some(SIMULATED),
            SubGroups::Of(size) => Some(size),
        }
    }

    /// The size that the kernel requires.
    pub fn required(self) -> Option<u32> {
        if let SubGroups::Of(size) = self { Some(size) } else { None }
    }
}
