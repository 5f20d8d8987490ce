//! The engine: runs mutants against tests and returns their outcomes, with as few builds and launches as possible.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::mutants::infection::InfectionLayout;
use kassay_ir::instrument::mutants::{Edit, LocalVariable};
use kassay_run::exec::{Code, Executor, ProgramId, RunOptions};
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;

use super::baseline::{DropReason, Original, RunSettings, TestBaseline};
use super::joint;
use super::module_sizing;
use super::runner::{self, Case, RunCost, Scenario};
use super::verdict::MutantOutcome;
use crate::mutation::build::module_builder::{Effort, ModuleBuilder, RunsPerLaunch, Woven};
use crate::mutation::catalogue::indices::{ByMutant, ByTest, MutantIndex, TestIndex};
use crate::mutation::catalogue::mutant::Mutant;

mod building;
mod modules;

/// How mutants are distributed over modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Strategy {
    /// Many mutants in one module, each selected by its number at run time.
    Schemata,
    /// A module for each mutant.
    Rebuild,
}

/// Whether a launch may hold several runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Batching {
    /// As it suits the device.
    #[default]
    Auto,
    /// A launch holds one run.
    Off,
    /// Joint launches, also on devices on which they are not faster.
    Joint,
}

/// Options of the engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// How mutants are distributed over modules.
    pub strategy: Strategy,
    /// Runs per mutant and test; also of the original, whose outputs must agree in all of them.
    pub repeats: u32,
    /// Whether a mutant is run on further tests once a test has detected it.
    pub full_matrix: bool,
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    /// Wall-clock limit of one run of the original.
    pub timeout: Duration,
    /// Whether to skip pairs of a mutant and a test in which the mutated value never differs.
    pub prune: bool,
    /// Whether a launch may hold several runs.
    pub batching: Batching,
    /// Deadline, after which nothing more is started.
    pub end: Option<Instant>,
}

/// What the engine has spent so far: time, builds and runs. `pairs` counts pairs of a mutant and a test.
#[derive(Debug, Clone, Default)]
pub struct EngineCost {
    /// Wall-clock time of weaving and of the device's compiler.
    pub build: Duration,
    /// Wall-clock time of runs.
    pub run: Duration,
    /// Modules that were loaded.
    pub builds: u64,
    /// Runs, each of a mutant, or of the original, on a test.
    pub executions: u64,
    /// Pairs that were run.
    pub pairs: u64,
    /// Those of them that shared a launch with others.
    pub batched_pairs: u64,
    /// Pairs that the infection run has ruled out.
    pub pruned_pairs: u64,
    /// By module with mutants: how many it holds.
    pub module_sizes: Vec<u64>,
    /// Modules in which the original did not compute its usual outputs.
    pub distrusted: u64,
}

/// The tests that reach a mutant, and those it has to be run on; both by position among the baselines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// By baseline: whether a work-item comes to where the mutant is.
    pub reached: Vec<bool>,
    /// Reached, and not pruned.
    pub runs: Vec<bool>,
}

impl Reach {
    /// Returns the tests that reach the mutant. `used`: the test of each baseline.
    pub fn tests<'u>(&'u self, used: &'u [TestIndex]) -> impl Iterator<Item = TestIndex> + 'u {
        used.iter().zip(&self.reached).filter(|(_, reached)| **reached).map(|(test, _)| *test)
    }
}

/// Builds, loads and runs the mutants of a kernel.
pub struct Engine<'a, 'c> {
    /// Makes modules of mutants.
    pub module_builder: ModuleBuilder<'a, 'c>,
    /// What runs them, at least one.
    pub executors: Vec<Box<dyn Executor>>,
    /// By [`TestIndex`].
    pub tests: &'a [Test],
    /// By [`MutantIndex`].
    pub mutants: &'a [Mutant],
    /// By mutant: whether the infection run may rule out pairs (see `prunable` and `cfg::taint`).
    pub prunable: ByMutant<bool>,
    /// What the user wants.
    pub options: Options,
    /// What has been spent so far.
    pub cost: EngineCost,
    /// Baselines of the tests that are used.
    baselines: Vec<TestBaseline<'a>>,
    /// By test: why it was dropped.
    pub dropped: ByTest<Option<DropReason>>,
    /// The module that holds all mutants (at most [`most_per_module`]), kept while it is of use.
    full_module: Option<LoadedModule>,
    /// Further modules that hold mutants, woven while the device built that one, and what numbers mutants have there.
    prefetched: Vec<(Woven, BTreeMap<MutantIndex, u32>)>,
    /// What observes mutants, woven while the device built that one.
    observers: Vec<Observer>,
    /// The time that building it took.
    full_build_time: Duration,
    /// How many runs a launch of an unoptimised module may hold.
    per_launch: RunsPerLaunch,
    settings: RunSettings,
    /// Whether the full module is woven so that two mutants can be in force.
    for_pairs: bool,
    /// Most mutants in one module.
    most_per_module: usize,
}

