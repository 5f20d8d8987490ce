//! Implements [`Executor`] with the simulator.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::compare::Compared;
use super::exec_thread::{ExecThread, MOST_PRINTED, RunPlan};
use super::launch::{MOST_ITEMS, MOST_LOCAL, Prepared, Refusal};
use super::observation::{Conflict, Divergence, FaultKind, Footprint, Simulation, SimulationOptions, SimulatorFault};
use super::program::Program;
use super::shadow::{Area, Grid, Pass, Shadow};
use super::{diagnostics, group_sampling, schedule};
use crate::error::{Error, Result};
use crate::exec::{
    Code, DeviceInfo, Executor, Fault, HostCode, Observation, ProgramId, Run, RunOptions, RunResult, Sweep,
    SweepOutcome, Swept, Target, difference,
};
use crate::suite::launch::Launch;

/// [`DeviceInfo::kind`] of the simulator.
pub const KIND: &str = "simulator";

/// The number of work-items below which a launch is not worth a second thread.
const WORTH_THREADS: u64 = 1 << 15;

/// The simulator: runs launches on this host's threads. Simulators share no state, so several may run at once.
pub struct Simulator {
    device: DeviceInfo,
    programs: HashMap<u32, Loaded>,
    next: u32,
    /// The last launch, ready to be run again. The threads point into it.
    prepared: Option<Box<Prepared>>,
    threads: Vec<ExecThread>,
}

struct Loaded {
    program: Arc<Program>,
    /// Created when races are first looked for.
    shadow: Option<Box<Shadow>>,
}

/// The result of a run, except the contents of buffers.
#[derive(Debug, Default)]
struct Seen {
    compared: Vec<Compared>,
    conflicts: Vec<Conflict>,
    divergences: Vec<Divergence>,
    faults: Vec<SimulatorFault>,
    reached: Vec<u32>,
    footprint: Option<Footprint>,
    leans_on_atomics: bool,
    printf: String,
    completed: bool,
    cut_short: bool,
    cut_at: Option<(u32, [u64; 3])>,
    conflicted: bool,
    sampled: Option<u64>,
    time: Duration,
}

impl Seen {
    /// Returns whether the launch completed in spite of its faults, all of which could be skipped.
    fn is_tolerable(&self) -> bool {
        self.completed && self.divergences.is_empty() && self.faults.iter().all(|f| f.kind.is_skipped())
    }
}

impl Simulator {
    /// `threads`: how many of this host's processors to use for launches in which the order of groups does not matter;
    /// at least 1.
    ///
    /// # Errors
    /// `Environment` if there is not enough memory.
    pub fn new(threads: usize) -> Result<Simulator> {
        let threads = (0..threads.max(1)).map(|_| ExecThread::new()).collect::<Result<_>>()?;
        Ok(Simulator { device: device(), programs: HashMap::new(), next: 0, prepared: None, threads })
    }

    /// Loads code for the simulator.
    ///
    /// # Errors
    /// `Internal` if this host cannot run its object file.
    pub fn load_host(&mut self, code: &Arc<HostCode>) -> Result<ProgramId> {
        let program = Arc::new(Program::new(code)?);
        let id = self.next;
        self.next += 1;
        self.programs.insert(id, Loaded { program, shadow: None });
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
        if let Err(refusal) = self.prepare(program, launch, options.probe_words) {
            return match refusal {
                Refusal::Error(e) => Err(e),
                Refusal::Rejected(name, why) => {
                    Ok(Simulation { rejected: Some(format!("{why} ({name})")), ..Simulation::default() })
                }
            };
        }
        let seen = self.once(program, options, timeout, head)?;
        let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
        Ok(Simulation {
            observation: Observation {
                outputs: if options.first_conflict { Vec::new() } else { prepared.outputs() },
                probe: prepared.probe().to_vec(),
                kernel_times: vec![seen.time],
                printf: seen.printf,
                allowed: None,
            },
            conflicts: seen.conflicts,
            divergences: seen.divergences,
            faults: seen.faults,
            reached: seen.reached,
            footprint: seen.footprint,
            leans_on_atomics: seen.leans_on_atomics,
            compared: seen.compared,
            completed: seen.completed,
            cut_short: seen.cut_short,
            cut_at: seen.cut_at,
            conflicted: seen.conflicted,
            sampled: seen.sampled,
            rejected: None,
        })
    }

