//! Finds races, barrier divergence, memory faults and redundant barriers.

mod conclusion;
mod conditions;
mod kernels;
mod loaded;
mod measurements;
mod options;
mod program;
mod queue;
mod repairs;

use std::cell::Cell;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::device_races::RaceSearch;
use kassay_judge::generate::collisions::Suspect;
use kassay_judge::generate::conditions::{self as generated_conditions, Conditions};
use kassay_judge::generate::evolve::{self, EvolutionParameters};
use kassay_judge::generate::launches::{self, FirstRound, Request};
use kassay_judge::generate::model::KernelModel;
use kassay_judge::generate::roles;
use kassay_judge::sync::budget::Budget;
use kassay_judge::sync::checking::{self, Case};
use kassay_judge::sync::conditions::weakest;
use kassay_judge::sync::device_pass::{self, FirstPass, Looked};
use kassay_judge::sync::findings::Reader;
use kassay_judge::sync::join;
use kassay_judge::sync::schedule_families::Plan;
use kassay_judge::sync::solved_inputs::{self, SuspectedConflict};
use kassay_model::code::LoweringOptions;
use kassay_model::condition::Condition;
use kassay_model::native::table::NativeTable;
use kassay_results::result::check::CheckResult;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_run::exec::simulator::shadow::FootprintCounter;
use kassay_run::exec::{Simulator, StartingExecutors};
use kassay_suite::launch::{Launch, NdRange};
use kassay_suite::resolve::Test;

use self::conclusion::{Judging, case, with_local_size};
use self::loaded::LoadedSimulator;
pub use self::options::{CheckOptions, CheckProgramOptions, Proving};
pub use self::program::check_program;
pub use self::repairs::KernelText;
use super::executors;
use super::input::{Parsed, SyntaxTree};
use super::opened::Opened;

/// The inputs that a kernel is checked with.
#[derive(Default)]
struct Inputs {
    cases: Vec<Case>,
    /// Launches that are inputs if work-items meet in them.
    suspected: Vec<SuspectedConflict>,
    /// Not all of those were found.
    unsolved: bool,
    /// Set if the time limit was reached before inputs could be generated.
    late: Option<Error>,
    /// Notes on how the inputs were generated.
    notes: Vec<String>,
    /// What they were generated from; `None` if they are facts.
    model: Option<KernelModel>,
}

/// Share of the budget by which generating inputs must end.
const GENERATION_SHARE: f64 = 0.25;

/// Share of the budget for solving for launches with conflicting accesses.
const SOLVING_SHARE: f64 = 0.05;
/// Share of the budget for running the solved launches.
const CONFIRMING_SHARE: f64 = 0.1;

/// Share of the budget for looking for a condition under which nothing is found.
const CONDITIONS_SHARE: f64 = 0.25;

/// Share of the budget by which the search for further inputs must end.
const SEARCH_SHARE: f64 = 0.5;

/// Looks for races, barrier divergence, memory faults and redundant barriers: in the tests of a suite, or in launches
/// that are generated if a kernel was opened. Runs on the simulator; if a device was asked for, that one looks for
/// races in the inputs that the simulator does not finish.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{CheckOptions, OpenOptions, check};
/// use kassay::result::check::Verdict;
///
/// let opened = OpenOptions::new().open_kernel("testdata/vector_add/vector_add.cl")?;
/// assert_eq!(check(&opened, &CheckOptions::new())?.verdict, Verdict::Clean);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if an option is wrong; `Environment` if the device cannot be used, or reproductions cannot be written.
pub fn check(opened: &Opened, options: &CheckOptions) -> Result<CheckResult> {
    let started = opened.begin();
    let budget = Budget::of(started, options.budget.as_secs_f64());
    options.check()?;
    if opened.is_suite() {
        options.check_for_suite()?;
    }
    let specialisations = opened.specialisations();
    let mut results: Vec<CheckResult> = Vec::new();
    for (part, specialisation) in specialisations.iter().enumerate() {
        let (mut own, mut budget) = (options.clone(), budget);
        if specialisations.len() > 1 {
            budget = budget.rest(specialisations.len() - part);
            own.reproduce = options.reproduce.as_ref().map(|folder| folder.join(format!("values-{}", part + 1)));
        }
        let result = specialisation.with(SyntaxTree::Needed, |parsed| {
            Checking { opened: specialisation, parsed, options: &own, budget, started }.run()
        })?;
        if let Some(first) = results.first() {
            specialisation.check_same("barriers", join::same_barriers(first, &result))?;
        }
        results.push(result);
    }
    match <[CheckResult; 1]>::try_from(results) {
        Ok([only]) => Ok(only),
        Err(all) => {
            let mut joined = join::join(all)?;
            opened.sort_by_test(&mut joined.inputs, |input| &input.name);
            Ok(joined)
        }
    }
}

