//! Names of what races come from (docs/causes.md).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a race comes from, as far as its two accesses tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// An asynchronous copy is not waited for before its memory is used.
    CopyInFlight,
    /// Both accesses are atomic, but the scope of one leaves out the work-item of the other.
    NarrowScope,
    /// One access is atomic, the other is not, such as the first read of a loop with a compare-exchange.
    MixedAtomic,
    /// Work-items write the same value to one place.
    EqualValues,
    /// Work-items read a place, compute and write it back (`+=`), which is not atomic.
    UnprotectedUpdate,
    /// The work-items of a warp are taken to make each step together.
    AssumedLockstep,
    /// Work-groups are taken to wait for each other.
    BetweenGroups,
    /// A barrier stands between the accesses, but for other memory.
    OtherFence,
    /// A barrier stands between the accesses of one iteration, but none between those of two.
    NextIteration,
    /// Several work-items write different values to one place.
    SharedElement,
    /// No barrier stands between the write and the read.
    MissingBarrier,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 11] = [
        Cause::CopyInFlight,
        Cause::NarrowScope,
        Cause::MixedAtomic,
        Cause::EqualValues,
        Cause::UnprotectedUpdate,
        Cause::AssumedLockstep,
        Cause::BetweenGroups,
        Cause::OtherFence,
        Cause::NextIteration,
        Cause::SharedElement,
        Cause::MissingBarrier,
    ];

    /// Returns the name as spelt in results, and as the title of its section in `docs/causes.md`.
    pub fn name(self) -> &'static str {
        match self {
            Cause::CopyInFlight => "copy-in-flight",
            Cause::NarrowScope => "narrow-scope",
            Cause::MixedAtomic => "mixed-atomic",
            Cause::EqualValues => "equal-values",
            Cause::UnprotectedUpdate => "unprotected-update",
            Cause::AssumedLockstep => "assumed-lockstep",
            Cause::BetweenGroups => "between-groups",
            Cause::OtherFence => "other-fence",
            Cause::NextIteration => "next-iteration",
            Cause::SharedElement => "shared-element",
            Cause::MissingBarrier => "missing-barrier",
        }
    }

    /// Returns a description.
    pub fn words(self) -> &'static str {
        match self {
            Cause::CopyInFlight => "an asynchronous copy is not waited for",
            Cause::NarrowScope => "the scope of an atomic leaves out the other work-item",
            Cause::MixedAtomic => "only one of the two accesses is atomic",
            Cause::EqualValues => "work-items write the same value",
            Cause::UnprotectedUpdate => "reading, computing and writing back is not atomic",
            Cause::AssumedLockstep => "right only if warps run in lockstep",
            Cause::BetweenGroups => "work-groups do not wait for each other",
            Cause::OtherFence => "the barrier in between is for other memory",
            Cause::NextIteration => "no barrier stands between this iteration and the next",
            Cause::SharedElement => "several work-items write one element",
            Cause::MissingBarrier => "no barrier stands between writing and reading",
        }
    }

    /// Returns where the documentation explains it.
    pub fn page(self) -> String {
        format!("docs/causes.md#{}", self.name())
    }
}
