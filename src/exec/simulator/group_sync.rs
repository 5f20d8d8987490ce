//! Synchronises the work-items of a group: barriers, exchanges of values, asynchronous copies.

use super::exec_thread::ExecThread;
use super::fiber::Task;
use super::hooks::{self, AccessCheck};
use super::observation::FaultKind;
use super::shadow::{Place, Strided};
use super::work_group::{GroupSlot, Item, MAX_EXCHANGED_BYTES, State, SyncPoint};
use crate::lower::host::abi::{OF_SUB_GROUP, SUB_GROUP};

/// Suspends the running work-item; its state says why.
///
/// # Safety
/// Must be called from a hook of `item` that owns nothing at that point.
pub unsafe fn suspend(item: *mut Item) {
    // SAFETY: the caller runs on the fiber of `item`, whose task is alive, and has nothing to clean up.
    unsafe { Task::suspend((*item).task) };
}

/// The effect on memory once all have arrived.
#[derive(Debug, Clone, Copy)]
enum Effect {
    None,
    /// As `cl_mem_fence_flags` and `memory_scope` specify.
    Barrier {
        flags: u32,
        scope: u32,
    },
    /// Asynchronous copies have completed.
    Copied,
}

/// Waits until all work-items of the group, or sub-group, have arrived. Memory is ordered before they continue.
///
/// # Safety
/// As for [`suspend`].
unsafe fn synchronise(item: *mut Item, at: SyncPoint, sub_group: bool, effect: Effect) {
    // SAFETY: the item's slot and thread are alive while it runs, and no reference to them exists meanwhile.
    unsafe {
        let (slot, thread) = ((*item).slot, (*item).thread);
        (*item).at = at;
        (&mut (*thread).reached)[at.0 as usize] = true;
        let number = (*item).index / SUB_GROUP as u32;
        let members = if sub_group { (*slot).sub_group(number) } else { 0..(*slot).count };
        let arrivals =
            if sub_group { &mut (&mut (*slot).sub_arrivals)[number as usize] } else { &mut (*slot).group_arrivals };
        arrivals.add(at);
        let all = arrivals.count == members.len() as u32 && !arrivals.mixed;
        let over = (*thread).step();
        if !all || over {
            (*item).state = State::Waiting;
            (*slot).cursor = (*item).place + 1;
            suspend(item);
            return;
        }
        *arrivals = Default::default();
        if (*thread).races {
            order_memory(thread, slot, at.0, sub_group.then_some(number), effect);
        }
        let mut first = (*item).place;
        for member in &mut (&mut (*slot).items)[members.start as usize..members.end as usize] {
            member.state = State::Ready;
            first = first.min(member.place);
            // A work-item whose fuel is used up makes no progress by synchronising again and again.
            (*thread).progressed |= !member.spent;
        }
        (*thread).activity += 1;
        if first < (*item).place {
            (*slot).cursor = first;
            suspend(item);
        }
    }
}

/// Informs the race detector, unless the run ignores the barrier.
unsafe fn order_memory(
    thread: *mut ExecThread,
    slot: *mut GroupSlot,
    site: u32,
    sub_group: Option<u32>,
    effect: Effect,
) {
    // SAFETY: as in `synchronise`: slot and thread are alive, and no reference to them exists meanwhile.
    unsafe {
        let source = (&(*(*thread).program).barriers)[site as usize].source as usize;
        let plan = &*(*thread).plan;
        if plan.ignored.get(source).copied().unwrap_or(false) {
            return;
        }
        let (shadow, slot) = (&mut *(*thread).shadow, (*slot).number);
        match (effect, sub_group) {
            (Effect::None, _) => {}
            (Effect::Barrier { flags, scope }, None) => shadow.barrier(slot, flags, scope),
            (Effect::Barrier { flags, .. }, Some(number)) => shadow.sub_group_barrier(slot, number, flags),
            (Effect::Copied, _) => shadow.wait(slot),
        }
    }
}

/// The hook of barriers.
pub unsafe extern "C" fn barrier(item: *mut Item, site: u32, flags: u32, scope: u32, iteration: u64) {
    // SAFETY: compiled code passes its own work-item and a site of its table.
    unsafe {
        let sub_group = (&(*(*(*item).thread).program).barriers)[site as usize].sub_group;
        synchronise(item, (site, iteration), sub_group, Effect::Barrier { flags: flags & !OF_SUB_GROUP, scope });
    }
}

/// The hook of `wait_group_events`.
pub unsafe extern "C" fn wait(item: *mut Item, site: u32, iteration: u64, events: *const u64, count: u64) {
    // SAFETY: compiled code passes its own work-item and a site of its table; a list that is passed lies in memory that
    // the work-item may read.
    unsafe {
        let slot = (*item).slot;
        let list = match count {
            0 => Some(&[][..]),
            _ if events.is_null() => None,
            _ => Some(std::slice::from_raw_parts(events, count as usize)),
        };
        if (*slot).group_arrivals.count == 0 {
            (*slot).events.wait(list);
        } else if (*slot).group_arrivals.are_at((site, iteration))
            && let Some(what) = (*slot).events.list_difference(list)
        {
            (*(*item).thread).faults.note(item, FaultKind::EventLists, site, None, what as i64);
        }
        synchronise(item, (site, iteration), false, Effect::Copied);
    }
}