    /// Prepares a launch, unless it is the one already prepared.
    fn prepare(
        &mut self,
        program: ProgramId,
        launch: &Launch,
        probe_words: Option<u64>,
    ) -> std::result::Result<(), Refusal> {
        let program = &self.programs.get(&program.0).ok_or_else(|| no_such(program))?.program;
        if self.prepared.as_ref().is_some_and(|p| p.is_for(program, launch, probe_words)) {
            return Ok(());
        }
        for thread in &mut self.threads {
            thread.forget_slots();
        }
        let memory = self.prepared.take().map(|p| p.into_memory()).unwrap_or_default();
        self.prepared = Some(Box::new(Prepared::new(program, launch, probe_words, memory)?));
        Ok(())
    }

    /// Runs the prepared launch, and a second time if races must be reported.
    fn once(
        &mut self,
        program: ProgramId,
        options: &SimulationOptions,
        timeout: Duration,
        head: &[u32],
    ) -> Result<Seen> {
        let loaded = self.programs.get_mut(&program.0).ok_or_else(|| no_such(program))?;
        let Some(prepared) = &mut self.prepared else { return Err(Error::internal("a launch was lost")) };
        let table = &loaded.program.code.table;
        let mut course = course(options, prepared, table, timeout)?;
        if !(options.races && table.races) {
            return passage(&mut self.threads, prepared, &course, None, head);
        }
        let shadow = loaded.shadow.get_or_insert_with(|| Box::new(Shadow::new(table)));
        let context = &prepared.context;
        let grid = Grid { global: context.global_size, local: context.enqueued_local_size, offset: context.offset };
        let area = |object: u32| match prepared.texel_bytes(object) {
            Some(texel) => Area::image(prepared.bytes(object), texel),
            None => {
                let own = Area::of(table, object, prepared.bytes(object));
                let sharers = (0..).zip(&prepared.owners).filter(|(o, owner)| **owner == object && *o != object);
                let granules = sharers.map(|(o, _)| Area::of(table, o, 0).granule);
                let granule = granules.fold(own.granule, u32::min);
                // An object that shares another one's memory has its shadow memory there.
                let bytes = if prepared.owners[object as usize] == object { own.bytes } else { 0 };
                Area { bytes, granule, ..own }
            }
        };
        let areas: Vec<Area> = (0..table.objects.len() as u32).map(area).collect();
        let groups = shadow.most_groups(prepared.items());
        if prepared.groups > groups {
            restrict(&mut course, group_sampling::sample(context.groups, prepared.items(), groups));
        }
        shadow.begin(grid, &areas, Pass::Find { footprint: options.footprint })?;
        let mut seen = passage(&mut self.threads, prepared, &course, Some(shadow), head)?;
        seen.sampled = course.is_sample.then_some(course.map.len() as u64);
        seen.footprint = options.footprint.then(|| shadow.footprint());
        seen.conflicted = options.first_conflict && shadow.has_conflict();
        if shadow.suspects() && !seen.conflicted {
            shadow.begin(grid, &areas, Pass::Record)?;
            course.next = AtomicU64::new(0);
            // If the first pass was cut short, the second may take as long as the first did, so that its findings
            // are reported.
            let time = if seen.cut_short { seen.time.min(timeout) } else { timeout };
            let deadline = options.deadline.filter(|_| !seen.cut_short);
            (course.deadline, course.is_budget) = ends(time, deadline);
            let second = passage(&mut self.threads, prepared, &course, Some(shadow), head)?;
            seen.cut_short |= second.cut_short;
            seen.conflicted = options.first_conflict && shadow.has_conflict();
            seen.conflicts = if options.first_conflict { Vec::new() } else { shadow.conflicts() };
            seen.leans_on_atomics = shadow.leans_on_atomics();
        }
        Ok(seen)
    }
}

