//! Checks a kernel: runs each input once with all accesses watched, then without each of its barriers, then under
//! schedules that expose races.

use std::collections::BTreeMap;

use kassay_base::error::{Error, Result};
use kassay_model::native::table::NativeTable;
use kassay_results::result::check::{Barrier, Finding, FindingKind, HoldsFor, Input, Memory, Summary, Verdict};
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_suite::launch::Launch;

use super::budget::Budget;
pub use super::check_options::CheckOptions;
use super::exploration::Explored;
pub use super::exploration::{Case, Simulate, explore};
use super::findings::{self, Findings, Found, ObservedLaunch, Reader};
use super::{lockstep, messages, outcomes, pool, redundancy, schedule_families};

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The verdict over all inputs.
    pub verdict: Verdict,
    /// In the order of results; redundant barriers come last.
    pub found: Vec<Found>,
    /// The inputs with what was seen of them, in the order of the cases.
    pub inputs: Vec<Input>,
    /// The barriers of the source, in source order.
    pub barriers: Vec<Barrier>,
    /// Inputs in which accesses are ordered only by values that atomics happened to read.
    pub ordered_by_atomics: Vec<String>,
    /// Names of the inputs in which work-items asked which lanes of their warp are active.
    pub asked_active: Vec<String>,
    /// Inputs that were not run, or not to completion, a sentence each.
    pub left_out: Vec<String>,
    /// Indices beyond rows of arrays of arrays in accesses that stay in these, a sentence for each place.
    pub rows: Vec<String>,
    /// Reasons why the verdict does not hold for all of some inputs, a sentence each.
    pub sampled: Vec<String>,
}

/// Share of the time that the first runs of the inputs may take together.
pub const EXPLORING: f64 = 0.8;

/// Runs the first runs of all cases. `simulators` are the simulators that run launches concurrently. The simulations
/// are in the order of the cases.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn explore_all<S: Simulate + Send>(
    simulators: &mut [S],
    table: &NativeTable,
    cases: &mut [Case],
    budget: Budget,
) -> Result<Vec<Simulation>> {
    let (time, count) = (budget.up_to(EXPLORING), simulators.len().max(1));
    pool::each(simulators, cases.iter_mut(), |sim, case, left| {
        // The first input is run even if no time is left, for a moment.
        explore(sim, table, case, time.part(left.div_ceil(count))).map_err(|e| of_input(e, case))
    })
}

/// Checks all cases: explores and judges them.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn check<S: Simulate + Send>(
    simulators: &mut [S],
    reader: &Reader<'_>,
    cases: &mut [Case],
    options: CheckOptions,
) -> Result<Checked> {
    let simulations = explore_all(simulators, reader.table, cases, options.budget)?;
    judge(simulators, reader, cases, simulations, options)
}

/// Adds to an error which input it came with.
pub fn of_input(error: Error, case: &Case) -> Error {
    error.details(format!("this happened with the input \"{}\"", case.name))
}

/// Judges cases by the simulations of their first runs, which are in the same order, and by further runs. Findings do
/// not depend on the number of `simulators`.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn judge<S: Simulate + Send>(
    simulators: &mut [S],
    reader: &Reader<'_>,
    cases: &[Case],
    simulations: Vec<Simulation>,
    options: CheckOptions,
) -> Result<Checked> {
    let mut findings = Findings::default();
    let mut rows = BTreeMap::new();
    let mut explored = Vec::with_capacity(cases.len());
    for ((input, case), simulation) in cases.iter().enumerate().zip(simulations) {
        let observed = observed(input, case, &simulation);
        findings.add(reader, observed);
        for (place, text) in reader.rows(observed) {
            rows.entry(place).or_insert(text);
        }
        let keys = reader.keys(observed);
        explored.push(Explored { keys, simulation });
    }
    let mut found = findings.finish();
    let inputs: Vec<Input> = cases.iter().zip(&explored).map(|(case, e)| describe(case, e)).collect();
    let verdict = findings::verdict(found.iter().map(|f| &f.finding), inputs.iter().any(|i| i.completed));
    let racy = found.iter_mut().filter(|f| f.conflict.is_some()).take(options.witnesses);
    let table = reader.table;
    pool::each(simulators, racy, |sim, found, _| {
        witness(sim, found, &cases[found.input], &explored[found.input], options.budget)?;
        lockstep::name(sim, table, found, (cases, &explored), options.budget)
    })?;
    let barriers = redundancy::barriers(simulators, reader, cases, &explored, &options)?;
    let by_atomics = cases.iter().zip(&explored).filter(|(_, e)| e.simulation.depends_on_atomics);
    let ordered_by_atomics = by_atomics.map(|(case, _)| case.name.clone()).collect();
    let asked = cases.iter().zip(&explored).filter(|(_, e)| e.simulation.asked_active);
    let asked_active = asked.map(|(case, _)| case.name.clone()).collect();
    let left_out = left_out(reader, cases, &explored, options.budget);
    let sampled = cases.iter().zip(&explored).filter_map(|(case, e)| sampled(case, &e.simulation)).collect();
    found.extend(barriers.iter().filter_map(|(site, b)| redundant(reader, *site, b)));
    let barriers = barriers.into_iter().map(|(_, b)| b).collect();
    let rows = rows.into_values().collect();
    Ok(Checked { verdict, found, inputs, barriers, ordered_by_atomics, asked_active, left_out, rows, sampled })
}

