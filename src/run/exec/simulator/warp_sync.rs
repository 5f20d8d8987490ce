//! Functions of CUDA's warps: the lanes that a mask names meet, wherever in the code they call the function, and each
//! gets what it yields of their values (CUDA C++ Programming Guide, 10.19 to 10.22; PTX ISA, `bar.warp.sync`,
//! `vote.sync`, `shfl.sync`, `redux.sync`, `activemask`). A warp is a sub-group.

use kassay_model::native::abi::warp;

use super::item_ref::ItemRef;
use super::observation::FaultKind;
use super::warp_state::{LANES, WarpCall, is_in};
use super::work_group::{GroupSlot, State};

impl GroupSlot {
    /// The lanes of a warp, and those of them that have not returned.
    fn lanes(&self, number: u32) -> (u32, u32) {
        let members = self.sub_group(number);
        let existing = members.clone().take(LANES).enumerate().fold(0, |lanes, (lane, _)| lanes | 1u32 << lane);
        let present = |lane: &usize| !self.items[members.start as usize + lane].has_returned();
        let there = (0..members.len().min(LANES)).filter(present).fold(0, |lanes, lane| lanes | 1u32 << lane);
        (existing, there)
    }

    /// The lanes that meet where a work-item waits, if all have arrived.
    fn meeting(&self, index: u32) -> Option<u32> {
        let own = &self.items[index as usize].warp;
        let number = self.sub_group_of(index);
        let start = self.sub_group(number).start as usize;
        let awaited = own.mask & self.lanes(number).1;
        // The last to arrive is mostly the last of the warp.
        let is_missing = |lane: &usize| awaited >> lane & 1 != 0 && !self.items[start + lane].warp.meets(own);
        (own.kind != warp::ACTIVE && !(0..LANES).rev().any(|lane| is_missing(&lane))).then_some(awaited)
    }

    /// Wakes a work-item at whose function all have arrived, because the others have returned; returns whether there
    /// is one.
    pub fn wake_warp(&mut self) -> bool {
        if !self.uses_warps {
            return false;
        }
        let waits = |index: &u32| {
            let item = &self.items[*index as usize];
            item.state == State::Waiting && item.warp.waits && self.meeting(*index).is_some()
        };
        let Some(index) = (0..self.count).find(waits) else { return false };
        self.items[index as usize].state = State::Ready;
        true
    }

    /// Answers work-items that ask which lanes of their warp are active, once no other work-item of the group can go
    /// on: those that have come to the same place are. Returns whether there are any, and whether the warp has others.
    pub fn answer_active(&mut self) -> Option<bool> {
        if !self.uses_warps {
            return None;
        }
        let asks = |slot: &GroupSlot, index: u32| {
            let item = &slot.items[index as usize];
            item.state == State::Waiting && item.warp.waits && item.warp.kind == warp::ACTIVE
        };
        let first = (0..self.count).find(|index| asks(self, *index))?;
        let at = self.items[first as usize].at;
        let number = self.sub_group_of(first);
        let members = self.sub_group(number);
        let together: Vec<u32> =
            members.clone().filter(|index| asks(self, *index) && self.items[*index as usize].at == at).collect();
        let active = together.iter().fold(0u32, |lanes, index| lanes | 1u32.wrapping_shl(index - members.start));
        for index in together {
            let item = &mut self.items[index as usize];
            item.warp.result = u64::from(active);
            item.warp.waits = false;
            item.state = State::Ready;
        }
        Some(active != self.lanes(number).0)
    }

    /// Whether the lanes of some warp have called different functions, so that they were not always together.
    pub fn was_apart(&self) -> bool {
        self.uses_warps
            && (0..self.count).any(|index| {
                let first = self.sub_group(self.sub_group_of(index)).start;
                self.items[index as usize].warp.history != self.items[first as usize].warp.history
            })
    }
}

/// The hook of functions of warps.
pub extern "C" fn warp_function(
    mut item: ItemRef<'_>,
    site: u32,
    iteration: u64,
    mask: u32,
    kind: u32,
    value: u64,
    from: u32,
) -> u64 {
    item.arrive_at((site, iteration));
    let index = item.index();
    let (run, slot) = item.run_and_slot_mut();
    run.reached[site as usize] = true;
    slot.uses_warps = true;
    let lane = index - slot.sub_group(slot.sub_group_of(index)).start;
    let call = &mut slot.items[index as usize].warp;
    let history = (call.history.rotate_left(5) ^ u64::from(site)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ iteration;
    *call = WarpCall { mask, kind, value, from, waits: true, result: 0, history };
    if kind == warp::ACTIVE {
        run.seen.asked_active = true;
    } else if !is_in(mask, lane) {
        call.waits = false;
        item.note(FaultKind::OutsideMask, site, None, i64::from(mask));
        return value;
    }
    loop {
        let (run, slot) = item.run_and_slot_mut();
        if !run.step()
            && let Some(lanes) = slot.meeting(index)
        {
            meet(&mut item, site, lanes);
            break;
        }
        item.suspend_as(State::Waiting);
        if !item.slot().items[index as usize].warp.waits || item.leaves() {
            break;
        }
    }
    item.slot().items[index as usize].warp.result
}

/// Lets these lanes of the work-item's warp go on, with what the function yields.
fn meet(item: &mut ItemRef<'_>, site: u32, lanes: u32) {
    let (place, index) = (item.place(), item.index());
    let (run, slot) = item.run_and_slot_mut();
    let own = slot.items[index as usize].warp;
    let number = slot.sub_group_of(index);
    let (existing, there) = slot.lanes(number);
    let named = own.mask & existing;
    run.seen.went_without |= lanes != named;
    let is_some = lanes != there && !own.can_be_masked();
    let start = slot.sub_group(number).start as usize;
    let mut values = [0; LANES];
    let members = (0..LANES).filter(|lane| lanes >> lane & 1 != 0);
    members.clone().for_each(|lane| values[lane] = slot.items[start + lane].warp.value);
    let (mut first, mut is_open) = (place, false);
    for lane in members {
        let member = &mut slot.items[start + lane];
        let is_shuffle = own.kind & !warp::WIDE >= warp::SHUFFLE;
        is_open |= is_shuffle && is_in(existing, member.warp.from) && !is_in(lanes, member.warp.from);
        member.warp.result = member.warp.combined(&values, lanes, existing);
        member.warp.waits = false;
        member.state = State::Ready;
        first = first.min(member.place);
        run.progressed |= !member.spent;
    }
    run.seen.was_apart |= is_some || is_open;
    run.activity += 1;
    if own.kind == warp::BARRIER && run.has_shadow() {
        order_memory(item, site, (number, named), own.value as u32);
    }
    if first < place {
        item.give_way_to(first);
    }
}

/// Informs the race detector that these lanes of a warp have synchronised, unless the run ignores the barrier.
fn order_memory(item: &mut ItemRef<'_>, site: u32, (number, lanes): (u32, u32), flags: u32) {
    let source = item.program().barriers[site as usize].source as usize;
    let slot = item.accessor().slot;
    if !item.plan().ignored.get(source).copied().unwrap_or(false)
        && let Some(shadow) = item.shadow()
    {
        shadow.warp_barrier(slot, number, lanes, flags);
    }
}
