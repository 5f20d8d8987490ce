//! Implements [`Executor`] with the simulator.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_model::sub_groups;
use kassay_suite::launch::Launch;

use super::exec_thread::ExecThread;
use super::launch::{MAX_GROUP_ITEMS, MAX_LOCAL_BYTES, PrepareError, PreparedLaunch};
use super::observation::{FaultKind, Simulation, SimulationOptions};
use super::observer::AnyObserver;
use super::printf::MAX_PRINTED_BYTES;
use super::program::Program;
use super::run_state::RunPlan;
use super::shadow::{Area, Grid, Pass, Shadow};
use super::{diagnostics, group_sampling, hooks, lockstep, schedule};
use crate::exec::device::SIMULATOR;
use crate::exec::{
    Capabilities, Checks, Code, DeviceInfo, Executor, Fault, Joins, NativeCode, Observation, ProgramId, Run,
    RunOptions, RunResult, Schedules, Sweep, SweepOutcome, Target, VariationOutcome, difference,
};

/// What simulators can do. They gain nothing from batches.
pub const CAPABILITIES: Capabilities = Capabilities {
    target: Target::Native,
    schedules: Schedules::All,
    checks: Checks::ALL,
    batches: false,
    joins: Joins::Never,
    skips_returned: true,
    whole_grids: true,
    compiles: false,
};

/// The number of work-items below which a launch is not worth a second thread.
const MIN_ITEMS_FOR_THREADS: u64 = 1 << 15;

/// The simulator: runs launches on this host's threads. Simulators share no state, so several may run at once.
pub struct Simulator {
    device: DeviceInfo,
    programs: HashMap<u32, LoadedProgram>,
    next: u32,
    /// The last launch, ready to be run again. The threads point into it.
    prepared: Option<Box<PreparedLaunch>>,
    threads: Vec<ExecThread>,
    /// See [`Simulator::run_in_lockstep`].
    lockstep: Option<u32>,
}

struct LoadedProgram {
    program: Arc<Program>,
    /// Created when races are first looked for.
    shadow: Option<Box<Shadow>>,
}

