//! Schedules work-items: those of a group in the schedule's order, and further groups interleaved with the first if
//! work-items spin.
//!
//! Everything here works on raw pointers: while a fiber runs, its hooks change the thread, the slot and the work-items,
//! so no reference to them may exist then.

use super::access_cache;
use super::exec_thread::ExecThread;
use super::fiber::FiberState;
use super::launch::PreparedLaunch;
use super::observation::{Divergence, FaultKind, Waiting};
use super::work_group::{GroupSlot, Item, State};
use crate::error::Result;

/// Loop iterations of a work-item before others get a turn, the first time and later.
pub const FIRST_SLICE: u64 = 1 << 16;
pub const SLICE: u64 = 1 << 13;

/// The maximum number of work-items in all groups that are active at a time: each may take a stack.
const MAX_ACTIVE_ITEMS: usize = 8192;

/// Why no work-item of a group can run.
enum GroupOutcome {
    Finished,
    /// They wait for each other in vain.
    Diverged,
    /// The group was ended.
    Aborted,
    /// Some spin or wait for others to change memory.
    Spinning,
}

/// Called after `item` has ended or left: returns the work-item that its fiber runs next, or null.
///
/// # Safety
/// `item` is the running work-item.
pub unsafe fn next_on_fiber(item: *mut Item) -> *mut Item {
    // SAFETY: the slot lives as long as its work-items, and no reference to it exists while a fiber runs.
    unsafe {
        let (slot, thread) = ((*item).slot, (*item).thread);
        (*item).state = State::Finished;
        if (*item).context.leaves != 0 {
            return std::ptr::null_mut();
        }
        (*slot).finished += 1;
        (*slot).last = (*item).place;
        (*thread).activity += 1;
        (*thread).progressed = true;
        if (*thread).step() {
            return std::ptr::null_mut();
        }
        let place = (*item).place as usize + 1;
        if place >= (*slot).count as usize {
            return std::ptr::null_mut();
        }
        let order = &(*slot).order;
        let next = (*slot).items.as_mut_ptr().add(order[place] as usize);
        if (*next).state != State::Fresh {
            return std::ptr::null_mut();
        }
        GroupSlot::start(next, (*thread).fuel, FIRST_SLICE);
        (*next).fiber = (*item).fiber;
        next
    }
}

/// Runs groups until the plan has none left, or the run is over.
///
/// # Errors
/// `Environment` if there is not enough memory for stacks.
///
/// # Safety
/// `thread` has begun a run, and nothing else uses it.
pub unsafe fn run(thread: *mut ExecThread) -> Result<()> {
    // SAFETY: the caller guarantees that `thread` has begun a run and is not used by anything else.
    unsafe {
        let done = run_all(thread);
        if done.is_err() {
            end_all_groups(thread);
        }
        done
    }
}

unsafe fn run_all(thread: *mut ExecThread) -> Result<()> {
    // SAFETY: `run` has exclusive use of the thread, and no reference outlives a statement that runs a fiber.
    unsafe {
        let prepared = &*(*thread).prepared;
        let mut stalls = 0;
        loop {
            if (*thread).active.is_empty() && !begin_group(thread, prepared)? {
                return Ok(());
            }
            let activity = (*thread).activity;
            let mut index = 0;
            while index < (*thread).active.len() {
                let number = (&(*thread).active)[index];
                let slot = &raw mut *(&mut (*thread).slots)[number as usize];
                wake(slot, State::Spinning);
                let end = run_slot(thread, slot)?;
                if (*thread).over {
                    end_all_groups(thread);
                    return Ok(());
                }
                match end {
                    GroupOutcome::Spinning => {
                        index += 1;
                        continue;
                    }
                    GroupOutcome::Finished => {}
                    GroupOutcome::Diverged => {
                        let divergence = divergence(&*slot);
                        (*thread).divergences.push(divergence);
                        abandon(thread, slot);
                    }
                    GroupOutcome::Aborted => abandon(thread, slot),
                }
                (*thread).active.remove(index);
                release_slot(thread, number);
                (*thread).activity += 1;
            }
            stalls = if (*thread).activity == activity { stalls + 1 } else { 0 };
            if stalls > 0 && !(*thread).active.is_empty() {
                let spinning = find_item(thread, State::Spinning).is_some();
                if (stalls > 1 || !spinning) && has_room(thread, prepared) && begin_group(thread, prepared)? {
                    stalls = 0;
                } else if !spinning {
                    if let Some(item) = find_item(thread, State::Exhausted).filter(|_| !(*thread).progressed) {
                        note_non_termination(thread, item);
                        end_all_groups(thread);
                        return Ok(());
                    }
                    (*thread).progressed = false;
                    for index in 0..(*thread).active.len() {
                        let number = (&(*thread).active)[index];
                        wake(&raw mut *(&mut (*thread).slots)[number as usize], State::Exhausted);
                    }
                }
            }
        }
    }
}

