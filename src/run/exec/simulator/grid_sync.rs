//! Barriers of all groups of a launch (`grid_group::sync` of CUDA's cooperative groups). A kernel that has one runs
//! with all its groups active from the beginning. They go on once every work-item of the launch has arrived at the same
//! barrier, in the same iterations. CUDA wants all threads of the grid there, so one that has returned is missed.

use super::exec_thread::ExecThread;
use super::item_ref::ItemRef;
use super::launch::PreparedLaunch;
use super::observation::{Divergence, Waiting};
use super::run_state::RunPlan;
use super::work_group::{GroupSlot, State, SyncPoint};

/// The groups of a launch that are no longer active.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ended {
    pub groups: u64,
    /// How many work-items have come to their ends, and the global id of one.
    items: u64,
    item: Option<[u64; 3]>,
    /// Whether one was ended for what it did, so that nothing more is to be said of those that wait for it.
    is_broken: bool,
}

impl Ended {
    /// Adds a group all of whose work-items have come to their ends, or one that was ended.
    pub fn add(&mut self, slot: &GroupSlot, is_finished: bool) {
        self.groups += 1;
        self.is_broken |= !is_finished;
        self.items += u64::from(slot.count);
        self.item = self.item.or_else(|| Some(slot.current_items().first()?.context.global_id));
    }
}

/// Waits for all work-items of the launch: the scheduler wakes them together.
pub fn wait(item: &mut ItemRef<'_>, at: SyncPoint) {
    item.arrive_at(at);
    let (run, slot) = item.run_and_slot_mut();
    run.reached[at.0 as usize] = true;
    run.step();
    run.activity += 1;
    slot.group_arrivals.add(at);
    slot.group_arrivals.of_grid = true;
    let before = slot.group_arrivals.meetings;
    loop {
        item.suspend_as(State::Waiting);
        if item.slot().group_arrivals.meetings != before || item.leaves() {
            return;
        }
    }
}

impl GroupSlot {
    /// Whether every work-item of the group waits for the other groups, at one point.
    pub fn waits_for_grid(&self) -> bool {
        self.group_arrivals.of_grid && self.group_arrivals.are_all(self.count)
    }
}

/// Lets all groups go on if they wait for each other, at the same point. Otherwise returns that they wait in vain,
/// unless something else is to blame.
///
/// # Errors
/// The divergence, if there is one to report. All active groups wait.
pub fn meet(
    thread: &mut ExecThread,
    prepared: &PreparedLaunch,
    plan: &RunPlan,
    ended: &Ended,
) -> Result<(), Option<Divergence>> {
    let active = thread.active.clone();
    let points: Vec<SyncPoint> = active.iter().map(|number| thread.slot(*number).group_arrivals.point()).collect();
    let is_same = points.windows(2).all(|pair| pair[0] == pair[1]);
    let (true, Some(point)) = (is_same && active.len() as u64 == prepared.groups, points.first()) else {
        let is_whole = active.len() as u64 + ended.groups == prepared.groups;
        return Err((is_whole && !ended.is_broken).then(|| divergence(thread, &active, ended)));
    };
    let flags = active.iter().fold(u32::MAX, |flags, number| flags & thread.slot(*number).group_arrivals.flags);
    for number in &active {
        let (run, slot) = thread.state_and_slot(*number);
        slot.group_arrivals.release();
        slot.cursor = 0;
        let count = slot.count as usize;
        for item in &mut slot.items[..count] {
            item.state = State::Ready;
            run.progressed |= !item.spent;
        }
        if let Some(observer) = run.observer() {
            observer.barrier(*number, flags);
        }
    }
    let run = thread.state();
    run.activity += 1;
    let source = prepared.program.barriers.get(point.0 as usize).map_or(0, |barrier| barrier.source as usize);
    if !plan.ignored.get(source).copied().unwrap_or(false)
        && let Some(shadow) = run.shadow()
    {
        shadow.grid_barrier(&active, flags);
    }
    Ok(())
}

/// Describes which work-items of the launch wait where, and which have ended.
fn divergence(thread: &mut ExecThread, active: &[u32], ended: &Ended) -> Divergence {
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut group_id = [0; 3];
    for (place, number) in active.iter().enumerate() {
        let slot = thread.slot(*number);
        if place == 0 {
            group_id = slot.context.group_id;
        }
        let (barrier, iteration) = slot.group_arrivals.point();
        let items = u64::from(slot.count);
        let item = slot.current_items().first().map_or([0; 3], |item| item.context.global_id);
        match waiting.iter_mut().find(|w| (w.barrier, w.iteration) == (barrier, iteration)) {
            Some(known) => known.items += items,
            None => waiting.push(Waiting { barrier, iteration, mask: None, item, items }),
        }
    }
    waiting.sort_by_key(|w| std::cmp::Reverse(w.items));
    Divergence { is_of_grid: true, group_id, waiting, finished: ended.items, finished_item: ended.item }
}
