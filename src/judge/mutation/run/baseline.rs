//! Baselines: runs the tests of a suite on the original and keeps what mutants are judged by.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, argument, header, slot};
use kassay_ir::instrument::mutants::LaunchChange;
use kassay_run::exec::{Executor, ProgramId, Reference, RunOptions, Sweep, Variation, VariationOutcome, joint};
use kassay_suite::compare;
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::resolve::Test;

use crate::coverage::group_order;
use crate::mutation::build::module_builder::Woven;
use crate::mutation::catalogue::indices::TestIndex;
use crate::mutation::catalogue::operators::launch::{self, Limits};

/// Loop iterations that every work-item may make beyond the multiple of the original's.
const FUEL_CONSTANT: u64 = 1000;

/// Estimated time of resetting buffers, launching and comparing, which is not kernel time.
const LAUNCH_OVERHEAD: Duration = Duration::from_micros(40);

/// Time that a launch may take beyond the multiple of the original's. Fuel ends loops without end, so the clock ends
/// only what hangs otherwise; on a busy machine a launch may wait for seconds, which must not count as a time-out.
const TIME_CONSTANT: Duration = Duration::from_secs(10);

/// The baseline of a test: its references and the cost of the original.
#[derive(Debug, Clone)]
pub struct TestBaseline<'t> {
    /// Position of the test in the suite.
    pub position: TestIndex,
    /// The test.
    pub test: &'t Test,
    /// Expected outputs: those of the suite, else those of the original.
    pub references: Vec<Reference>,
    /// Most loop iterations that any work-item of the original made.
    pub fuel_used: u32,
    /// Time of one run of the original within a sweep, including resetting and comparing but not the sweep's setup.
    pub run_time: Duration,
    /// Wall-clock time of such a run with its share of the setup; the time limit of mutants is derived from it.
    wall_time: Duration,
    /// Time of the kernel on the device, in one run of the original.
    pub kernel_time: Duration,
    /// Why the test cannot judge mutants; `None` if it can.
    pub dropped: Option<DropReason>,
}

/// Why a test cannot judge mutants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropReason {
    /// The time was up before the test was run on the original.
    OutOfTime,
    /// The launch of the original ends in this fault.
    Faults(String),
    /// A guard records this fault in the original.
    Guarded(String),
    /// The outputs of the original differ from the expected ones; the text is the first difference.
    Fails(String),
    /// Runs of the original differ; the text says in what.
    Unstable(String),
}

/// Writes the reason as in results.
impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DropReason::OutOfTime => f.write_str("the time was up before it was run"),
            DropReason::Faults(fault) => write!(f, "the original {fault}"),
            DropReason::Guarded(fault) => write!(f, "the original itself: {fault}"),
            DropReason::Fails(difference) => write!(f, "the original fails it: {difference}"),
            DropReason::Unstable(difference) => write!(f, "the original is not stable: {difference}"),
        }
    }
}

/// Settings that apply to all runs of mutants.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// Layout of the probe buffer.
    pub layout: GuardLayout,
    /// Runs per mutant and test.
    pub repeats: u32,
    /// Whether a mutant is run on further tests once a test has detected it.
    pub full_matrix: bool,
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    /// The kernel's `reqd_work_group_size`.
    pub required_local: Option<[u64; 3]>,
    /// Deadline, after which nothing more is started.
    pub end: Option<Instant>,
}

