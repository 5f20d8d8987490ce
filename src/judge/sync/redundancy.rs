//! Finds redundant barriers: runs every input again with some barriers ordering nothing; a single finding that the
//! input does not show with all of them, or one at more places in memory, shows that one of them is needed.
//!
//! Barriers are first tried together: a launch without several of them is ordered less, so if nothing conflicts without
//! all of them, nothing conflicts without any one. If something does, the set is bisected.

use std::collections::{BTreeMap, BTreeSet};

use kassay_base::error::Result;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::native::table::BarrierSite;
use kassay_results::result::check::Barrier;
use kassay_run::exec::simulator::observation::{FaultKind, Simulation, SimulationOptions};

use super::check_options::CheckOptions;
use super::exploration::{Case, Explored, Simulate};
use super::findings::{ObservedLaunch, Reader};
use super::pool;

/// Results by source number of the barrier.
#[derive(Debug, Default)]
struct Trials {
    needed: BTreeSet<u32>,
    /// The budget ended before they were tried in every input.
    open: BTreeSet<u32>,
}

/// Returns every barrier of the source with the result of ignoring it, and one of its sites; in the order of
/// the source.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub(super) fn barriers<S: Simulate + Send>(
    simulators: &mut [S],
    reader: &Reader<'_>,
    cases: &[Case],
    explored: &[Explored],
    options: &CheckOptions,
) -> Result<Vec<(u32, Barrier)>> {
    let mut sources: BTreeMap<u32, u32> = BTreeMap::new();
    for (site, barrier) in (0_u32..).zip(&reader.table.barriers) {
        sources.entry(barrier.source).or_insert(site);
    }
    let reached = |source: u32| (0..cases.len()).filter(move |i| explored[*i].simulation.reached.contains(&source));
    // A barrier orders nothing in a group of a single work-item, so such groups say nothing about it.
    let is_of_grid = |source: u32| reader.table.barriers.iter().any(|known| known.source == source && known.grid);
    let several = |i: &usize, grid: bool| {
        let range = &cases[*i].launch.range;
        let is_group = range.local.is_none_or(|local| local.iter().any(|size| *size > 1));
        is_group || grid && range.global.iter().any(|size| *size > 1)
    };
    let reaching = |source: u32| {
        let grid = is_of_grid(source);
        reached(source).filter(move |i| several(i, grid))
    };
    let is_barrier = |known: &BarrierSite| builtins::family(&known.builtin) == Some(Family::Barrier);
    // Where a function of the group stands, a barrier is a part of it: CUDA's `__syncthreads_count`.
    let functions: BTreeSet<u32> =
        reader.table.barriers.iter().filter(|known| !is_barrier(known)).map(|known| known.path).collect();
    // The reason for not trying a barrier.
    let excluded = |source: u32, site: u32| {
        let known = &reader.table.barriers[site as usize];
        match () {
            () if known.sub_group || !is_barrier(known) || functions.contains(&known.path) => {
                Some("it does more than a barrier")
            }
            () if reached(source).next().is_none() => Some("no input reaches it"),
            () if reaching(source).next().is_none() => Some("only groups of a single work-item reach it"),
            () if reaching(source).any(|i| !explored[i].simulation.completed) => {
                Some("not every input that reaches it comes to its end")
            }
            () if !options.redundant => Some("not tried"),
            () if reaching(source).any(|i| hides_conflicts(&explored[i].simulation)) => {
                Some("other findings may hide what it orders")
            }
            () => None,
        }
    };
    let candidates: BTreeSet<u32> =
        sources.iter().filter(|(source, site)| excluded(**source, **site).is_none()).map(|(s, _)| *s).collect();
    let trials = try_all(simulators, reader, (cases, explored), &candidates, options)?;
    let all = sources.iter().map(|(source, site)| {
        let known = &reader.table.barriers[*site as usize];
        let (redundant, reason) = match excluded(*source, *site) {
            Some(why) => (None, why),
            None if trials.needed.contains(source) => (Some(false), "without it more is found"),
            None if trials.open.contains(source) => (None, "the budget ended before it was tried"),
            None if options.atomics_read => (None, "what atomics read may depend on it"),
            None => (Some(true), "nothing new is found without it"),
        };
        let place = reader.place(known.path);
        let barrier = Barrier {
            location: place.location,
            function: place.function,
            builtin: known.builtin.clone(),
            reached: reaching(*source).count() as u64,
            redundant,
            reason: reason.to_owned(),
        };
        (*site, barrier)
    });
    let mut all: Vec<(u32, Barrier)> = all.collect();
    all.sort_by(|a, b| a.1.location.cmp(&b.1.location));
    Ok(all)
}