/// Begins the next group in a free slot. Returns `false` if there is none, or no time.
unsafe fn begin_group(thread: *mut ExecThread, prepared: &PreparedLaunch) -> Result<bool> {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe {
        let plan = &*(*thread).plan;
        (*thread).step();
        if (*thread).late {
            // Only the launch's size is to blame; groups that did not begin did not complete.
            (*thread).incomplete |= plan.next_group(prepared.groups).is_some();
            return Ok(false);
        }
        let Some(group) = plan.next_group(prepared.groups) else { return Ok(false) };
        let number = (*thread).free_slot()?;
        (*thread).active.push(number);
        let slot = &mut *(&mut (*thread).slots)[number as usize];
        slot.begin(thread, group, prepared.group_id(group), &plan.item_order);
        if (*thread).races {
            (*(*thread).shadow).begin_group(number, group)?;
        }
        access_cache::prepare(thread, slot);
        if !plan.preemptions.is_empty() {
            slot.preemptions.extend(plan.preemptions.iter().filter(|p| p.group == group));
        }
        Ok(true)
    }
}

/// Frees the slot of a group that is over.
unsafe fn release_slot(thread: *mut ExecThread, number: u32) {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe {
        if (*thread).races {
            (*(*thread).shadow).end_group(number);
        }
        (*thread).free.push(number);
    }
}

/// Returns whether one more group may be active.
unsafe fn has_room(thread: *mut ExecThread, prepared: &PreparedLaunch) -> bool {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe { ((*thread).active.len() + 1) * prepared.items() as usize <= MAX_ACTIVE_ITEMS }
}

/// Runs the work-items of a group until none can continue.
unsafe fn run_slot(thread: *mut ExecThread, slot: *mut GroupSlot) -> Result<GroupOutcome> {
    // SAFETY: `run` has exclusive use of the thread; references end before a fiber runs.
    unsafe {
        loop {
            if (*slot).over {
                return Ok(GroupOutcome::Aborted);
            }
            if (*slot).finished == (*slot).count {
                return Ok(GroupOutcome::Finished);
            }
            let Some(index) = (*slot).pick() else {
                let items = &(&(*slot).items)[..(*slot).count as usize];
                let spins = items.iter().any(|i| matches!(i.state, State::Spinning | State::Exhausted));
                return Ok(if spins { GroupOutcome::Spinning } else { GroupOutcome::Diverged });
            };
            let item = (*slot).items.as_mut_ptr().add(index as usize);
            if (*item).state == State::Fresh {
                let fiber = (*thread).idle_fiber()?;
                GroupSlot::start(item, (*thread).fuel, FIRST_SLICE);
                (*item).fiber = fiber;
            }
            let number = (*item).fiber;
            let Some(entry) = (*thread).entry else { return Ok(GroupOutcome::Aborted) };
            let fiber = (*thread).fibers.as_mut_ptr().add(number as usize);
            if (*fiber).run(item, entry) == FiberState::Idle {
                (*slot).cursor = (*slot).last + 1;
                (*thread).idle.push(number);
            }
            if (*thread).over {
                return Ok(GroupOutcome::Aborted);
            }
        }
    }
}

