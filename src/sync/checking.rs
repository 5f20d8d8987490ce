//! The check of a kernel: its inputs run once each with all accesses watched, then without each of its barriers, then under
//! schedules that make races show.

use std::collections::{BTreeMap, BTreeSet};

use super::families;
use super::findings::{self, Findings, Found, Key, Reader, Seen};
use super::outcomes;
use super::words;
use crate::error::Result;
use crate::exec::simulator::observation::{Simulation, SimulationOptions};
use crate::generate::growth::{self, Guess};
use crate::lower::host::table::HostTable;
use crate::result::check::{Barrier, Finding, FindingKind, HoldsFor, Input, Memory, Summary, Verdict};
use crate::suite::Output;
use crate::suite::launch::Launch;

/// What runs launches and watches all their accesses.
pub trait Simulate {
    /// Runs a launch under its schedule.
    ///
    /// # Errors
    /// Of the environment only; what the kernel does is observed.
    fn simulate(&mut self, launch: &Launch, options: &SimulationOptions) -> Result<Simulation>;
}

/// An input to be explored.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    /// `suite`, `generated` or `evolved`.
    pub origin: &'static str,
    /// With its work-group size decided.
    pub launch: Launch,
    /// What the kernel may write to, as far as types are known.
    pub outputs: Vec<Output>,
    /// SIMULEE's, of those that were searched for.
    pub fitness: Option<f64>,
    /// What was assumed in making it.
    pub preconditions: Vec<String>,
    /// Arguments that kassay made without the kernel saying how large: they grow where the kernel goes beyond them.
    pub guesses: Vec<Guess>,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// Try each barrier whether it is needed.
    pub redundant: bool,
    /// What atomics read decides something: barriers may matter to that without any two accesses conflicting.
    pub atomics_read: bool,
    /// Of so many races at most, look for schedules after which outputs differ.
    pub witnesses: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { redundant: true, atomics_read: false, witnesses: 20 }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Checked {
    pub verdict: Verdict,
    /// In the order of results; those about redundant barriers last.
    pub found: Vec<Found>,
    pub inputs: Vec<Input>,
    pub barriers: Vec<Barrier>,
    /// Inputs in which accesses are in order only because of what atomics happened to read.
    pub leaning: Vec<String>,
    /// Inputs that were not run, a sentence each.
    pub refused: Vec<String>,
}

/// How often a launch's arguments may grow.
const ROUNDS: usize = 12;

/// Runs a case under its own schedule. Where it goes beyond arguments of guessed length, they grow, and it runs again.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn explore(sim: &mut dyn Simulate, table: &HostTable, case: &mut Case) -> Result<Simulation> {
    let mut run = Run { sim };
    let mut simulation = run.launch(&case.launch, Vec::new(), true)?;
    for _ in 0..ROUNDS {
        let reached = growth::reached(table, &simulation.faults);
        if !growth::grow(&mut case.guesses, &mut case.launch, &mut case.preconditions, &reached) {
            break;
        }
        simulation = run.launch(&case.launch, Vec::new(), true)?;
    }
    Ok(simulation)
}

