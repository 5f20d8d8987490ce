//! Runs a test under several schedules (PENG 4.2.3).

use std::time::Duration;

use kassay_base::error::Result;
use kassay_results::result::schedule::{Difference, Ran, RunStatus, Summary, Test, Verdict};
use kassay_run::exec::simulator::observation::{Conflict, FaultKind, Simulation, SimulationOptions};
use kassay_run::exec::{Capabilities, Executor, Fault, ProgramId, RunOptions, Schedules, Simulator};
use kassay_suite::Output;
use kassay_suite::faults::FaultClass;
use kassay_suite::launch::Launch;
use kassay_suite::schedule::Schedule;

use super::outcomes::{Ended, Outcomes};
use super::schedule_families::{Family, Planned};
use crate::coverage::group_order::MappedProgram;

/// Runs tests with the kernel loaded.
pub enum ScheduleRunner {
    /// A device, with a kernel that reads its ids through a map.
    Mapped {
        /// The device.
        executor: Box<dyn Executor>,
        /// The kernel on it.
        program: MappedProgram,
    },
    /// The simulator, with code in which accesses are watched, so that it can be interrupted there.
    Simulator {
        /// The simulator.
        simulator: Box<Simulator>,
        /// The kernel on it.
        program: ProgramId,
    },
}

/// How each schedule is run.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleOptions {
    /// Runs of each schedule.
    pub repeats: u32,
    /// Limit of one run.
    pub timeout: Duration,
}

impl ScheduleRunner {
    /// What the executor can do.
    pub fn capabilities(&self) -> Capabilities {
        match self {
            ScheduleRunner::Mapped { executor, .. } => executor.capabilities(),
            ScheduleRunner::Simulator { simulator, .. } => simulator.capabilities(),
        }
    }

    /// Returns whether it also follows orders of work-items, and preemptions.
    pub fn is_exact(&self) -> bool {
        self.capabilities().schedules == Schedules::All
    }

    /// Returns the accesses of a launch that race, if this runner can tell.
    ///
    /// # Errors
    /// Errors of the environment; `Caller` if the launch is too large for the simulator.
    pub fn races(&mut self, launch: &Launch, timeout: Duration) -> Result<Vec<Conflict>> {
        match self {
            ScheduleRunner::Mapped { .. } => Ok(Vec::new()),
            ScheduleRunner::Simulator { simulator, program } => {
                let schedule = launch.schedule.clone();
                let options = SimulationOptions { schedule, races: true, ..SimulationOptions::default() };
                Ok(simulator.simulate(*program, launch, &options, timeout, &[])?.conflicts)
            }
        }
    }

    fn run(&mut self, launch: &Launch, timeout: Duration) -> Result<(Ended, Option<Duration>)> {
        match self {
            ScheduleRunner::Mapped { executor, program } => {
                let options = RunOptions { timeout, repeats: 1, probe_words: None, outputs: true };
                Ok(match program.run(executor.as_mut(), launch, &options)? {
                    Ok(seen) => (Ended::Completed(seen.outputs), seen.kernel_times.last().copied()),
                    Err(fault) => (failed(fault), None),
                })
            }
            ScheduleRunner::Simulator { simulator, program } => {
                let schedule = launch.schedule.clone();
                let options = SimulationOptions { schedule, ..SimulationOptions::default() };
                let seen = simulator.simulate(*program, launch, &options, timeout, &[])?;
                let time = seen.observation.kernel_times.last().copied();
                Ok((simulated(seen, launch.allows_faults), time))
            }
        }
    }
}

/// Classifies how a launch ended on the simulator. `allows_faults`: accesses that were skipped do not matter.
fn simulated(seen: Simulation, allows_faults: bool) -> Ended {
    let fault_text = |kind: FaultKind| match kind {
        FaultKind::CopyArguments => Some("an asynchronous copy whose work-items do not agree".to_owned()),
        FaultKind::EventLists => Some("a wait for events on which the work-items do not agree".to_owned()),
        FaultKind::OutsideMask => Some("a function of warps with a mask that does not name its caller".to_owned()),
        FaultKind::BarrierFlags => Some("a barrier on whose flags the work-items do not agree".to_owned()),
        FaultKind::Uninitialised | FaultKind::BeyondRow => None,
        FaultKind::OutOfBounds
        | FaultKind::BeyondInner
        | FaultKind::Null
        | FaultKind::ReadOnlyWrite
        | FaultKind::WriteOnlyRead
        | FaultKind::Misaligned
        | FaultKind::UnawaitedCopy
        | FaultKind::Division
        | FaultKind::NonTermination
        | FaultKind::Trap => kind.class().map(FaultClass::indefinite),
    };
    let ended = |status, reason: &str| Ended::Failed { status, reason: format!("{reason}; kassay check says where") };
    if let Some(why) = seen.rejected {
        return Ended::Failed { status: RunStatus::Rejected, reason: format!("was refused by the simulator: {why}") };
    }
    let reported = seen.faults.iter().filter(|f| !allows_faults || !f.kind.is_skipped());
    match reported.into_iter().find_map(|f| fault_text(f.kind)) {
        _ if !seen.divergences.is_empty() => {
            ended(RunStatus::Divergence, "work-items wait at a barrier that others never reach")
        }
        Some(what) => ended(RunStatus::Faulted, &what),
        None if !seen.completed => ended(RunStatus::Timeout, "the launch did not come to its end in time"),
        None => Ended::Completed(seen.observation.outputs),
    }
}

