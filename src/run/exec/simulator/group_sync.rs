//! Synchronises the work-items of a group: barriers, exchanges of values, asynchronous copies.

use std::ops::Range;

use kassay_model::native::abi::{OF_GRID, OF_SUB_GROUP, exchange};

use super::access_hooks::note_uninitialised;
use super::grid_sync;
use super::item_ref::ItemRef;
use super::lookup;
use super::observation::FaultKind;
use super::shadow::{Shadow, Strided};
use super::work_group::{Arrivals, GroupSlot, MAX_EXCHANGED_BYTES, State, SyncPoint};

/// The number of `memory_scope_work_item` in `opencl-c-base.h`: what each work-item itself does is in order anyway.
const OF_ITEM: u32 = 0;

/// The effect on memory once all have arrived.
#[derive(Debug, Clone, Copy)]
enum Effect {
    None,
    /// As `cl_mem_fence_flags` and `memory_scope` specify.
    Barrier {
        flags: u32,
        scope: u32,
    },
    /// The asynchronous copies have completed whose events the group waits for.
    Copied,
    /// Values of `size` bytes were exchanged, from byte `start` of the slot's room for them: those of work-items that
    /// have returned are 0, or the value of the work-item at this place if there is one.
    Exchanged {
        start: usize,
        size: usize,
        repeated: Option<usize>,
    },
}

impl Effect {
    /// The memory between work-items that it orders, as `cl_mem_fence_flags`.
    fn flags(self) -> u32 {
        match self {
            Effect::Barrier { flags, scope } if scope != OF_ITEM => flags,
            _ => 0,
        }
    }

    /// Informs the race detector. `sub_group`: the number of the sub-group that has synchronised, instead of the group.
    fn order(self, shadow: &mut Shadow, slot: u32, sub_group: Option<u32>) {
        match (self, sub_group) {
            (Effect::None | Effect::Exchanged { .. }, _) => {}
            (Effect::Barrier { scope, .. }, None) => shadow.barrier(slot, self.flags(), scope),
            (Effect::Barrier { .. }, Some(number)) => shadow.sub_group_barrier(slot, number, self.flags()),
            // That takes the events as well.
            (Effect::Copied, _) => {}
        }
    }
}

/// Waits until all work-items of the group, or sub-group, have arrived. Memory is ordered before they continue.
fn synchronise(item: &mut ItemRef<'_>, at: SyncPoint, sub_group: bool, effect: Effect) {
    item.arrive_at(at);
    let (place, index) = (item.place(), item.index());
    let (run, slot) = item.run_and_slot_mut();
    let number = slot.sub_group_of(index);
    run.reached[at.0 as usize] = true;
    let members = if sub_group { slot.sub_group(number) } else { 0..slot.count };
    let sub_number = sub_group.then_some(number);
    arrivals(slot, sub_number).add(at);
    let before = arrivals(slot, sub_number).meetings;
    loop {
        let (run, slot) = item.run_and_slot_mut();
        let awaited = slot.awaited(&members);
        if !run.step() && arrivals(slot, sub_number).are_all(awaited) {
            break;
        }
        item.suspend_as(State::Waiting);
        // Woken by the last one to arrive, in order to leave, or because all others have returned.
        let (_, slot) = item.run_and_slot_mut();
        if arrivals(slot, sub_number).meetings != before || item.leaves() {
            return;
        }
    }
    let (run, slot) = item.run_and_slot_mut();
    run.seen.went_without |= arrivals(slot, sub_number).count < members.len() as u32;
    arrivals(slot, sub_number).release();
    if let Effect::Exchanged { start, size, repeated } = effect {
        settle_returned(slot, &members, start, size, repeated);
    }
    if run.has_shadow() || matches!(effect, Effect::Copied) {
        order_memory(item, at.0, sub_number, effect);
    }
    let (run, slot) = item.run_and_slot_mut();
    if let (Some(observer), false) = (run.observer(), sub_group) {
        observer.barrier(slot.number, effect.flags());
    }
    let mut first = place;
    let members = &mut slot.items[members.start as usize..members.end as usize];
    for member in members.iter_mut().filter(|member| member.state != State::Finished) {
        member.state = State::Ready;
        first = first.min(member.place);
        // A work-item whose fuel is used up makes no progress by synchronising again and again.
        run.progressed |= !member.spent;
    }
    run.activity += 1;
    if first < place {
        item.give_way_to(first);
    }
}

