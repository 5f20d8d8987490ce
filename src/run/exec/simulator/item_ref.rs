//! The running work-item, as hooks see it.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

use super::access_cache::CachedSite;
use super::fault_log::ItemIds;
use super::fiber::Task;
use super::launch::PreparedLaunch;
use super::observation::FaultKind;
use super::private_memory::PrivateMemory;
use super::program::{Program, Site};
use super::run_state::{RunPlan, RunState, SLICE};
use super::shadow::{Accessor, Shadow};
use super::work_group::{GroupSlot, Item, State, SyncPoint};

/// The running work-item. Compiled code passes it to hooks: it is the pointer to its context that the code was given.
///
/// What a hook may touch hangs from its work-item by raw pointers: the slot of its group, the state of the run, and
/// from that the launch, the plan, the program and the race detector. Its methods are safe for these reasons.
///
/// - **Origin.** Nothing but compiled code makes a value of this type, and none is copied. So it is the work-item that
///   `schedule` has started on this fiber, and the code between is that of the run's program.
/// - **Alive.** `schedule` returns only after every fiber with a work-item of the run has become idle or was abandoned.
///   Until then its caller keeps all of the above alive, also while the work-item is suspended. An abandoned fiber
///   never continues, so that references left on its stack are never used again.
/// - **Unchanged.** Launch, plan and program do not change during the run `'run`, so references to them may be held
///   across a suspension.
/// - **Exclusive.** A thread runs one fiber at a time, and neither `schedule` nor compiled code holds a reference to
///   the work-item, the slot, the state or the race detector meanwhile. So a hook may have `&mut` to them until it
///   returns or suspends the work-item. That it does not have them longer, or twice, is checked by the compiler:
///   methods borrow them from the handle, of which there is one, and suspending takes the handle by `&mut`.
/// - **Owning nothing.** A suspended hook may never continue: what it owns then is leaked.
#[repr(transparent)]
pub struct ItemRef<'run> {
    item: NonNull<Item>,
    run: PhantomData<(&'run PreparedLaunch, &'run RunPlan, &'run Program)>,
}

impl<'run> ItemRef<'run> {
    #[inline(always)]
    fn item(&self) -> &Item {
        // SAFETY: alive and exclusive, see the type.
        unsafe { self.item.as_ref() }
    }

    #[inline(always)]
    fn item_mut(&mut self) -> &mut Item {
        // SAFETY: alive and exclusive, see the type.
        unsafe { self.item.as_mut() }
    }

    /// The state of the run on this thread.
    #[inline(always)]
    pub fn run(&self) -> &RunState {
        // SAFETY: alive and exclusive, see the type.
        unsafe { &*self.item().run }
    }

    /// The state of the run on this thread, to be changed.
    #[inline(always)]
    pub fn run_mut(&mut self) -> &mut RunState {
        // SAFETY: alive and exclusive, see the type.
        unsafe { &mut *self.item().run }
    }

    /// The slot of the work-item's group.
    #[inline(always)]
    pub fn slot(&self) -> &GroupSlot {
        // SAFETY: alive and exclusive, see the type.
        unsafe { &*self.item().slot }
    }

    /// The slot of the work-item's group, to be changed.
    #[inline(always)]
    pub fn slot_mut(&mut self) -> &mut GroupSlot {
        // SAFETY: alive and exclusive, see the type.
        unsafe { &mut *self.item().slot }
    }

    /// Both at once.
    #[inline(always)]
    pub fn run_and_slot_mut(&mut self) -> (&mut RunState, &mut GroupSlot) {
        let item = self.item();
        // SAFETY: alive and exclusive, see the type; neither contains the other.
        unsafe { (&mut *item.run, &mut *item.slot) }
    }

