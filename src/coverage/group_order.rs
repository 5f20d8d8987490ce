//! Orders of work-groups on OpenCL devices: the kernel reads its ids through a map (`instrument::ids`), so that the n-th launched
//! group does the work of another one. That changes what runs early, not what runs when.

use super::build::KernelUnderTest;
use crate::error::{Error, Result};
use crate::exec::{Code, Executor, ProgramId, RunOptions, RunResult, Target};
use crate::instrument::coverage::CoveragePlan;
use crate::instrument::ids;
use crate::instrument::layout::{CoverageLayout, GuardLayout, Slots, header};
use crate::instrument::mutants::schemata;
use crate::lower::spirv;
use crate::suite::launch::{Launch, NdRange};
use crate::suite::schedule::Schedule;

/// A kernel that reads its ids through a map.
#[derive(Debug)]
pub struct Mapped {
    pub code: Code,
    pub layout: GuardLayout,
}

/// Weaves it.
///
/// # Errors
/// `Internal` if the kernel cannot be woven or lowered.
pub fn build(under_test: &KernelUnderTest<'_>) -> Result<Mapped> {
    let module = under_test.module.clone();
    let layout = GuardLayout { args: under_test.interface.args.len() as u32 };
    // Without mutants that gives the kernel its probe buffer, and nothing else.
    schemata::weave(&module, &under_test.sites, &[], false)?;
    refuse_other_ids(&module)?;
    ids::batched(&module, &under_test.entry, layout, &under_test.machine)?;
    spirv::prepare(&module, &under_test.entry, &under_test.machine)?;
    let spirv = spirv::emit(&module, &under_test.machine)?;
    Ok(Mapped { code: Code::spirv(spirv, &under_test.entry, spirv::build_options(&module)), layout })
}

/// The same with coverage probes; the map lies behind what the plan's layout has.
///
/// # Errors
/// As of [`build`].
pub fn instrumented(under_test: &KernelUnderTest<'_>, slots: Slots) -> Result<(Code, CoveragePlan)> {
    let module = under_test.module.clone();
    let plan = CoveragePlan::new(&under_test.sites, slots);
    plan.weave(&module, &under_test.sites, Target::SpirV)?;
    refuse_other_ids(&module)?;
    ids::mapped(&module, &under_test.entry, under_test.interface.args.len() as u32, &under_test.machine)?;
    spirv::prepare(&module, &under_test.entry, &under_test.machine)?;
    let spirv = spirv::emit(&module, &under_test.machine)?;
    Ok((Code::spirv(spirv, &under_test.entry, spirv::build_options(&module)), plan))
}

/// Ids that are not read by OpenCL C's functions would be those of the launch.
fn refuse_other_ids(module: &inkwell::module::Module<'_>) -> Result<()> {
    if ids::can_batch(module) {
        return Ok(());
    }
    Err(Error::caller(
        "the kernel reads ids by SPIR-V's built-in variables, which cannot be put in another order on a device",
    )
    .help("run the tests that have a `map` on the simulator with --device sim"))
}

/// The probe buffer for a launch with coverage probes, with the map of its schedule.
///
/// # Errors
/// As of [`probe`]; `Caller` if the launch is too large for a probe buffer.
pub fn coverage_probe(layout: &CoverageLayout, launch: &Launch) -> Result<Vec<u32>> {
    check_groups(&launch.range)?;
    let words = layout.words_for(&launch.range).and_then(|words| usize::try_from(words).ok());
    let mut words = vec![0; words.ok_or_else(|| Error::caller("the launch is too large for the probe buffer"))?];
    put_groups(&mut words, &launch.range);
    put_map(&mut words, &launch.schedule);
    Ok(words)
}

/// Says in a probe buffer's header how many work-groups a launch has.
fn put_groups(words: &mut [u32], range: &NdRange) {
    for (d, count) in range.group_counts().into_iter().enumerate() {
        words[header::GROUPS as usize + d] = count as u32;
    }
}

/// Appends a schedule's map, if it has one, to a probe buffer, and says so in its header.
pub fn put_map(words: &mut Vec<u32>, schedule: &Schedule) {
    if !schedule.map.is_empty() {
        words[header::MAPPED as usize] = 1;
        words[header::MAP as usize] = words.len() as u32;
        words.extend(&schedule.map);
    }
}

/// Whether a launch's work-groups can be put in order on a device.
///
/// # Errors
/// `Caller`: they are of different sizes, or too many.
pub fn check_groups(range: &NdRange) -> Result<()> {
    if range.local.is_none() || !range.has_uniform_groups() || u32::try_from(range.groups()).is_err() {
        return Err(Error::caller(
            "work-groups can be put in order on a device only if all are of one size, and fewer than 2^32",
        )
        .help("give the test a `local` that divides its `global`, or run it on the simulator with --device sim"));
    }
    Ok(())
}

/// Runs a launch on a device in the order of its schedule's map.
///
/// # Errors
/// As of [`probe`] and [`Executor::run`].
pub fn run(
    executor: &mut dyn Executor,
    program: ProgramId,
    layout: GuardLayout,
    launch: &Launch,
    options: &RunOptions,
) -> Result<RunResult> {
    let probe = probe(layout, launch)?;
    let options = RunOptions { probe_words: Some(probe.len() as u64), ..options.clone() };
    // What the map says, the device need not know.
    let launch = Launch { schedule: Schedule::default(), ..launch.clone() };
    executor.run_with_probe(program, &launch, &options, &probe)
}

/// The probe buffer for a launch, with the map of its schedule.
///
/// # Errors
/// `Caller` if the launch has work-groups of different sizes, or too many of them.
pub fn probe(layout: GuardLayout, launch: &Launch) -> Result<Vec<u32>> {
    check_groups(&launch.range)?;
    let mut words = vec![0; layout.slot(1) as usize];
    words[header::SLOTS as usize] = 1;
    put_groups(&mut words, &launch.range);
    put_map(&mut words, &launch.schedule);
    Ok(words)
}