/// Describes the inputs that were not run, or not to completion.
fn left_out(reader: &Reader<'_>, cases: &[Case], explored: &[Explored], budget: Budget) -> Vec<String> {
    let refused = cases.iter().zip(explored).filter_map(|(case, e)| {
        let why = e.simulation.rejected.as_ref()?;
        Some(format!("the input \"{}\" was not run: {why}", case.name))
    });
    let mut all: Vec<String> = refused.collect();
    let short: Vec<&str> =
        cases.iter().zip(explored).filter(|(_, e)| e.simulation.cut_short).map(|(c, _)| c.name.as_str()).collect();
    let at = cases.iter().zip(explored).find_map(|(case, e)| {
        let (site, item) = e.simulation.cut_at.filter(|_| e.simulation.cut_short)?;
        let place = reader.place(reader.table.loops.get(site as usize)?.path).location;
        let item = messages::id(item, case.launch.range.dims);
        (place.line > 0).then(|| format!("; work-item {item} was in the loop of line {} then", place.line))
    });
    if let Some(first) = short.first() {
        let (which, what) = match (short.len(), cases.len()) {
            (1, 1) => ("the input".to_owned(), "it"),
            (1, _) => (format!("the input \"{first}\""), "it"),
            (n, all) => (format!("{n} of {all} inputs (such as \"{first}\")"), "they"),
        };
        let verb = if what == "it" { "does" } else { "do" };
        all.push(format!(
            "{which} did not come to an end within {}: what {what} {verb} after that is not judged{}; --budget gives more time",
            budget.words(),
            at.unwrap_or_default()
        ));
    }
    all
}

/// Says that only a sample of an input's work-groups was run.
fn sampled(case: &Case, simulation: &Simulation) -> Option<String> {
    let run = simulation.sampled?;
    let all = case.launch.range.groups();
    Some(format!("of the {all} work-groups of the input \"{}\" a sample of {run} was run", case.name))
}

fn observed<'a>(input: usize, case: &'a Case, simulation: &'a Simulation) -> ObservedLaunch<'a> {
    ObservedLaunch { input, name: &case.name, launch: &case.launch, simulation }
}

/// What the run of one case shows.
pub(super) fn findings_of(reader: &Reader<'_>, input: usize, case: &Case, simulation: &Simulation) -> Vec<Found> {
    let mut findings = Findings::default();
    findings.add(reader, observed(input, case, simulation));
    findings.finish()
}

/// Looks for a schedule under which a race leads to other outputs.
fn witness<S: Simulate>(
    sim: &mut S,
    found: &mut Found,
    case: &Case,
    explored: &Explored,
    budget: Budget,
) -> Result<()> {
    let Some(conflict) = found.conflict.as_ref().filter(|_| !found.finding.benign) else { return Ok(()) };
    // The outputs of an incomplete or sampled launch cannot be compared.
    if explored.simulation.cut_short || explored.simulation.sampled.is_some() {
        return Ok(());
    }
    for schedule in schedule_families::directed(&case.launch.range, conflict) {
        let launch = Launch { schedule, ..case.launch.clone() };
        if launch.schedule == case.launch.schedule || launch.schedule.check(&launch.range).is_err() {
            continue;
        }
        if budget.is_over() {
            break;
        }
        let (schedule, deadline) = (launch.schedule.clone(), budget.end());
        let other = sim.simulate(&launch, &SimulationOptions { schedule, deadline, ..SimulationOptions::default() })?;
        if other.cut_short {
            break;
        }
        let both = [&explored.simulation.observation.outputs, &other.observation.outputs];
        found.finding.witness = outcomes::witness([&case.launch.schedule, &launch.schedule], both, &case.outputs);
        if found.finding.witness.is_some() {
            break;
        }
    }
    Ok(())
}

