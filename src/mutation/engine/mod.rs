//! The engine: from mutants and tests to fates, with as few builds and runs as possible.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::exec::{Executor, ProgramId, RunOptions};
use crate::instrument::mutants::{Edit, LocalVariable};
use crate::suite::launch::ArgValue;
use crate::suite::resolve::Test;

use super::baseline::{self, BaselineOptions, Running, TestBaseline};
use super::module_builder::{Effort, ModuleBuilder, Refusable, Woven};
use super::module_sizing;
use super::mutant::Mutant;
use super::runner::{self, Case, Cost};
use super::verdict::MutantOutcome;

mod modules;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Many mutants in one module.
    Schemata,
    /// A module for each.
    Rebuild,
}

/// What the engine is asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    pub strategy: Strategy,
    /// Runs per pair; and of the original, which has to be stable in them.
    pub repeats: u32,
    pub full_matrix: bool,
    /// Fuel and time as a multiple of the original's.
    pub factor: f64,
    /// Wall-clock limit of one run of the original.
    pub timeout: Duration,
    /// Whether pairs whose value never differs are left out.
    pub prune: bool,
    /// Whether launches may hold several runs.
    pub batch: bool,
    /// When to stop, whatever is left.
    pub end: Option<Instant>,
}

/// What it took.
#[derive(Debug, Clone, Default)]
pub struct Expense {
    pub build: Duration,
    pub run: Duration,
    pub builds: u64,
    pub executions: u64,
    pub pairs: u64,
    pub batched_pairs: u64,
    pub pruned_pairs: u64,
    pub module_sizes: Vec<u64>,
    /// Modules in which the original did not compute what it does elsewhere.
    pub distrusted: u64,
}

/// Where a mutant was seen, by position of the test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    pub reached: Vec<bool>,
    /// Reached, and not pruned.
    pub runs: Vec<bool>,
}

/// A kernel's mutants at work. `L`: told of every fate as soon as it stands.
pub struct Engine<'a, 'c> {
    pub module_builder: ModuleBuilder<'a, 'c>,
    pub lanes: Vec<Box<dyn Executor>>,
    pub tests: &'a [Test],
    pub mutants: &'a [Mutant],
    /// By mutant: whether the infection run may rule out pairs (`cfg::taint`).
    pub prunable: Vec<bool>,
    pub options: Options,
    pub expense: Expense,
    /// The tests that count, tried on the original.
    baselines: Vec<TestBaseline<'a>>,
    /// Of every test: why it was dropped.
    pub dropped: Vec<Option<String>>,
    /// The module of all mutants (of the first [`MOST`]), kept while it is of use.
    whole: Option<Whole>,
    /// What building that took.
    whole_build: Duration,
    /// Whether launches may hold several runs.
    batched: bool,
    running: Running,
    for_pairs: bool,
}

/// The module in which all woven mutants sit, with their numbers.
struct Whole {
    woven: Woven,
    programs: Vec<ProgramId>,
    numbers: BTreeMap<usize, u32>,
}

/// More mutants are never put into one module: backends take time that grows faster than the module.
const MOST: usize = 1500;

impl<'a, 'c> Engine<'a, 'c> {
    pub fn new(
        module_builder: ModuleBuilder<'a, 'c>,
        lanes: Vec<Box<dyn Executor>>,
        tests: &'a [Test],
        mutants: &'a [Mutant],
        options: Options,
    ) -> Engine<'a, 'c> {
        let running = Running {
            layout: module_builder.layout,
            repeats: options.repeats,
            full_matrix: options.full_matrix,
            factor: options.factor,
            required_local: module_builder.under_test.interface.required_local,
            end: options.end,
        };
        Engine {
            module_builder,
            lanes,
            tests,
            mutants,
            prunable: vec![false; mutants.len()],
            options,
            expense: Expense::default(),
            baselines: Vec::new(),
            dropped: vec![None; tests.len()],
            whole: None,
            running,
            whole_build: Duration::ZERO,
            batched: false,
            for_pairs: false,
        }
    }

    /// Whether the module of all mutants is woven for two at once.
    pub fn is_for_pairs(&self) -> bool {
        self.for_pairs
    }