/// One call of [`check`].
struct Checking<'a, 'c> {
    opened: &'a Opened,
    parsed: &'a Parsed<'c>,
    options: &'a CheckOptions,
    budget: Budget,
    started: Instant,
}

impl Checking<'_, '_> {
    fn run(&self) -> Result<CheckResult> {
        let Checking { opened, parsed, options, budget, started } = *self;
        let under_test = &parsed.under_test;
        if options.fix {
            repairs::check_text(opened, parsed)?;
        }
        let reproduce = options.reproduce.clone();
        let mut judging =
            Judging { opened, parsed, options, budget, started, first_pass: None, reproduce, condition: None };
        let starting = options.wants_first_pass(opened.options()).then(|| opened.start(1)).transpose()?;
        let mut inputs = match opened.is_suite() {
            true => Inputs { cases: suite_cases(&parsed.tests, under_test), ..Inputs::default() },
            false => self.generated()?,
        };
        let wanted = LoweringOptions { races: true, deadline: budget.end(), ..LoweringOptions::default() };
        let code = match inputs.late.take().map_or_else(|| under_test.for_simulator(&wanted), Err) {
            Ok(code) => code,
            Err(e) if e.is_late() => return Ok(judging.unknown(inputs.notes, &e)),
            Err(e) => return Err(e),
        };
        let jobs = opened.options().jobs.max(1);
        let mut owned: Vec<Simulator> = (0..jobs).map(|_| Simulator::new(1)).collect::<Result<_>>()?;
        let mut simulators = Vec::new();
        owned.iter_mut().for_each(|simulator| simulator.run_in_lockstep(options.warp_sync));
        for simulator in &mut owned {
            let program = simulator.load_native(&code)?;
            simulators.push(LoadedSimulator { simulator, program, timeout: opened.options().timeout, launches: 0 });
        }
        if let Some(simulator) = simulators.first_mut() {
            self.add_confirmed(&mut inputs, simulator, &code.table)?;
        }
        if let (true, Some(simulator)) = (options.evolve, simulators.first_mut()) {
            self.add_evolved(&mut inputs, simulator)?;
        }
        if let (2.., Some(simulator)) = (options.schedules, simulators.first_mut()) {
            self.add_schedules(&mut inputs, simulator, &code.table)?;
        }
        let time = if starting.is_some() { budget.up_to(device_pass::EXPLORING) } else { budget };
        let mut simulations = checking::explore_all(&mut simulators, &code.table, &mut inputs.cases, time)?;
        let mut looked = Looked::default();
        if let (Some(starting), Some(simulator)) = (starting, simulators.first_mut()) {
            let mut pass = first_pass(opened, under_test, starting)?;
            let (interface, source) = (&under_test.interface, opened.source());
            let reader = Reader { table: &code.table, interface, source: &source, diverging_branch: &|_| None };
            match executors::unfit_for(under_test, pass.executor.as_ref()) {
                Some(why) => opened.observer().note(&format!("the simulator alone runs the inputs: {why}")),
                None => {
                    judging.first_pass = Some(executors::device(pass.executor.device()));
                    looked =
                        device_pass::look(&mut pass, simulator, &reader, &mut inputs.cases, &mut simulations, budget)?;
                }
            }
        }
        if let (true, Some(simulator)) = (looked.unconfirmed.is_empty(), simulators.first_mut()) {
            judging.condition = self.condition(simulator, &code.table, &mut inputs, &mut simulations)?;
        }
        let mut result =
            judging.judge(&code.table, &mut simulators, &inputs.cases, simulations, inputs.notes, looked)?;
        if options.fix {
            // A conditional kernel is to be clean where its condition holds; elsewhere nobody starts it.
            let condition = judging.condition.as_ref().filter(|_| result.condition.is_some());
            let counts = |case: &&Case| {
                condition
                    .is_none_or(|c| generated_conditions::holds(c, &under_test.interface, &case.launch) == Some(true))
            };
            let cases = inputs.cases.iter().filter(counts).collect();
            repairs::add(&mut result, (opened, parsed), options, cases, budget)?;
        }
        Ok(result)
    }

