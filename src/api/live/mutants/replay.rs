//! Runs mutants of a kernel on a captured launch, and compares what they leave to the bit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, argument};
use kassay_judge::mutation::run::baseline;
use kassay_results::result::probe_map::{GuardMap, Mutant};
use kassay_run::exec::{Executor, ProgramId, Reference, RunOptions, Sweep, Variation, VariationOutcome};
use kassay_run::host::Converted;
use kassay_suite::compare::Tolerance;
use kassay_suite::launch::{ArgValue, Launch};

use super::super::super::observer;
use super::judge::Measured;
use super::runs::GRACE;

/// Runs of the original on each launch, which must all leave what the program's own launch left; of mutants, where
/// work-items interact.
pub const REPEATS: u32 = 3;
/// Bytes in memory to which nothing was written before a launch, in a second run: what is there then is a matter of
/// chance.
const PATTERN: u8 = 0xa5;

/// Something that holds, or the reason why it does not, for people.
pub type Possible<T> = std::result::Result<T, String>;

/// A module with the mutants that no launch has distinguished from the original so far.
pub struct Loaded<'a> {
    /// By executor.
    pub programs: Vec<ProgramId>,
    pub mutants: Vec<&'a Mutant>,
}

/// Runs the mutants of a kernel on one launch after the other.
pub struct Replay<'a> {
    /// A mutant's loop iterations and time, as a multiple of the original's.
    pub factor: f64,
    /// For a launch of the original.
    pub timeout: Duration,
    pub kernel: &'a Measured,
    pub guards: &'a GuardMap,
    pub layout: GuardLayout,
    /// The arguments that a kernel could write to: positions and names.
    pub outputs: Vec<(u32, String)>,
    /// Runs of each mutant on each launch.
    pub repeats: u32,
    /// At least one.
    pub executors: &'a mut [Box<dyn Executor>],
    pub loaded: Vec<Loaded<'a>>,
}