impl Simulator {
    /// `threads`: how many of this host's processors to use for launches in which the order of groups does not matter;
    /// at least 1.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn new(threads: usize) -> Result<Simulator> {
        let threads = (0..threads.max(1)).map(|_| ExecThread::new()).collect::<Result<_>>()?;
        Ok(Simulator { device: device(), programs: HashMap::new(), next: 0, prepared: None, threads, lockstep: None })
    }

    /// From now on, in launches in which races are looked for, so many consecutive work-items of a group make each
    /// access in lockstep ([`SimulationOptions::lockstep`]).
    pub fn run_in_lockstep(&mut self, items: Option<u32>) {
        self.lockstep = items.map(|items| items.clamp(1, lockstep::LONGEST));
    }

    /// Loads code for the simulator.
    ///
    /// # Errors
    /// `Internal` if this host cannot run its object file.
    pub fn load_native(&mut self, code: &Arc<NativeCode>) -> Result<ProgramId> {
        let program = Arc::new(Program::new(code, &hooks::addresses().into_iter().collect())?);
        let id = self.next;
        self.next += 1;
        self.programs.insert(id, LoadedProgram { program, shadow: None });
        Ok(ProgramId(id))
    }

    /// Runs a launch once. `head`: what the probe buffer begins with. Everything that the kernel does wrong is
    /// part of the result. A launch with the same inputs (the very same buffers) as the one before skips most of
    /// the preparation.
    ///
    /// Schedules interrupt work-items only in code that was instrumented for race detection.
    ///
    /// # Errors
    /// `Caller` if its schedule is not a permutation; `Environment` if there is not enough memory; `Internal` if the
    /// program was not loaded here.
    pub fn simulate(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &SimulationOptions,
        timeout: Duration,
        head: &[u32],
    ) -> Result<Simulation> {
        self.observe(program, launch, options, timeout, head, None)
    }

    /// As [`Simulator::simulate`], watched by an observer.
    ///
    /// # Errors
    /// As [`Simulator::simulate`].
    pub fn observe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &SimulationOptions,
        timeout: Duration,
        head: &[u32],
        observer: Option<&mut AnyObserver>,
    ) -> Result<Simulation> {
        if let Err(refusal) = self.prepare(program, launch, options.probe_words) {
            return match refusal {
                PrepareError::Error(e) => Err(e),
                PrepareError::Rejected(name, why) => {
                    Ok(Simulation { rejected: Some(format!("{why} ({name})")), ..Simulation::default() })
                }
            };
        }
        let mut seen = self.run_prepared(program, options, timeout, head, observer)?;
        let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
        if !seen.conflicted {
            seen.observation.outputs = prepared.outputs();
        }
        seen.observation.probe = prepared.probe().to_vec();
        Ok(seen)
    }

    /// Prepares a launch, unless it is the one already prepared.
    fn prepare(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        probe_words: Option<u64>,
    ) -> std::result::Result<(), PrepareError> {
        let program = &self.programs.get(&program.0).ok_or_else(|| unknown_program(program))?.program;
        if self.prepared.as_ref().is_some_and(|p| p.matches(program, launch, probe_words)) {
            return Ok(());
        }
        for thread in &mut self.threads {
            thread.forget_slots();
        }
        let memory = self.prepared.take().map(|p| p.into_memory()).unwrap_or_default();
        self.prepared = Some(Box::new(PreparedLaunch::new(program, launch, probe_words, memory)?));
        Ok(())
    }

    /// Runs the prepared launch, and a second time if races must be reported. What it leaves in buffers is still there.
    fn run_prepared(
        &mut self,
        program: ProgramId,
        options: &SimulationOptions,
        timeout: Duration,
        head: &[u32],
        mut observer: Option<&mut AnyObserver>,
    ) -> Result<Simulation> {
        let loaded = self.programs.get_mut(&program.0).ok_or_else(|| unknown_program(program))?;
        let Some(prepared) = &mut self.prepared else { return Err(Error::internal("a launch was lost")) };
        let table = &loaded.program.code.table;
        let mut plan = make_plan(options, prepared, table, timeout)?;
        let races = options.races && table.races;
        plan.options.lockstep = options.lockstep.or(self.lockstep).filter(|_| races);
        let areas = if races || observer.is_some() { areas(prepared) } else { Vec::new() };
        if let Some(observer) = &mut observer {
            observer.begin(&areas, prepared.items())?;
        }
        if !races {
            return run_pass(&mut self.threads, prepared, &plan, (None, observer), head);
        }
        let shadow = loaded.shadow.get_or_insert_with(|| Box::new(Shadow::new(table)));
        shadow.set_lockstep(plan.options.lockstep.is_some());
        let context = &prepared.context;
        let grid = Grid { global: context.global_size, local: context.enqueued_local_size, offset: context.offset };
        let groups = shadow.most_groups(prepared.items());
        // Groups that wait for each other run together or not at all.
        if !options.groups.is_empty() && !table.waits_for_grid() {
            restrict(&mut plan, options.groups.iter().copied().filter(|group| *group < prepared.groups).collect());
        } else if prepared.groups > groups {
            restrict(&mut plan, group_sampling::sample(context.groups, prepared.items(), groups));
        }
        shadow.begin(grid, &areas, Pass::Find)?;
        let mut seen = run_pass(&mut self.threads, prepared, &plan, (Some(shadow), observer), head)?;
        seen.sampled = plan.is_sample.then_some(plan.map.len() as u64);
        seen.conflicted = options.first_conflict && shadow.has_conflict();
        if shadow.suspects() && !seen.conflicted {
            shadow.begin(grid, &areas, Pass::Record)?;
            plan.next = AtomicU64::new(0);
            // If the first pass was cut short, the second may take as long as the first did, so that its findings
            // are reported.
            let time = if seen.cut_short { seen.time().min(timeout) } else { timeout };
            let deadline = options.deadline.filter(|_| !seen.cut_short);
            (plan.deadline, plan.is_budget) = deadline_for(time, deadline);
            let second = run_pass(&mut self.threads, prepared, &plan, (Some(shadow), None), head)?;
            seen.cut_short |= second.cut_short;
            seen.conflicted = options.first_conflict && shadow.has_conflict();
            seen.conflicts = if options.first_conflict { Vec::new() } else { shadow.conflicts() };
            seen.depends_on_atomics = shadow.depends_on_atomics();
        }
        Ok(seen)
    }
}

/// The memory that accesses may touch, by object of the table.
fn areas(prepared: &PreparedLaunch) -> Vec<Area> {
    let table = prepared.program.table();
    let area = |object: u32| match prepared.texel_bytes(object) {
        Some(texel) => Area::image(prepared.bytes(object), texel),
        None => {
            // An object in another one's memory has its shadow memory there.
            let own = Area::of(table, object, prepared.owned_bytes(object));
            let here = || (0..).zip(&prepared.homes).filter(move |(_, home)| home.owner == object);
            // Every part begins with a cell.
            let granules = here().map(|(o, home)| match home.start {
                0 => Area::of(table, o, 0).granule,
                start => Area::of(table, o, 0).granule.min(1 << start.trailing_zeros().min(16)),
            });
            let granule = granules.fold(own.granule, u32::min);
            let uninitialised = prepared.is_uninitialised(object);
            Area { granule, uninitialised, shared: here().count() > 1, ..own }
        }
    };
    (0..table.objects.len() as u32).map(area).collect()
}