/// A module loaded on every executor, with the numbers of the mutants in it (by position).
struct LoadedModule {
    woven: Woven,
    programs: Vec<ProgramId>,
    numbers: BTreeMap<MutantIndex, u32>,
}

/// A module of the original with infection probes.
struct Observer {
    /// The mutants that it observes.
    mutants: Vec<MutantIndex>,
    code: Code,
    layout: InfectionLayout,
}

/// Most mutants in one module: the build time of backends grows faster than the module.
const MAX_MUTANTS_PER_MODULE: usize = 1500;

impl<'a, 'c> Engine<'a, 'c> {
    /// Creates an engine without baselines; [`Engine::establish_baselines`] comes next.
    pub fn new(
        module_builder: ModuleBuilder<'a, 'c>,
        executors: Vec<Box<dyn Executor>>,
        tests: &'a [Test],
        mutants: &'a [Mutant],
        options: Options,
    ) -> Engine<'a, 'c> {
        let settings = RunSettings {
            layout: module_builder.layout,
            repeats: options.repeats,
            full_matrix: options.full_matrix,
            factor: options.factor,
            required_local: module_builder.under_test.interface.required_local,
            end: options.end,
        };
        Engine {
            most_per_module: module_builder.most_per_module(mutants, MAX_MUTANTS_PER_MODULE),
            module_builder,
            executors,
            tests,
            mutants,
            prunable: ByMutant::filled(false, mutants.len()),
            options,
            cost: EngineCost::default(),
            baselines: Vec::new(),
            dropped: ByTest::filled(None, tests.len()),
            full_module: None,
            prefetched: Vec::new(),
            observers: Vec::new(),
            settings,
            full_build_time: Duration::ZERO,
            per_launch: RunsPerLaunch::One,
            for_pairs: false,
        }
    }

    /// Returns whether the full module is woven for two mutants at once.
    pub fn is_for_pairs(&self) -> bool {
        self.for_pairs
    }

    /// Returns the baselines of the tests that are used, in the suite's order.
    pub fn baselines(&self) -> &[TestBaseline<'a>] {
        &self.baselines
    }

    /// Returns the tests of these baselines.
    pub fn used(&self) -> Vec<TestIndex> {
        self.baselines.iter().map(|baseline| baseline.position).collect()
    }

    /// Returns whether the time was up before some test was run on the original.
    pub fn is_out_of_time(&self) -> bool {
        self.dropped.values().any(|reason| *reason == Some(DropReason::OutOfTime))
    }

    /// Returns the settings that all runs share.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Builds the module of all of `wanted` that can be woven (rebuild strategy: of the guarded original) and runs
    /// every test on the original in it. `pairs`: two mutants may be in force at once. `observed`: what
    /// [`Engine::reach`] is asked about next.
    ///
    /// # Errors
    /// `Internal` if the guarded original or the probes cannot be built; `Environment`.
    pub fn establish_baselines(&mut self, wanted: &[MutantIndex], pairs: bool, observed: &[MutantIndex]) -> Result<()> {
        self.for_pairs = pairs;
        if self.settings.is_over() {
            self.dropped.fill(Some(DropReason::OutOfTime));
            return Ok(());
        }
        let woven: Vec<MutantIndex> = match self.options.strategy {
            Strategy::Schemata => wanted.iter().copied().filter(|m| self.mutants[*m].edit.is_woven()).collect(),
            Strategy::Rebuild => Vec::new(),
        };
        let per_launch = self.runs_per_launch();
        let effort = match self.options.strategy {
            Strategy::Schemata => Effort::Quick,
            Strategy::Rebuild => Effort::Full,
        };
        let started = Instant::now();
        let module = match self.build_and_load_first(&woven, (pairs, effort, per_launch), observed)? {
            Ok(module) => module,
            // The backend or the device cannot handle some mutant; it is identified when modules are built for running.
            Err(_) if !woven.is_empty() => {
                self.build_and_load(&[], pairs, effort, RunsPerLaunch::One)?.map_err(Error::internal)?
            }
            Err(why) => return Err(Error::internal(why)),
        };
        self.full_build_time = started.elapsed();
        self.per_launch = per_launch;
        let started = Instant::now();
        let tests: Vec<(TestIndex, &Test)> = self.dropped.positions().zip(self.tests).collect();
        let mut original = Original {
            executor: self.executors[0].as_mut(),
            program: module.programs[0],
            woven: &module.woven,
            layout: self.module_builder.layout,
            repeats: self.options.repeats,
            timeout: self.options.timeout,
        };
        for baseline in joint::baselines::establish(&mut original, &tests, self.settings.end)? {
            if baseline.dropped != Some(DropReason::OutOfTime) {
                self.cost.executions += 1 + u64::from(self.options.repeats);
            }
            match &baseline.dropped {
                Some(reason) => self.dropped[baseline.position] = Some(reason.clone()),
                None => self.baselines.push(baseline),
            }
        }
        self.cost.run += started.elapsed();
        self.full_module = Some(module);
        Ok(())
    }