/// Who has arrived of the group, or of this sub-group of it.
fn arrivals(slot: &mut GroupSlot, sub_group: Option<u32>) -> &mut Arrivals {
    match sub_group {
        Some(number) => &mut slot.sub_arrivals[number as usize],
        None => &mut slot.group_arrivals,
    }
}

/// Gives values to those work-items that have returned.
fn settle_returned(slot: &mut GroupSlot, members: &Range<u32>, start: usize, size: usize, repeated: Option<usize>) {
    for (own, member) in members.clone().enumerate().take_while(|_| slot.finished > 0) {
        if slot.items[member as usize].has_returned() {
            // SAFETY: as in `exchange`, which has given the places; no other reference to the values is alive, and a
            // work-item that has returned is not the one whose value is repeated.
            unsafe {
                let values = slot.exchanged.as_mut_ptr().cast::<u8>().add(start);
                let value = values.add(own * size);
                match repeated {
                    Some(other) => std::ptr::copy_nonoverlapping(values.add(other * size), value, size),
                    None => value.write_bytes(0, size),
                }
            }
        }
    }
}

/// Informs the race detector that a group, or this sub-group of it, has synchronised, and the group's events that they
/// are waited for, unless the run ignores the barrier.
fn order_memory(item: &mut ItemRef<'_>, site: u32, sub_group: Option<u32>, effect: Effect) {
    let source = item.program().barriers[site as usize].source as usize;
    let number = item.accessor().slot;
    if item.plan().ignored.get(source).copied().unwrap_or(false) {
        return;
    }
    let (run, slot) = item.run_and_slot_mut();
    if let Effect::Copied = effect {
        let events = slot.events.waited();
        run.shadow().into_iter().for_each(|shadow| shadow.wait(number, events));
    } else if let Some(shadow) = run.shadow() {
        effect.order(shadow, number, sub_group);
    }
}

/// Records that a work-item has other flags than the first of its group, or sub-group, to arrive at this barrier. That
/// all have the same is what OpenCL C requires (3.0, 6.15.8).
fn check_flags(item: &mut ItemRef<'_>, at: SyncPoint, sub_group: bool, flags: u32) {
    let index = item.index();
    let slot = item.slot_mut();
    let number = sub_group.then(|| slot.sub_group_of(index));
    let arrived = arrivals(slot, number);
    if arrived.count == 0 {
        arrived.flags = flags;
    } else if arrived.are_at(at) && arrived.flags != flags {
        item.note(FaultKind::BarrierFlags, at.0, None, flags.into());
    }
}

/// The hook of barriers.
pub extern "C" fn barrier(mut item: ItemRef<'_>, site: u32, flags: u32, scope: u32, iteration: u64) {
    let known = &item.program().barriers[site as usize];
    let (sub_group, grid) = (known.sub_group, known.grid);
    let flags = flags & !(OF_SUB_GROUP | OF_GRID);
    check_flags(&mut item, (site, iteration), sub_group, flags);
    if grid {
        grid_sync::wait(&mut item, (site, iteration));
        return;
    }
    let effect = Effect::Barrier { flags, scope };
    synchronise(&mut item, (site, iteration), sub_group, effect);
}

/// The hook of `wait_group_events`.
///
/// # Safety
/// A list that is passed lies in memory that the work-item may read.
pub unsafe extern "C" fn wait(mut item: ItemRef<'_>, site: u32, iteration: u64, events: *const u64, count: u64) {
    let list = match count {
        0 => Some(&[][..]),
        _ if events.is_null() => None,
        // SAFETY: the caller passes a list of this length.
        _ => Some(unsafe { std::slice::from_raw_parts(events, count as usize) }),
    };
    let slot = item.slot_mut();
    if slot.group_arrivals.count == 0 {
        slot.events.wait(list);
    } else if slot.group_arrivals.are_at((site, iteration))
        && let Some(what) = slot.events.list_difference(list)
    {
        item.note(FaultKind::EventLists, site, None, what as i64);
    }
    synchronise(&mut item, (site, iteration), false, Effect::Copied);
}

