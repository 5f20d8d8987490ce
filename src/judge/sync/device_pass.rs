//! The first pass of a check on a device: looks there for races in the inputs that the simulator does not finish, and
//! has the simulator repeat what is found in smaller ones.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_results::result::check::{DeviceRun, DeviceVerdict, Finding};
use kassay_run::exec::Executor;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation};

use super::budget::Budget;
use super::checking::{Case, Simulate};
use super::confirmation;
use super::device_findings::Described;
use super::findings::{ObservedLaunch, Reader};
use crate::coverage::device_races::{Outcome, RaceSearch, Ran};

/// Share of the budget within which the simulator explores the inputs if a device looks at the rest.
pub const EXPLORING: f64 = 0.4;
/// Share of the budget by which the device has to be done.
const SEARCHING: f64 = 0.75;
/// Share of the budget by which the simulator has to have repeated what was found.
const REPEATING: f64 = 0.92;

/// The device of the first pass.
pub struct FirstPass<'a, 'c> {
    /// The search in launches of the kernel that is checked.
    pub search: RaceSearch<'a, 'c>,
    /// The device.
    pub executor: Box<dyn Executor>,
    /// The time limit of a launch.
    pub timeout: Duration,
}

/// What the first pass saw.
#[derive(Debug, Default)]
pub struct Looked {
    /// By input, those that were added to repeat races included.
    pub runs: Vec<Option<DeviceRun>>,
    /// Races that the simulator did not repeat, each with the position of its input.
    pub unconfirmed: Vec<(usize, Finding)>,
    /// What is to be reported, a sentence each.
    pub notes: Vec<String>,
    /// Inputs that ended on the device only, a reason each why the verdict does not hold for all that may be found.
    pub only_races: Vec<String>,
}

/// Returns whether the simulator did not run all of an input.
fn is_open(simulation: &Simulation) -> bool {
    let is_left = simulation.cut_short || simulation.sampled.is_some() || simulation.rejected.is_some();
    is_left || simulation.ran_out_of_time()
}

/// Takes back that a loop does not end, which the simulator says of a launch that takes it too long, if the launch came
/// to its end on the device.
fn settle(simulation: &mut Simulation, run: &DeviceRun) {
    if run.verdict != DeviceVerdict::Unknown && simulation.ran_out_of_time() {
        simulation.faults.retain(|fault| fault.kind != FaultKind::NonTermination);
    }
}

/// Looks at the inputs that the simulator did not finish. Inputs in which it repeats races are added to `cases`, with
/// their simulations.
///
/// # Errors
/// Errors of the device and of the simulator; `Internal` if the kernel cannot be woven or lowered.
pub fn look<S: Simulate>(
    pass: &mut FirstPass<'_, '_>,
    sim: &mut S,
    reader: &Reader<'_>,
    cases: &mut Vec<Case>,
    simulations: &mut Vec<Simulation>,
    budget: Budget,
) -> Result<Looked> {
    let mut looked = Looked { runs: vec![None; cases.len()], ..Looked::default() };
    let open: Vec<usize> = (0..cases.len()).filter(|at| simulations.get(*at).is_some_and(is_open)).collect();
    let mut known = known_races(reader, cases, simulations);
    let mut racy = Vec::new();
    for at in open {
        let (run, found) = pass.run(reader, &cases[at], budget.up_to(SEARCHING))?;
        settle(&mut simulations[at], &run);
        looked.notes.extend(note(&run, &cases[at].name, &pass.executor.device().name));
        if run.verdict == DeviceVerdict::Clean {
            looked.only_races.push(format!(
                "the input \"{}\" came to its end only on {}, where only races were looked for",
                cases[at].name,
                pass.executor.device().name
            ));
        }
        if let Some(found) = found.filter(|_| run.verdict == DeviceVerdict::Racy) {
            racy.push((at, found));
        }
        looked.runs[at] = Some(run);
    }
    let time = budget.up_to(REPEATING);
    let count = racy.len();
    let mut left = Vec::new();
    for (n, (at, found)) in racy.into_iter().enumerate() {
        let groups: Vec<u64> = found.iter().flat_map(|one| one.groups).collect();
        if let Some((case, simulation)) = confirmation::confirm(sim, &cases[at], &groups, time.rest(count - n))? {
            let run = looked.runs[at].as_mut();
            run.into_iter().for_each(|run| run.repeated = Some(case.name.clone()));
            let observed =
                ObservedLaunch { input: cases.len(), name: &case.name, launch: &case.launch, simulation: &simulation };
            known.extend(reader.races(observed));
            cases.push(case);
            simulations.push(simulation);
            looked.runs.push(None);
        }
        left.extend(found.into_iter().map(|one| (at, one)));
    }
    for (at, one) in left {
        // Different inputs may show the same pair.
        if known.insert(one.lines()) {
            looked.unconfirmed.push((at, one.finding));
        }
    }
    if let Some((_, first)) = looked.unconfirmed.first() {
        let (count, name) = (looked.unconfirmed.len(), first.seen_on.clone().unwrap_or_default());
        let what = if count == 1 { "a race".to_owned() } else { format!("{count} races") };
        looked
            .notes
            .push(format!("the simulator did not repeat {what} that {name} has shown; --budget gives it more time"));
    }
    Ok(looked)
}

