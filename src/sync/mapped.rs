//! Orders of work-groups on OpenCL devices: the kernel reads its ids through a map (`instrument::ids`), so that the n-th launched
//! group does the work of another one. That changes what runs early, not what runs when.

use crate::coverage::build::Assay;
use crate::error::{Error, Result};
use crate::exec::{Code, Executor, ProgramId, RunOptions, RunResult};
use crate::instrument::ids;
use crate::instrument::layout::{GuardLayout, header};
use crate::instrument::mutants::schemata;
use crate::lower::spirv;
use crate::suite::launch::Launch;
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
pub fn build(assay: &Assay<'_>) -> Result<Mapped> {
    let module = assay.module.clone();
    let layout = GuardLayout { args: assay.interface.args.len() as u32 };
    // Without mutants that gives the kernel its probe buffer, and nothing else.
    schemata::weave(&module, &assay.sites, &[], false)?;
    ids::batched(&module, &assay.entry, layout, &assay.machine)?;
    spirv::prepare(&module, &assay.entry, &assay.machine)?;
    let spirv = spirv::emit(&module, &assay.machine)?;
    Ok(Mapped { code: Code::spirv(spirv, &assay.entry, spirv::build_options(&module)), layout })
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
    let range = &launch.range;
    let even = range.local.is_some_and(|local| (0..3).all(|d| range.global[d].is_multiple_of(local[d].max(1))));
    if !even || u32::try_from(range.groups()).is_err() {
        return Err(Error::caller("work-groups can be put in order only if all are of one size, and fewer than 2^32")
            .mend("give the test a `local` that divides its `global`"));
    }
    let mut words = vec![0; layout.slot(1) as usize];
    words[header::SLOTS as usize] = 1;
    for (d, count) in range.group_counts().into_iter().enumerate() {
        words[header::GROUPS as usize + d] = count as u32;
    }
    if !launch.schedule.map.is_empty() {
        words[header::MAPPED as usize] = 1;
        words[header::MAP as usize] = layout.slot(1);
        words.extend(&launch.schedule.map);
    }
    Ok(words)
}
