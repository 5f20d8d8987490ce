//! The state of a run on one thread: what the scheduler and the hooks of its work-items share. It knows nothing of
//! work-groups, which point to it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use kassay_base::error::Result;
use kassay_model::native::abi::ItemContext;

use super::fault_log::FaultLog;
use super::launch::PreparedLaunch;
use super::memory::Reservation;
use super::observation::{Simulation, SimulationOptions};
use super::observer::AnyObserver;
use super::program::{Entry, Program};
use super::shadow::Shadow;

/// Loop iterations of a work-item before others get a turn for the first time.
pub const FIRST_SLICE: u64 = 1 << 16;
/// Loop iterations of a work-item before others get another turn, after [`FIRST_SLICE`].
pub const SLICE: u64 = 1 << 13;

/// Size in bytes of the sink to which skipped accesses are redirected, so that an access of any length that a kernel
/// can ask for lands in unused memory.
pub const SINK_BYTES: u64 = 1 << 30;

/// How a launch is run, for all threads that share it.
pub struct RunPlan {
    pub deadline: Instant,
    /// Whether the deadline is the caller's: a kernel that is still running then is not at fault.
    pub is_budget: bool,
    /// As the caller gave them, except what this has in another form.
    pub options: SimulationOptions,
    /// The group at each position of the launch order; if empty, groups run in ascending order.
    pub map: Vec<u64>,
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

/// One thread's share of a run. Hooks find it through their work-item; it is kept from run to run.
pub struct RunState {
    program: *const Program,
    launch: *const PreparedLaunch,
    plan: *const RunPlan,
    /// The compiled kernel.
    pub entry: Entry,
    /// The race detector; null in a run without it.
    shadow: *mut Shadow,
    observer: Option<NonNull<AnyObserver>>,
    /// Iterations per work-item; `u64::MAX`: as many as the time allows.
    pub fuel: u64,
    /// The word that ends the run once it is not 0; null if there is none.
    decisive: *const AtomicU32,
    /// Where accesses go that are skipped.
    pub sink: *mut u8,
    sink_memory: Reservation,
    pub faults: FaultLog,
    /// What the run did, as far as hooks and the scheduler tell at once.
    pub seen: Simulation,
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
    /// Whether the time is up: no group begins any more.
    pub late: bool,
    /// An internal error that a hook encountered.
    pub internal_error: Option<String>,
    /// Steps (a work-item ends or synchronises, a slow access) until the clock is read again.
    until_clock: i64,
}

/// Steps between two readings of the clock. Each step takes well under a millisecond, because a loop of more iterations
/// than [`FIRST_SLICE`] reads the clock itself.
const STEPS_PER_CLOCK_READ: i64 = 64;

/// Stands for the kernel before the first run.
unsafe extern "C" fn no_code(_: *mut ItemContext, _: *const *const u8) {}

impl RunState {
    /// Reserves the memory that a run always needs.
    ///
    /// # Errors
    /// `Environment` if there is no memory.
    pub fn new() -> Result<RunState> {
        let mut sink_memory = Reservation::default();
        let sink = sink_memory.reserve(SINK_BYTES)?;
        Ok(RunState {
            program: std::ptr::null(),
            launch: std::ptr::null(),
            plan: std::ptr::null(),
            entry: no_code,
            shadow: std::ptr::null_mut(),
            observer: None,
            fuel: u64::MAX,
            decisive: std::ptr::null(),
            sink,
            sink_memory,
            faults: FaultLog::default(),
            seen: Simulation::default(),
            reached: Vec::new(),
            printed: Vec::new(),
            activity: 0,
            progressed: false,
            over: false,
            late: false,
            internal_error: None,
            until_clock: 0,
        })
    }

    /// Prepares for a run of `prepared`.
    ///
    /// # Safety
    /// Until [`RunState::end`], the caller keeps what it passes, and uses it only as shared references allow; race
    /// detector and observer not at all, but through [`RunState::shadow`] and [`RunState::observer`].
    pub unsafe fn begin(
        &mut self,
        prepared: &PreparedLaunch,
        plan: &RunPlan,
        shadow: Option<&mut Shadow>,
        observer: Option<&mut AnyObserver>,
    ) {
        let program = &*prepared.program;
        self.program = program;
        self.launch = prepared;
        self.plan = plan;
        self.entry = program.entry();
        self.shadow = shadow.map_or(std::ptr::null_mut(), std::ptr::from_mut);
        self.observer = observer.map(NonNull::from);
        self.fuel = plan.options.fuel.map_or(u64::MAX, |fuel| fuel.min(1 << 62));
        self.decisive = plan.options.decisive.and_then(|word| prepared.probe_word(word)).unwrap_or(std::ptr::null());
        self.faults.clear();
        self.seen = Simulation { completed: true, ..Simulation::default() };
        self.reached.clear();
        self.reached.resize(program.barriers.len(), false);
        self.printed.clear();
        self.activity = 0;
        self.progressed = false;
        self.over = false;
        self.late = false;
        self.internal_error = None;
        self.until_clock = 0;
    }