    /// Generates inputs for a kernel without a suite.
    fn generated(&self) -> Result<Inputs> {
        let (under_test, budget) = (&self.parsed.under_test, self.budget);
        under_test.fits_the_simulator()?;
        let request = self.request()?;
        let model = match roles::infer_until(under_test, budget.end()) {
            Err(e) if e.is_late() => return Ok(Inputs { late: Some(e), ..Inputs::default() }),
            model => model?,
        };
        let time = budget.up_to(GENERATION_SHARE);
        let solving = Cell::new(None::<Budget>);
        // The time for solving starts with the first query.
        let solving_over = || {
            let until = solving.get().unwrap_or_else(|| budget.share(SOLVING_SHARE));
            solving.set(Some(until));
            until.is_over()
        };
        let FirstRound { launches, suspects, cut_short } =
            launches::first_round(&model, &request, || time.is_over(), solving_over)?;
        let mut notes = Vec::new();
        if time.is_over() {
            let what = format!(
                "only {} inputs were made, because of {}; --budget gives more time",
                launches.len(),
                budget.words()
            );
            notes.push(what);
        }
        let cases = launches.into_iter().map(|g| case(g, "generated", under_test, None)).collect();
        let suspected_conflict =
            |s: Suspect| SuspectedConflict { case: case(s.launch, "solved", under_test, None), argument: s.argument };
        let suspected = suspects.into_iter().map(suspected_conflict).collect();
        Ok(Inputs { cases, suspected, unsolved: cut_short, late: None, notes, model: Some(model) })
    }

    fn request(&self) -> Result<Request> {
        let range = range(&self.options.global, &self.options.local, &self.parsed.under_test)?;
        Ok(Request { range, seed: self.opened.seed() })
    }

    /// Runs the solved launches and adds those in which accesses do conflict.
    fn add_confirmed(
        &self,
        inputs: &mut Inputs,
        simulator: &mut LoadedSimulator<'_>,
        table: &NativeTable,
    ) -> Result<()> {
        let suspected = std::mem::take(&mut inputs.suspected);
        let confirmed = solved_inputs::confirmed(simulator, table, suspected, self.budget.share(CONFIRMING_SHARE))?;
        confirmed.cases.into_iter().for_each(|case| add_case(&mut inputs.cases, case));
        inputs.unsolved |= confirmed.left > 0;
        if inputs.unsolved {
            let what = "whether work-items meet for single values of scalars was not asked to the end";
            inputs.notes.push(format!("{what}, because of {}; --budget gives more time", self.budget.words()));
        }
        Ok(())
    }

    /// Looks for the weakest condition under which nothing is found, and adds the inputs that were run under it. `None`
    /// if nothing is found anyway, if there is no such condition, or if the launches are a suite's.
    fn condition(
        &self,
        simulator: &mut LoadedSimulator<'_>,
        table: &NativeTable,
        inputs: &mut Inputs,
        simulations: &mut Vec<Simulation>,
    ) -> Result<Option<Condition>> {
        let Some(model) = inputs.model.as_ref() else { return Ok(None) };
        let under_test = &self.parsed.under_test;
        let source = self.opened.source();
        let reader = Reader { table, interface: &under_test.interface, source: &source, diverging_branch: &|_| None };
        let known = Conditions::new(model, self.request()?);
        let make = |launch| case(launch, "generated", under_test, None);
        let seen = (&inputs.cases[..], &simulations[..]);
        let searched = weakest(simulator, &reader, seen, &known, &make, self.budget.share(CONDITIONS_SHARE))?;
        if searched.kept.is_none() && searched.cut_short {
            let what = "whether a host that keeps to some condition avoids what was found was not asked to the end";
            inputs.notes.push(format!("{what}, because of {}; --budget gives more time", self.budget.words()));
        }
        let Some(kept) = searched.kept else { return Ok(None) };
        for (case, simulation) in kept.cases.into_iter().zip(kept.simulations) {
            if inputs.cases.iter().all(|known| known.launch != case.launch) {
                let case = with_unique_name(case, &inputs.cases);
                inputs.cases.push(case);
                simulations.push(simulation);
            }
        }
        Ok(Some(kept.condition))
    }