/// Runs a prepared launch from its beginning to its end.
fn run_pass(
    threads: &mut [ExecThread],
    prepared: &mut PreparedLaunch,
    plan: &RunPlan,
    (mut shadow, mut observer): (Option<&mut Shadow>, Option<&mut AnyObserver>),
    head: &[u32],
) -> Result<Simulation> {
    prepared.reset(head);
    let prepared: &PreparedLaunch = prepared;
    let start = Instant::now();
    let mut used = threads_used(threads.len(), prepared, plan, shadow.is_some());
    let mut others = Vec::new();
    if let Some(observer) = &observer {
        others.extend((1..used).map_while(|_| observer.another()));
        used = others.len() + 1;
    }
    let mut observers = observer.as_deref_mut().into_iter().chain(others.iter_mut().map(Box::as_mut));
    let threads = &mut threads[..used];
    for thread in threads.iter_mut() {
        // SAFETY: launch, plan, race detector and observers are borrowed until the threads have returned, and
        // `schedule::run` ends the run. Only one thread gets the race detector: see `threads_used`.
        unsafe { thread.begin(prepared, plan, shadow.as_deref_mut(), observers.next()) };
    }
    let outcomes: Vec<Result<()>> = if let [thread] = threads {
        vec![schedule::run(thread, prepared, plan)]
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                threads.iter_mut().map(|thread| scope.spawn(move || schedule::run(thread, prepared, plan))).collect();
            let died = || Err(Error::internal("a thread of the simulator died"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect()
        })
    };
    let time = start.elapsed();
    if let Some(observer) = observer {
        others.into_iter().for_each(|other| observer.absorb(other));
    }
    let Some((first, others)) = threads.split_first_mut() else { return Err(Error::internal("no thread ran")) };
    for thread in others {
        first.state().absorb(thread.state());
        thread.trim();
    }
    let run = first.state();
    let mut seen = std::mem::take(&mut run.seen);
    seen.depends_on_threads = used > 1;
    if seen.depends_on_threads {
        seen.divergences.sort_by_key(|d| [2, 1, 0].map(|i| d.group_id[i]));
    }
    seen.cut_short &= !seen.completed;
    seen.faults = run.faults.take();
    let barriers = prepared.program.barriers.iter().zip(&run.reached);
    seen.reached = barriers.filter(|(_, reached)| **reached).map(|(b, _)| b.source).collect();
    seen.reached.sort_unstable();
    seen.reached.dedup();
    seen.observation.kernel_times = vec![time];
    seen.observation.printf = output_text(&run.printed);
    if let Some(what) = run.internal_error.take() {
        return Err(Error::internal(what));
    }
    first.trim();
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(seen)
}

/// How many threads share a launch: one if its order matters.
fn threads_used(threads: usize, prepared: &PreparedLaunch, plan: &RunPlan, races: bool) -> usize {
    let table = prepared.program.table();
    let ordered = races || !plan.options.schedule.is_natural() || table.waits_for_grid();
    let items = prepared.items().saturating_mul(prepared.groups);
    if ordered || !table.prints.is_empty() || items < MIN_ITEMS_FOR_THREADS {
        return 1;
    }
    threads.min(usize::try_from(prepared.groups).unwrap_or(usize::MAX)).max(1)
}

fn make_plan(
    options: &SimulationOptions,
    prepared: &PreparedLaunch,
    table: &kassay_model::native::table::NativeTable,
    timeout: Duration,
) -> Result<RunPlan> {
    let schedule = &options.schedule;
    let permutation = |what: &str, list: &[u32], wanted: u64| {
        let mut seen = vec![false; list.len()];
        let fits = list.is_empty() || list.len() as u64 == wanted;
        let complete = list.iter().all(|n| seen.get_mut(*n as usize).is_some_and(|s| !std::mem::replace(s, true)));
        if fits && complete {
            return Ok(());
        }
        Err(Error::caller(format!("the schedule's {what} is no permutation of the numbers below {wanted}"))
            .help("give each number once, or leave it out"))
    };
    if !schedule.preemptions.is_empty() && !table.races {
        return Err(Error::internal("a schedule interrupts work-items, but the kernel was not woven for that"));
    }
    permutation("`map`", &schedule.map, prepared.groups)?;
    permutation("`item_order`", &schedule.item_order, prepared.items())?;
    let mut ignored = Vec::new();
    if !options.ignored_barriers.is_empty() {
        let sources = table.barriers.iter().map(|b| b.source as usize + 1).max().unwrap_or(0);
        ignored = (0..sources).map(|s| options.ignored_barriers.contains(&(s as u32))).collect();
    }
    let (deadline, is_budget) = deadline_for(timeout, options.deadline);
    Ok(RunPlan {
        deadline,
        is_budget,
        options: options.clone(),
        map: schedule.map.iter().map(|group| u64::from(*group)).collect(),
        is_sample: false,
        ignored,
        next: AtomicU64::new(0),
    })
}