    pub fn baselines(&self) -> &[TestBaseline<'a>] {
        &self.baselines
    }

    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Builds the module of all of `wanted` that can be woven (rebuild: the original, guarded) and tries every test on
    /// the original. `pairs`: two mutants may be in force at once.
    ///
    /// # Errors
    /// `Internal` if the guarded original cannot be built; of the environment.
    pub fn try_original(&mut self, wanted: &[usize], pairs: bool) -> Result<()> {
        self.for_pairs = pairs;
        if self.running.is_over() {
            self.dropped.fill(Some(runner::UNTRIED.to_owned()));
            return Ok(());
        }
        let woven: Vec<usize> = match self.options.strategy {
            Strategy::Schemata => {
                let fit = wanted.iter().copied().filter(|m| self.mutants[*m].edit.is_woven());
                if pairs { fit.collect() } else { fit.take(MOST).collect() }
            }
            Strategy::Rebuild => Vec::new(),
        };
        let batched = self.options.batch
            && self.lanes.iter().all(|lane| lane.batches())
            && self.options.strategy == Strategy::Schemata
            && self.tests.iter().all(|t| {
                t.launch.range.items() <= runner::BATCHED_ITEMS
                    && t.launch.range.has_uniform_groups()
                    && !writes_images(t)
            });
        let effort = match self.options.strategy {
            Strategy::Schemata => Effort::Quick,
            Strategy::Rebuild => Effort::Optimised,
        };
        let begun = Instant::now();
        let whole = match self.make(&woven, pairs, effort, batched)? {
            Ok(whole) => whole,
            // Some mutant is more than the backend or the device takes: it is found when modules are built for running.
            Err(_) if !woven.is_empty() => self.make(&[], pairs, effort, false)?.map_err(Error::internal)?,
            Err(why) => return Err(Error::internal(why)),
        };
        self.whole_build = begun.elapsed();
        self.batched = batched;
        let begun = Instant::now();
        let trying = BaselineOptions { repeats: self.options.repeats, timeout: self.options.timeout };
        let mut baselines = Vec::new();
        for (i, test) in self.tests.iter().enumerate() {
            if self.running.is_over() {
                self.dropped[i] = Some(runner::UNTRIED.to_owned());
                continue;
            }
            let program = whole.programs[0];
            let baseline = baseline::attempt(
                self.lanes[0].as_mut(),
                program,
                &whole.woven,
                self.module_builder.layout,
                (i, test),
                trying,
            )?;
            self.expense.executions += 1 + u64::from(trying.repeats);
            match &baseline.dropped {
                Some(reason) => self.dropped[i] = Some(reason.clone()),
                None => baselines.push(baseline),
            }
        }
        self.baselines = baselines;
        self.expense.run += begun.elapsed();
        self.whole = Some(whole);
        Ok(())
    }

    /// Builds a module and loads it in every lane.
    fn make(&mut self, mutants: &[usize], pairs: bool, effort: Effort, batched: bool) -> Result<Refusable<Whole>> {
        let numbers: BTreeMap<usize, u32> = mutants.iter().copied().zip(1..).collect();
        let edits: Vec<(u32, &Edit)> = numbers.iter().map(|(m, n)| (*n, &self.mutants[*m].edit)).collect();
        let begun = Instant::now();
        let woven = match self.options.strategy {
            Strategy::Schemata => self.module_builder.schemata(&edits, pairs, effort, batched),
            Strategy::Rebuild => self.module_builder.alone(&edits.iter().map(|(_, e)| *e).collect::<Vec<_>>(), effort),
        }?;
        let whole = self.load(woven, numbers);
        self.expense.build += begun.elapsed();
        if let (Ok(Ok(_)), false) = (&whole, mutants.is_empty()) {
            self.expense.module_sizes.push(mutants.len() as u64);
        }
        whole
    }

