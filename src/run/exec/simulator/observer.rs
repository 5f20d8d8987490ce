//! Observers: what watches a launch without changing it. A measurement is an observer, in a file of its own; the code
//! that asks for it owns it, lends it to a run and reads it afterwards.
//!
//! A run without one pays nothing: where nearly all accesses pass, the fast path (`access_cache`) is off only
//! for sites that an observer [watches](Observer::watches), and elsewhere hooks look whether there is one. The race
//! detector is none, because it decides what is a fault, and what of an access the fast path settles.

use std::any::Any;

use kassay_base::error::Result;

use super::launch::Region;
use super::program::Site;
use super::shadow::{Accessor, Area, Place, Strided};

/// Watches launches. Each method receives one kind of event; what an observer does not name, it ignores.
///
/// Accesses are only reported in code that was instrumented for race detection. If races are looked for, the run that
/// finds them is observed, and the one that reports them is not.
pub trait Observer: Any + Send {
    /// A launch begins. `areas`: by object of the table; `items`: work-items of a group.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    fn begin(&mut self, _areas: &[Area], _items: u64) -> Result<()> {
        Ok(())
    }

    /// Another observer for a further thread of the launch, which this one [absorbs](Observer::absorb) at its end.
    /// `None`: the launch must run on one thread.
    fn another(&self) -> Option<Box<AnyObserver>> {
        None
    }

    /// Adds what another one has seen that came from [`Observer::another`].
    fn absorb(&mut self, _other: Box<dyn Any>) {}

    /// Returns whether it must receive all accesses of a site; of others it receives some.
    fn watches(&self, _site: &Site) -> bool {
        false
    }

    /// The group with this linear number begins in a slot.
    ///
    /// # Errors
    /// `Environment`: not enough memory.
    fn begin_group(&mut self, _slot: u32, _group: u64) -> Result<()> {
        Ok(())
    }

    /// The group in a slot has ended, or was abandoned.
    fn end_group(&mut self, _slot: u32) {}

    /// All work-items of the group in a slot have arrived at a point where they wait for each other. `flags`: the
    /// memory that this orders (`cl_mem_fence_flags`).
    fn barrier(&mut self, _slot: u32, _flags: u32) {}

    /// A work-item is about to access `bytes` bytes of global or local memory, or of an image, in bounds.
    fn access(&mut self, _by: Accessor, _site: u32, _place: Place, _bytes: u64) {}

    /// The group in a slot begins an asynchronous copy, in bounds.
    fn copy(&mut self, _slot: u32, _to: Strided, _from: Strided) {}

    /// A comparison that the code reports, by its number; `kind` as in [`kassay_model::native::abi::comparison`].
    fn comparison(&mut self, _number: u32, _kind: u32, _a: u64, _b: u64) {}

    /// A pair of private variables that the code reports has occurred.
    fn pair(&mut self, _number: u32) {}

    /// A definition or use of private memory that the code reports as this `access`, by the launch's work-item with
    /// this number; flags as in [`kassay_model::native::abi::flow`].
    fn private_flow(&mut self, _item: u64, _access: u32, _flags: u32, _address: u64, _bytes: u64) {}

    /// The same of global or local memory.
    fn shared_flow(&mut self, _flow: &SharedFlow<'_>) {}
}

/// A definition or use of global or local memory.
#[derive(Debug, Clone, Copy)]
pub struct SharedFlow<'a> {
    /// The slot of the group, and the work-item's local linear id, or [all work-items](super::flow::GROUP).
    pub slot: u32,
    /// The work-item's local linear id, or [all work-items](super::flow::GROUP).
    pub item: u32,
    /// Number of the definition or use.
    pub access: u32,
    /// What it is, as [`super::flow`] has it.
    pub flags: u32,
    /// The memory that it accesses.
    pub region: &'a Region,
    /// Accesses cover whole cells of so many bytes.
    pub granule: u32,
    /// In the memory of which the region is a part.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// Some observer.
pub type AnyObserver = dyn Observer;