/// Restricts the run to these groups (ascending), in the order that the plan has.
fn restrict(plan: &mut RunPlan, groups: Vec<u64>) {
    plan.map = match plan.map.is_empty() {
        true => groups,
        false => plan.map.iter().copied().filter(|group| groups.binary_search(group).is_ok()).collect(),
    };
    plan.is_sample = true;
}

/// The time at which a run that begins now must end, and whether that is the caller's `deadline` rather than its
/// own limit.
fn deadline_for(timeout: Duration, deadline: Option<Instant>) -> (Instant, bool) {
    let now = Instant::now();
    let own = now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 30));
    match deadline {
        Some(deadline) if deadline < own => (deadline, true),
        _ => (own, false),
    }
}

fn output_text(bytes: &[u8]) -> String {
    let cut = bytes.len() >= MAX_PRINTED_BYTES;
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_PRINTED_BYTES)]).into_owned();
    if cut {
        text.push_str(&format!("\n... (cut after {MAX_PRINTED_BYTES} bytes)\n"));
    }
    text
}

fn unknown_program(program: ProgramId) -> Error {
    Error::internal(format!("program {} was not loaded by this simulator", program.0))
}

/// The simulator's properties as a device.
pub fn device() -> DeviceInfo {
    // SAFETY: `sysconf` only reads system constants; no memory is passed.
    let memory = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES).max(0) * libc::sysconf(libc::_SC_PAGESIZE).max(0) };
    let memory = u64::try_from(memory).unwrap_or(0);
    DeviceInfo {
        name: "kassay simulator".into(),
        driver: env!("CARGO_PKG_VERSION").into(),
        kind: SIMULATOR.into(),
        il_versions: Vec::new(),
        platform: "kassay".into(),
        index: None,
        max_work_group_size: MAX_GROUP_ITEMS,
        max_work_item_sizes: [MAX_GROUP_ITEMS; 3],
        sub_group_sizes: (0..=sub_groups::LARGEST.ilog2()).map(|bits| 1 << bits).collect(),
        local_memory: MAX_LOCAL_BYTES,
        global_memory: memory,
        max_allocation: memory / 2,
        fp16: true,
        fp64: true,
        images: true,
    }
}