    /// Loads a module in every lane, all at the same time.
    fn load(&mut self, woven: Refusable<Woven>, numbers: BTreeMap<usize, u32>) -> Result<Refusable<Whole>> {
        let woven = match woven {
            Ok(woven) => woven,
            Err(why) => return Ok(Err(why)),
        };
        let mut programs = Vec::new();
        for lane in &mut self.lanes {
            programs.push(lane.begin_load(&woven.code));
        }
        self.expense.builds += 1;
        let mut loaded = Vec::new();
        for (lane, program) in self.lanes.iter_mut().zip(programs) {
            match program.and_then(|p| lane.finish_load(p).map(|()| p)) {
                Ok(program) => loaded.push(program),
                Err(e @ Error::Internal(_)) => return Ok(Err(e.to_string())),
                Err(e) => return Err(e),
            }
        }
        Ok(Ok(Whole { woven, programs: loaded, numbers }))
    }

    fn unload(&mut self, whole: &Whole) {
        for (lane, program) in self.lanes.iter_mut().zip(&whole.programs) {
            lane.unload(*program);
        }
    }

    /// Runs the original on every test with infection probes. By position in `wanted`; positions within each are those
    /// of [`Engine::trials`].
    ///
    /// # Errors
    /// `Internal` if the probes cannot be built; of the environment.
    pub fn reach(&mut self, wanted: &[usize]) -> Result<Vec<Reach>> {
        let tests = self.baselines.len();
        let everywhere = Reach { reached: vec![true; tests], runs: vec![true; tests] };
        let mut found = vec![everywhere; wanted.len()];
        let woven: Vec<usize> = (0..wanted.len()).filter(|i| self.mutants[wanted[*i]].edit.is_woven()).collect();
        for part in woven.chunks(MOST) {
            if self.running.is_over() {
                part.iter().for_each(|i| found[*i].reached.fill(false));
                continue;
            }
            let begun = Instant::now();
            let edits: Vec<(u32, &Edit, bool)> = part
                .iter()
                .zip(1..)
                .map(|(i, n)| (n, &self.mutants[wanted[*i]].edit, self.mutants[wanted[*i]].is_structural))
                .collect();
            let (code, layout) = self.module_builder.infection(&edits)?;
            let program = self.lanes[0].load(&code)?;
            self.expense.build += begun.elapsed();
            self.expense.builds += 1;
            let begun = Instant::now();
            for t in 0..tests {
                if self.running.is_over() {
                    part.iter().for_each(|i| found[*i].reached[t] = false);
                    continue;
                }
                let baseline = &self.baselines[t];
                let options = RunOptions {
                    timeout: self.options.timeout,
                    repeats: 1,
                    probe_words: Some(layout.words()),
                    outputs: false,
                };
                let seen = match self.lanes[0].run(program, &baseline.test.launch, &options)? {
                    Ok(observation) => layout.read(&observation.probe),
                    // Nothing is known then, so nothing is left out.
                    Err(_) => continue,
                };
                self.expense.executions += 1;
                for (i, seen) in part.iter().zip(seen) {
                    let m = wanted[*i];
                    let may = self.options.prune && self.prunable[m] && !self.mutants[m].is_structural;
                    found[*i].reached[t] = seen.reached;
                    found[*i].runs[t] = seen.reached && (seen.infected || !may);
                    self.expense.pruned_pairs += u64::from(found[*i].reached[t] && !found[*i].runs[t]);
                }
            }
            self.expense.run += begun.elapsed();
            self.lanes[0].unload(program);
        }
        Ok(found)
    }

