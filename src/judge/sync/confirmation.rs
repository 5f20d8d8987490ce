//! Repeats on the simulator, on the smallest input that shows it, a race that a device has found.

use kassay_base::error::Result;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_suite::launch::{Launch, NdRange};
use kassay_suite::schedule::Schedule;

use super::budget::Budget;
use super::checking::{Case, Simulate};

/// Share of the time for smaller launches; the rest is for the work-groups that the device named.
const SMALLER: f64 = 0.6;

/// The most work-groups that are run of those that the device named.
const MOST_GROUPS: usize = 16;

/// Looks for a race in smaller and smaller parts of an input, the smallest first: launches of fewer work-groups, which
/// are inputs like others, then the work-groups `groups` of the whole launch. Returns the input in which work-items
/// race, and what was seen of it.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn confirm<S: Simulate>(
    sim: &mut S,
    case: &Case,
    groups: &[u64],
    budget: Budget,
) -> Result<Option<(Case, Simulation)>> {
    let time = budget.share(SMALLER);
    for range in smaller(&case.launch.range) {
        if time.is_over() {
            break;
        }
        let counts = range.group_counts();
        let counts: Vec<String> = counts[..range.dims as usize].iter().map(u64::to_string).collect();
        let name = match range.groups() {
            1 => format!("{}, first work-group", case.name),
            _ => format!("{}, first {} work-groups", case.name, counts.join(" x ")),
        };
        // A schedule names the work-groups of the whole launch.
        let launch = Launch { range, schedule: Schedule::default(), ..case.launch.clone() };
        let found = watched(sim, &launch, Vec::new(), time)?;
        if !found.conflicts.is_empty() {
            return Ok(Some((Case { name, launch, ..case.clone() }, found)));
        }
    }
    let mut groups = groups.to_vec();
    groups.truncate(MOST_GROUPS);
    groups.sort_unstable();
    groups.dedup();
    let launch = Launch { schedule: Schedule::default(), ..case.launch.clone() };
    let count = groups.len();
    let found = watched(sim, &launch, groups, budget)?;
    let name = format!("{}, {count} of its work-groups", case.name);
    Ok((!found.conflicts.is_empty()).then(|| (Case { name, launch, ..case.clone() }, found)))
}

fn watched<S: Simulate>(sim: &mut S, launch: &Launch, groups: Vec<u64>, budget: Budget) -> Result<Simulation> {
    let (schedule, deadline) = (launch.schedule.clone(), budget.end());
    sim.simulate(launch, &SimulationOptions { schedule, races: true, groups, deadline, ..SimulationOptions::default() })
}

/// Returns ranges with 1, 2, 4 … work-groups in each dimension, as far as there are as many; not the whole range.
fn smaller(range: &NdRange) -> Vec<NdRange> {
    let (counts, local) = (range.group_counts(), range.decided().local);
    let mut all: Vec<NdRange> = Vec::new();
    for power in 0..63 {
        let groups = counts.map(|count| count.min(1 << power));
        if groups == counts {
            break;
        }
        let global = [0, 1, 2].map(|d| range.global[d].min(groups[d] * local[d]));
        all.push(NdRange { global, ..range.clone() });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_ranges_have_powers_of_two_of_groups_and_not_all() {
        let range = NdRange { dims: 2, global: [100, 32, 1], local: Some([16, 16, 1]), offset: [0; 3] };
        let global: Vec<[u64; 3]> = smaller(&range).into_iter().map(|range| range.global).collect();
        assert_eq!(global, [[16, 16, 1], [32, 32, 1], [64, 32, 1]]);
        assert_eq!(smaller(&NdRange { global: [16, 16, 1], ..range }), []);
    }
}
