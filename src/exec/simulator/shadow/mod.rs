//! The race detector: shadow memory that knows, for every cell of global and local memory, who accessed it last.
//!
//! A race (`spec.md` section 5; SIMULEE 3.2): two work-items access the same bytes, at least one writes, not both atomically, and nothing
//! orders them. A barrier orders what its flags name, inside its group; groups are never ordered by barriers. Where
//! code synchronises by atomics, fences or sub-group barriers, happens-before of the OpenCL 3.0 memory model (API specification 3.3.6)
//! decides for the schedule that is run.
//!
//! A launch is run up to twice, in the same order. [`Pass::Find`] is fast: a cell keeps summaries of its last accesses, and those cells
//! where something met are noted. If there are any ([`Shadow::suspects`]), [`Pass::Record`] keeps full lists for those
//! cells and gives [`Shadow::conflicts`].
//!
//! Not thread-safe: groups run one at a time, but may interleave (each in a slot of its own).

mod launch;

use crate::error::Result;
use crate::exec::simulator::observation::{Conflict, Footprint};
use crate::lower::host::table::HostTable;

pub use launch::{Area, Grid, Memory, Place, Strided, Who};

/// What a run of a launch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Finds the cells where accesses conflict; reads of uninitialised local memory; the footprint, if wanted.
    Find { footprint: bool },
    /// Knows from the pass before which cells matter, and records who met there.
    Record,
}

/// The detector of one kernel; its memory serves launch after launch.
#[derive(Debug)]
pub struct Shadow {}

impl Shadow {
    pub fn new(table: &HostTable) -> Shadow {
        todo!()
    }

    /// A launch begins; `areas` by object of the table. [`Pass::Record`] must follow [`Pass::Find`] of the same launch.
    ///
    /// # Errors
    /// `Caller`: more work-items than the detector can tell apart (2^30). `Environment`: no memory.
    pub fn begin(&mut self, grid: Grid, areas: &[Area], pass: Pass) -> Result<()> {
        todo!()
    }

    /// The group with this linear number (as the kernel sees its id, dimension 0 fastest) begins; its local memory is that of `slot`, which no other
    /// group uses meanwhile. Small numbers: memory grows with the largest.
    pub fn begin_group(&mut self, slot: u32, group: u64) {
        todo!()
    }

    /// The group ended, or was given up.
    pub fn end_group(&mut self, slot: u32) {
        todo!()
    }

    /// All items of the group have arrived at a barrier (or an exchange of the group: with the flags that it has, or 0). `flags` as
    /// `cl_mem_fence_flags`, `scope` as `memory_scope` of `opencl-c-base.h`.
    pub fn barrier(&mut self, slot: u32, flags: u32, scope: u32) {
        todo!()
    }

    /// All items of a sub-group have arrived at its barrier.
    pub fn sub_group_barrier(&mut self, slot: u32, sub_group: u32, flags: u32, scope: u32) {
        todo!()
    }

    /// An item executes a fence; numbers as in `opencl-c-base.h`.
    pub fn fence(&mut self, who: Who, flags: u32, order: u32, scope: u32) {
        todo!()
    }

    /// An item is about to make the access `site` (of known length) at `place`, in bounds. Whether it may: `false` if it reads local memory
    /// that no item of its group has written (only [`Pass::Find`] tells).
    ///
    /// # Safety
    /// `address` is where the bytes lie that the access reads or writes, and they stay readable until the next call of any
    /// method; what was written there is looked at then, before anything else writes there.
    #[inline]
    pub unsafe fn access(&mut self, who: Who, site: u32, place: Place, address: *const u8) -> bool {
        todo!()
    }

    /// As [`Shadow::access`], of `bytes` bytes.
    ///
    /// # Safety
    /// As [`Shadow::access`].
    pub unsafe fn span(&mut self, who: Who, site: u32, place: Place, bytes: u64, address: *const u8) -> bool {
        todo!()
    }

    /// A group's asynchronous copy begins (called once, not by every item): its writes are of site `write_site`, its reads of the next one. Nobody
    /// in the group may touch what it touches until [`Shadow::wait`]. Whether all local memory that it reads was written.
    pub fn async_copy(&mut self, slot: u32, write_site: u32, destination: Strided, source: Strided) -> bool {
        todo!()
    }

    /// All items of the group have waited for the copies that were begun.
    pub fn wait(&mut self, slot: u32) {
        todo!()
    }

    /// After [`Pass::Find`]: whether the launch must be run again with [`Pass::Record`]. Without atomics and fences that synchronise,
    /// sub-group barriers and asynchronous copies this means that there are conflicts; with them that there may be.
    pub fn suspects(&self) -> bool {
        todo!()
    }

    /// After [`Pass::Record`]: all conflicts, ordered by sites.
    pub fn conflicts(&mut self) -> Vec<Conflict> {
        todo!()
    }

    /// After [`Pass::Find`] with `footprint`.
    pub fn footprint(&self) -> Footprint {
        todo!()
    }
}