    /// How the launch is run.
    #[inline(always)]
    pub fn plan(&self) -> &'run RunPlan {
        // SAFETY: alive and unchanged, see the type.
        unsafe { &*self.run().plan_ptr() }
    }

    /// The program that runs.
    #[inline(always)]
    pub fn program(&self) -> &'run Program {
        // SAFETY: alive and unchanged, see the type.
        unsafe { &*self.run().program_ptr() }
    }

    /// The launch that runs.
    #[inline(always)]
    pub fn launch(&self) -> &'run PreparedLaunch {
        // SAFETY: alive and unchanged, see the type.
        unsafe { &*self.run().launch_ptr() }
    }

    /// The access site with this number.
    #[inline(always)]
    pub fn site(&self, site: u32) -> &'run Site {
        &self.program().sites[site as usize]
    }

    /// The race detector; `None` in a run without it.
    #[inline(always)]
    pub fn shadow(&mut self) -> Option<&mut Shadow> {
        self.run_mut().shadow()
    }

    /// Identifies the work-item for the race detector, in the access that was counted last.
    #[inline(always)]
    pub fn accessor(&self) -> Accessor {
        let item = self.item();
        Accessor { slot: item.slot_number, item: item.index, number: item.accesses.wrapping_sub(1) }
    }

    /// Identifies the work-item for the race detector, between its accesses.
    #[inline(always)]
    pub fn accessor_of_next(&self) -> Accessor {
        Accessor { number: self.item().accesses, ..self.accessor() }
    }

    /// Names the work-item in reports.
    pub fn ids(&self) -> ItemIds {
        self.slot().ids(self.index())
    }

    /// The local linear id.
    #[inline(always)]
    pub fn index(&self) -> u32 {
        self.item().index
    }

    /// The position in the order of the group.
    #[inline(always)]
    pub fn place(&self) -> u32 {
        self.item().place
    }

    /// The addresses of the stack on which it runs.
    #[inline(always)]
    pub fn stack(&self) -> Range<u64> {
        // SAFETY: the task belongs to the fiber on which the work-item runs.
        unsafe { (*self.item().task).stack() }
    }

    /// Its private memory, apart from that stack.
    #[inline(always)]
    pub fn private(&self) -> &PrivateMemory {
        // SAFETY: as in `stack`; only hooks of this work-item use it while that runs.
        unsafe { (*self.item().task).private() }
    }

    /// The same, to be changed.
    pub fn private_mut(&mut self) -> &mut PrivateMemory {
        // SAFETY: as in `private`.
        unsafe { (*self.item().task).private_mut() }
    }

    /// Records a fault.
    pub fn note(&mut self, kind: FaultKind, site: u32, object: Option<u32>, offset: i64) {
        let ids = self.ids();
        self.run_mut().faults.note(ids, kind, site, object, offset);
    }

    /// Counts an access without letting others interrupt before it. Returns how many there were before.
    #[inline(always)]
    pub fn count_access(&mut self) -> u64 {
        let item = self.item_mut();
        let number = item.accesses;
        item.accesses = number + 1;
        number
    }

    /// Counts an access, and interrupts the work-item before it if the schedule says so.
    #[inline(always)]
    pub fn begin_access(&mut self) {
        let number = self.count_access();
        self.preempt_before(number);
    }

    /// Counts an access and checks it the fast way. Returns whether it is completely handled; if not, it must take the
    /// slow path.
    ///
    /// # Safety
    /// `site` is an access site of the program.
    #[inline(always)]
    pub unsafe fn access_fast(&mut self, address: u64, site: u32) -> bool {
        let number = self.count_access();
        let item = self.item();
        // SAFETY: the cache has an entry for each site of the program, filled for this run and slot; the group is that
        // which runs there, and the entry knows the offset to be valid.
        unsafe {
            let cached = &*item.site_cache.add(site as usize);
            number != item.stop_at
                && cached.offset(address).is_some_and(|offset| cached.fast_path.pass(item.group, item.index, offset))
        }
    }

    /// What the cache knows of a site.
    ///
    /// # Safety
    /// `site` is an access site of the program.
    #[inline(always)]
    pub unsafe fn cached_site(&self, site: u32) -> CachedSite {
        // SAFETY: the cache has an entry for each site of the program.
        unsafe { *self.item().site_cache.add(site as usize) }
    }

    /// Interrupts the work-item if the schedule says so of its next access.
    #[inline(always)]
    pub fn preempt_before_next(&mut self) {
        self.preempt_before(self.item().accesses);
    }

    /// Interrupts the work-item if the schedule says so of its current access, which has been counted.
    #[inline(always)]
    pub fn preempt_before_current(&mut self) {
        self.preempt_before(self.item().accesses.wrapping_sub(1));
    }

    #[inline(always)]
    fn preempt_before(&mut self, number: u64) {
        if number == self.item().stop_at {
            self.preempt(number);
        }
    }

    #[cold]
    fn preempt(&mut self, number: u64) {
        let index = self.index();
        let slot = self.slot_mut();
        let to = slot.preemptions.iter().find(|p| p.item == u64::from(index) && p.access == number).and_then(|p| p.to);
        let stop_at = slot.next_stop(index, number + 1);
        slot.jump = to.and_then(|to| u32::try_from(to).ok());
        self.item_mut().stop_at = stop_at;
        self.suspend_as(State::Ready);
    }

    /// Takes part in one more exchange of the group (0) or its sub-group (1). Returns how many there were before.
    pub fn count_exchange(&mut self, kind: usize) -> u32 {
        let count = &mut self.item_mut().exchanges[kind];
        *count += 1;
        *count - 1
    }

    /// Records where the work-item is: at a barrier, or in a loop.
    #[inline(always)]
    pub fn arrive_at(&mut self, at: SyncPoint) {
        self.item_mut().at = at;
    }

    /// Suspends the work-item in `state`; those after it in the order have their turn. Returns when it is resumed,
    /// or never.
    #[inline]
    pub fn suspend_as(&mut self, state: State) {
        self.item_mut().state = state;
        self.slot_mut().cursor = self.place() + 1;
        self.suspend();
    }

    /// Whether it is to run the code that the kernel has for leaving.
    pub fn leaves(&self) -> bool {
        self.item().context.leaves != 0
    }

    /// Suspends the work-item, which can continue; the one at `place` in the order is next.
    #[inline]
    pub fn give_way_to(&mut self, place: u32) {
        self.slot_mut().cursor = place;
        self.suspend();
    }

    #[inline]
    fn suspend(&mut self) {
        // SAFETY: the task belongs to the fiber on which the work-item, and so this hook, runs; hooks own nothing that
        // would have to be dropped.
        unsafe { Task::suspend(self.item().task) };
    }

    /// Ends the group, because the work-item cannot continue.
    pub fn end_group(&mut self) -> ! {
        self.slot_mut().over = true;
        loop {
            self.suspend();
        }
    }

    /// Ends the run.
    pub fn end_run(&mut self) -> ! {
        self.run_mut().over = true;
        self.end_group()
    }

    /// Ends the run because its time is up. Returns only if the work-item runs the code that the kernel has for
    /// leaving.
    pub fn end_run_late(&mut self) {
        self.run_mut().over = true;
        self.item_mut().state = State::Late;
        self.slot_mut().over = true;
        self.suspend();
    }

    /// Lets the others have their turn after a slice of fuel. Returns the next slice.
    pub fn next_slice(&mut self) -> u64 {
        let left = self.item().fuel_left;
        if left == 0 {
            self.item_mut().spent = true;
            self.suspend_as(State::Exhausted);
            return SLICE;
        }
        self.run_mut().progressed = true;
        self.suspend_as(State::Spinning);
        if left == u64::MAX {
            return SLICE;
        }
        let slice = left.min(SLICE);
        self.item_mut().fuel_left = left - slice;
        slice
    }
}