    /// Ends the run: forgets what [`RunState::begin`] was given. What was observed is kept.
    pub fn end(&mut self) {
        self.program = std::ptr::null();
        self.launch = std::ptr::null();
        self.plan = std::ptr::null();
        self.shadow = std::ptr::null_mut();
        self.observer = None;
        self.decisive = std::ptr::null();
    }

    /// Adds what another thread observed in its share of the run.
    pub fn absorb(&mut self, other: &mut RunState) {
        self.faults.absorb(&mut other.faults);
        self.seen.divergences.append(&mut other.seen.divergences);
        self.seen.went_without |= other.seen.went_without;
        self.seen.was_apart |= other.seen.was_apart;
        self.seen.asked_active |= other.seen.asked_active;
        self.seen.completed &= other.seen.completed;
        self.reached.iter_mut().zip(&other.reached).for_each(|(to, from)| *to |= from);
        self.seen.cut_short |= other.seen.cut_short;
        self.seen.cut_at = self.seen.cut_at.or(other.seen.cut_at);
        self.internal_error = self.internal_error.take().or_else(|| other.internal_error.take());
    }

    /// The program of the run.
    #[inline(always)]
    pub fn program_ptr(&self) -> *const Program {
        self.program
    }

    /// The launch of the run.
    #[inline(always)]
    pub fn launch_ptr(&self) -> *const PreparedLaunch {
        self.launch
    }

    /// The plan of the run.
    #[inline(always)]
    pub fn plan_ptr(&self) -> *const RunPlan {
        self.plan
    }

    /// Returns whether the run has a race detector.
    #[inline(always)]
    pub fn has_shadow(&self) -> bool {
        !self.shadow.is_null()
    }

    /// The race detector; `None` in a run without it.
    #[inline(always)]
    pub fn shadow(&mut self) -> Option<&mut Shadow> {
        // SAFETY: `begin`'s caller keeps the race detector until `end`, and uses it only through this method.
        unsafe { self.shadow.as_mut() }
    }

    /// Who watches the run; `None` in nearly all.
    #[inline(always)]
    pub fn observer(&mut self) -> Option<&mut AnyObserver> {
        // SAFETY: `begin`'s caller keeps the observer until `end`, and uses it only through this method.
        self.observer.map(|mut observer| unsafe { observer.as_mut() })
    }

    /// Tells race detector and observer that the group with this linear number begins in a slot.
    ///
    /// # Errors
    /// `Internal`: more groups than the race detector can tell apart. `Environment`: not enough memory.
    pub fn begin_group(&mut self, slot: u32, group: u64) -> Result<()> {
        self.shadow().map_or(Ok(()), |shadow| shadow.begin_group(slot, group))?;
        self.observer().map_or(Ok(()), |observer| observer.begin_group(slot, group))
    }

    /// Tells them that the group in a slot is over.
    pub fn end_group(&mut self, slot: u32) {
        self.shadow().into_iter().for_each(|shadow| shadow.end_group(slot));
        self.observer().into_iter().for_each(|observer| observer.end_group(slot));
    }

    /// Counts a step, and reads the clock now and then. Returns whether the run is over: the caller's deadline and the
    /// decisive word end it at once, while its own time limit only keeps further groups from beginning.
    #[inline(always)]
    pub fn step(&mut self) -> bool {
        // SAFETY: the word lies in the launch's probe buffer, which lives until `end`; kernels change it atomically.
        if unsafe { self.decisive.as_ref() }.is_some_and(|word| word.load(Ordering::Relaxed) != 0) {
            self.over = true;
        }
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
        // SAFETY: `begin`'s caller keeps the plan until `end`; outside of runs there is none.
        let Some(plan) = (unsafe { self.plan.as_ref() }) else { return };
        if Instant::now() >= plan.deadline {
            self.late = true;
            self.seen.cut_short |= plan.is_budget;
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

impl Drop for RunState {
    fn drop(&mut self) {
        self.sink_memory.trim();
    }
}
