//! Reorders work-groups on OpenCL devices: the kernel reads its ids through a map (`instrument::ids`), so that the n-th
//! launched group does the work of another one. This changes which groups' work runs early, but gives no control over
//! what runs at the same time.

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::{CoverageLayout, GuardLayout, Slots, header};
use kassay_ir::instrument::mutants::schemata;
use kassay_run::exec::{Capabilities, Code, Executor, ProgramId, RunOptions, RunResult, Schedules, Target};
use kassay_suite::launch::{Launch, NdRange};
use kassay_suite::resolve::Test;
use kassay_suite::schedule::Schedule;

use super::build::KernelUnderTest;

/// Returns whether some test orders work-groups and the executor does not, so that the kernel must.
pub fn is_needed(executor: Capabilities, tests: &[Test]) -> bool {
    tests.iter().any(|t| !t.launch.schedule.map.is_empty()) && executor.schedules != Schedules::All
}

/// Code of a kernel that reads its ids through a map.
#[derive(Debug)]
pub struct MappedKernel {
    code: Code,
    layout: GuardLayout,
}

/// Such a kernel, loaded by an executor.
#[derive(Debug, Clone, Copy)]
pub struct MappedProgram {
    program: ProgramId,
    layout: GuardLayout,
}

impl MappedKernel {
    /// Loads the kernel.
    ///
    /// # Errors
    /// As [`Executor::load`].
    pub fn load(&self, executor: &mut dyn Executor) -> Result<MappedProgram> {
        let program = self.begin_load(executor)?;
        executor.finish_load(program.program)?;
        Ok(program)
    }

    /// Begins to load the kernel; [`MappedProgram::finish_load`] must follow.
    ///
    /// # Errors
    /// As [`Executor::begin_load`].
    pub fn begin_load(&self, executor: &mut dyn Executor) -> Result<MappedProgram> {
        Ok(MappedProgram { program: executor.begin_load(&self.code)?, layout: self.layout })
    }
}

impl MappedProgram {
    /// Waits until the kernel is built.
    ///
    /// # Errors
    /// As [`Executor::finish_load`].
    pub fn finish_load(self, executor: &mut dyn Executor) -> Result<()> {
        executor.finish_load(self.program)
    }

    /// Runs a launch in the order of its schedule's map.
    ///
    /// # Errors
    /// `Caller` if its work-groups cannot be put in order; those of [`Executor::run`].
    pub fn run(self, executor: &mut dyn Executor, launch: &Launch, options: &RunOptions) -> Result<RunResult> {
        let probe = probe(self.layout, launch)?;
        let options = RunOptions { probe_words: Some(probe.len() as u64), ..options.clone() };
        // The map is in the probe buffer: the executor need not know the schedule.
        let launch = Launch { schedule: Schedule::default(), ..launch.clone() };
        executor.run_with_probe(self.program, &launch, &options, &probe)
    }
}

/// Builds the code of such a kernel, without coverage probes.
///
/// # Errors
/// `Internal` if the kernel cannot be woven or lowered.
pub fn build(under_test: &KernelUnderTest<'_>, target: Target) -> Result<MappedKernel> {
    let mut module = under_test.module.clone();
    let layout = GuardLayout { args: under_test.interface.args.len() as u32 };
    // Without mutants, this only gives the kernel its probe buffer.
    schemata::weave(&module, &under_test.sites, &[], false)?;
    refuse_other_ids(&module)?;
    ids::batched(&mut module, &under_test.entry, layout, &under_test.machine)?;
    Ok(MappedKernel { code: under_test.lower(module, target, &under_test.lowering)?, layout })
}

/// Like [`build`], but with coverage probes. The map follows the words of the plan's layout.
///
/// # Errors
/// As [`build`].
pub fn instrumented(under_test: &KernelUnderTest<'_>, slots: Slots, target: Target) -> Result<(Code, CoveragePlan)> {
    let mut module = under_test.module.clone();
    let plan = CoveragePlan::new(&under_test.sites, slots);
    plan.weave(&module, &under_test.sites, target)?;
    refuse_other_ids(&module)?;
    ids::mapped(&mut module, &under_test.entry, under_test.interface.args.len() as u32, &under_test.machine)?;
    Ok((under_test.lower(module, target, &under_test.lowering)?, plan))
}

/// Rejects kernels that read ids other than by OpenCL C's functions: these ids would not be mapped.
fn refuse_other_ids(module: &inkwell::module::Module<'_>) -> Result<()> {
    if ids::can_batch(module) {
        return Ok(());
    }
    Err(Error::caller(
        "the kernel reads ids by SPIR-V's built-in variables, which cannot be put in another order on a device",
    )
    .help("run the tests that have a `map` on the simulator with --device sim"))
}

/// The probe buffer for a launch with coverage probes, including the map of its schedule.
///
/// # Errors
/// As [`probe`]; `Caller` if the launch is too large for a probe buffer.
pub fn coverage_probe(layout: &CoverageLayout, launch: &Launch) -> Result<Vec<u32>> {
    check_groups(&launch.range)?;
    let words = layout.words_for(&launch.range).and_then(|words| usize::try_from(words).ok());
    let mut words = vec![0; words.ok_or_else(|| Error::caller("the launch is too large for the probe buffer"))?];
    put_groups(&mut words, &launch.range);
    put_map(&mut words, &launch.schedule);
    Ok(words)
}

/// Writes a launch's numbers of work-groups into the header of a probe buffer.
fn put_groups(words: &mut [u32], range: &NdRange) {
    for (d, count) in range.group_counts().into_iter().enumerate() {
        words[header::GROUPS as usize + d] = count as u32;
    }
}

/// Appends a schedule's map, if it has one, to a probe buffer, and records its position in the header.
pub fn put_map(words: &mut Vec<u32>, schedule: &Schedule) {
    if !schedule.map.is_empty() {
        words[header::MAPPED as usize] = 1;
        words[header::MAP as usize] = words.len() as u32;
        words.extend(&schedule.map);
    }
}

/// Checks that a launch's work-groups can be reordered on a device.
///
/// # Errors
/// `Caller` if they have different sizes or are too many.
pub fn check_groups(range: &NdRange) -> Result<()> {
    if range.local.is_none() || !range.has_uniform_groups() || u32::try_from(range.groups()).is_err() {
        return Err(Error::caller(
            "work-groups can be put in order on a device only if all are of one size, and fewer than 2^32",
        )
        .help("give the test a `local` that divides its `global`, or run it on the simulator with --device sim"));
    }
    Ok(())
}

/// The probe buffer for a launch without coverage probes, including the map of its schedule.
///
/// # Errors
/// `Caller` if the launch has work-groups of different sizes or too many of them.
pub fn probe(layout: GuardLayout, launch: &Launch) -> Result<Vec<u32>> {
    check_groups(&launch.range)?;
    let mut words = vec![0; layout.slot(1) as usize];
    words[header::SLOTS as usize] = 1;
    put_groups(&mut words, &launch.range);
    put_map(&mut words, &launch.schedule);
    Ok(words)
}