    /// Runs cases; each of them one mutant or, of a module woven for pairs, two. Their numbers are filled in here.
    ///
    /// # Errors
    /// Of the environment, and of `decided`.
    pub fn run(
        &mut self,
        cases: Vec<(Vec<usize>, Vec<bool>)>,
        pairs: bool,
        decided: &(dyn Fn(usize, &MutantOutcome) -> Result<()> + Sync),
    ) -> Result<Vec<MutantOutcome>> {
        let mut fates = vec![MutantOutcome::default(); cases.len()];
        let (mut plain, mut private, mut woven) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (parts, runs)) in cases.iter().enumerate() {
            let launch = parts.iter().find_map(|m| match &self.mutants[*m].edit {
                Edit::Launch(change) => Some(*change),
                _ => None,
            });
            let mut case =
                Case { index, numbers: [0; 2], launch, runs: runs.clone(), fate: MutantOutcome::default(), pairs: 0 };
            if !runs.iter().any(|r| *r) {
                if self.dropped.iter().flatten().any(|why| why == runner::UNTRIED) {
                    case.fate.leave(runner::LATE);
                    fates[index] = case.fate;
                    continue;
                }
                decided(index, &case.fate)?;
                continue;
            }
            let edits: Vec<&Edit> = parts.iter().map(|m| &self.mutants[*m].edit).collect();
            match edits.iter().find(|e| matches!(e, Edit::Privatise { .. })) {
                Some(_) => private.push(case),
                None if edits.iter().any(|e| e.is_woven()) => woven.push(case),
                None => plain.push(case),
            }
        }
        let tell = |case: &Case| decided(case.index, &case.fate);
        if !plain.is_empty() {
            self.on_whole(&mut plain, &cases, &tell)?;
        }
        for case in &mut private {
            if self.running.is_over() {
                case.fate.leave(runner::LATE);
                continue;
            }
            self.private(case, cases[case.index].0[0], &tell)?;
        }
        match self.options.strategy {
            Strategy::Schemata => self.sized(&mut woven, &cases, pairs, &tell)?,
            Strategy::Rebuild => {
                for case in &mut woven {
                    if self.running.is_over() {
                        case.fate.leave(runner::LATE);
                        continue;
                    }
                    self.rebuilt(case, &cases, &tell)?;
                }
            }
        }
        for case in plain.into_iter().chain(private).chain(woven) {
            fates[case.index] = case.fate;
        }
        Ok(fates)
    }

    /// Runs cases on the module that is loaded already.
    fn on_whole(
        &mut self,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        let Some(whole) = self.whole.take() else { return Err(Error::internal("no module is loaded")) };
        let done = self.on(&whole, cases, all, tell);
        self.whole = Some(whole);
        done
    }

    fn on(
        &mut self,
        module: &Whole,
        cases: &mut [Case],
        all: &[(Vec<usize>, Vec<bool>)],
        tell: &(dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Result<()> {
        for case in cases.iter_mut() {
            let mut numbers = all[case.index].0.iter().filter_map(|m| module.numbers.get(m).copied());
            case.numbers = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
        }
        let executors = self.lanes.iter_mut().map(|lane| lane.as_mut() as &mut dyn Executor);
        let mut lanes: Vec<(&mut dyn Executor, ProgramId)> = executors.zip(module.programs.iter().copied()).collect();
        let cost = runner::run(&mut lanes, &module.woven, &self.baselines, cases, &self.running, tell)?;
        self.spend(cost);
        Ok(())
    }

    fn spend(&mut self, cost: Cost) {
        self.expense.run += cost.run;
        self.expense.executions += cost.executions;
        self.expense.pairs += cost.pairs;
        self.expense.batched_pairs += cost.batched_pairs;
    }

    /// Runs a case whose local variable is made private, in a module of its own.
    fn private(&mut self, case: &mut Case, mutant: usize, tell: &(dyn Fn(&Case) -> Result<()> + Sync)) -> Result<()> {
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
        let begun = Instant::now();
        // One mutant runs a few times: optimising its module pays only for launches that take long without.
        let runs = module_sizing::price(&self.baselines, std::slice::from_ref(case), true, |t| t.run_time);
        let effort = match self.options.strategy {
            Strategy::Schemata if runs * self.options.repeats < self.whole_build => Effort::Quick,
            _ => Effort::Optimised,
        };
        let module = match self.module_builder.private(variable, bytes, effort)? {
            Ok(woven) => self.load(woven, BTreeMap::new()),
            Err(reason) => {
                case.fate.ignore(&reason);
                return tell(case);
            }
        };
        self.expense.build += begun.elapsed();
        match module? {
            Ok(module) => {
                let all = vec![(Vec::new(), Vec::new()); case.index + 1];
                self.on(&module, std::slice::from_mut(case), &all, tell)?;
                self.unload(&module);
                Ok(())
            }
            Err(why) => {
                case.fate.refuse_build(&why);
                tell(case)
            }
        }
    }
}

fn writes_images(test: &Test) -> bool {
    test.outputs.iter().any(|o| matches!(test.launch.args.get(o.position as usize), Some(ArgValue::Image { .. })))
}