    /// Runs the original on every test with infection probes. Results are by position in `wanted`; positions within
    /// each are those of [`Engine::baselines`].
    ///
    /// # Errors
    /// `Internal` if the probes cannot be built; `Environment`.
    pub fn reach(&mut self, wanted: &[MutantIndex]) -> Result<Vec<Reach>> {
        let tests = self.baselines.len();
        let everywhere = Reach { reached: vec![true; tests], runs: vec![true; tests] };
        let mut found = vec![everywhere; wanted.len()];
        let positions: HashMap<MutantIndex, usize> = wanted.iter().copied().zip(0..).collect();
        let mut woven = std::mem::take(&mut self.observers).into_iter();
        for part in self.observable(wanted).chunks(MAX_MUTANTS_PER_MODULE) {
            let part_of = |m: &MutantIndex| positions[m];
            if self.settings.is_over() {
                part.iter().for_each(|m| found[part_of(m)].reached.fill(false));
                continue;
            }
            let started = Instant::now();
            let Observer { code, layout, .. } = match woven.next().filter(|woven| woven.mutants == part) {
                Some(woven) => woven,
                None => self.weave_observer(part)?,
            };
            let program = self.executors[0].load(&code)?;
            self.cost.build += started.elapsed();
            self.cost.builds += 1;
            let started = Instant::now();
            for t in 0..tests {
                if self.settings.is_over() {
                    part.iter().for_each(|m| found[part_of(m)].reached[t] = false);
                    continue;
                }
                let baseline = &self.baselines[t];
                let options = RunOptions {
                    timeout: self.options.timeout,
                    repeats: 1,
                    probe_words: Some(layout.words()),
                    outputs: false,
                };
                let seen = match self.executors[0].run(program, &baseline.test.launch, &options)? {
                    Ok(observation) => layout.read(&observation.probe),
                    // Without an observation nothing may be pruned.
                    Err(_) => continue,
                };
                self.cost.executions += 1;
                for (m, seen) in part.iter().zip(seen) {
                    let may_prune = self.options.prune && self.prunable[*m] && !self.mutants[*m].is_structural;
                    let found = &mut found[part_of(m)];
                    found.reached[t] = seen.reached;
                    found.runs[t] = seen.reached && (seen.infected || !may_prune);
                    self.cost.pruned_pairs += u64::from(found.reached[t] && !found.runs[t]);
                }
            }
            self.cost.run += started.elapsed();
            self.executors[0].unload(program);
        }
        Ok(found)
    }

