//! Looks for races in launches on a device: the kernel tells its accesses to shadow memory
//! ([`kassay_ir::instrument::device_races`]), which stays on the device from launch to launch.

use std::time::Duration;

use kassay_base::error::Result;
use kassay_ir::instrument::device_races::{self, HandOver, LocalShadow, MOST_INTERVALS, NotRun, Seen};
pub use kassay_ir::instrument::device_races::{Kind, Place, RaceLayout, RaceSite, Report};
use kassay_run::exec::{Code, Executor, Fault, Kept, Observation, ProgramId, RunOptions, Target};
use kassay_suite::launch::Launch;

use super::build::KernelUnderTest;

/// How the search in a launch ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The launch is one for the simulator.
    HandedOver(HandOver),
    /// The launch did not complete.
    Ended(Fault),
    /// It completed.
    Ran(Ran),
}

/// A launch that completed.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// What it reports.
    pub seen: Seen,
    /// Outputs and times.
    pub observation: Observation,
    /// Of the sites and objects in `seen`.
    pub layout: RaceLayout,
}

/// A woven kernel on an executor.
struct Version {
    program: ProgramId,
    layout: RaceLayout,
    /// The number of the next launch's first interval; 0: the shadow memory has to be cleared first.
    next: u32,
}

/// The search for races in launches of one kernel on one executor. Code is made when a launch first needs it.
pub struct RaceSearch<'a, 'c> {
    under_test: &'a KernelUnderTest<'c>,
    /// With the shadow of local memory in local memory, and in global memory.
    versions: [Option<std::result::Result<Version, HandOver>>; 2],
}

/// Builds the code of a kernel that looks for races.
///
/// # Errors
/// `Internal` if the kernel cannot be woven or lowered. The inner error says why it is one for the simulator.
pub fn build(
    under_test: &KernelUnderTest<'_>,
    local_shadow: LocalShadow,
    target: Target,
) -> Result<std::result::Result<(Code, RaceLayout), HandOver>> {
    let mut module = under_test.module.clone();
    let args = under_test.interface.args.len() as u32;
    match device_races::weave(&mut module, &under_test.entry, args, local_shadow, &under_test.machine)? {
        Err(hand_over) => Ok(Err(hand_over)),
        Ok(layout) => Ok(match under_test.try_lower(module, target, &under_test.lowering)? {
            Ok(code) => Ok((code, layout)),
            Err(refusal) => {
                Err(HandOver::because(&format!("has no code there that looks for races ({})", refusal.report().what)))
            }
        }),
    }
}

impl<'a, 'c> RaceSearch<'a, 'c> {
    /// Begins a search; makes no code yet.
    pub fn new(under_test: &'a KernelUnderTest<'c>) -> RaceSearch<'a, 'c> {
        RaceSearch { under_test, versions: [None, None] }
    }

    /// Runs a launch, whose work-group size is decided, on the executor that all launches of this search run on.
    /// `timeout`: its time limit; `outputs`: whether the contents of buffers are wanted.
    ///
    /// # Errors
    /// `Internal` if the kernel cannot be woven or lowered; those of the executor.
    pub fn run(
        &mut self,
        executor: &mut dyn Executor,
        launch: &Launch,
        timeout: Duration,
        outputs: bool,
    ) -> Result<Outcome> {
        for local_shadow in [LocalShadow::Local, LocalShadow::Global] {
            let version = match self.version(executor, local_shadow)? {
                Ok(version) => version,
                Err(hand_over) => return Ok(Outcome::HandedOver(hand_over.clone())),
            };
            match version.run(executor, launch, timeout, outputs)? {
                Some(outcome) => return Ok(outcome),
                // Local memory has no room for its shadow, or the shadow's words none for so many barriers.
                None => continue,
            }
        }
        Ok(Outcome::HandedOver(HandOver::because("passes more barriers than shadow memory has numbers for")))
    }

    /// Returns a version of the kernel, loaded.
    fn version(
        &mut self,
        executor: &mut dyn Executor,
        local_shadow: LocalShadow,
    ) -> Result<std::result::Result<&mut Version, &HandOver>> {
        let place = &mut self.versions[usize::from(local_shadow == LocalShadow::Global)];
        if place.is_none() {
            *place = Some(match build(self.under_test, local_shadow, executor.target())? {
                Ok((code, layout)) => Ok(Version { program: executor.load(&code)?, layout, next: 1 }),
                Err(hand_over) => Err(hand_over),
            });
        }
        match place {
            Some(Ok(version)) => Ok(Ok(version)),
            Some(Err(hand_over)) => Ok(Err(hand_over)),
            None => unreachable!("it was just made"),
        }
    }
}

impl Version {
    /// Runs a launch. `None`: this version cannot run it.
    fn run(
        &mut self,
        executor: &mut dyn Executor,
        launch: &Launch,
        timeout: Duration,
        outputs: bool,
    ) -> Result<Option<Outcome>> {
        loop {
            let renew = self.next == 0;
            let first = self.next.max(1);
            let planned = match self.layout.plan(launch, first, executor.device().local_memory) {
                Ok(planned) => planned,
                Err(NotRun::NoLocalRoom) => return Ok(None),
                Err(NotRun::HandOver(hand_over)) => return Ok(Some(Outcome::HandedOver(hand_over))),
            };
            let bytes = (planned.probe_words.saturating_add(planned.shadow_words)).saturating_mul(4);
            let most = executor.device().max_allocation;
            if most > 0 && bytes > most {
                let why =
                    format!("needs {} MiB of shadow memory, which the device does not have in one piece", bytes >> 20);
                return Ok(Some(Outcome::HandedOver(HandOver::because(&why))));
            }
            let options = RunOptions { timeout, repeats: 1, probe_words: Some(planned.probe_words), outputs };
            let kept = Kept { words: planned.shadow_words, renew };
            match executor.run_with_kept(self.program, &planned.launch, &options, &planned.head, kept)? {
                // What it has left in shadow memory is not known; the executor does not keep it.
                Err(fault) => return Ok(Some(Outcome::Ended(fault))),
                Ok(observation) => {
                    let seen = self.layout.read(&observation.probe);
                    let next = seen.last.max(first) + 1;
                    self.next = if seen.overflow || next >= MOST_INTERVALS { 0 } else { next };
                    match (seen.overflow, first) {
                        (false, _) => {
                            let layout = self.layout.clone();
                            return Ok(Some(Outcome::Ran(Ran { seen, observation, layout })));
                        }
                        // Once more, with all numbers.
                        (true, 2..) => {}
                        (true, _) => return Ok(None),
                    }
                }
            }
        }
    }
}