/// Runs a prepared launch from its beginning to its end.
fn passage(
    threads: &mut [ExecThread],
    prepared: &mut Prepared,
    course: &RunPlan,
    mut shadow: Option<&mut Shadow>,
    head: &[u32],
) -> Result<Seen> {
    prepared.reset(head);
    let prepared: &Prepared = prepared;
    let start = Instant::now();
    let used = threads_used(threads.len(), prepared, course, shadow.is_some());
    let threads = &mut threads[..used];
    for thread in threads.iter_mut() {
        thread.begin(prepared, course, shadow.as_deref_mut());
    }
    let outcomes: Vec<Result<()>> = if let [thread] = threads {
        // SAFETY: `begin` has prepared the thread for this launch, and `threads` borrows it exclusively.
        vec![unsafe { schedule::run(std::ptr::from_mut(thread)) }]
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = threads
                .iter_mut()
                .map(|thread| {
                    // SAFETY: `begin` has prepared the thread for this launch; each system thread gets an exclusive
                    // borrow of its own.
                    scope.spawn(move || unsafe { schedule::run(std::ptr::from_mut(thread)) })
                })
                .collect();
            let died = || Err(Error::internal("a thread of the simulator died"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| died())).collect()
        })
    };
    let mut seen = Seen { completed: true, time: start.elapsed(), ..Seen::default() };
    if let Some((first, others)) = threads.split_first_mut() {
        for thread in others {
            first.faults.absorb(&mut thread.faults);
            first.divergences.append(&mut thread.divergences);
            first.compared.iter_mut().zip(&thread.compared).for_each(|(to, from)| to.absorb(from));
            first.reached.iter_mut().zip(&thread.reached).for_each(|(to, from)| *to |= from);
            first.incomplete |= thread.incomplete;
            first.cut_short |= thread.cut_short;
            first.cut_at = first.cut_at.or(thread.cut_at);
            first.broken = first.broken.take().or_else(|| thread.broken.take());
            thread.relax();
        }
        if used > 1 {
            first.divergences.sort_by_key(|d| [2, 1, 0].map(|i| d.group_id[i]));
        }
        seen.faults = first.faults.take();
        seen.divergences = std::mem::take(&mut first.divergences);
        seen.compared = std::mem::take(&mut first.compared);
        let barriers = prepared.program.barriers.iter().zip(&first.reached);
        seen.reached = barriers.filter(|(_, reached)| **reached).map(|(b, _)| b.source).collect();
        seen.reached.sort_unstable();
        seen.reached.dedup();
        seen.completed = !first.incomplete;
        seen.cut_short = first.cut_short && first.incomplete;
        seen.cut_at = first.cut_at;
        seen.printf = printed(&first.printed);
        if let Some(what) = first.broken.take() {
            return Err(Error::internal(what));
        }
        first.relax();
    }
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(seen)
}

/// How many threads share a launch: one if its order matters.
fn threads_used(threads: usize, prepared: &Prepared, course: &RunPlan, races: bool) -> usize {
    let table = prepared.program.table();
    let ordered = races || !course.map.is_empty() || !course.item_order.is_empty() || !course.preemptions.is_empty();
    let items = prepared.items().saturating_mul(prepared.groups);
    if ordered || !table.prints.is_empty() || items < WORTH_THREADS {
        return 1;
    }
    threads.min(usize::try_from(prepared.groups).unwrap_or(usize::MAX)).max(1)
}

fn course(
    options: &SimulationOptions,
    prepared: &Prepared,
    table: &crate::lower::host::table::HostTable,
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
    let (deadline, is_budget) = ends(timeout, options.deadline);
    Ok(RunPlan {
        deadline,
        is_budget,
        first_conflict: options.first_conflict,
        fuel: options.fuel.map_or(u64::MAX, |f| f.min(1 << 62)),
        map: schedule.map.iter().map(|group| u64::from(*group)).collect(),
        is_sample: false,
        item_order: schedule.item_order.clone(),
        preemptions: schedule.preemptions.clone(),
        halts: options.halts,
        comparisons: options.comparisons,
        ignored,
        next: AtomicU64::new(0),
    })
}

/// Restricts the run to these groups (ascending), in the order that the plan has.
fn restrict(course: &mut RunPlan, groups: Vec<u64>) {
    course.map = match course.map.is_empty() {
        true => groups,
        false => course.map.iter().copied().filter(|group| groups.binary_search(group).is_ok()).collect(),
    };
    course.is_sample = true;
}

/// The time at which a run that begins now must end, and whether that is the caller's `deadline` rather than its
/// own limit.
fn ends(timeout: Duration, deadline: Option<Instant>) -> (Instant, bool) {
    let now = Instant::now();
    let own = now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 30));
    match deadline {
        Some(deadline) if deadline < own => (deadline, true),
        _ => (own, false),
    }
}

fn printed(bytes: &[u8]) -> String {
    let cut = bytes.len() >= MOST_PRINTED;
    let mut text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_PRINTED)]).into_owned();
    if cut {
        text.push_str(&format!("\n... (cut after {MOST_PRINTED} bytes)\n"));
    }
    text
}