impl RunSettings {
    /// Returns whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Builds the start of the probe buffer (header, arguments, one slot, group map) for a launch with one slot.
pub fn probe_head(layout: GuardLayout, launch: &Launch, fuel: u32) -> Vec<u32> {
    let mut words = vec![0u32; layout.slot(1) as usize];
    words[header::FUEL as usize] = fuel;
    words[header::SLOTS as usize] = 1;
    for (d, groups) in launch.range.group_counts().into_iter().enumerate() {
        words[header::GROUPS as usize + d] = groups as u32;
    }
    for position in 0..launch.args.len() as u32 {
        let extent = match launch.value(position) {
            Some(ArgValue::Local(bytes)) => *bytes,
            _ => launch.reach(position).unwrap_or(0),
        };
        let at = (layout.argument(position) + argument::EXTENT) as usize;
        words[at] = extent as u32;
        words[at + 1] = (extent >> 32) as u32;
    }
    group_order::put_map(&mut words, &launch.schedule);
    words
}

/// Builds the start of the probe buffer for a launch of a module with one slot; of a module for joint launches, the
/// launch's block of parameters in these.
pub fn head_for(woven: &Woven, layout: GuardLayout, launch: &Launch, fuel: u32) -> Vec<u32> {
    let mut head = probe_head(layout, launch, fuel);
    if let Some(module) = &woven.joint {
        joint::complete(&mut head, &module.values, launch);
    }
    head
}

/// Returns the loop iterations that each of a mutant's work-items may make, where one of the original's makes at most
/// `used`.
pub fn fuel(used: u32, factor: f64) -> u32 {
    let budget = (f64::from(used) * factor) as u64 + FUEL_CONSTANT;
    budget.min(i32::MAX as u64) as u32
}

impl<'t> TestBaseline<'t> {
    /// The baseline of a test that has not run.
    fn new((position, test): (TestIndex, &'t Test)) -> TestBaseline<'t> {
        TestBaseline {
            position,
            test,
            references: Vec::new(),
            fuel_used: 0,
            run_time: Duration::ZERO,
            wall_time: Duration::ZERO,
            kernel_time: Duration::ZERO,
            dropped: None,
        }
    }

    /// The baseline of a test that cannot judge mutants.
    pub fn useless(test: (TestIndex, &'t Test), why: DropReason) -> TestBaseline<'t> {
        TestBaseline { dropped: Some(why), ..TestBaseline::new(test) }
    }

    /// The baseline of a test after a first run of the original, which left these outputs, and these words in its slot:
    /// the fault that a guard recorded, and the fuel used.
    pub fn of_run(
        woven: &Woven,
        (position, test): (TestIndex, &'t Test),
        outputs: &[(u32, Vec<u8>)],
        [fault, fuel_used]: [u32; 2],
    ) -> TestBaseline<'t> {
        let mut baseline = TestBaseline { fuel_used, ..TestBaseline::new((position, test)) };
        let kind = FaultKind::read(fault).map(|(kind, _)| kind);
        if kind.is_some_and(|kind| kind == FaultKind::Fuel || !test.launch.allows_faults) {
            baseline.dropped = Some(DropReason::Guarded(woven.guards.describe(fault).unwrap_or_default()));
            return baseline;
        }
        for output in &test.outputs {
            let Some((_, left)) = outputs.iter().find(|(p, _)| *p == output.position) else { continue };
            let expected = test.expectations.iter().find(|e| e.position == output.position);
            if let Some(e) = expected
                && let Some(first) = compare::compare(&e.bytes, left, Some(&e.ty), e.tolerance).first
            {
                let (index, actual, wanted) = (first.index, first.actual, first.expected);
                let difference = format!("{} is {actual} at {index} instead of {wanted}", output.name());
                baseline.dropped = Some(DropReason::Fails(difference));
                return baseline;
            }
            baseline.references.push(Reference {
                position: output.position,
                label: output.name(),
                bytes: expected.map_or_else(|| Arc::new(left.clone()), |e| Arc::clone(&e.bytes)),
                ty: Some(expected.map_or_else(|| output.ty.clone(), |e| e.ty.clone())),
                tolerance: expected.map_or(output.tolerance, |e| e.tolerance),
            });
        }
        baseline
    }

    /// Notes what further runs of the original showed.
    pub fn add_repeats(&mut self, repeats: Repeats) {
        self.run_time = repeats.run_time();
        self.wall_time = repeats.wall_time;
        self.dropped = repeats.difference.map(DropReason::Unstable);
    }

    /// Returns the test's launch as a mutant changes it; `None`: it stays as it is.
    ///
    /// # Errors
    /// Why the device or the kernel does not allow it.
    pub fn changed(&self, change: LaunchChange, limits: &Limits) -> std::result::Result<Option<Launch>, String> {
        let launch = &self.test.launch;
        let range = launch::apply(&launch.range, change, limits)?;
        Ok((range != launch.range).then(|| Launch::new(range, launch.args.clone())))
    }

    /// Returns the loop iterations that each of a mutant's work-items may make.
    pub fn fuel(&self, factor: f64) -> u32 {
        fuel(self.fuel_used, factor)
    }

    /// Returns the wall-clock limit of one run of a mutant. Fuel already bounds the run; this is the safety net.
    pub fn limit(&self, factor: f64) -> Duration {
        self.wall_time.mul_f64(factor * 2.0) + TIME_CONSTANT
    }
}

/// The original, in a module on an executor.
pub struct Original<'a> {
    /// What runs it.
    pub executor: &'a mut dyn Executor,
    /// The module on the executor.
    pub program: ProgramId,
    /// The module.
    pub woven: &'a Woven,
    /// Where words are in its probe buffer.
    pub layout: GuardLayout,
    /// Number of runs that have to agree.
    pub repeats: u32,
    /// Wall-clock limit of one run, unless a test has a lower one.
    pub timeout: Duration,
}

/// What further runs of the original on a test showed.
pub struct Repeats {
    /// Time of one on the device.
    pub kernel_time: Duration,
    /// Time of one with its share of everything else.
    pub wall_time: Duration,
    /// What differs from the references, if something does.
    pub difference: Option<String>,
}

impl Repeats {
    /// Returns the time of one run within a sweep.
    fn run_time(&self) -> Duration {
        self.kernel_time + LAUNCH_OVERHEAD
    }
}

impl Original<'_> {
    /// Runs the original on a test and returns its baseline. A test that the original fails, faults on or is unstable
    /// on is returned with the reason in `dropped`.
    ///
    /// # Errors
    /// `Environment` only.
    pub fn establish<'t>(&mut self, (position, test): (TestIndex, &'t Test)) -> Result<TestBaseline<'t>> {
        let timeout = test.limit.map_or(self.timeout, |limit| limit.min(self.timeout));
        let head = head_for(self.woven, self.layout, &test.launch, i32::MAX as u32);
        let options = RunOptions { timeout, repeats: 1, probe_words: Some(head.len() as u64), outputs: true };
        let observation = match self.executor.run_with_probe(self.program, &test.launch, &options, &head)? {
            Ok(observation) => observation,
            Err(fault) => {
                return Ok(TestBaseline::useless((position, test), DropReason::Faults(fault.to_string())));
            }
        };
        let word = |word: u32| observation.probe.get((self.layout.slot(0) + word) as usize).copied().unwrap_or(0);
        let words = [word(slot::FAULT), word(slot::FUEL_USED)];
        let mut baseline = TestBaseline::of_run(self.woven, (position, test), &observation.outputs, words);
        baseline.kernel_time = observation.kernel_times.first().copied().unwrap_or_default();
        if baseline.dropped.is_none() {
            let repeats = self.sweep(&baseline, self.repeats, i32::MAX as u32, timeout)?;
            baseline.add_repeats(repeats);
        }
        Ok(baseline)
    }