fn failed(fault: Fault) -> Ended {
    let status = match fault {
        Fault::Timeout { .. } => RunStatus::Timeout,
        Fault::Crash { .. } | Fault::Stopped { .. } => RunStatus::Crashed,
        Fault::Rejected { .. } => RunStatus::Rejected,
        Fault::Checked { .. } => RunStatus::Faulted,
    };
    Ended::Failed { status, reason: fault.to_string() }
}

/// Runs a test under its schedules, each `repeats` times. Indices begin at 0; see [`number`].
///
/// # Errors
/// Errors of the environment; `Caller` if the launch's groups cannot be put in order.
pub fn run(
    runner: &mut ScheduleRunner,
    name: &str,
    launch: &Launch,
    outputs: &[Output],
    plan: &[Planned],
    options: ScheduleOptions,
) -> Result<Test> {
    let mut outcomes = Outcomes::new(outputs);
    let mut times = Vec::with_capacity(plan.len());
    for planned in plan {
        outcomes.begin();
        let launch = Launch { schedule: planned.schedule.clone(), ..launch.clone() };
        let mut taken = Vec::new();
        for _ in 0..options.repeats.max(1) {
            let (ended, time) = runner.run(&launch, options.timeout)?;
            taken.extend(time);
            // A schedule that hangs once is not repeated.
            let is_over = matches!(ended, Ended::Failed { .. });
            outcomes.add(ended);
            if is_over {
                break;
            }
        }
        taken.sort_unstable();
        times.push(taken.get(taken.len() / 2).map(Duration::as_secs_f64));
    }
    let ran = plan.iter().zip(outcomes.tallies()).zip(times).enumerate();
    let schedules = ran.map(|(n, ((planned, tally), kernel_s))| {
        let failed = tally.failed.as_ref();
        Ran {
            index: n as u64,
            family: planned.family.name().to_owned(),
            map: planned.schedule.map.clone(),
            item_order: planned.schedule.item_order.clone(),
            preemptions: planned.schedule.preemptions.clone(),
            seed: planned.seed,
            status: failed.map_or(RunStatus::Completed, |f| f.0),
            reason: failed.map(|f| f.1.clone()),
            outcomes: tally.outcomes.len() as u64,
            outcome: tally.outcomes.first().copied(),
            kernel_s,
        }
    });
    Ok(Test {
        name: name.to_owned(),
        verdict: outcomes.verdict(),
        work_groups: launch.range.groups(),
        schedules: schedules.collect(),
        differing_outputs: outcomes.differences(|n| n as u64),
    })
}

/// Numbers the schedules of all tests consecutively.
pub fn number(tests: &mut [Test]) {
    let mut next = 0;
    for test in tests {
        renumber(test, |index| next + index);
        next += test.schedules.len() as u64;
    }
}

/// Gives the schedules of a test other indices.
pub fn renumber(test: &mut Test, of: impl Fn(u64) -> u64) {
    for ran in &mut test.schedules {
        ran.index = of(ran.index);
    }
    for Difference { schedules, .. } in &mut test.differing_outputs {
        *schedules = schedules.map(&of);
    }
}

/// Returns a recorded schedule, to be run again.
pub fn recorded(ran: &Ran) -> Planned {
    let schedule =
        Schedule { map: ran.map.clone(), item_order: ran.item_order.clone(), preemptions: ran.preemptions.clone() };
    Planned { family: Family::Recorded, schedule, seed: ran.seed }
}

/// Counts tests by verdict.
pub fn summary(tests: &[Test]) -> Summary {
    let count = |verdict| tests.iter().filter(|t| t.verdict == verdict).count() as u64;
    Summary {
        total: tests.len() as u64,
        stable: count(Verdict::Stable),
        order_dependent: count(Verdict::OrderDependent),
        nondeterministic: count(Verdict::Nondeterministic),
        failed: count(Verdict::Failed),
    }
}
