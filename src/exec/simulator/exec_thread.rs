//! An execution thread: everything that one system thread needs to run work-groups. Kept from launch to launch.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::compare::ComparisonStats;
use super::fault_log::FaultLog;
use super::fiber::{Entry, Fiber};
use super::launch::PreparedLaunch;
use super::memory::Reservation;
use super::observation::Divergence;
use super::program::{Program, Site};
use super::shadow::Shadow;
use super::work_group::GroupSlot;
use crate::error::{Error, Result};
use crate::suite::schedule::Preemption;

/// Size in bytes of the sink to which skipped accesses are redirected, so that an access of any length that a kernel
/// can ask for lands in unused memory.
pub const SINK_BYTES: u64 = 1 << 30;

/// The maximum number of bytes that a launch may print; the rest is dropped.
pub const MAX_PRINTED_BYTES: usize = 64 << 20;

/// If the stacks take more bytes than this, or there are more of them than this, they are given back after a launch.
const MAX_KEPT_STACK_BYTES: u64 = 256 << 20;
const MAX_KEPT_FIBERS: usize = 4096;

/// The number of slots whose local memory is kept.
const MAX_KEPT_LOCALS: usize = 8;

/// How a launch is run, for all threads that share it.
pub struct RunPlan {
    pub deadline: Instant,
    /// Whether the deadline is the caller's: a kernel that is still running then is not at fault.
    pub is_budget: bool,
    /// Whether the first conflict ends the run.
    pub first_conflict: bool,
    /// Iterations per work-item; `u64::MAX`: as many as the time allows.
    pub fuel: u64,
    /// The group at each position of the launch order; if empty, groups run in ascending order.
    pub map: Vec<u64>,
    pub item_order: Vec<u32>,
    pub preemptions: Vec<Preemption>,
    /// Whether the first fault ends the run.
    pub halts: bool,
    /// Number of comparisons that the code reports.
    pub comparisons: u32,
    /// By source of barriers: whether the barrier orders no memory.
    pub ignored: Vec<bool>,
    /// The next position in the launch order.
    pub next: AtomicU64,
    /// Whether `map` leaves groups out.
    pub is_sample: bool,
}

impl RunPlan {
    /// Takes the next group to begin: returns its linear number.
    pub fn next_group(&self, groups: u64) -> Option<u64> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let groups = if self.is_sample { self.map.len() as u64 } else { groups };
        if place >= groups {
            return None;
        }
        Some(usize::try_from(place).ok().and_then(|p| self.map.get(p)).map_or(place, |g| *g))
    }
}

/// One thread's part of the simulator. Hooks find it through their work-item.
pub struct ExecThread {
    pub sites: *const Site,
    pub program: *const Program,
    pub prepared: *const PreparedLaunch,
    pub plan: *const RunPlan,
    pub races: bool,
    /// The number of the current run.
    pub run: u64,
    /// The race detector; only used if `races` is set.
    pub shadow: *mut Shadow,
    pub fuel: u64,
    pub sink: *mut u8,
    sink_memory: Reservation,
    pub entry: Option<Entry>,
    pub faults: FaultLog,
    pub divergences: Vec<Divergence>,
    /// By number of the comparison.
    pub compared: Vec<ComparisonStats>,
    /// By barrier site: whether some work-item arrived.
    pub reached: Vec<bool>,
    pub printed: Vec<u8>,
    /// Grows with every event that others may be waiting for, such as the end of a work-item or the release of
    /// a barrier.
    pub activity: u64,
    /// Whether a work-item that still had fuel has run since the exhausted ones last got some.
    pub progressed: bool,
    /// Whether the run is over: nothing runs any more.
    pub over: bool,
    /// Whether some work-item did not run to its end.
    pub incomplete: bool,
    /// Whether the time is up: no group begins any more.
    pub late: bool,
    /// Whether it was the caller's deadline that ended the run.
    pub cut_short: bool,
    /// The loop in which a work-item was then, and its global id, if there was one.
    pub cut_at: Option<(u32, [u64; 3])>,
    /// An internal error that a hook encountered.
    pub internal_error: Option<String>,
    #[expect(clippy::vec_box, reason = "items point to their slot, so that it must not move")]
    pub slots: Vec<Box<GroupSlot>>,
    /// The launch for which the slots were made.
    slots_for: *const PreparedLaunch,
    /// Local memory of earlier slots.
    spare: Vec<Reservation>,
    pub active: Vec<u32>,
    pub free: Vec<u32>,
    pub fibers: Vec<Fiber>,
    pub idle: Vec<u32>,
    /// The size of private variables for which the fibers' stacks were made.
    private_bytes: u64,
    /// Steps (a work-item ends or synchronises, a slow access) until the clock is read again.
    pub until_clock: i64,
}

/// Steps between two readings of the clock. Each step takes well under a millisecond, because a loop of more iterations
/// than [`super::schedule::FIRST_SLICE`] reads the clock itself.
const STEPS_PER_CLOCK_READ: i64 = 64;

// SAFETY: the pointers lead to memory of the simulator that owns this thread state, or of the launch that it currently
// runs; no fiber is suspended in a kernel while it moves between system threads.
unsafe impl Send for ExecThread {}

