//! Runs the cases of one module on the baselines of a suite.

use std::sync::Mutex;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_run::exec::{Executor, ProgramId};

use super::baseline::{RunSettings, TestBaseline};
use super::case::Device;
pub use super::case::{Case, RunCost, Scenario};
use super::joint::JointRuns;
use super::single::SingleRuns;
use super::sweeper::{Cases, Strategy, Sweeper};
use crate::mutation::build::module_builder::Woven;

/// Runs the cases on `executors`, each given with its loaded program of `woven`; every executor runs an equal share of
/// the cases. `on_decided` is called with each case as soon as its outcome is final. Returns the cost.
///
/// # Errors
/// `Environment`, and errors of `on_decided`.
pub fn run(
    executors: &mut [(&mut dyn Executor, ProgramId)],
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    settings: &RunSettings,
    on_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<RunCost> {
    let share = cases.len().div_ceil(executors.len().max(1)).max(1);
    let total = Mutex::new(RunCost::default());
    let started = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let handles: Vec<_> = executors
            .iter_mut()
            .zip(cases.chunks_mut(share))
            .map(|((executor, program), cases)| {
                let total = &total;
                scope.spawn(move || {
                    let cost = run_share(&mut **executor, *program, woven, baselines, cases, settings, on_decided)?;
                    if let Ok(mut total) = total.lock() {
                        total.add(cost);
                    }
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    let mut cost = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    cost.run = started.elapsed();
    Ok(cost)
}

/// Runs one executor's share of the cases.
fn run_share(
    executor: &mut dyn Executor,
    program: ProgramId,
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    settings: &RunSettings,
    on_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<RunCost> {
    let mut device = Device { executor, program, cost: RunCost::default() };
    let joint = JointRuns::new(woven, baselines, settings).map(|joint| Box::new(joint) as Box<dyn Strategy + '_>);
    let single = Box::new(SingleRuns { woven, baselines, settings });
    let strategies = joint.into_iter().chain([single as Box<dyn Strategy + '_>]).collect();
    let mut cases = Cases::new(cases, baselines, settings, on_decided);
    Sweeper { strategies, settings }.run(&mut device, &mut cases)?;
    Ok(device.cost)
}
