//! An execution thread: everything that one system thread needs to run work-groups. Kept from launch to launch.

use std::ptr::NonNull;

use kassay_base::error::Result;

use super::fiber::{Fiber, RunItem};
use super::launch::PreparedLaunch;
use super::memory::Reservation;
use super::observer::AnyObserver;
use super::private_memory::PrivateNeeds;
use super::run_state::{RunPlan, RunState};
use super::shadow::Shadow;
use super::work_group::{GroupSlot, Item};

/// If the stacks take more bytes than this, or there are more of them than this, they are given back after a launch.
const MAX_KEPT_STACK_BYTES: u64 = 256 << 20;
const MAX_KEPT_FIBERS: usize = 4096;

/// The number of slots whose local memory is kept.
const MAX_KEPT_LOCALS: usize = 8;

/// One thread's part of the simulator: what the scheduler alone uses, and the state that it shares with hooks.
pub struct ExecThread {
    /// Owned; a raw pointer because work-items have another one.
    pub state: NonNull<RunState>,
    /// The number of the current run.
    pub run: u64,
    /// Owned; raw pointers because work-items have others.
    pub slots: Vec<NonNull<GroupSlot>>,
    /// The launch for which the slots were made.
    slots_for: *const PreparedLaunch,
    /// Local memory of earlier slots.
    spare: Vec<Reservation>,
    pub active: Vec<u32>,
    pub free: Vec<u32>,
    pub fibers: Vec<Fiber<Item>>,
    pub idle: Vec<u32>,
    /// The size of private variables for which the fibers' stacks were made.
    private_bytes: u64,
    /// The private memory apart from the stacks that the fibers have.
    needs: PrivateNeeds,
}

// SAFETY: the pointers lead to memory of the simulator that owns this thread state, or of the launch that it currently
// runs; no fiber is suspended in a kernel while it moves between system threads.
unsafe impl Send for ExecThread {}

impl ExecThread {
    /// Reserves the memory that the thread always needs.
    ///
    /// # Errors
    /// `Environment` if there is no memory.
    pub fn new() -> Result<ExecThread> {
        Ok(ExecThread {
            state: NonNull::from(Box::leak(Box::new(RunState::new()?))),
            run: 0,
            slots: Vec::new(),
            slots_for: std::ptr::null(),
            spare: Vec::new(),
            active: Vec::new(),
            free: Vec::new(),
            fibers: Vec::new(),
            idle: Vec::new(),
            private_bytes: 0,
            needs: PrivateNeeds::default(),
        })
    }

    /// The state of the run, while no fiber runs.
    pub fn state(&mut self) -> &mut RunState {
        // SAFETY: the state is owned, and hooks use it only while a fiber runs, which borrows the thread's fibers.
        unsafe { self.state.as_mut() }
    }

    /// A slot, while no fiber runs.
    pub fn slot(&mut self, number: u32) -> &mut GroupSlot {
        // SAFETY: the slot is owned, and hooks use it only while a fiber runs, which borrows the thread's fibers.
        unsafe { self.slots[number as usize].as_mut() }
    }

    /// The state of the run and a slot, while no fiber runs.
    pub fn state_and_slot(&mut self, number: u32) -> (&mut RunState, &mut GroupSlot) {
        // SAFETY: both are owned, as in `state` and `slot`, and neither contains the other.
        unsafe { (self.state.as_mut(), self.slots[number as usize].as_mut()) }
    }

    /// Prepares for a run of `prepared`.
    ///
    /// # Safety
    /// As for [`RunState::begin`].
    pub unsafe fn begin(
        &mut self,
        prepared: &PreparedLaunch,
        plan: &RunPlan,
        shadow: Option<&mut Shadow>,
        observer: Option<&mut AnyObserver>,
    ) {
        // SAFETY: the caller gives the guarantees that the state needs.
        unsafe { self.state().begin(prepared, plan, shadow, observer) };
        self.run += 1;
        if !std::ptr::eq(self.slots_for, prepared) {
            self.forget_slots();
            self.slots_for = prepared;
        }
        let table = prepared.program.table();
        let (stack, needs) = (table.stack_bytes.max(self.private_bytes), PrivateNeeds::of(table).or(self.needs));
        if (stack, needs) != (self.private_bytes, self.needs) {
            self.fibers.clear();
            self.idle.clear();
            (self.private_bytes, self.needs) = (stack, needs);
        }
    }

    /// Discards everything that belongs to a launch. Must be called before the launch's memory is given back.
    pub fn forget_slots(&mut self) {
        for slot in self.slots.drain(..) {
            // SAFETY: the slot is owned, and no fiber runs one of its work-items: a run abandons those that remain.
            self.spare.push(unsafe { GroupSlot::into_memory(slot) });
        }
        self.spare.truncate(MAX_KEPT_LOCALS);
        self.free.clear();
        self.active.clear();
        self.slots_for = std::ptr::null();
    }

    /// Gives back memory that is too large to keep.
    pub fn trim(&mut self) {
        let bytes = self.private_bytes.saturating_add(self.needs.bytes()).saturating_mul(self.fibers.len() as u64);
        if bytes > MAX_KEPT_STACK_BYTES || self.fibers.len() > MAX_KEPT_FIBERS {
            self.fibers.clear();
            self.idle.clear();
        }
    }

    /// Returns the number of a slot for groups of `prepared` that has no group.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn free_slot(&mut self, prepared: &PreparedLaunch) -> Result<u32> {
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        let number = self.slots.len() as u32;
        let slot = GroupSlot::new(prepared, number, self.spare.pop().unwrap_or_default())?;
        self.slots.push(slot);
        self.slot(number).context.sink = self.state().sink;
        Ok(number)
    }

    /// Returns the number of a fiber without a work-item. `run`: what a new fiber does with work-items.
    ///
    /// # Errors
    /// `Environment` if the system cannot provide a stack.
    pub fn idle_fiber(&mut self, run: RunItem<Item>) -> Result<u32> {
        if let Some(number) = self.idle.pop() {
            return Ok(number);
        }
        self.fibers.push(Fiber::new(self.fibers.len(), self.private_bytes, self.needs, run)?);
        Ok(self.fibers.len() as u32 - 1)
    }
}

impl Drop for ExecThread {
    fn drop(&mut self) {
        self.fibers.clear();
        self.forget_slots();
        // SAFETY: `new` leaked the state from a box, and nothing that points to it is left.
        drop(unsafe { Box::from_raw(self.state.as_ptr()) });
    }
}