impl ExecThread {
    /// Reserves the memory that the thread always needs.
    /// # Errors
    /// `Environment` if there is no memory.
    pub fn new() -> Result<ExecThread> {
        let mut sink_memory = Reservation::default();
        let sink = sink_memory.reserve(SINK_BYTES)?;
        Ok(ExecThread {
            sites: std::ptr::null(),
            program: std::ptr::null(),
            prepared: std::ptr::null(),
            plan: std::ptr::null(),
            races: false,
            run: 0,
            shadow: std::ptr::null_mut(),
            fuel: u64::MAX,
            sink,
            sink_memory,
            entry: None,
            faults: FaultLog::default(),
            divergences: Vec::new(),
            compared: Vec::new(),
            reached: Vec::new(),
            printed: Vec::new(),
            activity: 0,
            progressed: false,
            over: false,
            incomplete: false,
            late: false,
            cut_short: false,
            cut_at: None,
            internal_error: None,
            slots: Vec::new(),
            slots_for: std::ptr::null(),
            spare: Vec::new(),
            active: Vec::new(),
            free: Vec::new(),
            fibers: Vec::new(),
            idle: Vec::new(),
            private_bytes: 0,
            until_clock: 0,
        })
    }

    /// Prepares for a run of `prepared`.
    pub fn begin(&mut self, prepared: &PreparedLaunch, plan: &RunPlan, shadow: Option<&mut Shadow>) {
        let program = &*prepared.program;
        self.sites = program.sites.as_ptr();
        self.program = program;
        self.plan = plan;
        self.races = shadow.is_some();
        self.run += 1;
        self.shadow = shadow.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        self.fuel = plan.fuel;
        self.entry = Some(program.entry());
        self.faults.clear();
        self.divergences.clear();
        self.reached.clear();
        self.reached.resize(program.barriers.len(), false);
        self.compared.clear();
        self.compared.resize(plan.comparisons as usize, ComparisonStats::default());
        self.printed.clear();
        self.activity = 0;
        self.progressed = false;
        self.over = false;
        self.incomplete = false;
        self.late = false;
        self.cut_short = false;
        self.cut_at = None;
        self.internal_error = None;
        self.until_clock = 0;
        if !std::ptr::eq(self.slots_for, prepared) {
            self.forget_slots();
            self.slots_for = prepared;
        }
        self.prepared = prepared;
        let needed = program.table().stack_bytes;
        if needed > self.private_bytes {
            self.fibers.clear();
            self.idle.clear();
            self.private_bytes = needed;
        }
    }

    /// Discards everything that belongs to a launch. Must be called before the launch's memory is given back.
    pub fn forget_slots(&mut self) {
        self.spare.extend(self.slots.drain(..).map(|slot| slot.into_memory()));
        self.spare.truncate(MAX_KEPT_LOCALS);
        self.free.clear();
        self.active.clear();
        self.slots_for = std::ptr::null();
    }

    /// Gives back memory that is too large to keep.
    pub fn trim(&mut self) {
        let bytes = self.private_bytes.saturating_mul(self.fibers.len() as u64);
        if bytes > MAX_KEPT_STACK_BYTES || self.fibers.len() > MAX_KEPT_FIBERS {
            self.fibers.clear();
            self.idle.clear();
        }
    }

    /// Returns the number of a slot without a group.
    pub fn free_slot(&mut self) -> Result<u32> {
        if let Some(number) = self.free.pop() {
            return Ok(number);
        }
        // SAFETY: `begin` set the pointer to the launch that this thread runs, which outlives the run.
        let prepared = unsafe { &*self.prepared };
        let number = self.slots.len() as u32;
        let mut slot = GroupSlot::new(prepared, number, self.spare.pop().unwrap_or_default())?;
        slot.context.sink = self.sink;
        self.slots.push(slot);
        Ok(number)
    }

    /// Returns the number of a fiber without a work-item.
    pub fn idle_fiber(&mut self) -> Result<u32> {
        if let Some(number) = self.idle.pop() {
            return Ok(number);
        }
        let entry = self.entry.ok_or_else(|| Error::internal("a lane runs without code"))?;
        self.fibers.push(Fiber::new(self.fibers.len(), self.private_bytes, entry, super::schedule::next_on_fiber)?);
        Ok(self.fibers.len() as u32 - 1)
    }

    /// Counts a step, and reads the clock now and then. Returns whether the run is over: the caller's deadline ends it
    /// at once, while its own time limit only keeps further groups from beginning.
    #[inline(always)]
    pub fn step(&mut self) -> bool {
        self.until_clock -= 1;
        if self.until_clock < 0 {
            self.read_clock();
        }
        self.over
    }

    #[cold]
    #[inline(never)]
    fn read_clock(&mut self) {
        self.until_clock = STEPS_PER_CLOCK_READ;
        // SAFETY: `begin` set the pointer to the run's plan, which outlives the run.
        let plan = unsafe { &*self.plan };
        if Instant::now() >= plan.deadline {
            self.late = true;
            self.cut_short |= plan.is_budget;
            self.over |= plan.is_budget;
        }
    }

    /// The target of an access that is skipped: `bytes` zero bytes; `None` if the sink is too small.
    pub fn zeroed_sink(&mut self, bytes: u64) -> Option<*mut u8> {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes as u64 <= SINK_BYTES)?;
        // SAFETY: the sink has at least `bytes` bytes, and no reference to it exists.
        unsafe { std::ptr::write_bytes(self.sink, 0, bytes) };
        Some(self.sink)
    }
}

impl Drop for ExecThread {
    fn drop(&mut self) {
        self.fibers.clear();
        self.sink_memory.trim();
    }
}