/// Makes work-items in this state ready.
unsafe fn wake(slot: *mut GroupSlot, state: State) {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe {
        let count = (*slot).count as usize;
        for item in (&mut (*slot).items)[..count].iter_mut().filter(|i| i.state == state) {
            item.state = State::Ready;
        }
    }
}

/// Finds a work-item of an active group in this state.
unsafe fn find_item(thread: *mut ExecThread, state: State) -> Option<*const Item> {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe {
        (*thread).active.iter().find_map(|number| {
            let slot = &(&(*thread).slots)[*number as usize];
            slot.items[..slot.count as usize].iter().find(|i| i.state == state).map(std::ptr::from_ref)
        })
    }
}

/// Records that the loop in which a work-item is does not end.
unsafe fn note_non_termination(thread: *mut ExecThread, item: *const Item) {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs, and `item` belongs to an active group.
    unsafe { (*thread).faults.note(item, FaultKind::NonTermination, (*item).at.0, None, 0) };
}

/// Ends all groups.
unsafe fn end_all_groups(thread: *mut ExecThread) {
    // SAFETY: `run` has exclusive use of the thread; no fiber runs.
    unsafe {
        while let Some(number) = (*thread).active.pop() {
            abandon(thread, &raw mut *(&mut (*thread).slots)[number as usize]);
            release_slot(thread, number);
        }
        (*thread).over = true;
        (*thread).incomplete = true;
    }
}

/// Ends a group whose work-items have not all finished. Those that wait or spin first run the code that the kernel has
/// for leaving.
unsafe fn abandon(thread: *mut ExecThread, slot: *mut GroupSlot) {
    // SAFETY: `run` has exclusive use of the thread; the only fibers that run are those of work-items that leave, one
    // after the other.
    unsafe {
        (*thread).incomplete = true;
        let can_leave = (*(*thread).program).table().leaves;
        for index in 0..(*slot).count as usize {
            let item = (*slot).items.as_mut_ptr().add(index);
            let state = (*item).state;
            if matches!(state, State::Fresh | State::Finished) {
                continue;
            }
            let number = (*item).fiber;
            let fiber = (*thread).fibers.as_mut_ptr().add(number as usize);
            // A fiber that returned idle is already in the list of idle ones.
            if !std::ptr::eq((*fiber).item(), item) {
                continue;
            }
            // Other work-items were stopped at an access, and would continue with it.
            let at_hook = matches!(state, State::Waiting | State::Spinning | State::Exhausted | State::Late);
            let left = match (*thread).entry.filter(|_| can_leave && at_hook) {
                Some(entry) => {
                    (*item).context.leaves = 1;
                    (*fiber).run(item, entry) == FiberState::Idle
                }
                None => false,
            };
            if !left {
                (*fiber).abandon();
            }
            (*thread).idle.push(number);
        }
    }
}

/// Describes which work-items wait where, and which have ended.
fn divergence(slot: &GroupSlot) -> Divergence {
    let mut waiting: Vec<Waiting> = Vec::new();
    let (mut finished, mut finished_item) = (0, None);
    for item in &slot.items[..slot.count as usize] {
        if item.state == State::Finished {
            finished += 1;
            finished_item.get_or_insert(item.context.global_id);
            continue;
        }
        let (barrier, iteration) = item.at;
        match waiting.iter_mut().find(|w| w.barrier == barrier && w.iteration == iteration) {
            Some(known) => known.items += 1,
            None => waiting.push(Waiting { barrier, iteration, item: item.context.global_id, items: 1 }),
        }
    }
    waiting.sort_by_key(|w| std::cmp::Reverse(w.items));
    Divergence { group_id: slot.context.group_id, waiting, finished, finished_item }
}
