//! Why a kernel, or a launch of it, is not searched for races on a device.

use std::fmt;

/// Why the simulator has to look for races: the predicate of a sentence about the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver(String);

impl HandOver {
    /// Creates one with this predicate.
    pub fn because(predicate: &str) -> HandOver {
        HandOver(predicate.to_owned())
    }

    /// The kernel orders accesses by something else than barriers.
    pub(super) fn orders() -> HandOver {
        HandOver::because("orders accesses by atomics or fences")
    }
}

impl fmt::Display for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