    /// Adds the launches found by an evolutionary search (SIMULEE 3.1).
    fn add_evolved(&self, inputs: &mut Inputs, simulator: &mut LoadedSimulator<'_>) -> Result<()> {
        let under_test = &self.parsed.under_test;
        let model = roles::infer(under_test)?;
        let request = self.request()?;
        let time = self.budget.up_to(SEARCH_SHARE);
        let mut counter = FootprintCounter::default();
        let mut fitness = |launch: &Launch, _| {
            if time.is_over() {
                return Ok(None);
            }
            let options = SimulationOptions { races: true, deadline: time.end(), ..SimulationOptions::default() };
            let launch = with_local_size(launch.clone(), under_test);
            let simulation = simulator.observe(&launch, &options, Some(&mut counter))?;
            Ok(simulation.rejected.is_none().then(|| counter.total()))
        };
        let parameters = EvolutionParameters { deadline: time.end(), ..EvolutionParameters::default() };
        let found = evolve::evolve(&model, &request, &parameters, &mut fitness)?;
        if time.is_over() {
            let words = self.budget.words();
            inputs.notes.push(format!("the search for inputs was not finished, because of {words}"));
        }
        for scored in found {
            let score = scored.score();
            add_case(&mut inputs.cases, case(scored.launch, "evolved", under_test, Some(score)));
        }
        Ok(())
    }

    /// Replaces every input by the input under each of its schedules.
    fn add_schedules(
        &self,
        inputs: &mut Inputs,
        simulator: &mut LoadedSimulator<'_>,
        table: &NativeTable,
    ) -> Result<()> {
        let (count, seed) = (self.options.schedules as usize, self.opened.seed());
        let mut all = Vec::new();
        let (time, cases) = (self.budget.up_to(SEARCH_SHARE), std::mem::take(&mut inputs.cases));
        let total = cases.len();
        for (n, mut case) in cases.into_iter().enumerate() {
            let races = checking::explore(simulator, table, &mut case, time.part(total - n))?.conflicts;
            let own = Some(&case.launch.schedule).filter(|s| !s.is_natural());
            let (range, test) = (&case.launch.range, &case.name);
            let plan = Plan { range, count, seed, test, own, exact: true, races: &races }.schedules();
            for (n, planned) in plan.into_iter().enumerate() {
                let name = if n == 0 { case.name.clone() } else { format!("{}, schedule {n}", case.name) };
                let launch = Launch { schedule: planned.schedule, ..case.launch.clone() };
                all.push(Case { name, launch, ..case.clone() });
            }
        }
        inputs.cases = all;
        Ok(())
    }
}

/// Makes the device ready on which inputs are run that the simulator does not finish.
fn first_pass<'a, 'c>(
    opened: &Opened,
    under_test: &'a KernelUnderTest<'c>,
    starting: StartingExecutors,
) -> Result<FirstPass<'a, 'c>> {
    let mut executors = executors::start_executors(opened, starting, &[])?;
    let executor = executors.swap_remove(0);
    Ok(FirstPass { search: RaceSearch::new(under_test), executor, timeout: opened.options().timeout })
}

/// Returns a suite's tests as inputs.
fn suite_cases(tests: &[Test], under_test: &KernelUnderTest<'_>) -> Vec<Case> {
    let case = |test: &Test| Case {
        name: test.name.clone(),
        origin: "suite",
        launch: with_local_size(test.launch.clone(), under_test),
        outputs: test.outputs.clone(),
        fitness: None,
        preconditions: Vec::new(),
        guesses: Vec::new(),
    };
    tests.iter().map(case).collect()
}

/// Returns the NDRange that `global` and `local` describe, if any.
fn range(global: &[u64], local: &[u64], under_test: &KernelUnderTest<'_>) -> Result<Option<NdRange>> {
    if global.is_empty() {
        return Ok(None);
    }
    let bad = |what: &str, help: &str| Err(Error::caller(what).help(help));
    if global.len() > 3 {
        return bad("--global has more than three dimensions", "give one to three sizes, such as 256,256");
    }
    if !local.is_empty() && local.len() != global.len() {
        return bad("--global and --local have different numbers of dimensions", "give both the same number of sizes");
    }
    if under_test.interface.uniform_groups && global.iter().zip(local).any(|(g, l)| g % l != 0) {
        return bad("--local does not divide --global", "give sizes that go into those of --global without rest");
    }
    let sizes = |all: &[u64]| [0, 1, 2].map(|d| all.get(d).copied().unwrap_or(1));
    let local = (!local.is_empty()).then(|| sizes(local));
    Ok(Some(NdRange { dims: global.len() as u32, global: sizes(global), local, offset: [0; 3] }))
}

/// Adds an input unless one with an equal launch exists.
fn add_case(cases: &mut Vec<Case>, case: Case) {
    if cases.iter().all(|known| known.launch != case.launch) {
        let case = with_unique_name(case, cases);
        cases.push(case);
    }
}

/// Gives an input a unique name.
fn with_unique_name(mut case: Case, others: &[Case]) -> Case {
    let plain = case.name.clone();
    let mut number = 1;
    while others.iter().any(|o| o.name == case.name) {
        number += 1;
        case.name = format!("{plain} ({number})");
    }
    case
}