/// The lines of the races that the simulator has seen: files and lines of both accesses, in order.
type Lines = BTreeSet<Vec<(String, u32)>>;

fn known_races(reader: &Reader<'_>, cases: &[Case], simulations: &[Simulation]) -> Lines {
    let observed = cases.iter().zip(simulations).enumerate().map(|(input, (case, simulation))| ObservedLaunch {
        input,
        name: &case.name,
        launch: &case.launch,
        simulation,
    });
    observed.flat_map(|observed| reader.races(observed)).collect()
}

/// Words what a run means for the reader.
fn note(run: &DeviceRun, input: &str, device: &str) -> Option<String> {
    Some(match run.verdict {
        DeviceVerdict::Clean => format!(
            "{device} ran the input \"{input}\" to its end, and no accesses raced; what else is looked for was looked for \
             only in what the simulator ran of it"
        ),
        DeviceVerdict::Racy => {
            let pairs = if run.pairs == 1 { "a pair".to_owned() } else { format!("{} pairs", run.pairs) };
            format!("{device} ran the input \"{input}\" and found {pairs} of accesses that race")
        }
        DeviceVerdict::Unknown => {
            let why = run.reason.as_deref().unwrap_or_default();
            format!("whether accesses race in the rest of the input \"{input}\" is not known from {device}: {why}")
        }
    })
}

impl FirstPass<'_, '_> {
    /// Runs an input. Returns what its result says, and the races.
    fn run(&mut self, reader: &Reader<'_>, case: &Case, budget: Budget) -> Result<(DeviceRun, Option<Vec<Described>>)> {
        let unknown = |reason: String| DeviceRun {
            verdict: DeviceVerdict::Unknown,
            reason: Some(reason),
            holds_for: None,
            pairs: 0,
            repeated: None,
            kernel_ms: None,
        };
        let left = budget.end().map(|end| end.saturating_duration_since(Instant::now()));
        let timeout = left.map_or(self.timeout, |left| left.min(self.timeout));
        if timeout.is_zero() {
            return Ok((unknown(format!("there was no time left of {}", budget.words())), None));
        }
        let outcome = self.search.run(self.executor.as_mut(), &case.launch, timeout, false)?;
        Ok(match outcome {
            Outcome::HandedOver(why) => (unknown(format!("the kernel {why}, which only the simulator judges")), None),
            Outcome::Ended(fault) => (unknown(format!("the kernel {fault}")), None),
            Outcome::Ran(Ran { seen, observation, layout }) => {
                let kernel_ms = observation.kernel_times.last().map(|time| time.as_secs_f64() * 1e3);
                let verdict = match (seen.found, seen.out_of_bounds) {
                    (1.., _) => DeviceVerdict::Racy,
                    (0, true) => DeviceVerdict::Unknown,
                    (0, false) => DeviceVerdict::Clean,
                };
                let reason = (verdict == DeviceVerdict::Unknown).then(|| "an access was outside its buffer".to_owned());
                let pairs = u64::from(seen.found);
                let run = DeviceRun { verdict, reason, holds_for: None, pairs, repeated: None, kernel_ms };
                let device = &self.executor.device().name;
                let described = seen.reports.iter().map(|one| Described::of(reader, case, &layout, one, device));
                (run, Some(described.collect()))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use kassay_run::exec::simulator::observation::SimulatorFault;

    use super::*;

    fn late(kind: FaultKind) -> Simulation {
        Simulation { faults: vec![SimulatorFault::of(kind)], ..Simulation::default() }
    }

    fn run(verdict: DeviceVerdict) -> DeviceRun {
        DeviceRun { verdict, reason: None, holds_for: None, pairs: 0, repeated: None, kernel_ms: None }
    }

    #[test]
    fn what_comes_to_its_end_on_the_device_terminates() {
        for (verdict, faults) in [(DeviceVerdict::Clean, 0), (DeviceVerdict::Racy, 0), (DeviceVerdict::Unknown, 1)] {
            let mut simulation = late(FaultKind::NonTermination);
            assert!(is_open(&simulation));
            settle(&mut simulation, &run(verdict));
            assert_eq!(simulation.faults.len(), faults, "{verdict:?}");
        }
    }

    #[test]
    fn what_the_simulator_ended_for_another_reason_is_not_open() {
        assert!(!is_open(&late(FaultKind::CopyArguments)));
        assert!(!is_open(&Simulation { completed: true, ..late(FaultKind::OutOfBounds) }));
        let mut simulation = Simulation { completed: true, ..late(FaultKind::NonTermination) };
        settle(&mut simulation, &run(DeviceVerdict::Clean));
        assert_eq!(simulation.faults.len(), 1);
    }
}