/// Checks all cases.
///
/// # Errors
/// As of [`Simulate::simulate`].
pub fn check(
    sim: &mut dyn Simulate,
    reader: &Reader<'_>,
    cases: &mut [Case],
    options: CheckOptions,
) -> Result<Checked> {
    let mut simulations = Vec::with_capacity(cases.len());
    for case in &mut *cases {
        let simulation = explore(sim, reader.table, case)
            .map_err(|e| e.details(format!("this happened with the input \"{}\"", case.name)))?;
        simulations.push(simulation);
    }
    let cases = &*cases;
    let mut run = Run { sim };
    let mut findings = Findings::default();
    let mut explored = Vec::with_capacity(cases.len());
    for ((input, case), simulation) in cases.iter().enumerate().zip(simulations) {
        let seen = seen(input, case, &simulation);
        findings.add(reader, seen);
        let keys = reader.keys(seen);
        explored.push(Explored { keys, simulation });
    }
    let mut found = findings.finish();
    let inputs: Vec<Input> = cases.iter().zip(&explored).map(|(case, e)| describe(case, e)).collect();
    let verdict = findings::verdict(found.iter().map(|f| &f.finding), inputs.iter().any(|i| i.completed));
    for found in found.iter_mut().filter(|f| f.conflict.is_some()).take(options.witnesses) {
        run.witness(found, &cases[found.input], &explored[found.input])?;
    }
    let barriers = run.barriers(reader, cases, &explored, verdict, options)?;
    let leans = cases.iter().zip(&explored).filter(|(_, e)| e.simulation.leans_on_atomics);
    let leaning = leans.map(|(case, _)| case.name.clone()).collect();
    let refused = cases.iter().zip(&explored).filter_map(|(case, e)| {
        let why = e.simulation.rejected.as_ref()?;
        Some(format!("the input \"{}\" was not run: {why}", case.name))
    });
    let refused = refused.collect();
    found.extend(barriers.iter().filter_map(|(site, b)| redundant(reader, *site, b)));
    let barriers = barriers.into_iter().map(|(_, b)| b).collect();
    Ok(Checked { verdict, found, inputs, barriers, leaning, refused })
}

fn seen<'a>(input: usize, case: &'a Case, simulation: &'a Simulation) -> Seen<'a> {
    Seen { input, name: &case.name, launch: &case.launch, simulation }
}

/// An input that was run.
struct Explored {
    keys: BTreeSet<Key>,
    simulation: Simulation,
}

struct Run<'a> {
    sim: &'a mut dyn Simulate,
}

