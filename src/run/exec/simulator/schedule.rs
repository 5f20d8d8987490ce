//! Schedules work-items: those of a group in the schedule's order, and further groups interleaved with the first if
//! work-items spin.
//!
//! While a fiber runs, its hooks change the state of the run, the slot and its work-items, so no reference to them may
//! exist then; the rest of the thread is the scheduler's alone.

use kassay_base::error::Result;

use super::exec_thread::ExecThread;
use super::fiber::{FiberState, Task};
use super::grid_sync::{self, Ended};
use super::launch::PreparedLaunch;
use super::observation::{Divergence, FaultKind, VARIOUS, Waiting};
use super::run_state::{FIRST_SLICE, RunPlan, RunState};
use super::warp_state::Stepping;
use super::work_group::{GroupSlot, Item, State};

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
    /// All wait for the other groups.
    AtGrid,
}

/// Runs `item` on the fiber of `task` until it has ended or left: returns the work-item that the fiber runs next,
/// or null.
///
/// # Safety
/// `item` has been started, and its slot and run are alive; the caller runs on the fiber of `task`.
unsafe fn run_item(task: *mut Task<Item>, item: *mut Item) -> *mut Item {
    // SAFETY: the caller guarantees that item, slot and run are alive; no reference to them exists while a fiber runs.
    unsafe {
        (*item).task = task;
        (*item).context.placed = (*task).private_mut().begin();
        ((*(*item).run).entry)(item.cast(), (*item).arguments);
        // The fiber may have been resumed in another run than the one that began it, so everything is read again.
        let (slot, run) = ((*item).slot, (*item).run);
        (*item).state = State::Finished;
        if (*item).context.leaves != 0 {
            return std::ptr::null_mut();
        }
        (*slot).finished += 1;
        (*slot).last = (*item).place;
        (*run).activity += 1;
        (*run).progressed = true;
        if (*run).step() {
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
        GroupSlot::start(next, (*run).fuel, FIRST_SLICE);
        (*next).fiber = (*item).fiber;
        next
    }
}

/// Runs groups until the plan has none left, or the run is over, and ends the run. The thread has begun it with
/// `prepared` and `plan`.
///
/// # Errors
/// `Environment` if there is not enough memory for stacks.
pub fn run(thread: &mut ExecThread, prepared: &PreparedLaunch, plan: &RunPlan) -> Result<()> {
    let done = run_all(thread, prepared, plan);
    if done.is_err() {
        end_all_groups(thread, prepared);
    }
    thread.state().end();
    done
}

fn run_all(thread: &mut ExecThread, prepared: &PreparedLaunch, plan: &RunPlan) -> Result<()> {
    let mut stalls = 0;
    let mut ended = Ended::default();
    let waits_for_grid = prepared.program.table().waits_for_grid();
    while waits_for_grid && begin_group(thread, prepared, plan)? {}
    loop {
        if thread.active.is_empty() && !begin_group(thread, prepared, plan)? {
            return Ok(());
        }
        let activity = thread.state().activity;
        let (mut index, mut at_grid) = (0, 0);
        while index < thread.active.len() {
            let number = thread.active[index];
            wake(thread.slot(number), State::Spinning);
            let end = run_slot(thread, number)?;
            if thread.state().over {
                end_all_groups(thread, prepared);
                return Ok(());
            }
            match end {
                GroupOutcome::Spinning | GroupOutcome::AtGrid => {
                    at_grid += usize::from(matches!(end, GroupOutcome::AtGrid));
                    index += 1;
                    continue;
                }
                GroupOutcome::Finished => {}
                GroupOutcome::Diverged => {
                    let divergence = divergence(thread.slot(number));
                    thread.state().seen.divergences.push(divergence);
                    abandon(thread, prepared, number);
                }
                GroupOutcome::Aborted => abandon(thread, prepared, number),
            }
            ended.add(thread.slot(number), matches!(end, GroupOutcome::Finished));
            thread.active.remove(index);
            release_slot(thread, number);
            thread.state().activity += 1;
        }
        if at_grid > 0 && at_grid == thread.active.len() {
            if let Err(divergence) = grid_sync::meet(thread, prepared, plan, &ended) {
                thread.state().seen.divergences.extend(divergence);
                end_all_groups(thread, prepared);
                return Ok(());
            }
            continue;
        }
        stalls = if thread.state().activity == activity { stalls + 1 } else { 0 };
        if stalls > 0 && !thread.active.is_empty() {
            let spinning = find_item(thread, State::Spinning).is_some();
            if (stalls > 1 || !spinning) && has_room(thread, prepared) && begin_group(thread, prepared, plan)? {
                stalls = 0;
            } else if !spinning {
                if !thread.state().progressed
                    && let Some((slot, item)) = find_item(thread, State::Exhausted)
                {
                    note_non_termination(thread, slot, item);
                    end_all_groups(thread, prepared);
                    return Ok(());
                }
                thread.state().progressed = false;
                for index in 0..thread.active.len() {
                    let number = thread.active[index];
                    wake(thread.slot(number), State::Exhausted);
                }
            }
        }
    }
}

/// Begins the next group in a free slot. Returns `false` if there is none, or no time.
fn begin_group(thread: &mut ExecThread, prepared: &PreparedLaunch, plan: &RunPlan) -> Result<bool> {
    thread.state().step();
    if thread.state().late {
        // Only the launch's size is to blame; groups that did not begin did not complete.
        thread.state().seen.completed &= plan.next_group(prepared.groups).is_none();
        return Ok(false);
    }
    let Some(group) = plan.next_group(prepared.groups) else { return Ok(false) };
    let number = thread.free_slot(prepared)?;
    thread.active.push(number);
    let (run, state) = (thread.run, thread.state.as_ptr());
    thread.slot(number).begin(state, group, prepared.group_id(group), &plan.options.schedule.item_order);
    let (state, slot) = thread.state_and_slot(number);
    state.begin_group(number, group)?;
    slot.fill_site_cache(run, &prepared.program.sites, state);
    slot.preemptions.extend(plan.options.schedule.preemptions.iter().filter(|p| p.group == group));
    Ok(true)
}

/// Frees the slot of a group that is over.
fn release_slot(thread: &mut ExecThread, number: u32) {
    thread.state().end_group(number);
    thread.free.push(number);
}

/// Returns whether one more group may be active.
fn has_room(thread: &ExecThread, prepared: &PreparedLaunch) -> bool {
    (thread.active.len() + 1) * prepared.items() as usize <= MAX_ACTIVE_ITEMS
}

/// Runs the work-items of a group until none can continue.
fn run_slot(thread: &mut ExecThread, number: u32) -> Result<GroupOutcome> {
    let (own, state) = (thread.slots[number as usize].as_ptr(), thread.state.as_ptr());
    loop {
        // SAFETY: the slot is this thread's; the reference ends before a fiber runs.
        let slot = unsafe { &mut *own };
        if slot.over {
            return Ok(GroupOutcome::Aborted);
        }
        if slot.finished == slot.count {
            // SAFETY: as of the slot.
            unsafe {
                (*state).seen.was_apart |= slot.was_apart();
                note_unawaited_copies(&mut *state, slot);
            }
            return Ok(GroupOutcome::Finished);
        }
        let Some(index) = slot.pick() else {
            if slot.waits_for_grid() {
                return Ok(GroupOutcome::AtGrid);
            }
            if slot.finished > 0 && (slot.wake_last() || slot.wake_warp()) {
                continue;
            }
            // SAFETY: as of the slot.
            if unsafe { make_step(&mut *state, slot) } {
                continue;
            }
            if let Some(apart) = slot.answer_active() {
                // SAFETY: as of the slot.
                unsafe { (*state).seen.was_apart |= apart };
                continue;
            }
            let spins = slot.current_items().iter().any(|i| matches!(i.state, State::Spinning | State::Exhausted));
            return Ok(if spins { GroupOutcome::Spinning } else { GroupOutcome::Diverged });
        };
        let item = slot.item(index);
        // SAFETY: slot, state and work-item are this thread's, and used by none else before and after a fiber runs.
        // `resume` gets a work-item that has a fiber.
        unsafe {
            if (*item).state == State::Fresh {
                let fiber = thread.idle_fiber(run_item)?;
                GroupSlot::start(item, (*state).fuel, FIRST_SLICE);
                (*item).fiber = fiber;
            }
            if resume(thread, item) == FiberState::Idle {
                (*own).cursor = (*own).last + 1;
            }
            if (*state).over {
                return Ok(GroupOutcome::Aborted);
            }
        }
    }
}

/// Records the asynchronous copies that a group has not waited for when all its work-items have ended. OpenCL leaves
/// open what such a kernel does (OpenCL C 3.0, 6.15.11).
fn note_unawaited_copies(run: &mut RunState, slot: &GroupSlot) {
    for site in slot.events.unawaited() {
        run.faults.note(slot.ids(0), FaultKind::UnawaitedCopy, site, None, 0);
    }
}

/// Lets work-items of a warp make their next access, if they wait to make it together.
fn make_step(run: &mut RunState, slot: &mut GroupSlot) -> bool {
    // SAFETY: the plan lives until the run ends.
    let Some(lanes) = (unsafe { (*run.plan_ptr()).options.lockstep }) else { return false };
    let Some(stepping) = slot.make_step(lanes) else { return false };
    let before = slot.last_step.replace(stepping);
    run.activity += 1;
    if let Some(shadow) = run.shadow() {
        // Who made the step before may have gone another way since.
        for step in before.into_iter().chain([stepping]) {
            shadow.items_barrier(slot.number, step.first, step.lanes, Stepping::FLAGS);
        }
    }
    true
}

/// Runs a work-item until it waits or its fiber has nothing left to run.
///
/// # Safety
/// `item` belongs to a slot of this thread whose group has begun, and has the fiber on which it was started or
/// suspended.
#[inline]
unsafe fn resume(thread: &mut ExecThread, item: *mut Item) -> FiberState {
    // SAFETY: as the caller guarantees; while the fiber runs, `thread` is only borrowed for the fiber itself, which
    // hooks do not touch.
    let (number, state) = unsafe {
        let number = (*item).fiber;
        (number, thread.fibers[number as usize].run(item))
    };
    if state == FiberState::Idle {
        thread.idle.push(number);
    }
    state
}

/// Makes work-items in this state ready.
fn wake(slot: &mut GroupSlot, state: State) {
    let count = slot.count as usize;
    for item in slot.items[..count].iter_mut().filter(|i| i.state == state) {
        item.state = State::Ready;
    }
}

/// Finds a work-item of an active group in this state: the number of the slot and its local linear id.
fn find_item(thread: &mut ExecThread, state: State) -> Option<(u32, u32)> {
    (0..thread.active.len()).find_map(|index| {
        let number = thread.active[index];
        let item = thread.slot(number).current_items().iter().find(|i| i.state == state)?;
        Some((number, item.index))
    })
}

/// Records that the loop in which a work-item is does not end.
fn note_non_termination(thread: &mut ExecThread, slot: u32, item: u32) {
    let slot = thread.slot(slot);
    let (ids, at) = (slot.ids(item), slot.items[item as usize].at);
    thread.state().faults.note(ids, FaultKind::NonTermination, at.0, None, 0);
}

/// Ends all groups.
fn end_all_groups(thread: &mut ExecThread, prepared: &PreparedLaunch) {
    while let Some(number) = thread.active.pop() {
        abandon(thread, prepared, number);
        release_slot(thread, number);
    }
    thread.state().over = true;
    thread.state().seen.completed = false;
}

/// Ends a group whose work-items have not all finished. Those that wait or spin first run the code that the kernel has
/// for leaving.
fn abandon(thread: &mut ExecThread, prepared: &PreparedLaunch, slot: u32) {
    thread.state().seen.completed = false;
    let can_leave = prepared.program.table().leaves;
    for index in 0..thread.slot(slot).count {
        let item = &mut thread.slot(slot).items[index as usize];
        let (state, number) = (item.state, item.fiber);
        if matches!(state, State::Fresh | State::Finished) {
            continue;
        }
        let item = thread.slot(slot).item(index);
        // A fiber that returned idle is already in the list of idle ones.
        if !std::ptr::eq(thread.fibers[number as usize].item(), item) {
            continue;
        }
        // Other work-items were stopped at an access, and would continue with it.
        let at_hook = matches!(state, State::Waiting | State::Spinning | State::Exhausted | State::Late);
        if can_leave && at_hook {
            thread.slot(slot).items[index as usize].context.leaves = 1;
            // SAFETY: the work-item is suspended on its fiber.
            if unsafe { resume(thread, item) } == FiberState::Idle {
                continue;
            }
        }
        thread.fibers[number as usize].abandon();
        thread.idle.push(number);
    }
}

/// The most places at which work-items wait that are told apart by the masks that they pass.
const MOST_WAITING: usize = 4;

/// Work-items by where they wait alone, whatever masks they pass.
fn without_masks(waiting: Vec<Waiting>) -> Vec<Waiting> {
    let mut merged: Vec<Waiting> = Vec::new();
    for one in waiting {
        match merged.iter_mut().find(|w| (w.barrier, w.iteration) == (one.barrier, one.iteration)) {
            Some(known) => {
                known.items += one.items;
                known.mask = known.mask.filter(|mask| Some(*mask) == one.mask).or(known.mask.and(Some(VARIOUS)));
            }
            None => merged.push(one),
        }
    }
    merged
}

/// Describes which work-items wait where, and which have ended.
fn divergence(slot: &GroupSlot) -> Divergence {
    let mut waiting: Vec<Waiting> = Vec::new();
    let (mut finished, mut finished_item) = (0, None);
    for item in slot.current_items() {
        if item.state == State::Finished {
            finished += 1;
            finished_item.get_or_insert(item.context.global_id);
            continue;
        }
        let (barrier, iteration) = item.at;
        let mask = item.warp.waits.then_some(item.warp.mask);
        match waiting.iter_mut().find(|w| (w.barrier, w.iteration, w.mask) == (barrier, iteration, mask)) {
            Some(known) => known.items += 1,
            None => waiting.push(Waiting { barrier, iteration, mask, item: item.context.global_id, items: 1 }),
        }
    }
    let mut waiting = if waiting.len() > MOST_WAITING { without_masks(waiting) } else { waiting };
    waiting.sort_by_key(|w| std::cmp::Reverse(w.items));
    Divergence { is_of_grid: false, group_id: slot.context.group_id, waiting, finished, finished_item }
}