/// Returns whether what a barrier orders may not show without it: accesses that race in spite of it, in one direction,
/// may be what it orders in the other, and accesses that are skipped conflict with nothing.
fn hides_conflicts(simulation: &Simulation) -> bool {
    let is_skipped = |kind: FaultKind| {
        matches!(kind, FaultKind::OutOfBounds | FaultKind::Null | FaultKind::ReadOnlyWrite | FaultKind::Misaligned)
    };
    simulation.conflicts.iter().any(|conflict| !conflict.inter_group)
        || simulation.faults.iter().any(|fault| is_skipped(fault.kind))
}

/// Tries the candidates in the inputs that reach them: in the smallest input first, then in all others concurrently, so
/// that the launches made do not depend on the number of `simulators`.
fn try_all<S: Simulate + Send>(
    simulators: &mut [S],
    reader: &Reader<'_>,
    (cases, explored): (&[Case], &[Explored]),
    candidates: &BTreeSet<u32>,
    options: &CheckOptions,
) -> Result<Trials> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|i| cases[*i].launch.range.global.iter().fold(1_u64, |n, size| n.saturating_mul(*size)));
    let mut trials = Trials::default();
    let (table, interface, source) = (reader.table, reader.interface, reader.source);
    let first = order.iter().position(|i| candidates.iter().any(|c| explored[*i].simulation.reached.contains(c)));
    let Some(first) = first else { return Ok(trials) };
    let (first, others) = order[first..].split_at(1);
    for inputs in [first, others] {
        let needed = trials.needed.clone();
        let results = pool::each(simulators, inputs, |sim, input, _| {
            // Findings are the same ones whatever branch led there.
            let reader = Reader { table, interface, source, diverging_branch: &|_| None };
            let reached = &explored[*input].simulation.reached;
            let left = reached.iter().filter(|source| candidates.contains(source) && !needed.contains(source));
            let known = Known { input: *input, case: &cases[*input], explored: &explored[*input] };
            without(sim, &reader, known, left.copied().collect(), options)
        })?;
        for one in results {
            trials.needed.extend(one.needed);
            trials.open.extend(one.open);
        }
    }
    trials.open.retain(|source| !trials.needed.contains(source));
    Ok(trials)
}

/// An input, with what it shows when all barriers order what they name.
#[derive(Clone, Copy)]
struct Known<'a> {
    input: usize,
    case: &'a Case,
    explored: &'a Explored,
}

impl Known<'_> {
    /// Returns whether there is anything to compare with.
    fn has_findings(self) -> bool {
        !self.explored.keys.is_empty()
    }

    /// Returns whether a simulation of the input shows more, or the same at more places in memory.
    fn is_less_than(self, reader: &Reader<'_>, simulation: &Simulation) -> bool {
        let counts = |simulation| {
            let observed =
                ObservedLaunch { input: self.input, name: &self.case.name, launch: &self.case.launch, simulation };
            reader.counts(observed)
        };
        let known = counts(&self.explored.simulation);
        counts(simulation).iter().any(|(key, count)| known.get(key).is_none_or(|before| count > before))
    }
}

/// Finds out which of these barriers an input needs.
fn without<S: Simulate>(
    sim: &mut S,
    reader: &Reader<'_>,
    known: Known<'_>,
    barriers: Vec<u32>,
    options: &CheckOptions,
) -> Result<Trials> {
    let case = known.case;
    let mut trials = Trials::default();
    let mut parts = vec![barriers];
    while let Some(part) = parts.pop() {
        if part.is_empty() {
            continue;
        }
        if options.budget.is_over() {
            trials.open.extend(part);
            continue;
        }
        let simulation = sim.simulate(
            &case.launch,
            &SimulationOptions {
                schedule: case.launch.schedule.clone(),
                races: true,
                ignored_barriers: part.clone(),
                first_conflict: !known.has_findings(),
                deadline: options.budget.end(),
                ..SimulationOptions::default()
            },
        )?;
        let shows_more = match known.has_findings() {
            true => known.is_less_than(reader, &simulation),
            false => simulation.conflicted,
        };
        match (shows_more, part.len()) {
            (false, _) if simulation.cut_short || !simulation.completed => trials.open.extend(part),
            (false, _) => {}
            (true, 1) => trials.needed.extend(part),
            (true, n) => {
                let (a, b) = part.split_at(n / 2);
                parts.push(b.to_vec());
                parts.push(a.to_vec());
            }
        }
    }
    Ok(trials)
}