    /// Returns the time of one run of the original, with resetting and comparing; `None` if its outputs differ from the
    /// references. In that case the device's compiler has built this module differently, and what mutants do in it
    /// proves nothing. `factor`: fuel and time as a multiple of the original's.
    ///
    /// # Errors
    /// `Environment` only.
    pub fn time(&mut self, baseline: &TestBaseline<'_>, factor: f64) -> Result<Option<Duration>> {
        let repeats = self.sweep(baseline, 1, baseline.fuel(factor), baseline.limit(factor))?;
        Ok(repeats.difference.is_none().then(|| repeats.run_time()))
    }

    /// Runs the original on a test in launches of their own and compares its outputs with the references.
    fn sweep(&mut self, baseline: &TestBaseline<'_>, repeats: u32, fuel: u32, timeout: Duration) -> Result<Repeats> {
        let launch = &baseline.test.launch;
        let head = head_for(self.woven, self.layout, launch, fuel);
        let started = Instant::now();
        let swept = self.executor.sweep(
            self.program,
            &Sweep {
                launch,
                probe: &head,
                probe_words: head.len() as u64,
                variations: &[Variation { words: Vec::new() }],
                references: &baseline.references,
                repeats,
                timeout,
                words: self.layout.slot(0)..self.layout.slot(1),
                decisive: None,
                batch: None,
            },
        )?;
        let difference = swept.runs.into_iter().find_map(|outcome| match outcome {
            VariationOutcome::Ran(runs) => runs.into_iter().find_map(|run| run.difference),
            VariationOutcome::Fault(fault) => Some(format!("it {fault}")),
        });
        let wall_time = started.elapsed() / repeats.max(1);
        Ok(Repeats { kernel_time: swept.kernel_time, wall_time, difference })
    }
}