fn describe(case: &Case, explored: &Explored) -> Input {
    let range = &case.launch.range;
    let dims = range.dims as usize;
    let simulation = &explored.simulation;
    let reason = match () {
        () if simulation.completed => None,
        () if let Some(why) = &simulation.rejected => Some(format!("the simulator cannot run it: {why}")),
        () if simulation.cut_short => Some("the budget ended before it did".to_owned()),
        () if !simulation.divergences.is_empty() => {
            Some("work-items wait at barriers that others never reach".to_owned())
        }
        () if simulation.ran_out_of_time() => {
            Some("it was not done within the time limit of a launch (--timeout)".to_owned())
        }
        () => Some("work-items were stopped".to_owned()),
    };
    Input {
        name: case.name.clone(),
        origin: case.origin.to_owned(),
        host: None,
        global: range.global[..dims].to_vec(),
        local: range.decided().local[..dims].to_vec(),
        work_groups: range.groups(),
        groups_run: simulation.sampled,
        completed: simulation.completed,
        reason,
        findings: explored.keys.len() as u64,
        schedule: case.launch.schedule.clone(),
        fitness: case.fitness,
        device: None,
        preconditions: case.preconditions.clone(),
    }
}

fn redundant(reader: &Reader<'_>, site: u32, barrier: &Barrier) -> Option<Found> {
    if barrier.redundant != Some(true) {
        return None;
    }
    let path = reader.table.barriers.get(site as usize)?.path;
    let access = kassay_results::result::check::Access { builtin: Some(barrier.builtin.clone()), ..reader.place(path) };
    let message = messages::redundant(&barrier.builtin, barrier.reached);
    Some(Found::alone(Finding {
        kind: FindingKind::RedundantBarrier,
        scope: None,
        memory: None::<Memory>,
        variable: None,
        index: None,
        within_object: None,
        benign: false,
        count: barrier.reached,
        accesses: vec![access],
        finished: None,
        branch: None,
        message,
        cause: None,
        input: None,
        inputs: barrier.reached,
        schedule: Default::default(),
        witness: None,
        reproduction: None,
        seen_on: None,
        unless: None,
    }))
}

/// Summarises a result; `launches`: number of all launches made.
pub fn summary(findings: &[Finding], inputs: &[Input], barriers: &[Barrier], launches: u64) -> Summary {
    let mut by_kind = BTreeMap::new();
    for finding in findings {
        *by_kind.entry(finding.kind.name().to_owned()).or_default() += 1;
    }
    Summary {
        findings: by_kind,
        inputs: inputs.len() as u64,
        completed: inputs.iter().filter(|i| i.completed).count() as u64,
        launches,
        redundant_barriers: barriers.iter().filter(|b| b.redundant == Some(true)).count() as u64,
        barriers: barriers.len() as u64,
    }
}

/// Decides the scope of a verdict: all interleavings of the inputs only if no value that depends on the interleaving
/// can decide what is accessed. `flows`: such values found by taint analysis, a sentence each; `ordered_by_atomics`: as
/// and `asked_active` are as in [`Checked`]. Also returns the reasons against all interleavings.
pub fn holds_for(
    flows: &[String],
    (ordered_by_atomics, asked_active): (&[String], &[String]),
    inputs: &[Input],
) -> (HoldsFor, Vec<String>) {
    let mut because = flows.to_vec();
    let some = |names: &[String]| Some((names.len(), names.first()?.clone()));
    if let Some((count, name)) = some(ordered_by_atomics) {
        because.push(format!(
            "in {count} of {} inputs (such as \"{name}\") accesses are in order only because of what atomics happened to read",
            inputs.len()
        ));
    }
    if let Some((count, name)) = some(asked_active) {
        because.push(format!(
            "in {count} of {} inputs (such as \"{name}\") `__activemask` has one of the answers that CUDA allows",
            inputs.len()
        ));
    }
    let incomplete = inputs.iter().filter(|i| !i.completed).count();
    if incomplete > 0 {
        let inputs =
            if inputs.len() == 1 { "the input".to_owned() } else { format!("{incomplete} of {} inputs", inputs.len()) };
        because.push(format!("{inputs} did not come to an end"));
    }
    let holds = if because.is_empty() { HoldsFor::AllInterleavings } else { HoldsFor::ExploredSchedules };
    (holds, because)
}
