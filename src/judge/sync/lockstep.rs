//! Finds out which races are gone if warps run in lockstep: kernels for early GPUs leave out barriers within a warp.

use kassay_base::error::Result;
use kassay_model::native::table::{NativeTable, SourcePlace};
use kassay_run::exec::simulator::observation::{Conflict, SimulationOptions};

use super::budget::Budget;
use super::causes::{Facts, cause, may_be_lockstep};
use super::exploration::{Case, Explored, Simulate};
use super::findings::Found;

/// The number of work-items of a warp, as most programs that rely on lockstep have it.
const WARP: u32 = 32;

/// Names a race that lockstep would order in the largest group that shows it. Groups of one or two warps say nothing:
/// there, lockstep orders what a forgotten barrier would, also in a sum by halves, of which only one warp does the
/// rest.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn name<S: Simulate>(
    sim: &mut S,
    table: &NativeTable,
    found: &mut Found,
    (cases, explored): (&[Case], &[Explored]),
    budget: Budget,
) -> Result<()> {
    let Some(facts) = found.facts else { return Ok(()) };
    if !may_be_lockstep(&found.finding.accesses, found.finding.scope, facts) || budget.is_over() {
        return Ok(());
    }
    let items = |input: usize| cases[input].launch.range.decided().local.iter().product::<u64>();
    let is_whole = |input: &usize| explored[*input].simulation.sampled.is_none();
    let largest = found.shown_by().filter(is_whole).max_by_key(|input| (items(*input), std::cmp::Reverse(*input)));
    let Some(input) = largest.filter(|input| items(*input) > 2 * u64::from(WARP)) else { return Ok(()) };
    let case = &cases[input];
    let options = SimulationOptions {
        schedule: case.launch.schedule.clone(),
        races: true,
        deadline: budget.end(),
        lockstep: Some(WARP),
        ..SimulationOptions::default()
    };
    let simulation = sim.simulate(&case.launch, &options)?;
    let place = found.conflict.as_ref().map(|race| places(table, race));
    let is_gone = !simulation.conflicts.iter().any(|race| Some(places(table, race)) == place);
    if simulation.completed && is_gone {
        let facts = Facts { gone_in_lockstep: true, ..facts };
        found.facts = Some(facts);
        found.finding.cause = cause(&found.finding.accesses, found.finding.scope, facts);
    }
    Ok(())
}

/// Returns where the two accesses of a race are, in order: what makes it one finding whatever calls lead there.
fn places<'a>(table: &'a NativeTable, race: &Conflict) -> Vec<Option<&'a SourcePlace>> {
    let place = |site: u32| {
        let path = table.accesses.get(site as usize)?.path;
        table.paths.get(path as usize)?.frames.first()
    };
    let mut all: Vec<_> = race.accesses.iter().map(|access| place(access.site)).collect();
    all.sort();
    all
}
