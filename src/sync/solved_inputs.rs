//! Launches that are inputs only if work-items meet in them: those that a solver proposes.

use super::budget::Budget;
use super::checking::{self, Case, Simulate};
use crate::error::Result;
use crate::exec::simulator::observation::{FaultKind, Simulation};
use crate::lower::host::table::{HostTable, Storage};

/// A launch in which work-items may meet.
#[derive(Debug, Clone)]
pub struct Suspicion {
    pub case: Case,
    /// The argument in whose memory; `None`: a local variable.
    pub argument: Option<u32>,
}

/// What came of launches.
#[derive(Debug, Default)]
pub struct Confirmed {
    pub cases: Vec<Case>,
    /// How many were not run, or not to their end, because the budget was over.
    pub left: usize,
}

/// Runs the launches, until the budget ends, and gives those in which work-items do meet where they are suspected to. Others are no
/// inputs: nothing says that a host ever gives such values.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn confirmed<S: Simulate>(
    sim: &mut S,
    table: &HostTable,
    suspicions: Vec<Suspicion>,
    budget: Budget,
) -> Result<Confirmed> {
    let mut confirmed = Confirmed::default();
    let count = suspicions.len();
    for (n, Suspicion { mut case, argument }) in suspicions.into_iter().enumerate() {
        if budget.is_over() {
            confirmed.left += count - n;
            break;
        }
        let simulation = checking::explore(sim, table, &mut case, budget.part(count - n))?;
        confirmed.left += usize::from(simulation.cut_short);
        if meets(table, &simulation, argument) {
            confirmed.cases.push(case);
        }
    }
    Ok(confirmed)
}

/// Whether accesses to that memory conflict, and the launch is in order but for that: values with which the kernel goes out of bounds
/// elsewhere are none that it is made for.
fn meets(table: &HostTable, simulation: &Simulation, argument: Option<u32>) -> bool {
    let is_there = |object: u32| match (argument, table.objects.get(object as usize).map(|o| o.storage)) {
        (Some(position), Some(Storage::Argument(at))) => at == position,
        (None, Some(Storage::Local { .. })) => true,
        _ => false,
    };
    simulation.completed
        && simulation.faults.iter().all(|f| f.kind == FaultKind::Uninitialised)
        && simulation.conflicts.iter().any(|c| is_there(c.object))
}
