//! What inputs cost besides what they do wrong: runs each once more, measured.

use std::collections::BTreeMap;

use kassay_base::error::Result;
use kassay_judge::sync::budget::Budget;
use kassay_judge::sync::checking::{self, Case};
use kassay_judge::sync::findings::Reader;
use kassay_judge::sync::pool;
use kassay_model::native::table::Space;
use kassay_results::result::Location;
use kassay_results::result::check::Input;
use kassay_run::exec::simulator::bank_conflicts::{BankConflictCounter, BankConflicts};
use kassay_run::exec::simulator::observation::SimulationOptions;

use super::loaded::LoadedSimulator;

/// Measures the inputs that ran to their ends. Returns a sentence for each place in the source, in its order.
///
/// # Errors
/// Errors of the simulator.
pub(super) fn notes(
    simulators: &mut [LoadedSimulator<'_>],
    reader: &Reader<'_>,
    cases: &[Case],
    inputs: &[Input],
    budget: Budget,
) -> Result<Vec<String>> {
    if !reader.table.objects.iter().any(|object| object.space == Space::Local) {
        return Ok(Vec::new());
    }
    let whole = || cases.iter().zip(inputs).filter(|(_, input)| input.completed).map(|(case, _)| case);
    let measured = pool::each(simulators, whole(), |sim, case, _| {
        let mut counter = BankConflictCounter::default();
        let (schedule, deadline) = (case.launch.schedule.clone(), budget.end());
        let options = SimulationOptions { schedule, deadline, ..SimulationOptions::default() };
        let is_whole = !budget.is_over()
            && sim
                .observe(&case.launch, &options, Some(&mut counter))
                .map_err(|e| checking::of_input(e, case))?
                .completed;
        Ok(is_whole.then_some(counter))
    })?;
    let mut places: BTreeMap<Location, BankConflicts> = BTreeMap::new();
    for (site, conflicts) in measured.iter().flatten().flat_map(BankConflictCounter::sites) {
        let path = reader.table.accesses.get(site as usize).map_or(u32::MAX, |access| access.path);
        places.entry(reader.place(path).location).or_default().add(conflicts);
    }
    places.retain(|_, conflicts| conflicts.conflicting > 0);
    let mut notes: Vec<String> = places.iter().map(|(at, conflicts)| format!("{at}: {conflicts}")).collect();
    let late = measured.iter().filter(|counter| counter.is_none()).count();
    if late > 0 {
        let (all, words) = (measured.len(), budget.words());
        notes.push(format!("{late} of {all} inputs were not measured, because of {words}; --budget gives more time"));
    }
    Ok(notes)
}