    /// Runs scenarios. Each is one mutant or, if the full module is woven for pairs, two. Mutant numbers are assigned
    /// here. `on_decided` is called with the position and outcome of each scenario once it is final.
    ///
    /// # Errors
    /// `Environment`, and errors of `on_decided`.
    pub fn run(
        &mut self,
        scenarios: Vec<Scenario>,
        pairs: bool,
        on_decided: &(dyn Fn(usize, &MutantOutcome) -> Result<()> + Sync),
    ) -> Result<Vec<MutantOutcome>> {
        let mutants = self.mutants;
        let mut outcomes = vec![MutantOutcome::default(); scenarios.len()];
        let (mut plain, mut private, mut woven) = (Vec::new(), Vec::new(), Vec::new());
        for (index, scenario) in scenarios.into_iter().enumerate() {
            let mut case = Case::new(index, scenario, |m| &mutants[m].edit);
            if case.scenario.test_count() == 0 {
                if self.is_out_of_time() {
                    case.outcome.leave_pending();
                    outcomes[index] = case.outcome;
                    continue;
                }
                on_decided(index, &case.outcome)?;
                continue;
            }
            let edits = || case.scenario.mutants.iter().map(|m| &mutants[*m].edit);
            if let Some(Edit::Uncompilable { reason, .. }) = edits().find(|e| matches!(e, Edit::Uncompilable { .. })) {
                case.outcome.refuse_build(reason);
                on_decided(index, &case.outcome)?;
                outcomes[index] = case.outcome;
                continue;
            }
            match edits().find(|e| matches!(e, Edit::Privatise { .. })) {
                Some(_) => private.push(case),
                None if edits().any(Edit::is_woven) => woven.push(case),
                None => plain.push(case),
            }
        }
        let case_decided = |case: &Case| on_decided(case.index, &case.outcome);
        if !plain.is_empty() {
            self.run_in_full(&mut plain, &case_decided)?;
        }
        for case in &mut private {
            if self.settings.is_over() {
                case.outcome.leave_pending();
                continue;
            }
            self.run_privatised(case, &case_decided)?;
        }
        match self.options.strategy {
            Strategy::Schemata => self.run_sized(&mut woven, pairs, &case_decided)?,
            Strategy::Rebuild => {
                for case in &mut woven {
                    if self.settings.is_over() {
                        case.outcome.leave_pending();
                        continue;
                    }
                    self.run_rebuilt(case, &case_decided)?;
                }
            }
        }
        for case in plain.into_iter().chain(private).chain(woven) {
            outcomes[case.index] = case.outcome;
        }
        Ok(outcomes)
    }

    /// Runs cases in the full module, which is loaded already.
    fn run_in_full(&mut self, cases: &mut [Case], case_decided: &(dyn Fn(&Case) -> Result<()> + Sync)) -> Result<()> {
        let Some(full) = self.full_module.take() else { return Err(Error::internal("no module is loaded")) };
        let done = self.run_in(&full, cases, case_decided);
        self.full_module = Some(full);
        done
    }

    /// Runs cases in a loaded module, on all executors.
    fn run_in(
        &mut self,
        module: &LoadedModule,
        cases: &mut [Case],
        case_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        for case in cases.iter_mut() {
            let mut numbers = case.scenario.mutants.iter().filter_map(|m| module.numbers.get(m).copied());
            case.numbers = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
        }
        let executors = self.executors.iter_mut().map(|executor| executor.as_mut() as &mut dyn Executor);
        let mut executors: Vec<(&mut dyn Executor, ProgramId)> =
            executors.zip(module.programs.iter().copied()).collect();
        let cost = runner::run(&mut executors, &module.woven, &self.baselines, cases, &self.settings, case_decided)?;
        self.add_cost(cost);
        Ok(())
    }

    fn add_cost(&mut self, cost: RunCost) {
        self.cost.run += cost.run;
        self.cost.executions += cost.executions;
        self.cost.pairs += cost.pairs;
        self.cost.batched_pairs += cost.batched_pairs;
    }

    /// Runs a case whose local variable is made private, in a module of its own.
    fn run_privatised(&mut self, case: &mut Case, case_decided: &(dyn Fn(&Case) -> Result<()> + Sync)) -> Result<()> {
        let [mutant] = case.scenario.mutants[..] else {
            return Err(Error::internal("a variable is made private by one mutant alone"));
        };
        let Edit::Privatise { variable } = &self.mutants[mutant].edit else {
            return Err(Error::internal("this mutant makes nothing private"));
        };
        let bytes = match variable {
            LocalVariable::Global(_) => 0,
            LocalVariable::Argument(position) => {
                let sizes = self.tests.iter().filter_map(|t| match t.launch.args.get(*position as usize) {
                    Some(ArgValue::Local(bytes)) => Some(*bytes),
                    _ => None,
                });
                sizes.max().unwrap_or(1)
            }
        };
        let started = Instant::now();
        // One mutant runs only a few times: optimising its module pays off only for launches that take long without it.
        let runs = module_sizing::estimated_time(&self.baselines, std::slice::from_ref(case), true, |t| t.run_time);
        let effort = match self.options.strategy {
            Strategy::Schemata if runs * self.options.repeats < self.full_build_time => Effort::Quick,
            _ => Effort::Full,
        };
        let module = match self.module_builder.private(variable, bytes, effort)? {
            Ok(woven) => self.load(woven, BTreeMap::new()),
            Err(reason) => {
                case.outcome.ignore(&reason);
                return case_decided(case);
            }
        };
        self.cost.build += started.elapsed();
        match module? {
            Ok(module) => {
                self.run_in(&module, std::slice::from_mut(case), case_decided)?;
                self.unload(&module);
                Ok(())
            }
            Err(why) => {
                case.outcome.refuse_build(&why);
                case_decided(case)
            }
        }
    }
}