/// The hook of value exchanges: stores this work-item's value where all others find it, and waits for theirs.
///
/// # Safety
/// `value` has `bytes` readable bytes.
pub unsafe extern "C" fn exchange_values(
    mut item: ItemRef<'_>,
    site: u32,
    iteration: u64,
    value: *const u8,
    bytes: u64,
    kind: u32,
) -> *const u8 {
    let size = (bytes as usize).min(MAX_EXCHANGED_BYTES);
    if bytes as usize > MAX_EXCHANGED_BYTES {
        let what = || format!("work-items exchange values of {bytes} bytes");
        item.run_mut().internal_error.get_or_insert_with(what);
    }
    let repeats = kind & exchange::REPEATABLE != 0;
    let kind = usize::from(kind & exchange::OF_SUB_GROUP != 0);
    let turn = item.count_exchange(kind) as usize & 1;
    let index = item.index();
    let slot = item.slot_mut();
    let room = slot.items.len() * MAX_EXCHANGED_BYTES;
    let (start, own) = if kind == 0 {
        (turn * room, index as usize)
    } else {
        let first = slot.sub_group(slot.sub_group_of(index)).start;
        ((2 + turn) * room + first as usize * MAX_EXCHANGED_BYTES, (index - first) as usize)
    };
    // SAFETY: the values lie in the slot's own memory, which has room for the longest values of all work-items; the
    // caller passes `bytes` readable bytes.
    let values = unsafe {
        let values = slot.exchanged.as_mut_ptr().cast::<u8>().add(start);
        std::ptr::copy_nonoverlapping(value, values.add(own * size), size);
        values
    };
    synchronise(
        &mut item,
        (site, iteration),
        kind == 1,
        Effect::Exchanged { start, size, repeated: repeats.then_some(own) },
    );
    values
}

/// The hook of `async_work_group_copy` and its strided forms: the first work-item to arrive copies for all. All wait
/// until every work-item has arrived, but that orders no memory.
pub extern "C" fn async_copy(
    mut item: ItemRef<'_>,
    site: u32,
    iteration: u64,
    write_site: u32,
    destination: *mut u8,
    source: *mut u8,
    count: u64,
    element: u64,
    destination_stride: u64,
    source_stride: u64,
    event: u64,
) -> u64 {
    let slot = item.slot_mut();
    let events = &mut slot.events;
    let copying =
        [destination as u64, source as u64, count, element, destination_stride, source_stride, events.known(event)];
    if slot.group_arrivals.count == 0 {
        events.copy(copying);
        let strides = [destination_stride, source_stride];
        copy(&mut item, (site, write_site), destination, source, count, element, strides);
    } else if slot.group_arrivals.are_at((site, iteration))
        && let Some(argument) = events.copy_difference(copying)
    {
        item.note(FaultKind::CopyArguments, site, None, argument as i64);
    }
    let event = item.slot().events.current_event();
    synchronise(&mut item, (site, iteration), false, Effect::None);
    event
}

/// Copies what lies in bounds; a source out of bounds reads as zero, and a destination out of bounds is not written.
fn copy(
    item: &mut ItemRef<'_>,
    (site, write_site): (u32, u32),
    destination: *mut u8,
    source: *mut u8,
    count: u64,
    element: u64,
    strides: [u64; 2],
) {
    let (pieces, bytes) = if strides == [1, 1] { (1, count.saturating_mul(element)) } else { (count, element) };
    if bytes == 0 {
        return;
    }
    item.count_access();
    item.slot_mut().events.started(site);
    let mut first = None;
    let mut whole = true;
    for piece in 0..pieces {
        let at =
            |base: *mut u8, stride: u64| base.wrapping_add(piece.wrapping_mul(stride).wrapping_mul(element) as usize);
        let (to, from) = (at(destination, strides[0]), at(source, strides[1]));
        let read = lookup::check(item, from as u64, write_site + 1, bytes);
        let write = lookup::check(item, to as u64, write_site, bytes);
        // SAFETY: what is read and written has been found to be in bounds.
        unsafe {
            match (read.memory(from), write.memory(to)) {
                (Some(from), Some(to)) => std::ptr::copy(from, to, bytes as usize),
                (None, Some(to)) => std::ptr::write_bytes(to, 0, bytes as usize),
                (_, None) => {}
            }
        }
        whole &= !read.is_fault() && !write.is_fault();
        first = first.or(write.place().zip(read.place()));
        if !whole {
            // The pieces after it lie outside too; one fault is enough.
            break;
        }
    }
    let (true, Some((to, from))) = (whole, first) else { return };
    let slot = item.accessor().slot;
    let strided = |place, stride| Strided { place, count, element, stride };
    let (to, from) = (strided(to, strides[0]), strided(from, strides[1]));
    if let Some(observer) = item.run_mut().observer() {
        observer.copy(slot, to, from);
    }
    let event = item.slot().events.current_event();
    if item.shadow().is_some_and(|shadow| !shadow.async_copy(slot, write_site, (to, from), event)) {
        note_uninitialised(item, write_site + 1, from.place);
    }
}