impl Run<'_> {
    fn launch(&mut self, launch: &Launch, ignored_barriers: Vec<u32>, races: bool) -> Result<Simulation> {
        let schedule = launch.schedule.clone();
        let options = SimulationOptions { schedule, races, ignored_barriers, ..SimulationOptions::default() };
        self.sim.simulate(launch, &options)
    }

    /// Looks for a schedule after which a race leaves other outputs than it did.
    fn witness(&mut self, found: &mut Found, case: &Case, explored: &Explored) -> Result<()> {
        let Some(conflict) = found.conflict.as_ref().filter(|_| !found.finding.benign) else { return Ok(()) };
        for schedule in families::directed(&case.launch.range, conflict) {
            let launch = Launch { schedule, ..case.launch.clone() };
            if launch.schedule == case.launch.schedule || launch.schedule.check(&launch.range).is_err() {
                continue;
            }
            let other = self.launch(&launch, Vec::new(), false)?;
            let both = [&explored.simulation.observation.outputs, &other.observation.outputs];
            found.finding.witness = outcomes::witness([&case.launch.schedule, &launch.schedule], both, &case.outputs);
            if found.finding.witness.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Every barrier of the source with what happens if it is ignored, by one of its sites.
    fn barriers(
        &mut self,
        reader: &Reader<'_>,
        cases: &[Case],
        explored: &[Explored],
        verdict: Verdict,
        options: CheckOptions,
    ) -> Result<Vec<(u32, Barrier)>> {
        let mut sources: BTreeMap<u32, u32> = BTreeMap::new();
        for (site, barrier) in (0_u32..).zip(&reader.table.barriers) {
            sources.entry(barrier.source).or_insert(site);
        }
        let mut all = Vec::new();
        for (source, site) in sources {
            let known = &reader.table.barriers[site as usize];
            let reaching: Vec<usize> =
                (0..cases.len()).filter(|i| explored[*i].simulation.reached.contains(&source)).collect();
            let judged = match () {
                () if !known.builtin.ends_with("barrier") || known.sub_group => {
                    (None, "it does more than a barrier".to_owned())
                }
                () if reaching.is_empty() => (None, "no input reaches it".to_owned()),
                () if reaching.iter().any(|i| !explored[*i].simulation.completed) => {
                    (None, "not every input that reaches it comes to its end".to_owned())
                }
                () if !options.redundant => (None, "not tried".to_owned()),
                // Redundant is what can go without any finding, and this kernel has some with all its barriers.
                () if verdict != Verdict::Clean => (None, "the kernel is not clean with it".to_owned()),
                () => {
                    let new = self.without(reader, cases, explored, source, &reaching)?;
                    let reason = match new {
                        0 if options.atomics_read => "what atomics read may depend on it".to_owned(),
                        0 => "nothing new is found without it".to_owned(),
                        1 => "without it there is 1 finding more".to_owned(),
                        n => format!("without it there are {n} findings more"),
                    };
                    ((new > 0 || !options.atomics_read).then_some(new == 0), reason)
                }
            };
            let place = reader.place(known.path);
            all.push((
                site,
                Barrier {
                    location: place.location,
                    function: place.function,
                    builtin: known.builtin.clone(),
                    reached: reaching.len() as u64,
                    redundant: judged.0,
                    reason: judged.1,
                },
            ));
        }
        all.sort_by(|a, b| a.1.location.cmp(&b.1.location));
        Ok(all)
    }

    /// How many findings appear that were not there with the barrier; inputs after the first that shows one are left out.
    fn without(
        &mut self,
        reader: &Reader<'_>,
        cases: &[Case],
        explored: &[Explored],
        source: u32,
        reaching: &[usize],
    ) -> Result<u64> {
        for &input in reaching {
            let simulation = self.launch(&cases[input].launch, vec![source], true)?;
            let keys = reader.keys(seen(input, &cases[input], &simulation));
            let new = keys.difference(&explored[input].keys).count() as u64;
            if new > 0 {
                return Ok(new);
            }
        }
        Ok(0)
    }
}

fn describe(case: &Case, explored: &Explored) -> Input {
    let range = &case.launch.range;
    let dims = range.dims as usize;
    let simulation = &explored.simulation;
    let reason = match () {
        () if simulation.completed => None,
        () if let Some(why) = &simulation.rejected => Some(format!("the simulator cannot run it: {why}")),
        () if !simulation.divergences.is_empty() => {
            Some("work-items wait at barriers that others never reach".to_owned())
        }
        () => Some("work-items were stopped".to_owned()),
    };
    Input {
        name: case.name.clone(),
        origin: case.origin.to_owned(),
        global: range.global[..dims].to_vec(),
        local: range.local.unwrap_or([1; 3])[..dims].to_vec(),
        work_groups: range.groups(),
        completed: simulation.completed,
        reason,
        findings: explored.keys.len() as u64,
        schedule: case.launch.schedule.clone(),
        fitness: case.fitness,
        preconditions: case.preconditions.clone(),
    }
}

fn redundant(reader: &Reader<'_>, site: u32, barrier: &Barrier) -> Option<Found> {
    if barrier.redundant != Some(true) {
        return None;
    }
    let path = reader.table.barriers.get(site as usize)?.path;
    let access = crate::result::check::Access { builtin: Some(barrier.builtin.clone()), ..reader.place(path) };
    let message = words::redundant(&barrier.builtin, barrier.reached);
    Some(Found::alone(Finding {
        kind: FindingKind::RedundantBarrier,
        scope: None,
        memory: None::<Memory>,
        variable: None,
        index: None,
        benign: false,
        count: barrier.reached,
        accesses: vec![access],
        finished: None,
        branch: None,
        message,
        input: None,
        inputs: barrier.reached,
        schedule: Default::default(),
        witness: None,
        reproduction: None,
    }))
}

/// The numbers of a result; `launches`: all that were made.
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

/// What a verdict stands for: all interleavings of the inputs only if no value that depends on the interleaving can decide what is
/// accessed. `flows`: what taint says of that, a sentence each; `leaning`: as of [`Checked`].
pub fn holds_for(flows: &[String], leaning: &[String], inputs: &[Input]) -> (HoldsFor, Vec<String>) {
    let mut because = flows.to_vec();
    if let Some(name) = leaning.first() {
        because.push(format!(
            "in {} of {} inputs (such as \"{name}\") accesses are in order only because of what atomics happened to read",
            leaning.len(),
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