/// The hook of value exchanges: stores this work-item's value where all others find it, and waits for theirs.
pub unsafe extern "C" fn exchange(
    item: *mut Item,
    site: u32,
    iteration: u64,
    value: *const u8,
    bytes: u64,
    sub_group: u32,
) -> *const u8 {
    // SAFETY: compiled code passes its own work-item and a readable value; the values lie in the slot's own memory,
    // which has room for the longest values of all work-items.
    unsafe {
        let slot = (*item).slot;
        let size = (bytes as usize).min(MAX_EXCHANGED_BYTES);
        if bytes as usize > MAX_EXCHANGED_BYTES {
            (*(*item).thread)
                .internal_error
                .get_or_insert_with(|| format!("work-items exchange values of {bytes} bytes"));
        }
        let kind = usize::from(sub_group != 0);
        let turn = (*item).exchanges[kind] as usize & 1;
        (*item).exchanges[kind] += 1;
        let room = (*slot).items.len() * MAX_EXCHANGED_BYTES;
        let (start, own) = if kind == 0 {
            (turn * room, (*item).index as usize)
        } else {
            let number = (*item).index / SUB_GROUP as u32;
            let first = (*slot).sub_group(number).start;
            ((2 + turn) * room + first as usize * MAX_EXCHANGED_BYTES, ((*item).index - first) as usize)
        };
        let values = (*slot).exchanged.as_mut_ptr().add(start);
        std::ptr::copy_nonoverlapping(value, values.add(own * size), size);
        synchronise(item, (site, iteration), kind == 1, Effect::None);
        values
    }
}

/// The hook of `async_work_group_copy` and its strided forms: the first work-item to arrive copies for all. All wait
/// until every work-item has arrived, but that orders no memory.
pub unsafe extern "C" fn async_copy(
    item: *mut Item,
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
    // SAFETY: compiled code passes its own work-item and sites of its table; the memory to be copied is checked first.
    unsafe {
        let slot = (*item).slot;
        let events = &mut (*slot).events;
        let copying =
            [destination as u64, source as u64, count, element, destination_stride, source_stride, events.known(event)];
        if (*slot).group_arrivals.count == 0 {
            events.copy(copying);
            let strides = [destination_stride, source_stride];
            copy(item, write_site, destination, source, count, element, strides);
        } else if (*slot).group_arrivals.are_at((site, iteration))
            && let Some(argument) = events.copy_difference(copying)
        {
            (*(*item).thread).faults.note(item, FaultKind::CopyArguments, site, None, argument as i64);
        }
        let event = (*slot).events.current_event();
        synchronise(item, (site, iteration), false, Effect::None);
        event
    }
}

/// Copies what lies in bounds; a source out of bounds reads as zero, and a destination out of bounds is not written.
unsafe fn copy(
    item: *mut Item,
    write_site: u32,
    destination: *mut u8,
    source: *mut u8,
    count: u64,
    element: u64,
    strides: [u64; 2],
) {
    // SAFETY: as in `async_copy`; each piece is checked before it is accessed.
    unsafe {
        let thread = (*item).thread;
        let (pieces, bytes) = if strides == [1, 1] { (1, count.saturating_mul(element)) } else { (count, element) };
        if bytes == 0 {
            return;
        }
        let number = (*item).accesses;
        (*item).accesses = number + 1;
        let mut first = None;
        let mut whole = true;
        for piece in 0..pieces {
            let at = |base: *mut u8, stride: u64| {
                base.wrapping_add(piece.wrapping_mul(stride).wrapping_mul(element) as usize)
            };
            let (to, from) = (at(destination, strides[0]), at(source, strides[1]));
            let (read, from_place) = hooks::check_place(item, from, write_site + 1, bytes);
            let (write, to_place) = hooks::check_place(item, to, write_site, bytes);
            match (read, write) {
                (AccessCheck::Good, AccessCheck::Good) => std::ptr::copy(from, to, bytes as usize),
                (AccessCheck::Bad, AccessCheck::Good) => std::ptr::write_bytes(to, 0, bytes as usize),
                (_, AccessCheck::Bad) => {}
            }
            whole &= read == AccessCheck::Good && write == AccessCheck::Good;
            first = first.or(to_place.zip(from_place));
            if !whole {
                // The pieces after it lie outside too; one fault is enough.
                break;
            }
        }
        if let (true, true, Some((to, from))) = ((*thread).races, whole, first) {
            let strided = |place, stride| Strided { place, count, element, stride };
            let (to, from) = (strided(to, strides[0]), strided(from, strides[1]));
            if !(*(*thread).shadow).async_copy((*item).slot_number, write_site, to, from) {
                let Place { object, offset } = from.place;
                let kind = FaultKind::Uninitialised;
                (*thread).faults.note(item, kind, write_site + 1, Some(object), offset as i64);
            }
        }
    }
}

/// Interrupts a work-item before an access.
///
/// # Safety
/// As for [`suspend`].
#[cold]
pub unsafe fn preempt(item: *mut Item, number: u64) {
    // SAFETY: as in `synchronise`: slot and thread are alive, and no reference to them exists meanwhile.
    unsafe {
        let slot: *mut GroupSlot = (*item).slot;
        let index = u64::from((*item).index);
        let to = (*slot).preemptions.iter().find(|p| p.item == index && p.access == number).and_then(|p| p.to);
        (*item).stop_at = (*slot).next_stop((*item).index, number + 1);
        (*item).state = State::Ready;
        (*slot).cursor = (*item).place + 1;
        (*slot).jump = to.and_then(|to| u32::try_from(to).ok());
        suspend(item);
    }
}