impl Executor for Simulator {
    fn device(&self) -> &DeviceInfo {
        &self.device
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn begin_load(&mut self, code: &Code) -> Result<ProgramId> {
        match code {
            Code::Native(code) => self.load_native(code),
            Code::Device(_) => Err(Error::internal("code for an OpenCL device was given to the simulator")),
        }
    }

    fn finish_load(&mut self, program: ProgramId) -> Result<()> {
        if self.programs.contains_key(&program.0) { Ok(()) } else { Err(unknown_program(program)) }
    }

    fn unload(&mut self, program: ProgramId) {
        let Some(gone) = self.programs.remove(&program.0) else { return };
        if self.prepared.as_ref().is_some_and(|p| Arc::ptr_eq(&p.program, &gone.program)) {
            for thread in &mut self.threads {
                thread.forget_slots();
            }
            self.prepared = None;
        }
    }

    fn run_with_probe(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        options: &RunOptions,
        head: &[u32],
    ) -> Result<RunResult> {
        match self.prepare(program, launch, options.probe_words) {
            Ok(()) => {}
            Err(PrepareError::Error(e)) => return Err(e),
            Err(PrepareError::Rejected(error, explanation)) => {
                return Ok(Err(Fault::Rejected { error: error.into(), explanation }));
            }
        }
        let simulation = SimulationOptions {
            schedule: launch.schedule.clone(),
            probe_words: options.probe_words,
            ..SimulationOptions::default()
        };
        let mut observation = Observation::default();
        let end = Instant::now() + options.timeout;
        let mut what = None;
        for _ in 0..options.repeats.max(1) {
            let left = end.saturating_duration_since(Instant::now());
            let seen = self.run_prepared(program, &simulation, left, head, None)?;
            observation.kernel_times.push(seen.time());
            observation.printf.push_str(&seen.observation.printf);
            let Some(prepared) = &self.prepared else { break };
            what = diagnostics::describe(&seen, prepared, options.timeout);
            if what.is_none() && !seen.completed {
                return Ok(Err(Fault::Timeout { limit: options.timeout }));
            }
            if launch.allows_faults && seen.is_tolerable() {
                observation.allowed = what.take();
            }
            if what.is_some() {
                break;
            }
        }
        let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
        if options.outputs {
            observation.outputs = prepared.outputs();
        }
        observation.probe = prepared.probe().to_vec();
        Ok(match what {
            None => Ok(observation),
            Some(what) => Err(Fault::Checked { what, observation: Box::new(observation) }),
        })
    }

    fn sweep(&mut self, program: ProgramId, sweep: &Sweep<'_>) -> Result<SweepOutcome> {
        if sweep.batch.is_some() {
            return Err(Error::internal("a sweep in batches was given to the simulator"));
        }
        match self.prepare(program, sweep.launch, Some(sweep.probe_words)) {
            Ok(()) => {}
            Err(PrepareError::Error(e)) => return Err(e),
            Err(PrepareError::Rejected(error, explanation)) => {
                let fault = Fault::Rejected { error: error.into(), explanation };
                let runs = vec![VariationOutcome::Fault(fault); sweep.variations.len()];
                return Ok(SweepOutcome { runs, launches: 0, kernel_time: Duration::ZERO });
            }
        }
        let mut times = Vec::new();
        let runs = (0..sweep.variations.len()).map(|index| self.run_variation(program, sweep, index, &mut times));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        times.sort_unstable();
        let kernel_time = times.get(times.len() / 2).copied().unwrap_or_default();
        Ok(SweepOutcome { runs, launches: times.len() as u64, kernel_time })
    }
}

impl Simulator {
    /// Runs all repeats of one variation.
    fn run_variation(
        &mut self,
        program: ProgramId,
        sweep: &Sweep<'_>,
        index: usize,
        times: &mut Vec<Duration>,
    ) -> Result<VariationOutcome> {
        let mut head = sweep.probe.to_vec();
        for (index, value) in &sweep.variations[index].words {
            let index = *index as usize;
            if head.len() <= index {
                head.resize(index + 1, 0);
            }
            head[index] = *value;
        }
        let options = SimulationOptions {
            schedule: sweep.launch.schedule.clone(),
            probe_words: Some(sweep.probe_words),
            decisive: sweep.decisive,
            ..SimulationOptions::default()
        };
        let mut runs: Vec<Run> = Vec::new();
        for _ in 0..sweep.repeats.max(1) {
            let mut seen = self.run_prepared(program, &options, sweep.timeout, &head, None)?;
            times.push(seen.time());
            let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
            let words = sweep.words.start as usize..sweep.words.end as usize;
            let words = prepared.probe().get(words).unwrap_or_default().to_vec();
            if sweep.decisive.is_some_and(|word| prepared.probe().get(word as usize).is_some_and(|word| *word != 0)) {
                runs.push(Run { difference: None, words });
                break;
            }
            if !seen.completed
                && seen.faults.iter().all(|f| f.kind == FaultKind::NonTermination)
                && seen.divergences.is_empty()
            {
                return Ok(VariationOutcome::Fault(Fault::Timeout { limit: sweep.timeout }));
            }
            let is_allowed = sweep.launch.allows_faults && seen.is_tolerable();
            if let Some(what) = diagnostics::describe(&seen, prepared, sweep.timeout)
                && !is_allowed
            {
                seen.observation.probe = prepared.probe().to_vec();
                return Ok(VariationOutcome::Fault(Fault::Checked { what, observation: Box::new(seen.observation) }));
            }
            let difference = sweep.references.iter().find_map(|r| {
                let actual = prepared.output(r.position).unwrap_or_default();
                difference::first(&r.label, r.ty.as_ref(), r.tolerance, &r.bytes, actual)
            });
            let agrees = difference.is_none();
            let before = runs.last().map(|r| r.difference.is_none());
            runs.push(Run { difference, words });
            // What runs on one thread does the same again.
            if before.is_some_and(|before| before != agrees) || !seen.depends_on_threads {
                break;
            }
        }
        Ok(VariationOutcome::Ran(runs))
    }
}
