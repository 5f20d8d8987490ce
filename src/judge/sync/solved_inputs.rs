//! Confirms launches proposed by a solver: they become inputs only if work-items conflict in them.

use kassay_base::error::Result;
use kassay_model::native::table::{NativeTable, Storage};
use kassay_run::exec::simulator::observation::{FaultKind, Simulation};

use super::budget::Budget;
use super::checking::{self, Case, Simulate};

/// A launch in which work-items may conflict.
#[derive(Debug, Clone)]
pub struct SuspectedConflict {
    /// The launch, as an input.
    pub case: Case,
    /// The argument in whose memory they may conflict; `None`: a local variable.
    pub argument: Option<u32>,
}

/// Result of running suspected launches.
#[derive(Debug, Default)]
pub struct Confirmed {
    /// The launches in which work-items conflict.
    pub cases: Vec<Case>,
    /// Number of launches that were not run, or not to completion, because the budget was over.
    pub left: usize,
}

/// Runs the launches until the budget ends, and returns those in which work-items conflict where this was suspected.
/// The others are no inputs, as nothing indicates that a host ever passes such values.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn confirmed<S: Simulate>(
    sim: &mut S,
    table: &NativeTable,
    suspected: Vec<SuspectedConflict>,
    budget: Budget,
) -> Result<Confirmed> {
    let mut confirmed = Confirmed::default();
    let count = suspected.len();
    for (n, SuspectedConflict { mut case, argument }) in suspected.into_iter().enumerate() {
        if budget.is_over() {
            confirmed.left += count - n;
            break;
        }
        let simulation = checking::explore(sim, table, &mut case, budget.part(count - n))?;
        confirmed.left += usize::from(simulation.cut_short);
        if conflicts_there(table, &simulation, argument) {
            confirmed.cases.push(case);
        }
    }
    Ok(confirmed)
}

/// Returns whether accesses to that memory conflict in an otherwise correct launch: if the kernel accesses memory out
/// of bounds elsewhere, it is not made for these values.
fn conflicts_there(table: &NativeTable, simulation: &Simulation, argument: Option<u32>) -> bool {
    let is_there = |object: u32| match (argument, table.objects.get(object as usize).map(|o| o.storage)) {
        (Some(position), Some(Storage::Argument(at))) => at == position,
        (None, Some(Storage::Local { .. })) => true,
        _ => false,
    };
    simulation.completed
        && simulation.faults.iter().all(|f| f.kind == FaultKind::Uninitialised)
        && simulation.conflicts.iter().any(|c| is_there(c.object))
}
