//! Warps in lockstep, for programs that rely on it (`check --warp-sync N`): the work-items of a warp, which are N
//! consecutive ones, make each access together.
//!
//! A work-item waits before each access to memory that is watched until no work-item of its group can go on. Of those
//! of a warp that wait then, those at the first place in the code go on, with a barrier of their own before the access
//! and after it: what divergence has separated meets again where the branches join. So two accesses of a warp are in
//! order unless one instruction makes both in the same step, or they are on different sides of a branch (Wu et al.,
//! "Simulee: Detecting CUDA Synchronization Bugs via Memory-Access Modeling", ICSE 2020, theorem 3.1; GPUVerify has the
//! former as its option `--warp-sync`).

use super::item_ref::ItemRef;
use super::warp_state::{Step, Stepping};
use super::work_group::{GroupSlot, Item, State};

/// The most work-items of a warp.
pub const LONGEST: u32 = 64;

/// Waits for the step in which the access of `site` is made, if warps are in lockstep.
#[inline(always)]
pub fn before_access(item: &mut ItemRef<'_>, site: u32) {
    if item.plan().options.lockstep.is_some() {
        step(item, site);
    }
}

/// The same for what belongs to the access that follows.
#[inline(always)]
pub fn before_next_access(item: &mut ItemRef<'_>, site: u32) {
    if item.plan().options.lockstep.is_some() {
        step(item, site);
        own(item).is_made = true;
    }
}

#[cold]
#[inline(never)]
fn step(item: &mut ItemRef<'_>, site: u32) {
    let own = own(item);
    if std::mem::take(&mut own.is_made) || item.shadow().is_none() {
        return;
    }
    self::own(item).site = site;
    item.suspend_as(State::Stepping);
}

fn own<'a>(item: &'a mut ItemRef<'_>) -> &'a mut Step {
    let index = item.index() as usize;
    &mut item.slot_mut().items[index].step
}

impl GroupSlot {
    /// Lets the next step be made: by those of a warp of `lanes` that wait at the first place in the code. `None`: no
    /// work-item waits for a step.
    pub fn make_step(&mut self, lanes: u32) -> Option<Stepping> {
        let waits = |item: &Item| item.state == State::Stepping;
        let some = self.current_items().iter().find(|item| waits(item))?.index;
        let first = some - some % lanes;
        let warp = first as usize..(first + lanes).min(self.count) as usize;
        let members = &mut self.items[warp];
        let site = members.iter().filter(|item| waits(item)).map(|item| item.step.site).min()?;
        let mut stepping = Stepping { first, lanes: 0 };
        for (lane, item) in members.iter_mut().enumerate().filter(|(_, item)| waits(item) && item.step.site == site) {
            stepping.lanes |= 1 << lane;
            item.state = State::Ready;
        }
        Some(stepping)
    }
}