impl Replay<'_> {
    /// Runs the mutants on a launch, and leaves only those that could not be distinguished from the original. `Err`
    /// if the original differed from itself.
    pub fn launch(&mut self, converted: Converted) -> Result<Possible<()>> {
        let Converted { launch, expectations } = converted;
        let left: BTreeMap<u32, Arc<Vec<u8>>> =
            expectations.into_iter().map(|expected| (expected.position, expected.bytes)).collect();
        let references = self.references(&launch, |position| left.get(&position).cloned());
        if let Err(why) = self.case(&launch, &references)? {
            return Ok(Err(why));
        }
        let Some(other) = with_pattern(&launch) else { return Ok(Ok(())) };
        let Some(first) = self.loaded.iter().find(|loaded| !loaded.mutants.is_empty()) else { return Ok(Ok(())) };
        let options = RunOptions {
            timeout: self.timeout,
            repeats: 1,
            probe_words: Some(u64::from(self.guards.length)),
            outputs: true,
        };
        let head = self.head(&other);
        let observed = match self.executors[0].run_with_probe(first.programs[0], &other, &options, &head)? {
            Ok(observed) => observed,
            Err(fault) => {
                return Ok(Err(format!("with other contents of memory that was not written before, it {fault}")));
            }
        };
        let mut left: BTreeMap<u32, Arc<Vec<u8>>> =
            observed.outputs.into_iter().map(|(position, bytes)| (position, Arc::new(bytes))).collect();
        let references = self.references(&other, |position| left.remove(&position));
        Ok(self
            .case(&other, &references)?
            .map_err(|why| format!("{why}, with other contents of memory that was not written before")))
    }

    /// What is in memory afterwards, to the bit; where nothing is `left`, what was there before.
    fn references(&self, launch: &Launch, mut left: impl FnMut(u32) -> Option<Arc<Vec<u8>>>) -> Vec<Reference> {
        let reference = |(position, label): &(u32, String)| {
            let before = match launch.args.get(*position as usize)? {
                ArgValue::Buffer(bytes) | ArgValue::Image { texels: bytes, .. } if !bytes.is_empty() => bytes.clone(),
                _ => return None,
            };
            let bytes = left(*position).unwrap_or(before);
            let (position, label) = (*position, label.clone());
            Some(Reference { position, label, bytes, ty: None, tolerance: Tolerance::default() })
        };
        self.outputs.iter().filter_map(reference).collect()
    }

    /// The beginning of the probe buffer, as the layer fills it.
    fn head(&self, launch: &Launch) -> Vec<u32> {
        let fuel = baseline::fuel(self.kernel.fuel_used, self.factor);
        let mut words = vec![0; self.guards.length as usize];
        words[self.guards.fuel as usize] = fuel;
        for position in 0..self.layout.args {
            let extent = match launch.value(position) {
                Some(ArgValue::Local(bytes)) => *bytes,
                _ => launch.reach(position).unwrap_or(0),
            };
            let at = (self.layout.argument(position) + argument::EXTENT) as usize;
            words[at..at + 2].copy_from_slice(&[extent as u32, (extent >> 32) as u32]);
        }
        words
    }

    /// Runs the original and the mutants on a launch, after which there must be these contents.
    fn case(&mut self, launch: &Launch, references: &[Reference]) -> Result<Possible<()>> {
        let (guards, limit) = (self.guards, self.timeout);
        let head = self.head(launch);
        let factor = self.factor;
        for loaded in self.loaded.iter_mut().filter(|loaded| !loaded.mutants.is_empty()) {
            let sweep = |executor: &mut Box<dyn Executor>, program, numbers: &[u32], repeats, timeout| {
                let variation = |number: &u32| Variation { words: vec![(guards.mutant, *number)] };
                let variations: Vec<Variation> = numbers.iter().map(variation).collect();
                let sweep = Sweep {
                    launch,
                    probe: &head,
                    probe_words: u64::from(guards.length),
                    variations: &variations,
                    references,
                    repeats,
                    timeout,
                    words: guards.fault..guards.fault + 1,
                    decisive: Some(guards.fault),
                    batch: None,
                };
                executor.sweep(program, &sweep).map(|swept| swept.runs)
            };
            let started = Instant::now();
            let original = sweep(&mut self.executors[0], loaded.programs[0], &[0], REPEATS, limit)?;
            if let Some(why) = original.iter().find_map(difference) {
                return Ok(Err(format!("the program's own launch is not reproduced to the bit: {why}")));
            }
            let timeout = GRACE + (started.elapsed() / REPEATS).mul_f64(factor);
            let share = loaded.mutants.len().div_ceil(self.executors.len()).max(1);
            let parts: Vec<Vec<u32>> =
                loaded.mutants.chunks(share).map(|part| part.iter().map(|mutant| mutant.number).collect()).collect();
            let mut runners: Vec<(&mut Box<dyn Executor>, ProgramId)> =
                self.executors.iter_mut().zip(loaded.programs.iter().copied()).collect();
            let repeats = self.repeats;
            let swept =
                observer::run_parallel(&mut runners, &parts, "", &observer::Silent, |(executor, program), part| {
                    sweep(executor, *program, part, repeats, timeout)
                })?;
            let mut outcomes = swept.into_iter().flatten();
            // One that faults or runs out of fuel is not decided, either.
            loaded.mutants.retain(|_| outcomes.next().is_some_and(|outcome| difference(&outcome).is_none()));
        }
        Ok(Ok(()))
    }
}

/// How a variation differs from the references: by contents, or by a fault.
fn difference(outcome: &VariationOutcome) -> Option<String> {
    match outcome {
        VariationOutcome::Fault(fault) => Some(format!("it {fault}")),
        VariationOutcome::Ran(runs) => runs.iter().find_map(|run| {
            let fault = run.words.first().and_then(|word| FaultKind::read(*word));
            run.difference.clone().or(fault.map(|(kind, _)| kind.words().to_owned()))
        }),
    }
}

/// The launch with other contents of memory to which nothing was written before; `None` if there is no such memory.
fn with_pattern(launch: &Launch) -> Option<Launch> {
    let mut other = launch.clone();
    let mut is_other = false;
    for (position, value) in (0..).zip(&mut other.args) {
        if let ArgValue::Buffer(bytes) = value
            && launch.view(position).uninitialised
        {
            *bytes = Arc::new(vec![PATTERN; bytes.len()]);
            is_other = true;
        }
    }
    is_other.then_some(other)
}