fn no_such(program: ProgramId) -> Error {
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
        kind: KIND.into(),
        il_versions: Vec::new(),
        platform: "kassay".into(),
        index: None,
        max_work_group_size: MOST_ITEMS,
        max_work_item_sizes: [MOST_ITEMS; 3],
        local_memory: MOST_LOCAL,
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

    fn target(&self) -> Target {
        Target::Host
    }

    fn begin_load(&mut self, code: &Code) -> Result<ProgramId> {
        match code {
            Code::Host(code) => self.load_host(code),
            Code::SpirV(_) => Err(Error::internal("code for an OpenCL device was given to the simulator")),
        }
    }

    fn finish_load(&mut self, program: ProgramId) -> Result<()> {
        if self.programs.contains_key(&program.0) { Ok(()) } else { Err(no_such(program)) }
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
            Err(Refusal::Error(e)) => return Err(e),
            Err(Refusal::Rejected(error, explanation)) => {
                return Ok(Err(Fault::Rejected { error: error.into(), explanation }));
            }
        }
        let simulation = SimulationOptions {
            schedule: launch.schedule.clone(),
            probe_words: options.probe_words,
            ..SimulationOptions::default()
        };
        let (mut kernel_times, mut printf) = (Vec::new(), String::new());
        let end = Instant::now() + options.timeout;
        let (mut what, mut allowed) = (None, None);
        for _ in 0..options.repeats.max(1) {
            let left = end.saturating_duration_since(Instant::now());
            let seen = self.once(program, &simulation, left, head)?;
            kernel_times.push(seen.time);
            printf.push_str(&seen.printf);
            let Some(prepared) = &self.prepared else { break };
            what = diagnostics::of(&seen.faults, &seen.divergences, prepared, options.timeout);
            if what.is_none() && !seen.completed {
                return Ok(Err(Fault::Timeout { limit: options.timeout }));
            }
            if launch.allows_faults && seen.is_tolerable() {
                allowed = what.take();
            }
            if what.is_some() {
                break;
            }
        }
        let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
        let observation = Observation {
            outputs: if options.outputs { prepared.outputs() } else { Vec::new() },
            probe: prepared.probe().to_vec(),
            kernel_times,
            printf,
            allowed,
        };
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
            Err(Refusal::Error(e)) => return Err(e),
            Err(Refusal::Rejected(error, explanation)) => {
                let fault = Fault::Rejected { error: error.into(), explanation };
                let runs = vec![Swept::Fault(fault); sweep.variations.len()];
                return Ok(SweepOutcome { runs, launches: 0, kernel_time: Duration::ZERO });
            }
        }
        let mut times = Vec::new();
        let runs = (0..sweep.variations.len()).map(|index| self.variation(program, sweep, index, &mut times));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        times.sort_unstable();
        let kernel_time = times.get(times.len() / 2).copied().unwrap_or_default();
        Ok(SweepOutcome { runs, launches: times.len() as u64, kernel_time })
    }
}

impl Simulator {
    /// Runs all repeats of one variation.
    fn variation(
        &mut self,
        program: ProgramId,
        sweep: &Sweep<'_>,
        index: usize,
        times: &mut Vec<Duration>,
    ) -> Result<Swept> {
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
            ..SimulationOptions::default()
        };
        let mut runs: Vec<Run> = Vec::new();
        for _ in 0..sweep.repeats.max(1) {
            let seen = self.once(program, &options, sweep.timeout, &head)?;
            times.push(seen.time);
            let Some(prepared) = &self.prepared else { return Err(Error::internal("a launch was lost")) };
            if !seen.completed
                && seen.faults.iter().all(|f| f.kind == FaultKind::NonTermination)
                && seen.divergences.is_empty()
            {
                return Ok(Swept::Fault(Fault::Timeout { limit: sweep.timeout }));
            }
            let is_allowed = sweep.launch.allows_faults && seen.is_tolerable();
            if let Some(what) = diagnostics::of(&seen.faults, &seen.divergences, prepared, sweep.timeout)
                && !is_allowed
            {
                let observation = Observation {
                    outputs: Vec::new(),
                    probe: prepared.probe().to_vec(),
                    kernel_times: vec![seen.time],
                    printf: seen.printf,
                    allowed: None,
                };
                return Ok(Swept::Fault(Fault::Checked { what, observation: Box::new(observation) }));
            }
            let difference = sweep.references.iter().find_map(|r| {
                let actual = prepared.output(r.position).unwrap_or_default();
                difference::first(&r.label, r.ty.as_ref(), r.tolerance, &r.bytes, actual)
            });
            let words = sweep.words.start as usize..sweep.words.end as usize;
            let words = prepared.probe().get(words).unwrap_or_default().to_vec();
            let agrees = difference.is_none();
            let before = runs.last().map(|r| r.difference.is_none());
            runs.push(Run { difference, words });
            if before.is_some_and(|before| before != agrees) {
                break;
            }
        }
        Ok(Swept::Ran(runs))
    }
}
